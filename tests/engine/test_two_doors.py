"""Two Toolpaths of one process on one file: neither takes what the other drives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath import Settings, ToolContext, Toolpath, tool
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.runs import held as holding
from toolpath.testing.clock import FakeClock


class Held:
    """A tool whose call ends when it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = asyncio.Event(), asyncio.Event()
        self.calls = 0

        @tool(group="t", effect="write")
        async def held() -> int:
            self.calls += 1
            self.begun.set()
            await self.let_go.wait()
            return 1

        self.tool = held


PLAN: dict[str, Any] = {"steps": [{"id": "a", "tool": "t.held"}], "outputs": "{{ a }}"}


@pytest.mark.parametrize("silent", [0, 20], ids=["seen just now", "silent for long"])
async def test_a_run_that_another_toolpath_of_the_process_drives_is_not_taken(tmp_path: Path, silent: int) -> None:
    held, clock = Held(), FakeClock()
    settings = Settings()
    async with (
        Toolpath(tmp_path / "runs.db", settings=settings, clock=clock) as one,
        Toolpath(tmp_path / "runs.db", settings=settings, clock=clock) as two,
    ):
        for tp in (one, two):
            tp.add(held.tool)
        run = await one.start(PLAN)
        await held.begun.wait()
        # Its loop may be held up: that it says nothing does not mean that it is gone.
        await clock.advance(silent)
        with pytest.raises(RunConflict, match="drives the run"):
            await two.resume(run.run_id)
        # What it is told is heard where it is driven.
        await two.cancel(run.run_id)
        cancelled = await asyncio.wait_for(run.result(), PATIENCE)
        events = await one.events(run.run_id)
    assert (cancelled.status, held.calls) == ("cancelled", 1)
    assert not any(isinstance(event, ev.RunResumed) for event in events)


async def test_a_run_whose_toolpath_has_closed_is_taken_at_once(tmp_path: Path) -> None:
    held = Held()
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as one:
        one.add(held.tool)
        run = await one.start(PLAN)
        await held.begun.wait()
    async with Toolpath(tmp_path / "runs.db", settings=Settings()) as two:
        two.add(held.tool)
        waiting = await (await two.resume(run.run_id)).result()
        assert (waiting.status, held.calls) == ("waiting", 1)
        settled = await (await two.settle(run.run_id, "a", output=2)).result()
    assert (settled.status, settled.outputs) == ("completed", 2)


async def test_of_two_that_saw_a_failed_run_and_retry_it_one_drives_it(tmp_path: Path) -> None:
    held = Held()

    @tool(group="t", effect="read")
    async def shaky() -> int:
        if not held.begun.is_set() and not held.let_go.is_set():
            raise ValueError("not yet")
        return 1

    plan = {"flow": "chain", "steps": [{"id": "first", "tool": "t.shaky"}, {"id": "a", "tool": "t.held"}]}
    async with Toolpath(tmp_path / "runs.db") as one, Toolpath(tmp_path / "runs.db") as two:
        for tp in (one, two):
            tp.add(held.tool, shaky)
        failed = await one.run(plan)
        assert failed.status == "failed"
        held.let_go.set()
        seen = await two.store.get_run(failed.run_id)
        runs = [
            await one.retry(failed.run_id),
            await two._drives.take_up(failed.run_id, reason="retry", expected=seen.epoch),
        ]
        # Neither drive is fenced, so no call is in doubt.
        for run in runs:
            await run.result()
        async for _ in one.watch(failed.run_id):
            pass
        events = await one.events(failed.run_id)
    assert [event.reason for event in events if isinstance(event, ev.RunResumed)] == ["retry"]
    assert (held.calls, isinstance(events[-1], ev.RunCompleted)) == (1, True)


async def test_drives_that_were_taken_and_that_nobody_asks_about_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "_MOST_FAILED", 2)
    held = Held()
    async with Toolpath(tmp_path / "runs.db") as one, Toolpath(tmp_path / "runs.db") as two:
        for tp in (one, two):
            tp.add(held.tool)
        runs = [await one.start(PLAN) for _ in range(5)]
        await held.begun.wait()
        for run in runs:
            await two.resume(run.run_id, force=True)
        held.let_go.set()
        # A drive that is not live any more has its last turns before it: they end by themselves.
        async with asyncio.timeout(PATIENCE):
            while len(one._drives._held.tasks) > 2:  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0.01)
        assert not any(run.run_id in one._drives.live for run in runs)


async def test_a_cancel_from_another_door_that_comes_before_a_call_is_committed_keeps_it_from_being_made(
    tmp_path: Path,
) -> None:
    called: list[str] = []

    async with Toolpath(tmp_path / "runs.db") as one, Toolpath(tmp_path / "runs.db") as two:

        @tool(group="t", effect="write")
        async def first(context: ToolContext) -> int:
            await two.cancel(context.run_id)
            return 1

        @tool(group="t", effect="write")
        async def second() -> int:
            called.append("second")
            return 2

        one.add(first, second)
        result = await one.run({"flow": "chain", "steps": [{"tool": "t.first"}, {"tool": "t.second"}]})
    assert (result.status, called) == ("cancelled", [])
