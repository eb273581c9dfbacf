"""Backward chaining: further tools for what neither the request nor a chosen tool gives, and their needs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.outputs import feeds, outputs_of
from toolpath.planner.offline.rank import RankedTool, Ranker
from toolpath.planner.offline.slots import Slot

#: An output has to fit so well before an unasked tool is brought in for it.
_MAKES = 1.25
_MOST_ADDED = 4


def chained(drafts: Sequence[Draft], ranker: Ranker, text: str) -> list[Draft]:
    """The drafts, preceded by tools that make what is missing, where the request says all that those need."""
    done = list(drafts)
    for _ in range(_MOST_ADDED):
        added = _next(done, ranker, text)
        if added is None:
            break
        done.insert(0, added)
    return done


def _next(drafts: Sequence[Draft], ranker: Ranker, text: str) -> Draft | None:
    for draft in drafts:
        for slot in _open(draft):
            if _is_made(slot, draft, drafts):
                continue
            maker = _maker(slot, draft, drafts, ranker, text)
            if maker is not None:
                return maker
    return None


def _open(draft: Draft) -> list[Slot]:
    """Required parameters without a value, and ids for which the request only has a name."""
    named = [
        slot
        for slot in draft.candidate.slots
        if slot.required
        and "id" in slot.classes
        and any(_is_name(draft, slot.name, number) for number in range(len(draft.filling.calls)))
    ]
    return [*draft.filling.missing, *named]


def _is_name(draft: Draft, name: str, number: int) -> bool:
    found = draft.filling.calls[number].get(name)
    return found is not None and found.mention is not None and found.mention.kind in ("name", "phrase")


def _is_made(slot: Slot, draft: Draft, drafts: Sequence[Draft]) -> bool:
    return any(
        feeds(slot, output, other.candidate) >= 1.0
        for other in drafts
        if other is not draft
        for output in outputs_of(plain_outputs(other.candidate.tool))
    )


def _maker(slot: Slot, draft: Draft, drafts: Sequence[Draft], ranker: Ranker, text: str) -> Draft | None:
    """The tool that makes it and that the request says enough for: rather one that only reads, that fits it best."""
    known = {one.candidate.tool.key for one in drafts}
    makers: list[tuple[bool, float, str, RankedTool]] = []
    for one in ranker.candidates:
        if one.tool.key in known:
            continue
        score = max((feeds(slot, output, one) for output in outputs_of(plain_outputs(one.tool))), default=0.0)
        if score >= _MAKES:
            makers.append((one.tool.is_read, score + ranker.fit(one, text).score, one.tool.key, one))
    rest = _without(draft, slot, text)
    for _, _, _, one in sorted(makers, key=lambda item: (not item[0], -item[1], item[2])):
        filling = fill(one.slots, rest, about=one.name | one.description)
        made = Draft(one, text, ranker.fit(one, text), filling, is_unasked=True)
        if not filling.missing and filling.calls[0] and not _open(made):
            return made
    return None


def _without(draft: Draft, slot: Slot, text: str) -> str:
    """The request without what the draft's other parameters took: that is said of another thing."""
    for call in draft.filling.calls:
        for name, found in call.items():
            if name != slot.name and found.mention is not None:
                text = text.replace(found.mention.text, " " * len(found.mention.text), 1)
    return text
