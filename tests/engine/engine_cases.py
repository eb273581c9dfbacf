"""What the tests of the engine share: one run through the public door, with the laws that hold for every journal."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from toolpath import RunContext, RunResult, Settings, Tool, Toolpath
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, decode_event, encode_event, event_type
from toolpath.model.run import RunInfo
from toolpath.projections.results import run_result
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

Source = str | dict[str, Any]

_ENDS = (ev.StepSucceeded, ev.StepFailed, ev.StepTimedOut, ev.StepSkipped, ev.StepCancelled)
_RUN_ENDS = (ev.RunCompleted, ev.RunFailed, ev.RunCancelled)


class Ran:
    """A run that has come to rest: its result and its journal."""

    def __init__(self, result: RunResult, events: Sequence[AnyEvent]) -> None:
        self.result = result
        self.events = list(events)

    @property
    def status(self) -> str:
        return self.result.status

    @property
    def outputs(self) -> Any:
        return self.result.outputs

    def statuses(self) -> dict[str, str]:
        """How each step instance ended, by path."""
        return {step.path: step.status for step in self.result.results}

    def trace(self, *kinds: str) -> list[str]:
        """`type path` of the events of these types, in order."""
        return [f"{event_type(e)} {getattr(e, 'path', '')}".strip() for e in self.events if event_type(e) in kinds]

    def of(self, kind: type) -> list[Any]:
        """The events of one class, in order."""
        return [event for event in self.events if type(event) is kind]

    def seq(self, kind: str, path: str) -> int:
        """The number of the first event of this type and path."""
        return next(e.seq for e in self.events if event_type(e) == kind and getattr(e, "path", "") == path)

    def warned(self) -> list[str]:
        """`code path` of each warning."""
        return [f"{event.code} {event.path}".strip() for event in self.of(ev.Warned)]


@asynccontextmanager
async def opened(*tools: Any, clock: Any = None, **options: Any) -> AsyncIterator[Toolpath]:
    """A Toolpath with these tools, whose clock runs through all waiting at once."""
    options.setdefault("settings", Settings())
    async with Toolpath(clock=clock or FakeClock(auto=True), **options) as tp:
        tp.add(*tools)
        yield tp


async def run(
    source: Source, *tools: Any, inputs: dict[str, Any] | None = None, context: RunContext | None = None, **options: Any
) -> Ran:
    """Run a plan in a Toolpath of its own."""
    async with opened(*tools, **options) as tp:
        return await run_in(tp, source, inputs, context=context)


async def run_in(
    tp: Toolpath, source: Source, inputs: dict[str, Any] | None = None, *, context: RunContext | None = None
) -> Ran:
    """Run a plan in an open Toolpath, and hold the journal to its laws."""
    plan = tp.read(plan_text(source))
    return await ran(tp, await tp.run(plan, inputs or {}, context=context))


async def ran(tp: Toolpath, result: RunResult) -> Ran:
    """The result with its journal, held to the laws."""
    found = Ran(result, await tp.events(result.run_id))
    assert_lawful(found)
    return found


async def resumed_after(events: Sequence[AnyEvent], *tools: Any, **options: Any) -> Ran:
    """What comes of a run of which only these events are left, its driver dead."""
    clock = FakeClock(auto=True)
    store = MemoryStore(clock=clock.time)
    started = events[0]
    assert isinstance(started, ev.RunStarted)
    async with opened(*tools, clock=clock, store=store, **options) as tp:
        await store.create_run(RunInfo(run_id=started.run_id, status="running"))
        (await store.drive(started.run_id, "dead")).append(events)
        # Nobody has heard of the driver since.
        await clock.sleep(3600)
        return await ran(tp, await (await tp.resume(started.run_id)).result())


def plan_text(source: Source) -> Any:
    """YAML without its common indent; a dictionary as it is."""
    return textwrap.dedent(source) if isinstance(source, str) else source


def assert_lawful(found: Ran) -> None:
    """What holds for every journal, whatever the plan."""
    events = found.events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[0], ev.RunStarted)
    times = [event.at for event in events]
    assert times == sorted(times), "events are in the order of their times"
    for event in events:
        read = decode_event(encode_event(event))
        assert decode_event(encode_event(read)) == read
    _assert_folds_to_the_result(found)
    if not any(isinstance(event, ev.RunResumed) for event in events):
        assert sum(isinstance(event, _RUN_ENDS) for event in events) <= 1
        _assert_steps_live_once(events)


def _assert_folds_to_the_result(found: Ran) -> None:
    folded = run_result(found.result.run_id, found.events)
    live = found.result
    assert (live.status, live.reason) == (folded.status, folded.reason)
    assert (live.error and live.error.message) == (folded.error and folded.error.message)
    assert live.results == folded.results
    assert found.result.total_duration == folded.total_duration


def _assert_steps_live_once(events: Sequence[AnyEvent]) -> None:
    """No step instance starts after it ended, and nothing but late notes follows the run's end."""
    over: set[str] = set()
    run_over = False
    for event in events:
        path = getattr(event, "path", None)
        if isinstance(event, ev.StepStarted):
            assert path not in over, f"{path} started after its end"
            assert not run_over, f"{path} started after the run's end"
        if isinstance(event, _ENDS):
            assert path not in over, f"{path} ended twice"
            over.add(str(path))
        run_over = run_over or isinstance(event, _RUN_ENDS)


def most_at_once(events: Sequence[AnyEvent]) -> int:
    """The most calls that the journal has in flight at the same time."""
    flying: set[str] = set()
    most = 0
    for event in events:
        path = getattr(event, "path", "")
        if isinstance(event, ev.StepStarted) and event.key:
            flying.add(path)
        elif isinstance(event, (*_ENDS, ev.StepRetrying, ev.FallbackStarted)):
            flying.discard(path)
        most = max(most, len(flying))
    return most


async def after(clock: FakeClock, seconds: float, value: Any = None) -> Any:
    """A tool's answer that takes time; an exception is raised when the time is over."""
    await clock.sleep(seconds)
    if isinstance(value, BaseException):
        raise value
    return value


def identity(name: str, **fields: Any) -> Tool:
    """A tool that reads and gives its inputs back."""
    return scripted(name, then=lambda inputs: inputs, **fields)
