"""Tools of the chaining system, `[{toolName, parameters, dependsOn}]`, as the document that they are. Pure."""

from __future__ import annotations

import msgspec

from toolpath.errors import ReadError
from toolpath.language.documents import read_document
from toolpath.model.plan import Plan
from toolpath.values import Json, JsonObject

_MOST = 1_000
#: What a document with tools may say beside them.
_BESIDE = ("executionOrder", "toolOrder", "outputs", "failure_mode")


def chain_of(tools: str, *, name: str) -> Plan:
    """The plan of these calls, read like any document of that notation. Raises `ReadError`."""
    given = _decoded(tools, "`tools`")
    beside: JsonObject = {}
    listed = given
    if isinstance(given, dict):
        beside = {key: given[key] for key in _BESIDE if key in given}
        listed = given.get("tools") or given.get("selectedTools")
    if not isinstance(listed, list):
        raise ReadError("`tools` is no list.", hint='Give [{"toolName": …, "parameters": {…}, "dependsOn": …}].')
    if not listed:
        raise ReadError("No tools selected")
    if len(listed) > _MOST:
        raise ReadError(f"`tools` has {len(listed):,} entries; the most is {_MOST:,}.")
    # Without an order the dependencies decide, and nothing is amiss.
    order = beside.get("executionOrder") or beside.get("toolOrder") or [_named(item) for item in listed]
    plan = read_document({**beside, "name": name[:200] or "chain", "tools": listed, "executionOrder": order})
    assert isinstance(plan, Plan)  # what has `tools` is no tool
    return plan


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
