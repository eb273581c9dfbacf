"""Several calls of one tool that a text joins: `a room in Rome for 2 nights and one in Oslo for 3`. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from toolpath.planner.offline.assigned_mentions import MOST_CALLS
from toolpath.planner.offline.fill import Filling, fill
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.match import WEAK
from toolpath.planner.offline.mention import is_joined
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.repeated import rows
from toolpath.planner.offline.slots import Slot

_JOINT = re.compile(
    r",?\s+(?:and|as\s+well\s+as|plus|then|followed\s+by|while|whereas)\s+(?:then\s+|also\s+|finally\s+)?"
    r"|[,;]\s+|(?<=[.!?])\s+|\n+",
    re.IGNORECASE,
)
_MOST_PIECES = 40
Values = Mapping[str, Found]


def conjoined(slots: Sequence[Slot], text: str, *, about: frozenset[str] = frozenset()) -> Filling | None:
    """The calls where pieces between conjunctions repeat two parameters or more; None where they do not.

    What only one piece says holds for the calls of the others too, if they need it.
    """
    if (repeated := _repeated(slots, text, about)) is not None:
        return repeated
    pieces = _pieces(text, has_lists=any(slot.type == "array" for slot in slots))
    if len(pieces) < 2:
        return None
    varying = _varying([_firm(slots, piece, about) for piece in pieces])
    if len(varying) < 2:
        return None
    groups = _groups(slots, pieces, varying, about)
    if not 2 <= len(groups) <= MOST_CALLS:
        return None
    fillings = [fill(slots, group, about=about) for group in groups]
    if any(len(filling.calls) > 1 or not varying <= filling.calls[0].keys() for filling in fillings):
        return None
    calls = _completed(slots, [filling.calls[0] for filling in fillings], fill(slots, text, about=about))
    if not _are_alike(calls, varying):
        return None
    told = [tuple(str(call[name].value) for name in sorted(varying)) for call in calls]
    if len(set(told)) < len(told):
        return None
    missing = tuple(slot for slot in slots if slot.required and any(slot.name not in call for call in calls))
    return Filling(tuple(calls), missing, frozenset[int]().union(*(filling.used for filling in fillings)))


def _repeated(slots: Sequence[Slot], text: str, about: frozenset[str]) -> Filling | None:
    """The calls where the text says rows of values in one way, each of which gives all that is needed."""
    said = [one for one in mentions(text) if one.kind != "phrase"]
    texts = rows(slots, text, said)
    if texts is None:
        return None
    fillings = [fill(slots, one, about=about) for one in texts]
    if any(len(filling.calls) != 1 or filling.missing for filling in fillings):
        return None
    calls = tuple(filling.calls[0] for filling in fillings)
    told = [tuple((name, str(found.value)) for name, found in call.items()) for call in calls]
    return Filling(calls, (), fillings[0].used) if len(set(told)) == len(told) else None


def _pieces(text: str, *, has_lists: bool) -> list[str]:
    """The text cut at its conjunctions; what is one mention, or one list, stays whole."""
    said = [one for one in mentions(text) if one.kind != "phrase"]
    whole = [(one.start, one.end) for one in said]
    if has_lists:
        whole += [
            (left.end, right.start)
            for left, right in pairwise(said)
            if left.kind == right.kind != "list" and is_joined(text, left, right)
        ]
    pieces: list[str] = []
    start = 0
    for joint in _JOINT.finditer(text):
        if joint.start() <= start or any(begin < joint.end() and joint.start() < end for begin, end in whole):
            continue
        # The conjunction stays with what follows: at the head of a piece a capital would be one of grammar.
        end = joint.start() if joint.group().strip() else joint.end()
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces if len(pieces) <= _MOST_PIECES else []


def _firm(slots: Sequence[Slot], piece: str, about: frozenset[str]) -> frozenset[str]:
    """The parameters for which the piece has a value that is more than some plain word."""
    found = fill(slots, piece, about=about).calls[0]
    return frozenset(
        name
        for name, one in found.items()
        if one.sure > WEAK and one.because != "its default" and (one.mention is None or one.mention.kind != "phrase")
    )


def _varying(firm: Sequence[frozenset[str]]) -> frozenset[str]:
    """Parameters that more than one piece gives."""
    counts = Counter(name for names in firm for name in names)
    return frozenset(name for name, count in counts.items() if count > 1)


def _groups(slots: Sequence[Slot], pieces: Sequence[str], varying: frozenset[str], about: frozenset[str]) -> list[str]:
    """The pieces put together so that each group has every varying parameter; none where that cannot be."""
    groups: list[str] = []
    current, has = "", frozenset[str]()
    for piece in pieces:
        names = _firm(slots, piece, about) & varying
        if names & has and has == varying:
            groups.append(current)
            current, has = piece, names
        else:
            current, has = current + piece, has | names
    return [*groups, current] if has == varying else []


def _are_alike(calls: Sequence[Values], varying: frozenset[str]) -> bool:
    """Whether each call says its own values in the way the others do, and none of them twice."""
    for name in varying:
        mentioned = [call[name].mention for call in calls]
        if len({one.kind if one is not None else "" for one in mentioned}) > 1:
            return False
    for call in calls:
        starts = [mention.start for name in varying if (mention := call[name].mention) is not None]
        if len(set(starts)) < len(starts):
            return False
    return True


def _completed(slots: Sequence[Slot], calls: Sequence[Values], whole: Filling) -> list[dict[str, Found]]:
    """The calls with what they need and only another one, or the text as a whole, says."""
    completed: list[dict[str, Found]] = []
    for index, call in enumerate(calls):
        others = [*reversed(calls[:index]), *calls[index + 1 :], *whole.calls]
        made = dict(call)
        for slot in slots:
            if slot.required and slot.name not in made:
                said = next((other[slot.name] for other in others if slot.name in other), None)
                if said is not None:
                    made[slot.name] = said
        completed.append({slot.name: made[slot.name] for slot in slots if slot.name in made})
    return completed
