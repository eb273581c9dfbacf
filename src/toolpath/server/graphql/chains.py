"""Tools of the chaining system, `[{toolName, parameters, dependsOn}]`, as the document that they are. Pure."""

from __future__ import annotations

import msgspec

from toolpath.errors import ReadError
from toolpath.model.plan import Plan
from toolpath.model_output.documents import read_document
from toolpath.values import Json, JsonObject

_MOST = 1_000
#: What a document with tools may say beside them.
_BESIDE = ("executionOrder", "toolOrder", "outputs", "failure_mode")
#: Where other notations have their calls.
_OTHERS = ("toolChain", "steps")
_WANTED = 'Give [{"toolName": …, "parameters": {…}, "dependsOn": …}].'


def chain_of(tools: str, *, name: str) -> Plan:
    """The plan of these calls, read like any document of that notation. Raises `ReadError`."""
    given = _decoded(tools, "`tools`")
    beside: JsonObject = {}
    listed = given
    if isinstance(given, dict):
        if "tools" not in given and "selectedTools" not in given:
            return _other(given, name)
        beside = {key: given[key] for key in _BESIDE if key in given}
        listed = given.get("tools") or given.get("selectedTools")
    if not isinstance(listed, list):
        raise ReadError("`tools` is no list.", hint=_WANTED)
    if not listed:
        raise ReadError("No tools selected")
    _refuse_too_many(listed)
    # Without an order the dependencies decide, and nothing is amiss.
    order = beside.get("executionOrder") or beside.get("toolOrder") or [_named(item) for item in listed]
    plan = read_document({**beside, "name": name[:200] or "chain", "tools": listed, "executionOrder": order})
    assert isinstance(plan, Plan)  # what has `tools` is no tool
    return plan


def _other(given: JsonObject, name: str) -> Plan:
    """The plan of a document whose calls stand under another name."""
    listed = next((given[key] for key in _OTHERS if isinstance(given.get(key), list)), None)
    if not isinstance(listed, list):
        raise ReadError("`tools` is no list.", hint=_WANTED)
    _refuse_too_many(listed)
    plan = read_document(given)
    if not isinstance(plan, Plan):
        raise ReadError("`tools` holds a tool, where calls are expected.", hint=_WANTED)
    return msgspec.structs.replace(plan, name=plan.name or name[:200] or "chain")


def _refuse_too_many(listed: list[Json]) -> None:
    if len(listed) > _MOST:
        raise ReadError(f"`tools` has {len(listed):,} entries; the most is {_MOST:,}.")


def _named(item: Json) -> Json:
    if not isinstance(item, dict):
        return item
    return next((item[key] for key in ("tool", "name", "toolName", "tool_name") if isinstance(item.get(key), str)), "")


def _decoded(text: str, what: str) -> Json:
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ReadError(f"{what} is no JSON: {error}") from None
    return value
