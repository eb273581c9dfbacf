"""Taking up what another driver left: what is called again, what is asked, and that the journal alone is enough."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import msgspec
import pytest
from engine_cases import after, identity, opened, plan_text, ran, run
from everything import EVERYTHING, EXPECTED, ROWS, everything
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolpath import Settings, Toolpath
from toolpath.engine.compile.program import Program
from toolpath.engine.state import fold as folding
from toolpath.engine.state.state import State
from toolpath.errors import RunConflict, RunNotFound
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, decode_event, encode_event
from toolpath.model.run import RunInfo
from toolpath.notation.composite import read_composite
from toolpath.projections.steps import step_results
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.crashing import CrashingStore, Died
from toolpath.testing.scripted import scripted


async def whole_journal() -> tuple[list[AnyEvent], list[int]]:
    """The events of an undisturbed run, and after how many of them its batches ended."""
    clock = FakeClock(auto=True)
    store = CountingStore(MemoryStore(clock=clock.time))
    async with opened(*everything(clock), clock=clock, store=store) as tp:
        found = await ran(tp, await tp.run(tp.read(plan_text(EVERYTHING)), ROWS))
    assert (found.status, found.outputs) == ("completed_with_errors", EXPECTED)
    return found.events, store.ends


class CountingStore(CrashingStore):
    """Notes after which event every append ended."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.ends: list[int] = []

    def is_cue(self, events: Any) -> bool:
        self.ends.append(events[-1].seq)
        return False


async def resumed_from(events: list[AnyEvent], tools: list[Any], clock: FakeClock) -> Any:
    """What comes of a run of which only these events are left."""
    store = MemoryStore(clock=clock.time)
    async with opened(*tools, clock=clock, store=store) as tp:
        await left(store, events)
        run_ = await tp.resume(events[0].run_id)  # type: ignore[union-attr]
        return await ran(tp, await run_.result())


async def left(store: Any, events: list[AnyEvent]) -> None:
    """Put a run into the store as a driver that died left it."""
    run_id = events[0].run_id  # type: ignore[union-attr]
    await store.create_run(RunInfo(run_id=run_id, status="running"))
    journal = await store.drive(run_id, "dead")
    kept = journal.append(events)
    if kept is not None:
        await kept


async def test_the_undisturbed_run_gives_what_is_expected() -> None:
    events, ends = await whole_journal()
    assert ends[-1] == len(events)


async def test_resumed_after_any_batch_the_outputs_are_the_same_and_nothing_finished_is_called_again() -> None:
    events, ends = await whole_journal()
    for end in sorted(set(ends)):
        prefix = events[:end]
        clock = FakeClock(prefix[-1].at + 1, auto=True)
        tools = everything(clock)
        if isinstance(prefix[-1], ev.RunCompleted):
            continue
        found = await resumed_from(prefix, tools, clock)
        assert found.outputs == EXPECTED, f"resumed after event {end}: {prefix[-1]}"
        assert found.status == "completed_with_errors", f"resumed after event {end}"
        done = {event.path for event in prefix if isinstance(event, ev.StepSucceeded | ev.StepFailed | ev.StepSkipped)}
        again = {event.path for event in found.events[end:] if isinstance(event, ev.StepStarted)}
        assert not done & again, f"called again after event {end}: {done & again}"


async def test_folding_the_journal_gives_the_same_state_as_the_live_run() -> None:
    events, _ = await whole_journal()
    clock = FakeClock(auto=True)
    async with opened(*everything(clock), clock=clock) as tp:
        catalog = await tp.tools()
        program = Program(tp.read(plan_text(EVERYTHING)), catalog, Settings())
        state = folding.fold(State(program), events)
    assert (state.status, state.outputs) == ("completed_with_errors", EXPECTED)
    assert state.seq == len(events)
    assert {path: step.status for path, step in state.steps.items() if "/" not in path} == {
        step.path: step.status for step in step_results(events) if "/" not in step.path and "[" not in step.path
    }


