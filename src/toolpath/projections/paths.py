"""Paths of step instances, `id[item]#visit~entry/child`: their parts, and the tool that a plan names for one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolpath.values import JsonObject

_ITEM = re.compile(r"\[[^\]/]*\]")
_ENTRY = re.compile(r"~\d+$")


def step_id(path: str) -> str:
    """The id of the step that a path is an instance of: its last segment without item and visit."""
    return _bare(path.rpartition("/")[2])


def ancestors(path: str) -> Iterator[str]:
    """Every instance that the path lies in, nearest first: of `each[3]/fetch` the item `each[3]`, then `each`.

    What is inside a block that was begun anew lies in its step: of `nested~2/fetch` in `nested~2`, then in `nested`.
    """
    while path:
        start, slash, last = path.rpartition("/")
        step = _ENTRY.sub("", last)
        for outer in (step, _ITEM.sub("", step, count=1)):
            if outer != last:
                yield start + slash + outer
                last = outer
        if start:
            yield start
        path = start


def _bare(segment: str) -> str:
    return segment.partition("~")[0].partition("#")[0].partition("[")[0]


class PlannedTools:
    """The tools that a plan's steps call, found by path; each block is indexed once."""

    def __init__(self, plan: JsonObject, bodies: Mapping[str, JsonObject]) -> None:
        self._bodies = bodies
        self._children: dict[str, dict[str, JsonObject]] = {"": _by_id(plan)}
        """Of a step, by its path without items and visits: what its path's next segment may name."""

    def tool(self, path: str) -> str:
        """The tool of the step; empty where it calls none or is not in the plan."""
        at = ""
        step: JsonObject = {}
        for segment in path.split("/"):
            found = self._inside(at, step).get(_bare(segment))
            if found is None:
                return ""
            at, step = f"{at}/{_bare(segment)}", found
        return str(step.get("tool", ""))

    def _inside(self, at: str, step: JsonObject) -> dict[str, JsonObject]:
        known = self._children.get(at)
        if known is None:
            branches = step.get("branches", ())
            known = {branch.get("id", ""): branch for branch in branches}
            for block in [*branches, step, step.get("body", {}), self._bodies.get(step.get("tool", ""), {})]:
                known |= _by_id(block)
            self._children[at] = known
        return known


def _by_id(block: JsonObject) -> dict[str, JsonObject]:
    return {step.get("id", ""): step for step in block.get("steps", ())}
