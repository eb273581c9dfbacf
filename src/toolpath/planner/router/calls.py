"""Calls that were decided on → a plan in which each runs after the one before it, whatever becomes of that. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.expressions.quoted import escaped
from toolpath.model.plan import Call, Origin, Plan
from toolpath.model_output.references import renamed, texts_in
from toolpath.values import Json, JsonObject

#: Name of the plans that requests are routed to.
ROUTED: Final = "routed"
_OTHER: Final = re.compile(r"\W")
_ROOT: Final = re.compile(r"\{\{[^}]*?\b([A-Za-z_]\w*)")
#: Inputs that take the words of a request as they are.
_TEXT_INPUTS: Final = ("query", "q", "text", "input", "question", "prompt", "search", "message", "request")


class ChosenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that is to be called."""

    tool: str
    """Its key."""
    inputs: JsonObject
    asked: str = ""
    """The name by which it was asked for."""


def plan_of_calls(request: str, calls: Sequence[ChosenCall], *, reasoning: str, confidence: float) -> Plan:
    """The calls one after the other; a later one that reads the result of an earlier one is skipped where that failed.

    Nothing else of a failure stops the others. Templates that stand in the request itself are data.
    """
    ids = _ids(calls)
    roots: dict[str, str] = {}
    steps: list[Call] = []
    for step_id, call in zip(ids, calls, strict=True):
        inputs = _renamed(escaped(call.inputs, request), roots)
        before = steps[-1].id if steps else ""
        # A status is there when a step has ended, however it ended: this orders the calls and ties none to another.
        when = f"{{{{ steps.{before}.status != '' }}}}" if before and before not in _read(inputs) else None
        steps.append(Call(id=step_id, tool=call.tool, inputs=inputs, when=when))
        roots |= _names_of(call, step_id)
    return Plan(
        name=ROUTED,
        steps=tuple(steps),
        failure_mode="isolate",
        origin=Origin(request=request, reasoning=reasoning, confidence=confidence),
    )


def _ids(calls: Sequence[ChosenCall]) -> list[str]:
    found: list[str] = []
    for call in calls:
        stem = _OTHER.sub("_", call.tool.rpartition(".")[2]) or "step"
        stem = f"_{stem}" if stem[0].isdigit() else f"{stem}_" if stem in RESERVED | KEYWORDS else stem
        number, name = 1, stem
        while name in found:
            number += 1
            name = f"{stem}_{number}"
        found.append(name)
    return found


def _names_of(call: ChosenCall, step_id: str) -> dict[str, str]:
    """The names under which later calls may read its result; of two calls of one tool the later one's."""
    group, _, name = call.tool.rpartition(".")
    return {one: step_id for one in (group, name, call.tool, call.asked) if one and one != step_id} | {step_id: step_id}


def _renamed(value: Json, roots: Mapping[str, str]) -> Json:
    match value:
        case str():
            return renamed(value, roots)
        case dict():
            return {key: _renamed(item, roots) for key, item in value.items()}
        case list():
            return [_renamed(item, roots) for item in value]
        case _:
            return value


def _read(inputs: Json) -> set[str]:
    return {match.group(1) for text in texts_in(inputs) for match in _ROOT.finditer(text)}


def filled_from_request(key: str, request: str, catalog: Catalog) -> JsonObject | None:
    """The inputs of a tool that was named without any, where the request's own words can be them; else None."""
    schema = catalog.tools[key].input_schema
    properties = schema.get("properties")
    required = schema.get("required")
    names = list(required) if isinstance(required, list) else []
    if not names:
        return {}
    if len(names) != 1 or not isinstance(properties, dict):
        return None
    wanted = properties.get(names[0])
    is_text = isinstance(wanted, dict) and wanted.get("type") == "string" and "enum" not in wanted
    return {names[0]: request} if is_text and names[0] in _TEXT_INPUTS else None