async def test_every_event_survives_being_written_and_read() -> None:
    events, _ = await whole_journal()
    again = [decode_event(encode_event(event)) for event in events]
    assert [encode_event(event) for event in again] == [encode_event(event) for event in events]


WRITING = {
    "flow": "chain",
    "steps": [
        {"id": "a", "tool": "r"},
        {"id": "w", "tool": "w", "inputs": {"v": 1}},
        {"id": "z", "tool": "r", "inputs": {"v": "{{ w.n }}"}},
    ],
}


async def interrupted(clock: FakeClock, store: Any, write: Any, plan: Any = WRITING) -> str:
    """A run whose driver died while the write was in flight."""
    async with opened(identity("r"), write, clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.settle()
        assert len(write.calls) == 1
    return run_.id


def hanging(clock: FakeClock, **fields: Any) -> Any:
    return scripted("w", lambda _: after(clock, 1000), then={"n": 5}, effect="write", **fields)


async def test_a_write_in_flight_is_unknown_and_a_person_is_asked() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock))
    w = scripted("w", then={"n": 5}, effect="write")
    async with opened(identity("r"), w, clock=clock, store=store) as tp:
        waiting = await (await tp.resume(run_id)).result()
        assert (waiting.status, waiting.step("w").status, w.calls) == ("waiting", "unknown", [])
        with pytest.raises(RunConflict):
            await tp.settle(run_id, "w")
        with pytest.raises(RunConflict):
            await tp.settle(run_id, "a", retry=True)


@pytest.mark.parametrize(
    ("how", "status", "calls", "z"),
    [
        ({"retry": True}, "completed", 1, {"v": 5}),
        ({"output": {"n": 7}}, "completed", 0, {"v": 7}),
        ({"failed": True}, "failed", 0, None),
    ],
)
async def test_a_write_in_doubt_is_settled_by_a_person(how: dict[str, Any], status: str, calls: int, z: Any) -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock))
    w = scripted("w", then={"n": 5}, effect="write")
    async with opened(r := identity("r"), w, clock=clock, store=store) as tp:
        await (await tp.resume(run_id)).result()
        found = await ran(tp, await (await tp.settle(run_id, "w", by="ann", **how)).result())
    assert (found.status, len(w.calls)) == (status, calls)
    assert r.calls == ([] if z is None else [z])  # type: ignore[attr-defined]
    keys = {event.key for event in found.of(ev.StepStarted) if event.path == "w"}
    assert len(keys) == 1


async def test_an_idempotent_write_in_flight_is_made_again_under_the_same_key() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock, idempotent=True))
    w = scripted("w", then={"n": 5}, effect="write", idempotent=True)
    async with opened(identity("r"), w, clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run_id)).result())
    assert (found.status, len(w.calls)) == ("completed", 1)
    assert len({event.key for event in found.of(ev.StepStarted) if event.path == "w"}) == 1
    assert found.result.step("w").attempts <= 2


async def test_a_read_in_flight_is_made_again_and_that_is_no_failed_attempt() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {"steps": [{"id": "w", "tool": "w", "retry": {"max_retries": 1, "backoff": "none"}}]}
    read = scripted("w", lambda _: after(clock, 1000))
    run_id = await interrupted(clock, store, read, plan)
    again = scripted("w", ValueError("once"), {"ok": 1})
    async with opened(again, clock=clock, store=store) as tp:
        found = await ran(tp, await (await tp.resume(run_id)).result())
    assert found.status == "completed"
    again.assert_complete()


async def test_verify_is_asked_before_a_person() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    verify = scripted("check", then={"happened": True, "output": {"n": 9}})
    run_id = await interrupted_with(clock, store, [hanging(clock, verify="check"), verify])
    async with opened(identity("r"), w := hanging(clock, verify="check"), verify, clock=clock, store=store) as tp:
        result = await (await tp.resume(run_id)).result()
    assert len(verify.calls) == 1
    assert w.calls == []
    assert result.status in ("completed", "waiting")


