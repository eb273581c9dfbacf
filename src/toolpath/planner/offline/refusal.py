"""The refusal of a request that no tool fits, which names the nearest tools. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.errors import NoToolFits
from toolpath.planner.offline.rank import Ranker
from toolpath.planner.records import NO_TOOLS

#: Tools that are named; so many of them as what may be meant.
_NAMED: Final = 10
_MEANT: Final = 3


def refusal(text: str, ranker: Ranker) -> NoToolFits:
    """The refusal of this text: the tools there are, the nearest to its words first where there are many."""
    fits = {one.tool.key: ranker.fit(one, text).score for one in ranker.candidates}
    nearest = sorted(fits, key=lambda key: (-fits[key], key))
    near = nearest[:_MEANT]
    if not text:
        return NoToolFits("The request is empty.", hint="Say what is to be done.", suggestions=near)
    is_cut = len(fits) > _NAMED
    said = f", the nearest {_NAMED} of {len(fits)}" if is_cut else ""
    connected = ", ".join(nearest[:_NAMED] if is_cut else fits)
    return NoToolFits(
        f"Agent could not determine a matching tool. Connected tools{said}: [{connected}]",
        suggestions=near,
        hint="Say it in the words of a tool, or add a tool that does it." if connected else NO_TOOLS,
    )
