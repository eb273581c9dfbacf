"""Tools of the chaining system, `[{toolName, parameters, dependsOn}]`, read as a plan. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.errors import ReadError
from toolpath.model.plan import Plan
from toolpath.values import Json, JsonObject
from toolpath.workspace.plans import read_plan_document

_MOST = 1_000


def chain_of(tools: str, *, name: str) -> Plan:
    """The plan of these calls. What does not resolve is kept, as that system has it. Raises `ReadError`."""
    listed = _decoded(tools, "`tools`")
    if isinstance(listed, dict):
        listed = listed.get("tools") or listed.get("selectedTools")
    if not isinstance(listed, list):
        raise ReadError("`tools` is no list.", hint='Give [{"toolName": …, "parameters": {…}, "dependsOn": …}].')
    if not listed:
        raise ReadError("No tools selected")
    if len(listed) > _MOST:
        raise ReadError(f"`tools` has {len(listed):,} entries; the most is {_MOST:,}.")
    steps: list[JsonObject] = []
    taken: dict[str, int] = {}
    for number, item in enumerate(listed):
        steps.append(_step(number, item, taken))
    return read_plan_document({"name": name[:200] or "chain", "on_unresolved": "keep", "steps": steps})


def _step(number: int, item: Any, taken: dict[str, int]) -> JsonObject:
    tool = item.get("toolName") or item.get("name") or item.get("tool") if isinstance(item, dict) else None
    if not isinstance(tool, str):
        raise ReadError(f"Entry {number} of `tools` names no tool.", hint="Give it a toolName.")
    parameters = item.get("parameters") or {}
    if isinstance(parameters, str):
        parameters = _decoded(parameters, f"`parameters` of {tool}")
    if not isinstance(parameters, dict):
        raise ReadError(f"`parameters` of {tool} are no object.")
    bare = tool.rpartition(".")[2]
    taken[bare] = taken.get(bare, 0) + 1
    step: JsonObject = {
        "id": bare if taken[bare] == 1 else f"{bare}_{taken[bare]}",
        "tool": tool,
        "inputs": parameters,
    }
    before = item.get("dependsOn")
    if before:
        names = before if isinstance(before, list) else [before]
        step["depends_on"] = [str(known).rpartition(".")[2] for known in names]
    return step


def _decoded(text: str, what: str) -> Json:
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ReadError(f"{what} is no JSON: {error}") from None
    return value