async def interrupted_with(clock: FakeClock, store: Any, tools: list[Any]) -> str:
    async with opened(identity("r"), *tools, clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(WRITING))
        await clock.settle()
    return run_.id


async def test_a_tool_that_changed_parks_the_run_until_a_person_accepts_it() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock, idempotent=True))
    changed = scripted("w", then={"n": 5}, effect="write", idempotent=True, description="something else now")
    async with opened(identity("r"), changed, clock=clock, store=store) as tp:
        waiting = await (await tp.resume(run_id)).result()
        assert changed.calls == []
        assert waiting.status not in ("completed", "failed")
        assert (await store.get_run(run_id)).status == "waiting"
        found = await ran(tp, await (await tp.settle(run_id, accept_tool=True)).result())
    assert (found.status, len(changed.calls)) == ("completed", 1)


async def test_a_tool_that_is_gone_is_said_when_the_run_is_resumed() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock))
    async with opened(identity("r"), clock=clock, store=store) as tp:
        with pytest.raises(Exception, match="w"):
            await (await tp.resume(run_id)).result()
        assert (await store.get_run(run_id)).status in ("running", "waiting")


async def test_the_plan_that_was_started_is_gone_on_with_even_if_a_composite_changed_meanwhile() -> None:
    def composite(second: str) -> Any:
        return read_composite(
            {
                "name": "inner",
                "parameters": [],
                "effect": "read",
                "implementation": {
                    "type": "composite",
                    "composite": {
                        "steps": [{"id": "one", "tool": "w"}, {"id": "two", "tool": "r", "inputs": {"v": second}}]
                    },
                },
            }
        )

    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {"steps": [{"id": "n", "tool": "inner"}]}
    first = scripted("w", lambda _: after(clock, 1000))
    async with opened(identity("r"), first, composite("old"), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.settle()
    async with opened(r := identity("r"), scripted("w", then={}), composite("new"), clock=clock, store=store) as tp:
        result = await (await tp.resume(run_.id)).result()
    assert result.status == "completed"
    assert r.calls == [{"v": "old"}]  # type: ignore[attr-defined]


async def test_resuming_what_is_not_there_says_so_and_what_has_ended_stays_as_it_is() -> None:
    async with opened(t := identity("t")) as tp:
        with pytest.raises(RunNotFound):
            await tp.resume("run_1700000000000_aaaaaaaaa")
        found = await ran(tp, await tp.run({"steps": [{"tool": "t"}]}))
        with contextlib.suppress(RunConflict):
            await (await tp.resume(found.result.run_id)).result()
        assert await tp.events(found.result.run_id) == found.events
    assert len(t.calls) == 1  # type: ignore[attr-defined]


async def test_a_pause_of_a_retry_is_waited_for_also_after_a_resume() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {"steps": [{"id": "a", "tool": "t", "retry": {"max_retries": 2, "initial_delay": 50}}]}
    async with opened(scripted("t", ValueError("1")), clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.advance(10)
    t = scripted("t", then={"ok": 1})
    async with opened(t, clock=clock, store=store) as tp:
        again = await tp.resume(run_.id)
        await clock.advance(39)
        assert t.calls == []
        await clock.advance(2)
        found = await ran(tp, await again.result())
    assert found.status == "completed"
    assert found.result.step("a").attempts == 2


async def test_a_deadline_of_a_form_holds_after_a_resume() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    plan = {"steps": [{"id": "f", "ask": {"title": "?", "inputs": [{"name": "n"}], "timeout": 100}}]}
    async with opened(clock=clock, store=store) as tp:
        run_id = (await tp.run(tp.read(plan))).run_id
    await clock.advance(1000)
    async with opened(clock=clock, store=store) as tp:
        result = await (await tp.resume(run_id)).result()
    assert result.step("f").status == "timed_out"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_store_that_fails_ends_the_drive_with_its_error_and_the_run_can_be_resumed(when: Any) -> None:
    clock = FakeClock(auto=True)
    inner = MemoryStore(clock=clock.time)
    total = len((await whole_journal())[1])
    for at in range(2, total, 3):
        crashing = CrashingStore(inner, at=at, when=when, how="die")
        async with Toolpath(crashing, clock=clock, settings=Settings()) as tp:
            tp.add(*everything(clock))
            with pytest.raises(Died):
                await tp.run(tp.read(plan_text(EVERYTHING)), ROWS)
        (info, *_) = await inner.list_runs()
        async with opened(*everything(clock), clock=clock, store=inner) as tp:
            if info.status in ("completed_with_errors",):
                continue
            found = await ran(tp, await (await tp.resume(info.run_id)).result())
            assert found.outputs == EXPECTED, f"died at append {at}"


async def test_two_drivers_cannot_drive_one_run() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    async with opened(scripted("t", then=lambda _: after(clock, 5, {})), clock=clock, store=store) as one:
        run_ = await one.start(
            one.read({"flow": "chain", "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t"}]})
        )
        await clock.advance(1)
        journal = await store.drive(run_.id, "another")
        await clock.advance(100)
        # The other one does nothing more with it: what there is, is told.
        assert (await run_.result()).status == "running"
        events = await store.read_events(run_.id)
    assert journal.epoch > 1
    assert not any(isinstance(event, ev.StepSucceeded) for event in events)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
