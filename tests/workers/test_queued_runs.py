"""Runs that one process stores and others drive: started, told, retried, forked, handed back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.workers.worker_cases import Ground, lines, until

from toolpath.model.events import RunResumed

pytestmark = pytest.mark.rabbitmq

CHAIN = {
    "name": "two words",
    "flow": "chain",
    "steps": [
        {"id": "first", "tool": "say.mark", "inputs": {"word": "one"}},
        {"id": "second", "tool": "say.mark", "inputs": {"word": "two"}},
    ],
    "outputs": "{{ second }}",
}
FORM = {
    "name": "a form",
    "flow": "chain",
    "steps": [
        {"id": "form", "ask": {"title": "Which word?", "inputs": [{"name": "word"}]}},
        {"id": "said", "tool": "say.mark", "inputs": {"word": "{{ form.word }}"}},
    ],
    "outputs": "{{ said }}",
}
GATED = {
    "name": "gated",
    "flow": "chain",
    "steps": [
        {"id": "gate", "tool": "say.wait", "inputs": {"name": "open"}},
        {"id": "after", "tool": "say.mark", "inputs": {"word": "after"}},
    ],
    "outputs": "{{ after }}",
}


async def test_a_run_is_stored_as_pending_and_driven_by_a_worker(ground: Ground, tmp_path: Path) -> None:
    async with ground.door() as tp:
        run = await tp.start(CHAIN)
        stored = await tp.store.get_run(run.run_id)
        assert (stored.status, stored.driver) == ("pending", "")
        assert lines(tmp_path / "marks") == []
        async with ground.worker():
            result = await run.result()
    assert (result.status, result.outputs) == ("completed", "two")
    assert lines(tmp_path / "marks") == ["one", "two"]


async def test_running_and_calling_wait_for_the_worker(ground: Ground) -> None:
    async with ground.door() as tp, ground.worker():
        assert (await tp.run(CHAIN)).outputs == "two"
        assert await tp.call("say.mark", {"word": "three"}) == "three"
        events = [event.seq async for event in tp.stream(CHAIN)]
        assert events == list(range(1, len(events) + 1))


async def test_a_run_that_waits_for_a_person_holds_no_worker_and_an_answer_goes_on_with_it(ground: Ground) -> None:
    async with ground.door() as tp, ground.worker(concurrency=1):
        waiting = [await tp.start(FORM) for _ in range(3)]
        results = [await run.result() for run in waiting]
        assert [result.status for result in results] == ["waiting"] * 3
        assert (await tp.run(CHAIN)).success, "the one place of the worker is held by a run that waits"
        for number, run in enumerate(waiting):
            answered = await tp.answer(run.run_id, "form", {"word": f"word {number}"})
            assert (await answered.result()).outputs == f"word {number}"


async def test_pause_resume_cancel_and_retry_reach_the_worker(ground: Ground, tmp_path: Path) -> None:
    async with ground.door() as tp, ground.worker():
        run = await tp.start(GATED)
        await until(lambda: lines(tmp_path / "marks") == ["waits for open"])
        await run.pause()

        async def is_paused() -> bool:
            return (await tp.store.get_run(run.run_id)).status == "paused"

        await until(is_paused)
        (tmp_path / "open").touch()
        assert (await run.result()).status == "paused"
        resumed = await tp.resume(run.run_id)
        assert (await resumed.result()).outputs == "after"

        (tmp_path / "open").unlink()
        run = await tp.start(GATED)
        await until(lambda: lines(tmp_path / "marks").count("waits for open") == 2)
        await run.cancel("no longer wanted")
        assert (await run.result()).status == "cancelled"
        (tmp_path / "open").touch()
        retried = await tp.retry(run.run_id)
        assert (await retried.result()).outputs == "after"


async def test_a_run_that_nobody_has_begun_is_cancelled_before_it_calls_anything(
    ground: Ground, tmp_path: Path
) -> None:
    async with ground.door() as tp:
        run = await tp.start(CHAIN)
        await run.cancel()
        async with ground.worker():
            assert (await run.result()).status == "cancelled"
    assert lines(tmp_path / "marks") == []


async def test_a_fork_is_driven_by_a_worker(ground: Ground, tmp_path: Path) -> None:
    async with ground.door() as tp, ground.worker():
        first = await tp.run(CHAIN)
        fork = await tp.fork(first.run_id, from_step="second", repeat_writes=True)
        assert (await fork.result()).outputs == "two"
        resumed = [event for event in await tp.events(fork.run_id) if isinstance(event, RunResumed)]
    assert [event.reason for event in resumed] == ["fork"]
    assert lines(tmp_path / "marks") == ["one", "two", "two"]


async def test_a_run_delivered_many_times_is_driven_once(ground: Ground, tmp_path: Path) -> None:
    queue = ground.queue()
    async with ground.door(queue) as tp:
        run = await tp.start(GATED)
        for _ in range(5):
            await queue.put(run.run_id)
        async with ground.worker(), ground.worker():
            await until(lambda: "waits for open" in lines(tmp_path / "marks"))
            await queue.put(run.run_id)
            (tmp_path / "open").touch()
            assert (await run.result()).success
            await queue.put(run.run_id)
            await queue.put("run_unknown")
            assert (await tp.run(CHAIN)).success
        events = await tp.events(run.run_id)
    assert lines(tmp_path / "marks").count("after") == 1
    assert not [event for event in events if isinstance(event, RunResumed)]


async def test_workers_take_runs_of_higher_priority_first(ground: Ground, tmp_path: Path) -> None:
    def word(text: str) -> dict[str, object]:
        return {"name": text, "steps": [{"id": "say", "tool": "say.mark", "inputs": {"word": text}}]}

    async with ground.door() as tp:
        runs = [await tp.start(word(f"{priority}"), priority=priority) for priority in (0, -5, 4, 1)]
        async with ground.worker(concurrency=1):
            for run in runs:
                await run.result()
    assert lines(tmp_path / "marks") == ["4", "1", "0", "-5"]


async def test_a_worker_that_is_told_to_stop_lets_calls_end_and_hands_the_run_back(
    ground: Ground, tmp_path: Path
) -> None:
    async with ground.door() as tp:
        # It goes when its calls have ended, not when its time is over.
        async with asyncio.timeout(PATIENCE), ground.worker(grace=600) as worker:
            run = await tp.start(GATED)
            await until(lambda: "waits for open" in lines(tmp_path / "marks"))
            worker.stop()
            (tmp_path / "open").touch()
        left = await tp.store.get_run(run.run_id)
        assert (left.status, left.driver) == ("running", "")
        assert lines(tmp_path / "marks") == ["waits for open"]
        async with ground.worker():
            assert (await run.result()).outputs == "after"
    assert lines(tmp_path / "marks") == ["waits for open", "after"], "what had ended was called again"


async def test_a_worker_that_has_no_time_left_cuts_its_calls_off_and_hands_the_run_back(
    ground: Ground, tmp_path: Path
) -> None:
    async with ground.door() as tp:
        async with ground.worker(grace=0.1) as worker:
            run = await tp.start(GATED)
            await until(lambda: "waits for open" in lines(tmp_path / "marks"))
            worker.stop()
        assert (await tp.store.get_run(run.run_id)).driver == ""
        (tmp_path / "open").touch()
        async with ground.worker():
            assert (await run.result()).outputs == "after"


async def test_a_drive_that_lasts_is_acknowledged_before_the_broker_loses_patience(
    ground: Ground, tmp_path: Path
) -> None:
    async with ground.door() as tp, ground.worker(hold=0.1):
        run = await tp.start(GATED)
        await until(lambda: "waits for open" in lines(tmp_path / "marks"))
        (tmp_path / "open").touch()
        assert (await run.result()).outputs == "after"
