"""The refusal of a request that no tool fits, which names the nearest tools. Pure."""

from __future__ import annotations

from toolpath.errors import NoToolFits
from toolpath.planner.offline.rank import Ranker
from toolpath.planner.records import NO_TOOLS


def refusal(text: str, ranker: Ranker) -> NoToolFits:
    """The refusal of this text, with the three tools whose words are nearest to it."""
    nearest = sorted(ranker.candidates, key=lambda one: (-ranker.fit(one, text).score, one.tool.key))[:3]
    names = [one.tool.key for one in nearest]
    if not text:
        return NoToolFits("The request is empty.", hint="Say what is to be done.", suggestions=names)
    connected = ", ".join(one.tool.key for one in ranker.candidates[:10])
    return NoToolFits(
        f"Agent could not determine a matching tool. Connected tools: [{connected}]",
        suggestions=names,
        hint="Say it in the words of a tool, or add a tool that does it." if connected else NO_TOOLS,
    )
