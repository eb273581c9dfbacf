"""Difference of two documents of a plan template, step by step. Pure."""

from __future__ import annotations

import difflib
from typing import Final

import msgspec

from toolpath.model.template import TemplateDiff
from toolpath.values import Json, JsonObject

#: Lines of a difference that are told at most.
_MOST_LINES: Final = 2_000


def diff_of(earlier: JsonObject, later: JsonObject, *, names: tuple[str, str]) -> TemplateDiff:
    """What the later document does otherwise; `names` head the difference of their lines."""
    before, after = _steps(earlier), _steps(later)
    both = [step for step in before if step in after]
    changed = {step: _fields(before[step], after[step]) for step in both if before[step] != after[step]}
    return TemplateDiff(
        added=tuple(step for step in after if step not in before),
        removed=tuple(step for step in before if step not in after),
        changed=changed,
        fields=tuple(name for name in _fields(earlier, later) if name != "steps"),
        moved=both != [step for step in after if step in before],
        text=_lines(earlier, later, names),
    )


def _steps(document: JsonObject) -> dict[str, Json]:
    steps = document.get("steps")
    found: dict[str, Json] = {}
    for number, step in enumerate(steps if isinstance(steps, list) else (), 1):
        name = step.get("id") or step.get("tool") if isinstance(step, dict) else None
        name = str(name or f"step_{number}")
        while name in found:
            name = f"{name}_{number}"
        found[name] = step
    return found


def _fields(before: Json, after: Json) -> tuple[str, ...]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ()
    names = dict.fromkeys((*before, *after))
    return tuple(name for name in names if before.get(name) != after.get(name))


def _lines(earlier: JsonObject, later: JsonObject, names: tuple[str, str]) -> str:
    before, after = (
        msgspec.json.format(msgspec.json.encode(document), indent=2).decode().splitlines()
        for document in (earlier, later)
    )
    found = list(difflib.unified_diff(before, after, fromfile=names[0], tofile=names[1], lineterm=""))
    if len(found) > _MOST_LINES:
        found = [*found[:_MOST_LINES], f"… {len(found) - _MOST_LINES:,} more lines"]
    return "\n".join(found)
