"""On a durable store: what is committed before what, and the same behaviour as in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from engine_cases import after, identity, opened, plan_text, ran, run_in
from everything import EVERYTHING, EXPECTED, ROWS, everything

from toolpath import Toolpath
from toolpath.config import Settings
from toolpath.engine.drive.loop_turns import LoopTurns
from toolpath.errors import StoreError
from toolpath.model import events as ev
from toolpath.ports import Signal
from toolpath.store.sqlite.store import SqliteStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.crashing import CrashingStore
from toolpath.testing.scripted import scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> SqliteStore:
    return SqliteStore(tmp_path / "runs.db", clock=clock.time)


async def test_a_plan_with_everything_in_it_gives_the_same_as_in_memory(clock: FakeClock, store: SqliteStore) -> None:
    async with opened(*everything(clock), clock=clock, store=store) as tp:
        found = await ran(tp, await tp.run(tp.read(plan_text(EVERYTHING)), ROWS))
        again = await tp.result(found.result.run_id)
    assert (found.status, found.outputs) == ("completed_with_errors", EXPECTED)
    assert again.as_json() == found.result.as_json()


async def test_a_result_shows_what_the_journal_has_where_values_are_large_or_calls_fail(
    clock: FakeClock, store: SqliteStore
) -> None:
    tools = [scripted("big", then={"text": "x" * 5_000}), scripted("bad", then=[ValueError("no")] * 4)]
    plan = {
        "failure_mode": "continue",
        "steps": [
            {"id": "big", "tool": "big"},
            {"id": "bad", "tool": "bad", "retry": {"max_retries": 1}},
            {"id": "late", "tool": "t", "inputs": {"got": "{{ bad.x }}"}},
        ],
    }
    async with opened(*tools, identity("t"), clock=clock, store=store, settings=Settings(max_result_size=1_000)) as tp:
        result = await tp.run(tp.read(plan))
        again = await tp.result(result.run_id)
    assert [step.status for step in again.results] == ["succeeded", "failed", "succeeded"]
    assert again.as_json() == result.as_json()


async def test_the_start_of_a_write_is_committed_before_it_is_called(clock: FakeClock, store: SqliteStore) -> None:
    seen: list[list[str]] = []

    async with opened(clock=clock, store=store) as tp:

        async def look(inputs: dict[str, Any]) -> dict[str, Any]:
            (info,) = await tp.runs()
            events = await tp.events(info.run_id)
            seen.append(
                [f"{type(e).__name__} {e.path}" for e in events if isinstance(e, ev.StepStarted | ev.StepSucceeded)]
            )
            return {}

        tp.add(scripted("w", then=look, effect="write"))
        plan = {"flow": "chain", "steps": [{"id": name, "tool": "w"} for name in "ab"]}
        await run_in(tp, plan)
    assert seen == [["StepStarted a"], ["StepStarted a", "StepSucceeded a", "StepStarted b"]]


async def test_what_a_read_depends_on_is_committed_before_it_is_called(clock: FakeClock, store: SqliteStore) -> None:
    seen: list[set[str]] = []

    async with opened(clock=clock, store=store) as tp:

        async def look(inputs: dict[str, Any]) -> dict[str, Any]:
            (info,) = await tp.runs()
            seen.append({e.path for e in await tp.events(info.run_id) if isinstance(e, ev.StepSucceeded)})
            return {}

        tp.add(scripted("r", then=look))
        plan = {"steps": [{"id": "a", "tool": "r"}, {"id": "b", "tool": "r", "depends_on": "a"}]}
        await run_in(tp, plan)
    assert seen == [set(), {"a"}]


class Batches(CrashingStore):
    """What was appended together."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.batches: list[list[str]] = []

    def is_cue(self, events: Any) -> bool:
        self.batches.append([f"{type(e).__name__} {getattr(e, 'path', '')}".strip() for e in events])
        return False


async def test_reads_that_are_ready_together_wait_for_nobody_s_commit(clock: FakeClock, store: SqliteStore) -> None:
    commits: list[int] = []

    def look(inputs: dict[str, Any]) -> dict[str, Any]:
        commits.append(store.commits)
        return {}

    async with opened(scripted("r", then=look), clock=clock, store=store) as tp:
        await run_in(tp, {"steps": [{"id": f"s{number}", "tool": "r"} for number in range(8)]})
    assert commits == [commits[0]] * 8


async def test_writes_that_are_ready_together_share_the_commit_of_their_starts(
    clock: FakeClock, store: SqliteStore
) -> None:
    batches = Batches(store)
    async with opened(identity("w", effect="write"), clock=clock, store=batches) as tp:
        await run_in(tp, {"concurrency": 50, "steps": [{"id": f"s{number}", "tool": "w"} for number in range(40)]})
    assert batches.batches[0] == [f"StepStarted s{number}" for number in range(40)]


