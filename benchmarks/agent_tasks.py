"""Gold calls of public tasks, made by a model from a script through an agent: `python -m benchmarks agent-tasks`.

BFCL's multi-turn tasks run on its real classes and those of τ-bench on its real tools, where `make bench-tools` has put
them; without τ-bench's the tools answer what was recorded. Every output is compared with the recorded one, and what the
tools have made of their state with what the same calls make of it without an agent.
"""

from __future__ import annotations

import asyncio
import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchmarks import multiturn, tau
from benchmarks.conversion import tools_of
from benchmarks.multiturn import as_recorded, is_recorded
from benchmarks.oracle import expected_arguments, same, same_but_for_form
from benchmarks.records import VARIABLE, GoldStep, Record, ToolData, folder, grouped_tools, read_records
from benchmarks.report import publish, table
from toolpath.app import Toolpath
from toolpath.model.events import StepFailed, StepStarted, StepSucceeded
from toolpath.model.tool import Body, Tool
from toolpath.testing.scripted_model import ScriptedModel, done
from toolpath.values import Json, JsonObject

DATA_SETS = ("bfcl_multiturn", "taubench")
#: What the model says last.
DONE = "All of it is done."


class World(Protocol):
    """The tools of one task, in the state that it starts from."""

    def call(self, group: str, name: str, inputs: JsonObject) -> Any:
        """Make the call."""
        ...

    def state(self) -> Any:
        """What the calls so far have made of it; equal states are equal values."""
        ...


class Played(msgspec.Struct, kw_only=True):
    """One task through an agent."""

    record: str
    calls: int = 0
    same_outputs: int = 0
    same_state: bool = False
    left_out: str = ""
    """Why it cannot be played."""
    faults: list[str] = []


class Summary(msgspec.Struct, kw_only=True):
    """All tasks of a data set, played in one way."""

    data_set: str
    how: str
    tools: str
    tasks: int = 0
    played: int = 0
    calls: int = 0
    same_outputs: int = 0
    same_state: int = 0
    left_out: dict[str, str] = {}
    faults: list[str] = []


class Recorded:
    """Tools that answer what was recorded of each call, in order; their state is what they were called with."""

    def __init__(self, record: Record) -> None:
        self._answers = [record.recorded_outputs[gold.step] for gold in record.gold_plan]
        self._called: list[Any] = []

    def call(self, group: str, name: str, inputs: JsonObject) -> Any:
        """The answer to the call that comes next."""
        self._called.append([name, dict(inputs)])
        return copy.deepcopy(self._answers[len(self._called) - 1])

    def state(self) -> Any:
        """Every call with its arguments."""
        return self._called


class Classes:
    """The classes of one BFCL task."""

    def __init__(self, record: Record) -> None:
        self._made = multiturn.instances_of(record)

    def call(self, group: str, name: str, inputs: JsonObject) -> Any:
        """Call the method."""
        return as_recorded(getattr(self._made[group], name)(**inputs))

    def state(self) -> Any:
        """What the classes' public fields hold, as BFCL itself compares them."""
        return _comparable({name: _public(made) for name, made in self._made.items()})


def _public(made: Any) -> dict[str, Any]:
    # A file knows its folder: that way leads round in circles. Private fields hold times.
    return {name: value for name, value in vars(made).items() if not name.startswith("_") and name != "parent"}


def _comparable(value: Any) -> Any:
    """The value without identity: objects as their class and fields."""
    match value:
        case dict():
            return {str(key): _comparable(item) for key, item in value.items()}
        case list() | tuple():
            return [_comparable(item) for item in value]
        case None | bool() | int() | float() | str():
            return value
        case _ if hasattr(value, "__dict__"):
            return [type(value).__name__, _comparable(_public(value))]
        case _:
            return repr(value)


async def play(
    record: Record, described: Sequence[tuple[str, ToolData]], world: Callable[[], World], *, at_once: bool
) -> Played:
    """Have a scripted model make the gold calls through an agent: one a round, or those of a user's turn `at_once`."""
    played = Played(record=record.id, calls=len(record.gold_plan))
    arguments = expected_arguments(record)
    by_hand, tried = world(), world()
    groups = {data.name: group for group, data in described}
    for gold in record.gold_plan:
        by_hand.call(groups[gold.tool], gold.tool, copy.deepcopy(arguments[gold.step]))

    def body(group: str, data: ToolData) -> Body:
        return Body(invoke=lambda inputs, context: tried.call(group, data.name, inputs))

    tools = tools_of(described, body)
    keys = {data.name: tool.key for (_, data), tool in zip(described, tools, strict=True)}
    turns = _turns(record, at_once=at_once)
    script = ScriptedModel(*([(keys[gold.tool], arguments[gold.step]) for gold in turn] for turn in turns), done(DONE))
    found = await _run(record, tools, script, len(turns) + 1)
    expected = {path: gold for number, turn in enumerate(turns, 1) for path, gold in _paths(number, turn).items()}
    _compare(played, record, expected, found)
    played.same_state = by_hand.state() == tried.state() or same_but_for_form(by_hand.state(), tried.state())
    if not played.same_state:
        played.faults.append("another state than the calls alone make")
    if isinstance(tried, tau.Retail) and tried.digest() != record.final_db_sha256:
        played.faults.append("another state than the recorded one")
    return played