async def test_a_random_graph_resumed_anywhere_gives_the_same_outputs(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 8))
    steps = []
    for n in range(count):
        reads = data.draw(st.sets(st.integers(0, n - 1), max_size=2)) if n else set()
        inputs: dict[str, Any] = {f"d{d}": f"{{{{ s{d}.n }}}}" for d in sorted(reads)}
        step: dict[str, Any] = {"id": f"s{n}", "tool": "t", "inputs": {**inputs, "me": n}}
        if data.draw(st.booleans()):
            step["when"] = data.draw(st.booleans())
        steps.append(step)
    plan = {
        "concurrency": data.draw(st.integers(1, 4)),
        "steps": steps,
        "outputs": {s["id"]: f"{{{{ {s['id']} }}}}" for s in steps},
    }

    def tools(clock: FakeClock) -> list[Any]:
        return [scripted("t", then=lambda inputs: after(clock, inputs["me"] % 3, {"n": [inputs]}))]

    clock = FakeClock(auto=True)
    store = CountingStore(MemoryStore(clock=clock.time))
    async with opened(*tools(clock), clock=clock, store=store) as tp:
        whole = await ran(tp, await tp.run(tp.read(plan)))
    end = data.draw(st.sampled_from(store.ends))
    if end == len(whole.events):
        return
    later = FakeClock(whole.events[end - 1].at, auto=True)
    found = await resumed_from(whole.events[:end], tools(later), later)
    assert (found.status, found.outputs) == (whole.status, whole.outputs)


async def test_events_are_numbered_on_after_a_resume_and_each_drive_has_a_greater_epoch() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)
    run_id = await interrupted(clock, store, hanging(clock, idempotent=True))
    async with opened(identity("r"), hanging(clock, idempotent=True), clock=clock, store=store) as tp:
        await tp.resume(run_id)
        await clock.settle()
    async with opened(
        identity("r"), scripted("w", then={"n": 1}, effect="write", idempotent=True), clock=clock, store=store
    ) as tp:
        found = await ran(tp, await (await tp.resume(run_id)).result())
    epochs = [event.epoch for event in found.of(ev.RunResumed)]
    assert epochs == sorted(set(epochs))
    assert len(epochs) == 2
    assert msgspec.json.encode(found.result.as_json())
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_run_may_be_resumed_that_never_got_beyond_its_first_event() -> None:
    found = await run({"steps": [{"id": "a", "tool": "t", "inputs": {"v": 1}}]}, identity("t"))
    clock = FakeClock(auto=True)
    again = await resumed_from(found.events[:1], [identity("t")], clock)
    assert again.outputs == {"a": {"v": 1}}