@pytest.mark.parametrize(("steps", "reads"), [(4, 0), (60, 1)])
@pytest.mark.parametrize("why", ["", "no"])
async def test_the_result_of_a_short_run_that_was_driven_here_is_not_read_back_and_is_that_of_the_journal(
    clock: FakeClock, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, steps: int, reads: int, why: str
) -> None:
    read: list[str] = []
    really = SqliteStore.read_events

    async def read_events(self: SqliteStore, run_id: str, **options: Any) -> list[ev.AnyEvent]:
        read.append(run_id)
        return await really(self, run_id, **options)

    monkeypatch.setattr(SqliteStore, "read_events", read_events)
    last = {"id": "z", "tool": "flaky", "inputs": {"v": f"{{{{ s{steps - 1}.v }}}}"}}
    plan = {"steps": [*({"id": f"s{n}", "tool": "r", "inputs": {"v": n}} for n in range(steps)), last]}
    flaky = scripted("flaky", then=ValueError(why) if why else {"n": 1})
    async with opened(identity("r"), flaky, clock=clock, store=store) as tp:
        begun = await tp.start(tp.read(plan))
        found = await begun.result()
        # Whether a failed one is to be planned anew is read off its journal.
        assert len(read) == reads + bool(why)
        assert found.status == ("failed" if why else "completed")
        assert (await tp.result(begun.run_id)).as_json() == found.as_json()


class Hasty(SqliteStore):
    """Somebody cancels each run at the moment at which it is stored."""

    async def begin_run(self, info: Any, driver: str, events: Any, **more: Any) -> Any:
        begun = await super().begin_run(info, driver, events, **more)
        await self.put_signal(info.run_id, Signal(kind="cancel"))
        return begun


@pytest.mark.parametrize("how", ["start", "run"])
async def test_a_run_that_is_cancelled_before_its_drive_has_begun_writes_nothing(
    tmp_path: Path, clock: FakeClock, how: str
) -> None:
    store = Hasty(tmp_path / "runs.db", clock=clock.time)
    async with opened(w := identity("w", effect="write"), clock=clock, store=store) as tp:
        plan = tp.read({"flow": "chain", "steps": [{"id": name, "tool": "w"} for name in "ab"]})
        result = await (await tp.start(plan)).result() if how == "start" else await tp.run(plan)
    assert (result.status, w.calls) == ("cancelled", [])  # type: ignore[attr-defined]


