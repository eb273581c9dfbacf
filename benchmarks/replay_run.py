"""One gold plan run with its recorded outputs behind the tools, and what has to hold of the run."""

from __future__ import annotations

import re
from typing import Any, Self

import jsonschema_rs
import msgspec

from benchmarks.conversion import plan_data, step_ids, tools_of
from benchmarks.oracle import expected_arguments, same, same_but_for_form
from benchmarks.records import Record, ToolData
from toolpath.app import Toolpath
from toolpath.model.events import AnyEvent, RunCompleted, RunFailed, StepFailed, StepStarted, StepSucceeded, Warned
from toolpath.model.tool import Body
from toolpath.values import JsonObject

_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Outcome(msgspec.Struct, kw_only=True):
    """What one run showed."""

    record: str
    status: str = ""
    steps: int = 0
    equal: int = 0
    """Steps whose arguments reached the tool exactly as recorded."""
    fitted: int = 0
    """Steps whose arguments did so but for a lossless fit to the schema, as 5 for "5"."""
    outputs: int = 0
    """Steps whose output is the recorded one."""
    warnings: dict[str, int] = {}
    misfits: list[str] = []
    """Steps that were rightly refused: what was recorded does not fit the schema of the argument that it feeds."""
    faults: list[str] = []
    """What did not hold, in words."""


class Stage:
    """A door whose tools answer what was recorded of the record being run: one for many records of equal tools."""

    def __init__(self, described: list[tuple[str, ToolData]]) -> None:
        self._described = described
        self._door = Toolpath()
        self._door.add(*tools_of(described, lambda group, data: Body(invoke=self._answer, wants_context=True)))
        self._record: Record | None = None
        self._received: dict[str, JsonObject] = {}

    async def __aenter__(self) -> Self:
        await self._door.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._door.__aexit__(*raised)

    def _answer(self, inputs: JsonObject, context: Any) -> Any:
        assert self._record is not None
        step = Naming(self._record).step(context.path)
        self._received[step] = inputs
        return self._record.recorded_outputs[step]

    async def run(self, record: Record) -> Outcome:
        """Run the record's plan on its recorded outputs and compare arguments, outputs and order."""
        self._record, self._received = record, {}
        events = [event async for event in self._door.stream(self._door.read(plan_data(record)))]
        outcome = Outcome(record=record.id, steps=len(record.gold_plan))
        outcome.misfits = _misfits(record, self._described, events)
        _compare_end(outcome, events)
        if not outcome.misfits:
            _compare_arguments(outcome, record, self._received)
            _compare_outputs(outcome, record, events)
            outcome.faults += order_faults(record, events)
        return outcome


async def run_recorded(record: Record, described: list[tuple[str, ToolData]]) -> Outcome:
    """Run the record's plan on its recorded outputs and compare arguments, outputs and order."""
    async with Stage(described) as stage:
        return await stage.run(record)


class Naming:
    """The data set's names of the steps that paths in its plan name."""

    def __init__(self, record: Record) -> None:
        self._steps = {made: step for step, made in step_ids(record.gold_plan).items()}

    def step(self, path: str) -> str:
        """The data set's name of the step with this path in a plan without blocks."""
        found = _STEP.match(path)
        return self._steps[found[0]] if found else path


def _misfits(record: Record, described: list[tuple[str, ToolData]], events: list[AnyEvent]) -> list[str]:
    """Refused steps whose recorded arguments do not fit the schema, as a plain validator finds."""
    named, expected = Naming(record), expected_arguments(record)
    schemas = {data.name: data.parameters for _, data in described}
    tools = {gold.step: gold.tool for gold in record.gold_plan}
    refused = [named.step(e.path) for e in events if isinstance(e, StepFailed) and e.error.code == "validation"]
    return [step for step in refused if not jsonschema_rs.is_valid(schemas[tools[step]], expected[step])]


def _compare_end(outcome: Outcome, events: list[AnyEvent]) -> None:
    for event in events:
        match event:
            case RunCompleted():
                outcome.status = event.status
            case RunFailed():
                outcome.status = "failed"
            case StepFailed() if not outcome.misfits:
                outcome.faults.append(f"{event.path}: {event.error.code}: {event.error.message}")
            case Warned():
                outcome.warnings[event.code] = outcome.warnings.get(event.code, 0) + 1
            case _:
                pass
    if outcome.status != ("failed" if outcome.misfits else "completed"):
        outcome.faults.append(f"the run ended as {outcome.status or 'nothing'}")


def _compare_arguments(outcome: Outcome, record: Record, received: dict[str, JsonObject]) -> None:
    for step, expected in expected_arguments(record).items():
        actual = received.get(step)
        if actual is None:
            outcome.faults.append(f"{step}: not called")
        elif same(actual, expected):
            outcome.equal += 1
        elif same_but_for_form(actual, expected):
            outcome.fitted += 1
        else:
            outcome.faults.append(f"{step}: called with {actual!r:.300}, recorded {expected!r:.300}")


def _compare_outputs(outcome: Outcome, record: Record, events: list[AnyEvent]) -> None:
    named = Naming(record)
    for event in events:
        if isinstance(event, StepSucceeded):
            if same(event.output, record.recorded_outputs[named.step(event.path)]):
                outcome.outputs += 1
            else:
                outcome.faults.append(f"{event.path}: another output than the recorded one")


def order_faults(record: Record, events: list[AnyEvent]) -> list[str]:
    """Steps that started before one they depend on had succeeded, by the numbers of their events."""
    named = Naming(record)
    started = {named.step(event.path): event.seq for event in events if isinstance(event, StepStarted)}
    ended = {named.step(event.path): event.seq for event in events if isinstance(event, StepSucceeded)}
    faults = []
    for number, gold in enumerate(record.gold_plan):
        before = [record.gold_plan[number - 1].step] if record.is_sequential and number else []
        for dependency in [*gold.depends_on, *before]:
            if ended.get(dependency, 0) >= started.get(gold.step, 0) or dependency not in ended:
                faults.append(f"{gold.step} started before {dependency} had ended")
    return faults
