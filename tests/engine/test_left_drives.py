"""A drive that was left holds nothing and does nothing more; what is said to a run that parks is not lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_cases import opened
from tests.patience import PATIENCE

from toolpath import Toolpath, tool
from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.drive.commits import Commits
from toolpath.engine.drive.large import LargeValues
from toolpath.engine.state.state import State
from toolpath.errors import StaleEpoch
from toolpath.model import events as ev
from toolpath.store.sqlite.store import SqliteStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


class OneAtATime:
    """A write of which one may run at once; it begins, and ends when it is let go."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()

        @tool(group="t", effect="write", max_concurrency=1)
        async def w(name: str) -> str:
            self.calls.append(name)
            self.begun.set()
            await self.let_go.wait()
            return name

        self.tool = w


async def given_up(tp: Toolpath, tool: OneAtATime, plan: Any) -> None:
    """Begin to run the plan, and give it up when the tool has been called."""
    running = asyncio.create_task(tp.run(plan))
    await tool.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_run_that_its_caller_gave_up_leaves_its_place_to_others() -> None:
    one = OneAtATime()
    async with Toolpath() as tp:
        tp.add(one.tool)
        await given_up(tp, one, {"steps": [{"id": "a", "tool": "t.w", "inputs": {"name": "first"}}]})
        one.let_go.set()
        result = await asyncio.wait_for(tp.run("t.w", {"name": "second"}), PATIENCE)
    assert result.status == "completed"


async def test_a_run_that_its_caller_gave_up_calls_nothing_when_a_place_comes_free() -> None:
    one = OneAtATime()
    steps = [{"id": f"s{n}", "tool": "t.w", "inputs": {"name": f"left {n}"}} for n in range(3)]
    async with Toolpath() as tp:
        tp.add(one.tool)
        other = await tp.start("t.w", {"name": "other"})
        await given_up(tp, one, {"steps": steps})
        one.let_go.set()
        await other.result()
        result = await asyncio.wait_for(tp.run("t.w", {"name": "later"}), PATIENCE)
    assert result.status == "completed"
    assert one.calls == ["other", "later"]


@pytest.mark.parametrize("turns", range(12))
async def test_an_approval_given_while_the_run_parks_is_heard(turns: int) -> None:
    async with opened(t := scripted("t", {"n": 1})) as tp:
        run = await tp.start({"steps": [{"id": "a", "tool": "t", "requires_approval": True}]})
        while not any(isinstance(event, ev.ApprovalRequested) for event in await tp.events(run.run_id)):  # noqa: ASYNC110
            await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        result = await (await tp.approve(run.run_id)).result()
        if result.status == "running" or result.status == "waiting":
            result = await tp.result(run.run_id)
    assert (result.status, len(t.calls)) == ("completed", 1)


async def test_the_end_of_a_form_s_time_takes_no_run_from_whoever_drives_it(tmp_path: Path) -> None:
    clock, one = FakeClock(), OneAtATime()
    form = {"title": "Which?", "inputs": [{"name": "n", "type": "text"}]}
    plan = {
        "steps": [
            {"id": "q", "ask": form, "timeout": 2},
            {"id": "w", "tool": "t.w", "inputs": {"name": "{{ q.n }}"}},
        ]
    }

    def store() -> SqliteStore:
        return SqliteStore(tmp_path / "runs.db", clock=clock.time)

    async with opened(one.tool, clock=clock, store=store()) as a, opened(one.tool, clock=clock, store=store()) as b:
        asked = await a.run(a.read(plan))
        run = await b.answer(asked.run_id, "q", {"n": "x"})
        await one.begun.wait()
        await clock.advance(3)
        # Whatever the first one does about it, it has done when it has answered a question about the run.
        await a.result(asked.run_id)
        one.let_go.set()
        result = await run.result()
    assert (result.status, one.calls) == ("completed", ["x"])


class Refusing:
    """A journal whose first batch is refused later."""

    durable = True
    epoch = 1

    def __init__(self) -> None:
        self.first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.batches: list[Sequence[ev.Event]] = []

    def append(self, events: Sequence[ev.Event], **_: Any) -> asyncio.Future[None]:
        self.batches.append(events)
        return self.first

    def release(self) -> None:
        return None