def _turns(record: Record, *, at_once: bool) -> list[list[GoldStep]]:
    if not at_once:
        return [[gold] for gold in record.gold_plan]
    steps = {gold.step: gold for gold in record.gold_plan}
    named = [[steps[step] for step in turn.steps if step in steps] for turn in record.turns]
    return [turn for turn in named if turn] or [list(record.gold_plan)]


def _paths(number: int, turn: Sequence[GoldStep]) -> dict[str, GoldStep]:
    return {f"a/round[{number}]/act[{index}]": gold for index, gold in enumerate(turn)}


async def _run(record: Record, tools: Sequence[Tool], script: ScriptedModel, rounds: int) -> list[Any]:
    plan = {"steps": [{"id": "a", "agent": {"requirement": record.query, "max_rounds": rounds}}], "outputs": "{{ a }}"}
    async with Toolpath(chat=script) as tp:
        tp.add(*tools)
        return [event async for event in tp.stream(tp.read(plan))]


def _compare(played: Played, record: Record, expected: Mapping[str, GoldStep], events: Sequence[Any]) -> None:
    started = {event.path: event for event in events if isinstance(event, StepStarted)}
    ends: dict[str, Json] = {event.path: event.output for event in events if isinstance(event, StepSucceeded)}
    failures = {event.path: event.error for event in events if isinstance(event, StepFailed)}
    for path, gold in expected.items():
        if path in failures:
            played.faults.append(f"{gold.step}: {failures[path].code}: {failures[path].message:.200}")
        elif path not in ends or path not in started:
            played.faults.append(f"{gold.step}: not called")
        elif _is_same(ends[path], record.recorded_outputs[gold.step]):
            played.same_outputs += 1
        else:
            played.faults.append(f"{gold.step}: another output than the recorded one")
    calls = [path for path in started if "/act[" in path and started[path].tool != "toolpath.terminate"]
    if surplus := sorted(set(calls) - set(expected)):
        played.faults.append(f"called besides: {', '.join(surplus[:3])}")
    if ends.get("a") != DONE:
        played.faults.append("the agent did not end as the script does")


def _is_same(output: Json, expected: Json) -> bool:
    return same(output, expected) or is_recorded(output, expected)


def cannot_be_played(record: Record) -> str:
    """Why its gold calls are none that an agent makes; empty where they are."""
    return f"its gold contradicts its own schema: {record.defects[0]}" if record.defects else ""


async def play_data_set(where: Path, data_set: str, *, at_once: bool, limit: int | None = None) -> Summary:
    """Play every task of the data set; at most `limit` of them."""
    world_of, tools = world_for(data_set)
    how = "a turn's calls in one answer" if at_once else "one call an answer"
    summary = Summary(data_set=data_set, how=how, tools=tools)
    for record in read_records(where, data_set)[:limit]:
        summary.tasks += 1
        if reason := cannot_be_played(record):
            summary.left_out[record.id] = reason
            continue
        described = grouped_tools(where, record) or []
        played = await play(record, described, lambda record=record: world_of(record), at_once=at_once)  # type: ignore[misc]
        summary.played += 1
        summary.calls += played.calls
        summary.same_outputs += played.same_outputs
        summary.same_state += played.same_state
        summary.faults += [f"{record.id}: {fault}" for fault in played.faults]
    return summary


def world_for(data_set: str) -> tuple[Callable[[Record], World], str]:
    """How the tools of a data set's tasks are made, and what they are."""
    if data_set == multiturn.DATA_SET and multiturn.is_available():
        return Classes, "real classes"
    if data_set == tau.DATA_SET and tau.is_available():
        return tau.Retail, "real tools"
    return Recorded, "recorded answers"


def show(summaries: Sequence[Summary]) -> str:
    """The tasks as a table."""
    head = ["data set", "how", "tools", "tasks", "played", "cannot be played", "calls", "outputs equal",
            "final states equal", "faults"]  # fmt: skip
    return table(
        head,
        [
            (s.data_set, s.how, s.tools, s.tasks, s.played, len(s.left_out), s.calls, s.same_outputs, s.same_state,
             len(s.faults))
            for s in summaries
        ],
    )  # fmt: skip


def main() -> int:
    """Play what is there; 1 when something did not hold."""
    where = folder()
    if where is None:
        print(f"The records are not there: {VARIABLE} has to name their folder.", file=sys.stderr)
        return 2
    summaries = [
        asyncio.run(play_data_set(where, data_set, at_once=at_once))
        for data_set in DATA_SETS
        for at_once in (False, True)
    ]
    text = show(summaries)
    left_out = {record: reason for summary in summaries for record, reason in summary.left_out.items()}
    for record, reason in left_out.items():
        text += f"\n\n`{record}` cannot be played: {reason}."
    print(text)
    publish("agent-tasks", text, msgspec.to_builtins(summaries))
    faults = [fault for summary in summaries for fault in summary.faults]
    for fault in faults[:50]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0
