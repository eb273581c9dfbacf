"""Assignment of mentions to parameters: the best pairs first, then repetitions, then plain words. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import msgspec

from toolpath.checks.request.quantifiers import asks_for_more
from toolpath.checks.request.verbs import is_reading, meanings_of
from toolpath.planner.offline.match import CUED, WEAK, fitness, fits_at_all, is_like, words_of
from toolpath.planner.offline.mention import Mention, is_joined
from toolpath.planner.offline.slots import Slot

#: At most so many calls of one tool are read out of one text.
MOST_CALLS = 20
Chosen = dict[str, list[tuple[Mention, float]]]
_Scored = tuple[float, int, int, Slot, Mention]
#: By so much a mention has to fit one parameter better than another to be a repetition of it.
_CLEARLY = 0.5
_POINTED = 2.0


def _pointed(slots: Sequence[Slot], phrases: Sequence[Mention], about: frozenset[str]) -> Iterator[_Scored]:
    """Plain words that something in the text points to as the value of a required parameter."""
    for rank, slot in enumerate(slots):
        if not slot.required or slot.type not in ("string", "any"):
            continue
        for place, phrase in enumerate(phrases):
            trimmed = _trimmed(phrase, slot, about)
            if trimmed is not None and (score := fitness(slot, trimmed)) >= _POINTED:
                yield (score, -rank, -place, slot, trimmed)


def assign(slots: Sequence[Slot], free: Sequence[Mention], text: str, about: frozenset[str]) -> Chosen:
    """The best mention for each parameter, then its repetitions."""
    found = [one for one in free if one.kind != "phrase"]
    phrases = [one for one in free if one.kind == "phrase"]
    scored = list(_pointed(slots, phrases, about))
    for rank, slot in enumerate(slots):
        for place, mention in enumerate(found):
            score = fitness(slot, mention) + (0.15 if slot.required else -0.35)
            if mention.kind == "name" and all(word in about for word in words_of(mention.text)):
                score -= 0.8
            if score >= (WEAK if slot.required else CUED):
                # What comes first in the text is likelier to be the parameter that comes first.
                scored.append((score - 0.03 * abs(rank - place), -rank, -place, slot, mention))
    scored.sort(key=lambda item: item[:3], reverse=True)
    chosen: Chosen = {}
    taken: set[int] = set()
    for score, _, _, slot, mention in scored:
        if mention.start in taken:
            continue
        group = chosen.get(slot.name)
        if group is None:
            chosen[slot.name] = [(mention, score)]
            taken.add(mention.start)
        elif _is_said_alike(mention, group[-1][0]) and score - _next_best(scored, slot, mention, chosen) >= _CLEARLY:
            group.append((mention, score))
            taken.add(mention.start)
    _in_order(slots, chosen)
    _repeat(scored, chosen, taken, text)
    for group in chosen.values():
        group.sort(key=lambda item: item[0].start)
    return chosen


_NAMING = frozenset(("titled", "called", "named", "saying", "says", "entitled", "about"))


def _is_said_alike(one: Mention, other: Mention) -> bool:
    """The same telling word leads to both, as in `titled A … titled B`."""
    return one.kind == other.kind and one.before[-1:] == other.before[-1:] and bool(_NAMING & {*one.before[-1:]})


def _next_best(scored: Sequence[_Scored], slot: Slot, mention: Mention, chosen: Chosen) -> float:
    """How well the mention fits the best other parameter that has nothing yet."""
    return max(
        (
            score
            for score, _, _, other, one in scored
            if one is mention and other is not slot and other.name not in chosen
        ),
        default=0.0,
    )


def _in_order(slots: Sequence[Slot], chosen: Chosen) -> None:
    """Of parameters that could as well change places, the first takes what is said first."""
    named = [slot for slot in slots if slot.name in chosen]
    for _ in named:
        for left, right in pairwise(named):
            (one, score), (other, second) = chosen[left.name][0], chosen[right.name][0]
            if one.start < other.start or left.type != right.type:
                continue
            swapped = fitness(left, other), fitness(right, one)
            if min(swapped) > 0 and sum(swapped) >= fitness(left, one) + fitness(right, other) - 0.25:
                chosen[left.name], chosen[right.name] = [(other, second)], [(one, score)]


def _repeat(scored: Sequence[_Scored], chosen: Chosen, taken: set[int], text: str) -> None:
    """Further mentions of a parameter: joined with one already chosen, or said in the same way."""
    for joined_alone in (True, False):
        changed = True
        while changed:
            changed = False
            for score, _, _, slot, mention in scored:
                if mention.start in taken or slot.name not in chosen:
                    continue
                group = chosen[slot.name]
                if len(group) < MOST_CALLS and any(
                    _is_in_list(mention, other, text)
                    or (not joined_alone and _is_twin(mention, other, abs(score - own)))
                    for other, own in group
                ):
                    group.append((mention, score))
                    taken.add(mention.start)
                    changed = True


def _is_in_list(one: Mention, other: Mention, text: str) -> bool:
    left, right = (one, other) if one.start < other.start else (other, one)
    return one.kind == other.kind and is_joined(text, left, right)


def _is_twin(one: Mention, other: Mention, difference: float) -> bool:
    """Whether the two are said in the same way."""
    if one.kind != other.kind:
        return False
    before = (one.before[-1:], other.before[-1:])
    same_before = (
        before[0] == before[1] and bool(before[0]) and (one.before[-2:] == other.before[-2:] or difference < 0.6)
    )
    same_unit = bool(one.unit) and one.unit == other.unit and one.before[-1:] == other.before[-1:]
    same_after = bool(one.after) and one.after[:1] == other.after[:1] and before[0] == before[1]
    # `Alice with email … and Bob with email …`
    same_frame = len(one.after) > 1 and one.after[:2] == other.after[:2]
    return same_before or same_unit or same_after or same_frame


def assign_phrases(
    slots: Sequence[Slot], chosen: Chosen, phrases: Sequence[Mention], about: frozenset[str], text: str
) -> None:
    """Plain words for required text parameters that nothing better fits."""
    taken: set[int] = set()
    wanted = [slot for slot in slots if slot.name not in chosen and slot.type in ("string", "any", "array")]
    listed = _listed(phrases, text)
    scored = []
    for slot in wanted:
        for phrase in phrases:
            trimmed = _trimmed(phrase, slot, about)
            if trimmed is None:
                continue
            score = 0.8 * (phrase.start in listed and slot.required)
            score += fitness(slot, trimmed) + (0.1 if slot.required else -0.6) + _modifies(slot, trimmed, about)
            if score >= (WEAK if slot.required else CUED):
                scored.append((score, -phrase.start, slot, trimmed))
    for score, _, slot, phrase in sorted(scored, key=lambda item: item[:2], reverse=True):
        if slot.name not in chosen and phrase.start not in taken:
            chosen[slot.name] = [(phrase, score)]
            taken.add(phrase.start)
    _repeat_phrases(slots, chosen, phrases, about, text, taken, {slot.name for slot in wanted}, listed)


def _repeat_phrases(
    slots: Sequence[Slot],
    chosen: Chosen,
    phrases: Sequence[Mention],
    about: frozenset[str],
    text: str,
    taken: set[int],
    wanted: Collection[str],
    listed: frozenset[int],
) -> None:
    """Further plain words for a parameter that has some, joined with them."""
    for slot in slots:
        group = chosen.get(slot.name)
        if group is None or slot.type not in ("string", "any", "array") or not _goes_on(slot, group, listed):
            continue
        if slot.name not in wanted and not any(one.start in listed for one, _ in group):
            # What something points to is one value, but where it stands in a row.
            continue
        # What stands before what was chosen is met from the last on.
        for phrase in (*phrases, *reversed(phrases)):
            trimmed = _trimmed(phrase, slot, about)
            if trimmed is None or len(group) >= MOST_CALLS or any(one.start == trimmed.start for one, _ in group):
                continue
            pair = (group[-1][0], trimmed) if group[-1][0].start < trimmed.start else (trimmed, group[0][0])
            if trimmed.start not in taken and is_joined(text, *pair):
                group.append((trimmed, group[0][1]))
                taken.add(trimmed.start)
                group.sort(key=lambda item: item[0].start)


def _goes_on(slot: Slot, group: Sequence[tuple[Mention, float]], listed: frozenset[int]) -> bool:
    """Whether further plain words may be values of the parameter too."""
    first, score = group[0]
    return first.kind == "phrase" and (slot.type == "array" or score >= CUED or first.start in listed)


def _listed(phrases: Sequence[Mention], text: str) -> frozenset[int]:
    """Where the plain words begin that are one of three or more in a row: `gold, silver and platinum`."""
    rows: list[list[Mention]] = []
    for phrase in phrases:
        if rows and is_joined(text, rows[-1][-1], phrase) and len(phrase.text.split()) <= _SHORT:
            rows[-1].append(phrase)
        else:
            rows.append([phrase])
    return frozenset(one.start for row in rows if len(row) >= _ROW for one in row)


#: So many are a row, of so many words each.
_ROW, _SHORT = 3, 3
#: What stands before the object of a command: `restart web`, `deploy version 3 of checkout`.
_OBJECT = frozenset(("of", "for", "the", "a", "an", "my", "our"))
_HOW = re.compile(r"[a-z]{3,}ly", re.IGNORECASE)


def assign_rest(slots: Sequence[Slot], chosen: Chosen, free: Sequence[Mention], about: frozenset[str]) -> None:
    """The one thing that is left for the one required parameter that is, where it is the object of the command."""
    wanted = [slot for slot in slots if slot.required and slot.name not in chosen]
    if len(wanted) != 1 or wanted[0].options:
        return
    slot = wanted[0]
    spans = [(one.start, one.end) for group in chosen.values() for one, _ in group]
    left = [one for one in free if not any(start < one.end and one.start < end for start, end in spans)]
    firm = [one for one in left if one.kind != "phrase"]
    if firm:
        if len(firm) == 1 and firm[0].kind in ("date", "number") and fits_at_all(slot, firm[0]):
            chosen[slot.name] = [(firm[0], WEAK)]
        return
    if slot.type != "string" or slot.classes & {"text", "id", "email", "url", "date", "time", "expression"}:
        return
    trimmed = [one for phrase in left if (one := _trimmed(phrase, slot, about)) is not None]
    if len(trimmed) == 1 and _is_object(trimmed[0], about):
        chosen[slot.name] = [(trimmed[0], WEAK)]


def _is_object(phrase: Mention, about: frozenset[str]) -> bool:
    words = phrase.text.split()
    if len(words) > 2 or any(_HOW.fullmatch(word) or asks_for_more(word) for word in words):
        return False
    if any(meanings_of(word) or is_reading(word) for word in words):
        return False
    return all(
        word in _OBJECT or word in _PARTICLES or any(is_like(one, own) for one in words_of(word) for own in about)
        for word in phrase.before[-2:]
    )


_PARTICLES = frozenset(("on", "off", "up", "down"))


#: Parameters that say of which kind the thing is that a tool gives.
_SORTS = frozenset(
    [
        "genre",
        "cuisine",
        "kind",
        "style",
        "category",
        "specialization",
        "speciality",
        "specialty",
        "subject",
        "topic",
        "field",
    ]
)


def _modifies(slot: Slot, phrase: Mention, about: frozenset[str]) -> float:
    """`jazz concerts`: what stands before the word for the thing that a tool gives says of which kind it is."""
    if not {*slot.words, *words_of(slot.name)} & (_SORTS | {"type"}) or len(phrase.text.split()) > 2:
        return 0.0
    return (
        0.9
        if any(is_like(word, own) for after in phrase.after[:1] for word in words_of(after) for own in about)
        else 0.0
    )


def _trimmed(phrase: Mention, slot: Slot, about: frozenset[str]) -> Mention | None:
    """The phrase without the words that only name the tool or the parameter at its ends."""
    words = [(match.start(), match.end(), match.group()) for match in re.finditer(r"\S+", phrase.text)]
    named = about | frozenset(slot.words)

    def is_name(word: str) -> bool:
        plain = words_of(word)
        return all(any(is_like(one, own) for own in named) for one in plain)

    before = phrase.before
    after = phrase.after
    while words and is_name(words[0][2]):
        before = (*before, words[0][2].lower())
        words.pop(0)
    while words and is_name(words[-1][2]):
        after = (words[-1][2].lower(), *after)
        words.pop()
    if not words:
        return None
    start, end = words[0][0], words[-1][1]
    text = phrase.text[start:end]
    return msgspec.structs.replace(
        phrase, text=text, value=text, start=phrase.start + start, end=phrase.start + end, before=before, after=after
    )
