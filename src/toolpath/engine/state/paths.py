"""Names of step instances: `id[item]#visit~entry/child`. Pure.

`[item]` is the number of a loop's item, `#visit` counts how often a chain came to the step, `~entry` how often a block
was begun anew by a retry or fallback. Counts of one are not written. A branch that was written as one step is named
`parallel[step]`; the step itself stands at `parallel/step`, and what is inside it below that. A call that a tool makes
stands under its key; that of an agent has two segments, `round[3]/act[1]`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolpath.values import digest

_SEGMENT = re.compile(
    r"(?P<id>[^\[\]#~/]+)(?:\[(?:(?P<item>\d+)|(?P<branch>[^\[\]#~/]+))\])?(?:#(?P<visit>\d+))?(?:~(?P<entry>\d+))?"
)
_UNSAFE = re.compile(r"[\[\]#~/\s]")
#: Keys that stand in paths as they are: they say in which round of an agent's life the call lies.
_ROUND = r"round\[\d{1,5}\]/[a-z_]{1,40}(?:\[\d{1,5}\])?"
_ROUND_KEY = re.compile(_ROUND)
_IN_ROUND = re.compile(rf"(?P<step>(?P<calls>.+)/(?P<key>{_ROUND}))(?:~(?P<entry>\d+))?")
_ENTRY = re.compile(r"~\d+$")
#: Names that the engine gives to calls below a step.
_OWN = re.compile(r"verify(-\d+)?|.*-[0-9a-f]{8}(-\d+)?")


class Segment(NamedTuple):
    """One part of a path."""

    id: str
    item: int | None = None
    visit: int = 1
    entry: int = 1
    branch: str = ""


def parse_segment(text: str) -> Segment:
    """The parts of one segment. Raises `ValueError` for what is none."""
    match = _SEGMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} names no step instance; paths look like 'each[3]/fetch#2'.")
    item = match["item"]
    visit, entry = int(match["visit"] or 1), int(match["entry"] or 1)
    return Segment(match["id"], None if item is None else int(item), visit, entry, match["branch"] or "")


def step_name(step_id: str, visit: int) -> str:
    """The last segment of a step's path."""
    return step_id if visit == 1 else f"{step_id}#{visit}"


def scope_name(step_id: str, item: int | str | None, visit: int, entry: int) -> str:
    """The segment that names a block; but for a branch that is one step, its children stand under it."""
    name = step_id if item is None else f"{step_id}[{item}]"
    if visit > 1:
        name = f"{name}#{visit}"
    return name if entry == 1 else f"{name}~{entry}"


def top(path: str) -> str:
    """Id of the plan's own step that this is, or is inside of."""
    return path.partition("/")[0].partition("[")[0].partition("#")[0].partition("~")[0]


class InRound(NamedTuple):
    """A call that an agent makes in one of its rounds, or the block of what it called."""

    step: str
    """Path of the call."""
    calls: str
    """Path of the block that the agent's calls stand in."""
    agent: str
    key: str
    entry: int


def in_round(path: str) -> InRound | None:
    """The parts of a path that ends with a key like `round[3]/act[1]`; None for any other one."""
    match = _IN_ROUND.fullmatch(path) if "/round[" in path else None
    if match is None:
        return None
    calls = match["calls"]
    return InRound(match["step"], calls, _ENTRY.sub("", calls), match["key"], int(match["entry"] or 1))


def call_key(run_id: str, path: str, target: int, revision: int) -> str:
    """The idempotency key of a call: by the step's own tool (`target` 0) or a fallback, in which plan of the run."""
    key = f"{run_id}/{path}/{target}"
    # A step of a new plan may have the name of one that did something else.
    return f"{key}~{revision}" if revision else key


def child_key(key: str) -> str:
    """A key of a child step as part of a path: one like `round[3]/act[1]` stands there as it is."""
    return key if _ROUND_KEY.fullmatch(key) else safe_key(key)


def safe_key(key: str) -> str:
    """A key of a child step as part of a path: other keys have other parts."""
    safe = old_key(key)
    return safe if safe == key and not _OWN.fullmatch(key) else f"{safe}-{digest(key)[7:15]}"


def old_key(key: str) -> str:
    """The same in the oldest journals, whose `run.started` says nothing of paths."""
    return _UNSAFE.sub("_", key)[:200] or "call"
