"""Difference of two documents of a plan or a plan template, step by step. Pure."""

from __future__ import annotations

import difflib
from typing import Final

import msgspec

from toolpath.model.versions import DocumentDiff
from toolpath.values import Json, JsonObject

#: Lines of a difference that are told at most.
_MOST_LINES: Final = 2_000
#: Lines of a text up to which those that it shares with the other one are sought: that takes the square of the time.
_MOST_COMPARED: Final = 8_000


def diff_of(
    earlier: JsonObject, later: JsonObject, *, names: tuple[str, str], texts: tuple[str, str] = ("", "")
) -> DocumentDiff:
    """The changes in the later document; `names` head the difference of their lines.

    `texts`: what was written, where the documents came as text: their lines are then compared, comments and all.
    """
    before, after = _steps(earlier), _steps(later)
    both = [step for step in before if step in after]
    changed = {step: _fields(before[step], after[step]) for step in both if before[step] != after[step]}
    return DocumentDiff(
        added=tuple(step for step in after if step not in before),
        removed=tuple(step for step in before if step not in after),
        changed=changed,
        fields=tuple(name for name in _fields(earlier, later) if name != "steps"),
        moved=both != [step for step in after if step in before],
        text=_lines(earlier, later, names, texts),
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


def _lines(earlier: JsonObject, later: JsonObject, names: tuple[str, str], texts: tuple[str, str]) -> str:
    written = texts if all(texts) else (_printed(earlier), _printed(later))
    before, after = (text.splitlines() for text in written)
    if max(len(before), len(after)) > _MOST_COMPARED:
        found = _replaced(before, after, names)
    else:
        found = list(difflib.unified_diff(before, after, fromfile=names[0], tofile=names[1], lineterm=""))
    if len(found) > _MOST_LINES:
        found = [*found[:_MOST_LINES], f"… {len(found) - _MOST_LINES:,} more lines"]
    return "\n".join(found)


def _replaced(before: list[str], after: list[str], names: tuple[str, str]) -> list[str]:
    """The difference as one piece: from the first line that differs to the last one."""
    if before == after:
        return []
    fewest = min(len(before), len(after))
    head = next((number for number in range(fewest) if before[number] != after[number]), fewest)
    rest = fewest - head
    tail = next((number for number in range(rest) if before[-1 - number] != after[-1 - number]), rest)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    place = f"@@ -{head + bool(old)},{len(old)} +{head + bool(new)},{len(new)} @@"
    told = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return [f"--- {names[0]}", f"+++ {names[1]}", place, *told]


def _printed(document: JsonObject) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
