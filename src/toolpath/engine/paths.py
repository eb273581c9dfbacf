"""Names of step instances: `id[item]#visit~entry/child`. Pure.

`[item]` is the number of a loop's item, `#visit` counts how often a chain came to the step, `~entry` how often a block
was begun anew by a retry or fallback. Counts of one are not written.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SEGMENT = re.compile(r"(?P<id>[^\[\]#~/]+)(?:\[(?P<item>\d+)\])?(?:#(?P<visit>\d+))?(?:~(?P<entry>\d+))?")
_UNSAFE = re.compile(r"[\[\]#~/\s]")


class Segment(NamedTuple):
    """One part of a path."""

    id: str
    item: int | None = None
    visit: int = 1
    entry: int = 1


def parse_segment(text: str) -> Segment:
    """The parts of one segment. Raises `ValueError` for what is none."""
    match = _SEGMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} names no step instance; paths look like 'each[3]/fetch#2'.")
    item = match["item"]
    return Segment(match["id"], None if item is None else int(item), int(match["visit"] or 1), int(match["entry"] or 1))


def step_name(step_id: str, visit: int) -> str:
    """The last segment of a step's path."""
    return step_id if visit == 1 else f"{step_id}#{visit}"


def scope_name(step_id: str, item: int | None, visit: int, entry: int) -> str:
    """The segment under which a block's children stand."""
    name = step_id if item is None else f"{step_id}[{item}]"
    if visit > 1:
        name = f"{name}#{visit}"
    return name if entry == 1 else f"{name}~{entry}"


def safe_key(key: str) -> str:
    """A key of a child step as part of a path."""
    return _UNSAFE.sub("_", key)[:200] or "call"
