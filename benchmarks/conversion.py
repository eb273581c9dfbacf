"""Gold plans as plans, in the notation that people write, and described tools as tools."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any

import jsonschema_rs

from benchmarks.records import GoldStep, Record, ToolData
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.model.tool import Body, Tool
from toolpath.values import JsonObject

REFERENCE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_PART = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_.-]+)?")


def plan_data(record: Record) -> JsonObject:
    """The gold plan in our notation. Where the tools share a state each step also waits for the one before it."""
    ids = step_ids(record.gold_plan)
    steps: list[JsonObject] = []
    for number, gold in enumerate(record.gold_plan):
        before = record.gold_plan[number - 1].step if record.is_sequential and number else None
        waits_for = dict.fromkeys([*gold.depends_on, *([before] if before else [])])
        step: JsonObject = {"id": ids[gold.step], "tool": gold.tool, "inputs": _translated(gold.arguments, ids)}
        if waits_for:
            step["depends_on"] = [ids[name] for name in waits_for]
        steps.append(step)
    return {"name": re.sub(r"\W", "_", record.id), "flow": "graph", "steps": steps}


def step_ids(gold_plan: Iterable[GoldStep]) -> dict[str, str]:
    """The data set's step names → valid ids, each its own."""
    ids: dict[str, str] = {}
    for gold in gold_plan:
        made = gold.step if _ID.fullmatch(gold.step) else "s_" + re.sub(r"[^A-Za-z0-9_]", "_", gold.step)
        if made in RESERVED or made in KEYWORDS:
            made += "_step"
        while made in ids.values():
            made += "_"
        ids[gold.step] = made
    return ids


def _translated(value: Any, ids: dict[str, str]) -> Any:
    match value:
        case str():
            return REFERENCE.sub(lambda found: "{{ " + _expression(found[1].strip(), ids) + " }}", value)
        case dict():
            return {key: _translated(item, ids) for key, item in value.items()}
        case list():
            return [_translated(item, ids) for item in value]
        case _:
            return value


def _expression(reference: str, ids: dict[str, str]) -> str:
    """`step.a[0].b c` as `step.a[0]["b c"]`."""
    parts = [found[1] if found[1] is not None else found[2] for found in _PART.finditer(reference)]
    indices = [found[1] is not None for found in _PART.finditer(reference)]
    root = ids.get(parts[0], parts[0])
    written = root if _NAME.fullmatch(root) else f'steps["{root}"].output'
    for part, is_index in zip(parts[1:], indices[1:], strict=True):
        if is_index:
            written += f"[{part}]"
        elif _NAME.fullmatch(part) and not keyword.iskeyword(part):
            written += f".{part}"
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            written += f'["{escaped}"]'
    return written


def tools_of(
    described: Iterable[tuple[str, ToolData]], body: Callable[[str, ToolData], Body | None] | None = None
) -> list[Tool]:
    """The described tools (group and data) as tools; `body` gives each its body, by group and data.

    A name that cannot be a key is kept as an alias. Their effect is not known, so it is `write`; no call is retried.
    """
    return [_tool(group, data, body(group, data) if body else None) for group, data in described]


def _tool(group: str, data: ToolData, body: Body | None) -> Tool:
    name = data.name
    aliases: tuple[str, ...] = ()
    if not group and "." in name:
        group, _, name = name.partition(".")
    if not _KEY.fullmatch(f"{group}.{name}" if group else name):
        group, name, aliases = "", re.sub(r"[^A-Za-z0-9_-]", "_", data.name), (data.name,)
    return Tool(
        name=name,
        group=group,
        aliases=aliases,
        description=data.description,
        input_schema={"type": "object", **data.parameters},
        output_schema=data.output_schema if is_schema(data.output_schema) else None,
        body=body,
    )


def is_schema(schema: JsonObject | None) -> bool:
    """Whether this is a JSON Schema; two of the data sets' output schemas are none, and count as unknown."""
    return schema is None or bool(jsonschema_rs.meta.is_valid(schema))
