"""Owners: the tools that a request wants, each with the parts of the request that are its own. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.match import WEAK
from toolpath.planner.offline.named_together import beside
from toolpath.planner.offline.rank import Fit, RankedTool, Ranker

#: A further tool must fit its part at least so well against the best.
_SECOND: Final = 0.5
#: One that fits less is still meant where the part says half of what it needs and speaks of hardly any other tool.
_FOURTH, _RIVAL = 0.1, 0.4
#: So much is enough of one of which no other tool says anything.
_ALONE: Final = 0.3
#: What the verb of a part counts where two tools fit it alike.
_LED: Final = 0.05
#: What belongs to a step before is no sign of the tool that a part wants: `by that author`.
_BACKWARD: Final = re.compile(
    r"\b(?:by|for|from|of|to|on|with)\s+(?:that|this|the same|the new|said)\s+\w+", re.IGNORECASE
)


def owners_of(parts: Sequence[str], ranker: Ranker, whole: Mapping[str, Fit]) -> list[tuple[RankedTool, list[int]]]:
    """Each tool chosen with the parts of the request that are its own, in the order of the request."""
    best = max(ranker.candidates, key=lambda one: whole[one.tool.key].score)
    if len(parts) == 1 or len(ranker.candidates) == 1:
        every = [best, *(beside(best, parts[0], ranker.candidates) if len(parts) == 1 else ())]
        return [(one, list(range(len(parts)))) for one in every]
    owners: dict[str, tuple[RankedTool, list[int]]] = {}
    fits = [
        sorted(
            (
                (
                    ranker.fit(one, _BACKWARD.sub("", part)).score
                    + 0.1 * whole[one.tool.key].score
                    + _LED * _is_led(one, part),
                    one,
                )
                for one in ranker.candidates
            ),
            key=lambda item: -item[0],
        )
        for part in parts
    ]
    top = max(fit[0][0] for fit in fits)
    last: str | None = None
    waiting: list[int] = []
    for index, fit in enumerate(fits):
        score, one = fit[0]
        if score < _SECOND * top and not _is_own(one, parts[index], ranker):
            if last is None:
                waiting.append(index)
            else:
                owners[last][1].append(index)
            continue
        last = one.tool.key
        owners.setdefault(last, (one, []))[1].extend([*waiting, index])
        for other in beside(one, parts[index], ranker.candidates):
            owners.setdefault(other.tool.key, (other, []))[1].extend([*waiting, index])
        waiting = []
    return list(owners.values())


def _is_led(one: RankedTool, part: str) -> bool:
    """Whether the part begins with the verb of the tool."""
    return next(iter(raw_words(part[:60])), "") == one.verb


def _is_own(one: RankedTool, part: str, ranker: Ranker) -> bool:
    """Whether the part hints at this tool alone, and says half or more of what that one needs."""
    score = ranker.fit(one, part).score
    rival = max(ranker.fit(other, part).score for other in ranker.candidates if other is not one)
    if score < _FOURTH or rival > _RIVAL * score:
        return False
    if score >= _ALONE and not rival:
        return True
    needed = [slot for slot in one.slots if slot.required]
    said = fill(needed, part, about=one.name | one.description).calls[0].values()
    firm = sum(found.sure >= WEAK and (found.mention is None or found.mention.kind != "phrase") for found in said)
    return firm > 0 and 2 * firm >= len(needed)