async def test_nothing_follows_a_batch_that_was_refused() -> None:
    async with opened(scripted("t", {})) as tp:
        program = Program(tp.read({"steps": [{"id": "a", "tool": "t"}]}), await tp.tools(), Settings())
    control = Decisions(State(program), chance=random.Random(1).random, view=LargeValues().view)
    journal = Refusing()
    commits = Commits(journal, control, FakeClock(), lambda _: None)
    control.emit(ev.Warned(control.seq, 0.0, "a", "x", "A start."))
    assert commits.flush() is journal.first
    journal.first.set_exception(StaleEpoch("Another has it."))
    with pytest.raises(StaleEpoch):
        # Not even of what needs nothing that is not kept: nobody has heard of the refusal yet.
        await commits.allow(0, crowded=False)
    with pytest.raises(StaleEpoch):
        commits.flush()
    control.emit(ev.Warned(control.seq, 0.0, "a", "x", "Another start."))
    with pytest.raises(StaleEpoch):
        commits.flush()
    assert len(journal.batches) == 1


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_a_drive_that_is_to_leave_begins_no_further_item_of_a_loop(concurrency: int) -> None:
    calls: list[int] = []

    async def look(at: int) -> int:
        """Look at a number."""
        calls.append(at)
        await asyncio.sleep(0)
        if len(calls) >= 5:
            tp.leave()
        return at

    body = [{"id": "look", "tool": "look", "inputs": {"at": "{{ item }}"}}]
    each = {"id": "each", "loop": {"over": list(range(200)), "concurrency": concurrency, "steps": body}}
    async with Toolpath() as tp:
        tp.add(look, effect="read")
        run = await tp.start({"steps": [each]})
        drives = [task for task in asyncio.all_tasks() if task.get_name() == f"drive {run.run_id}"]
        await asyncio.wait(drives, timeout=PATIENCE)
        assert 5 <= len(calls) <= 5 + concurrency
        assert (await tp.store.get_run(run.run_id)).status == "running"


@pytest.mark.parametrize("turns", range(6))
async def test_a_run_that_was_cancelled_before_the_door_was_closed_has_ended(tmp_path: Path, turns: int) -> None:
    one = OneAtATime()
    async with Toolpath(tmp_path / "runs.db") as tp:
        tp.add(one.tool)
        run = await tp.start("t.w", {"name": "slow"})
        await one.begun.wait()
        await run.cancel("enough")
        for _ in range(turns):
            await asyncio.sleep(0)
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert (await tp.store.get_run(run.run_id)).status == "cancelled"
        actions = [entry.action for entry in await tp.store.read_audit()]
        assert {"run.cancel", "run.ended"} <= set(actions)


async def test_a_run_whose_end_is_known_here_is_written_before_the_door_is_closed(tmp_path: Path) -> None:
    one = OneAtATime()
    async with Toolpath(tmp_path / "runs.db") as tp:
        tp.add(one.tool)
        run = await tp.start("t.w", {"name": "slow"})
        await one.begun.wait()
        runner = tp._drives._held.runners[run.run_id]
        await run.cancel("enough")
        async with asyncio.timeout(PATIENCE):
            while runner.inbox.is_busy() or runner.state.status != "cancelled":  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0)
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert (await tp.store.get_run(run.run_id)).status == "cancelled"
        assert "run.ended" in {entry.action for entry in await tp.store.read_audit()}


async def test_a_run_that_waits_for_people_and_was_cancelled_before_the_door_was_closed_has_ended(
    tmp_path: Path,
) -> None:
    async with Toolpath(tmp_path / "runs.db") as tp:
        waiting = await tp.run({"steps": [{"id": "a", "ask": {"inputs": [{"name": "who"}]}}]})
        assert waiting.status == "waiting"
        await tp.cancel(waiting.run_id)
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert (await tp.store.get_run(waiting.run_id)).status == "cancelled"


async def test_a_step_that_was_allowed_before_the_door_was_closed_is_not_begun_any_more(tmp_path: Path) -> None:
    one = OneAtATime()
    asks = {"id": "asks", "tool": "note", "requires_approval": True}
    plan = {"steps": [{"id": "slow", "tool": "t.w", "inputs": {"name": "slow"}}, asks]}
    async with Toolpath(tmp_path / "runs.db") as tp:
        tp.add(one.tool, note := scripted("note", then={}, effect="write"))
        run = await tp.start(plan)
        await one.begun.wait()
        await tp.approve(run.run_id, "asks")
    assert note.calls == []  # type: ignore[attr-defined]
    async with Toolpath(tmp_path / "runs.db") as tp:
        assert any(isinstance(event, ev.ApprovalDecided) for event in await tp.events(run.run_id))
