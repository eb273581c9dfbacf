"""Gold plans run on the real, stateful classes of BFCL's multi-turn tasks, every output compared.

The classes come with the package `bfcl-eval`, which is no dependency: `make bench-tools` puts it into a folder of its
own.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from benchmarks.conversion import plan_data, tools_of
from benchmarks.oracle import same
from benchmarks.records import Record, ToolData
from benchmarks.replay_run import Naming, Outcome, order_faults
from toolpath.app import Toolpath
from toolpath.errors import OutputInvalid
from toolpath.model.events import AnyEvent, StepFailed, StepSucceeded, Warned
from toolpath.model.tool import Body
from toolpath.values import Json, JsonObject, plain

DATA_SET = "bfcl_multiturn"
#: Where `make bench-tools` puts the package.
TOOLS = Path(__file__).parent / ".tools"
_MODULES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}


def is_available() -> bool:
    """Whether the classes can be imported; their folder is made known to Python."""
    if TOOLS.is_dir() and str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    try:
        importlib.import_module("bfcl_eval")
    except ImportError:
        return False
    return True


def instances_of(record: Record) -> dict[str, Any]:
    """The record's classes, by name, in the state that its task starts from."""
    made: dict[str, Any] = {}
    for name in record.involved_classes:
        made[name] = getattr(importlib.import_module(f"{_MODULES}.{_FILES[name]}"), name)()
        if hasattr(made[name], "_load_scenario"):
            made[name]._load_scenario(copy.deepcopy(record.initial_config.get(name, {})))
    return made


async def run_real(record: Record, described: list[tuple[str, ToolData]]) -> Outcome:
    """Run the record's plan on its real tools, in order, and compare every output with the recorded one."""
    instances = instances_of(record)

    def body(group: str, data: ToolData) -> Body:
        method = getattr(instances[group], data.name)
        assert inspect.ismethod(method)

        def call(inputs: JsonObject, context: Any) -> Any:
            return as_recorded(method(**inputs))

        return Body(invoke=call)

    async with Toolpath() as toolpath:
        toolpath.add(*tools_of(described, body))
        events = [event async for event in toolpath.stream(toolpath.read(plan_data(record)))]
    return _compared(record, events)


def _compared(record: Record, events: list[AnyEvent]) -> Outcome:
    outcome = Outcome(record=record.id, steps=len(record.gold_plan))
    named = Naming(record)
    for event in events:
        match event:
            case StepSucceeded():
                expected = record.recorded_outputs[named.step(event.path)]
                if is_recorded(event.output, expected):
                    outcome.outputs += 1
                else:
                    outcome.faults.append(f"{event.path}: {event.output!r:.200} where {expected!r:.200} was recorded")
            case StepFailed():
                outcome.faults.append(f"{event.path}: {event.error.code}: {event.error.message}")
            case Warned():
                outcome.warnings[event.code] = outcome.warnings.get(event.code, 0) + 1
            case _:
                pass
    outcome.faults += order_faults(record, events)
    outcome.status = "completed" if outcome.outputs == outcome.steps and not outcome.faults else "failed"
    return outcome


def as_recorded(output: Any) -> Json:
    """What a method gave; what is no JSON (numbers of mpmath) as Python's text of it, as it was recorded."""
    try:
        return plain(output)[0]
    except OutputInvalid:
        return str(output)


def is_recorded(output: Json, expected: Json) -> bool:
    """Whether the output is the recorded one. What is no object was recorded as Python's text of it."""
    return same(output, expected) if isinstance(expected, dict) else str(output) == str(expected)