async def test_what_a_run_is_told_while_its_drive_waits_for_its_turn_is_heard_before_its_first_call(
    clock: FakeClock, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = asyncio.Event()

    async def room(turns: LoopTurns, run_id: str = "") -> None:
        if run_id:
            await told.wait()

    monkeypatch.setattr(LoopTurns, "room", room)
    async with opened(t := identity("t"), clock=clock, store=store) as tp:
        begun = await tp.start(tp.read({"steps": [{"id": "a", "tool": "t"}]}))
        await store.put_signal(begun.run_id, Signal(kind="cancel"))
        asyncio.get_running_loop().call_later(0, told.set)
        result = await begun.result()
    assert (result.status, t.calls) == ("cancelled", [])  # type: ignore[attr-defined]


async def test_that_nobody_drives_a_run_any_more_is_kept_with_its_end(clock: FakeClock, store: SqliteStore) -> None:
    async with opened(identity("r"), clock=clock, store=store, settings=Settings(audit=False)) as tp:
        await run_in(tp, {"steps": [{"id": "a", "tool": "r"}]})
        (info,) = await tp.runs()
        # Its begin; the start and the success of its one step, and its end.
        assert (info.driver, store.commits) == ("", 2)


async def test_success_what_became_ready_and_what_starts_go_into_one_commit(
    clock: FakeClock, store: SqliteStore
) -> None:
    batches = Batches(store)
    async with opened(identity("w", effect="write"), clock=clock, store=batches) as tp:
        await run_in(tp, {"flow": "chain", "steps": [{"id": name, "tool": "w"} for name in "ab"]})
    assert ["StepSucceeded a", "StepStarted b"] in batches.batches
    assert batches.batches[-1] == ["StepSucceeded b", "RunCompleted"]


async def test_an_append_that_fails_ends_the_drive_with_the_store_s_error_and_no_further_call(
    clock: FakeClock, store: SqliteStore
) -> None:
    crashing = CrashingStore(store, cue=lambda events: any(getattr(e, "path", "") == "b" for e in events))
    async with opened(w := identity("w", effect="write"), clock=clock, store=crashing) as tp:
        with pytest.raises(StoreError):
            await tp.run(tp.read({"flow": "chain", "steps": [{"id": name, "tool": "w"} for name in "abc"]}))
    assert len(w.calls) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("what", ["cancel", "pause"])
async def test_cancel_and_pause_are_heard(tmp_path: Path, what: str) -> None:
    clock = FakeClock()
    store = SqliteStore(tmp_path / "runs.db", clock=clock.time)
    async with opened(t := scripted("t", then=lambda _: after(clock, 10, {})), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read({"flow": "chain", "steps": [{"id": name, "tool": "t"} for name in "ab"]}))
        await until(clock, lambda: len(t.calls) == 1)
        await (run_.cancel() if what == "cancel" else run_.pause())
        await clock.advance(10)
        result = await run_.result()
        assert result.status == {"cancel": "cancelled", "pause": "paused"}[what]
        assert len(t.calls) == 1


async def until(clock: FakeClock, holds: Any) -> None:
    """Let what is under way happen until this holds."""
    for _ in range(1000):
        if holds():
            return
        await clock.settle()
    raise AssertionError("It never came to that.")


async def test_another_toolpath_of_the_same_file_sees_the_run_and_may_answer_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "runs.db"
    plan = {
        "flow": "chain",
        "steps": [{"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}]}}, {"id": "a", "tool": "t"}],
    }
    async with (
        opened(identity("t"), clock=clock, store=path) as one,
        opened(identity("t"), clock=clock, store=path) as two,
    ):
        waiting = await one.run(one.read(plan))
        assert waiting.status == "waiting"
        assert [info.status for info in await two.runs()] == ["waiting"]
        result = await (await two.answer(waiting.run_id, "f", {"n": "x"})).result()
        assert result.status == "completed"
        assert (await one.result(waiting.run_id)).status == "completed"


async def test_an_answer_that_is_kept_just_after_its_driver_has_left_is_not_lost(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "runs.db"
    plan = {
        "steps": [
            {"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}]}},
            {"id": "slow", "tool": "slow"},
            {"id": "after", "tool": "t", "depends_on": ["f"]},
        ]
    }
    held = asyncio.Event()

    class LateStore(SqliteStore):
        """Keeps a signal only when the driver of the run has left."""

        async def put_signal(self, run_id: str, signal: Signal) -> None:
            held.set()
            await run.result()
            await super().put_signal(run_id, signal)

    async def slow(_: Any) -> int:
        await held.wait()
        return 1

    late = LateStore(path, clock=clock.time)
    async with (
        opened(identity("t"), scripted("slow", slow), clock=clock, store=path) as one,
        opened(identity("t"), identity("slow"), clock=clock, store=late) as two,
    ):
        # As a process of another machine is called: of one of this process it would be known that it has left.
        one._drives._services.driver = "elsewhere:1:a"
        run = await one.start(one.read(plan))
        async for event in run.events():
            if isinstance(event, ev.InputRequested):
                break
        result = await (await two.answer(run.run_id, "f", {"n": "x"})).result()
        assert result.status == "completed"


async def test_statistics_survive(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "runs.db"
    async with opened(identity("t"), clock=clock, store=path) as tp:
        for _ in range(3):
            await tp.run({"steps": [{"tool": "t"}]})
    async with Toolpath(path, clock=clock) as tp:
        assert tp.stats()["t"].calls == 3


async def test_kept_results_survive(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "runs.db"
    first, second = scripted("t", {"n": 1}), scripted("t", {"n": 2})
    plan = {"steps": [{"id": "a", "tool": "t", "cache": True}]}
    async with opened(first, clock=clock, store=path) as tp:
        await run_in(tp, plan)
    async with opened(second, clock=clock, store=path) as tp:
        assert (await run_in(tp, plan)).outputs == {"a": {"n": 1}}


async def test_many_runs_at_once_on_one_file_keep_apart(clock: FakeClock, store: SqliteStore) -> None:
    slow = scripted("t", then=lambda inputs: after(clock, inputs["n"] % 3, inputs))
    plan = {
        "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "flow": "chain",
        "steps": [{"id": name, "tool": "t", "inputs": {"n": "{{ inputs.n }}"}} for name in "abc"],
    }
    async with opened(slow, clock=clock, store=store) as tp:
        read = tp.read(plan)
        runs = [await tp.start(read, {"n": n}) for n in range(12)]
        found = [await ran(tp, await run_.result()) for run_ in runs]
    assert [one.outputs for one in found] == [{"n": n} for n in range(12)]
