"""An agent: what it is to do and with what, the schema of what it gives, and what it has spent. Pure data."""

from __future__ import annotations

import msgspec

from toolpath.model.plan import Agent, AgentBudget
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

#: Rounds of an agent where neither its step nor the settings say how many.
USUAL_ROUNDS = 30
#: Names that a step's `tools` may hold and that no tool has: nothing at all, and what every agent or none has.
NONE, TERMINATE, FORM_INPUT = "none", "terminate", "form_input"
BUILT_IN = frozenset({TERMINATE, FORM_INPUT})

_TYPES: dict[str, JsonObject] = {
    "text": {"type": "string"},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "array": {"type": "array"},
    "any": {},
}
COLUMN_TYPES = tuple(_TYPES)


class AgentTask(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A goal, and what may be used to reach it: known before the agent begins."""

    requirement: str
    instructions: str = ""
    context: Json = None
    """What it is told besides, as data."""
    tools: tuple[Tool, ...] = ()
    """What it may call, besides `terminate`."""
    may_ask: bool = False
    """It may put forms before a person."""
    model: str = ""
    """Empty: as the chat is set up."""
    result_schema: JsonObject = {}
    """JSON Schema of what `terminate` is to be given."""
    columns: tuple[str, ...] = ()
    """Fields of its result; none: it gives a text."""
    max_rounds: int = USUAL_ROUNDS
    parallel_calls: bool = True
    """Its model may ask for several calls in one answer; false: the first of them is made."""
    budget: AgentBudget = AgentBudget()
    patience: float = 300.0
    """Seconds that people have to fill in one of its forms."""
    require_tool_call: bool = True
    """Text alone ends nothing; false: it is the result."""
    approve_writes: bool = False
    """A person is asked before each call that writes."""
    longest: int = 400_000
    """Characters of the conversation above which old results are left out."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Spending of an agent's calls, those inside of plans that it called counted."""

    calls: int = 0
    cost: float = 0.0
    """USD."""
    tokens: int = 0


def column_of(column: str) -> tuple[str, str]:
    """Name and type of a column, `name` or `name: type`; the type is empty where it is none that is known."""
    name, colon, kind = column.partition(":")
    kind = kind.strip().casefold()
    return name.strip(), kind if kind in _TYPES else "" if colon else "any"


def row_schema(columns: tuple[str, ...]) -> JsonObject:
    """JSON Schema of a row with these columns."""
    named = dict(column_of(column) for column in columns)
    return {
        "type": "object",
        "properties": {name: _TYPES[kind] if kind else {} for name, kind in named.items()},
        "required": list(named),
        "additionalProperties": False,
    }


def result_schema(columns: tuple[str, ...]) -> JsonObject:
    """JSON Schema of what `terminate` is given: a text, or the rows of a result."""
    message: JsonObject = {"type": "string"}
    if columns:
        message = {"type": "array", "items": row_schema(columns)}
    return {
        "type": "object",
        "properties": {"message": message},
        "required": ["message"],
        "additionalProperties": False,
    }


def output_schema(step: Agent) -> JsonObject:
    """JSON Schema of what the step gives."""
    schema: JsonObject = result_schema(step.output)["properties"]["message"]
    return schema
