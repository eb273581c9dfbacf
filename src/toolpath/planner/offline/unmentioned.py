"""Values that a text says without mentioning them as such: options, switches, units, frequencies, examples. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.occurrences import in_small_letters, whole_words
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.match import is_like, is_measure, words_of
from toolpath.planner.offline.mention import Mention, is_joined
from toolpath.planner.offline.slots import Slot
from toolpath.planner.offline.terms import code_of, is_currency
from toolpath.values import Json

_NEGATIONS = frozenset(
    ["without", "no", "not", "exclude", "excluding", "don't", "dont", "disable", "disabled", "never", "except", "avoid"]
)


def from_options(slot: Slot, text: str) -> Found | None:
    """The one allowed value that the text says."""
    options = slot.options or (slot.item.options if slot.item is not None else ())
    if not options or slot.type == "boolean":
        return None
    lowered = " " + " ".join(raw_words(text)) + " "
    said = set(words_of(text))
    hits: list[tuple[int, int, Json]] = []
    for option in options:
        wanted = raw_words(str(option))
        if not wanted:
            continue
        at = lowered.find(" " + " ".join(wanted) + " ")
        if at >= 0 and not (len(wanted[0]) == 1 and not _stands_alone(str(option), text)):
            hits.append((-len(wanted), at, option))
        elif _is_said_otherwise(wanted, said):
            hits.append((0, len(lowered), option))
    if not hits:
        return None
    hits.sort(key=lambda hit: hit[:2])
    if slot.type == "array":
        return Found(
            [option for _, _, option in sorted(hits, key=lambda hit: hit[1])], 2.0, None, "allowed values that are said"
        )
    return Found(hits[0][2], 2.0, None, f"{hits[0][2]!r} is said")


def from_listed_options(slot: Slot, text: str) -> list[Found]:
    """The allowed values of a parameter that takes one, where the text lists several: `ascending and descending`."""
    if not slot.options or slot.type not in ("string", "any"):
        return []
    hits: dict[int, Mention] = {}
    lowered = in_small_letters(text)
    for option in sorted(map(str, slot.options), key=len, reverse=True):
        parts = re.split(r"[\s_-]+", option)
        if in_small_letters(max(parts, key=len)) not in lowered:
            continue
        words = r"[\s_-]+".join(map(re.escape, parts))
        said = re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE if len(option) > 2 else 0)
        if said and all(said.end() <= other.start or other.end <= said.start() for other in hits.values()):
            hits[said.start()] = Mention("name", said.group(), option, said.start(), said.end())
    listed = [mention for _, mention in sorted(hits.items())]
    if len(listed) < 2 or not all(is_joined(text, left, right) for left, right in pairwise(listed)):
        return []
    return [Found(mention.value, 2.0, mention, f"{mention.text!r} is said") for mention in listed]


def _stands_alone(letter: str, text: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(letter)}(?![\w'])", text) is not None


def _is_said_otherwise(wanted: Sequence[str], said: Collection[str]) -> bool:
    """Whether every longer word of an option is said in some form: `popularity` where the text has `popular`."""
    longer = [stem(word) for word in wanted if len(word) > 3]
    return bool(longer) and all(any(is_like(word, own) for own in said) for word in longer)


def from_boolean(slot: Slot, text: str) -> Found | None:
    """True where the text speaks of what the parameter switches on, false where it does so in the negative."""
    if slot.type != "boolean":
        return None
    telling = [
        word
        for word in slot.words
        if word not in ("include", "show", "is", "has", "enable", "use", "allow", "only", "get", "return", "calculate")
    ]
    tokens = raw_words(text)
    places = [index for index, word in enumerate(tokens) if any(is_like(stem(word), own) for own in telling)]
    said = {own for own in telling if any(is_like(stem(tokens[index]), own) for index in places)}
    if not telling or len(said) < (len(telling) + 1) // 2 + (len(telling) > 2):
        return None
    if any(set(tokens[max(0, index - 4) : index]) & _NEGATIONS for index in places):
        return Found(False, 1.5, None, f"{slot.name} is said in the negative")
    return Found(True, 1.5, None, f"{slot.name} is said")


def from_unit(slot: Slot, found: Sequence[Mention], text: str) -> Found | None:
    """A parameter that asks for a unit or a currency: that of a number in the text."""
    if "currency" in slot.words and slot.type in ("string", "any"):
        signs = [mention.unit for mention in found if mention.kind == "number" and mention.unit in ("$", "€", "£")]
        if slot.name.casefold() in ("currency", "currency_code", "currencycode"):
            signs += [mention.text for mention in found if mention.kind == "name" and is_currency(mention.text)]
        return Found(code_of(slot, signs[0]), 1.5, None, f"{signs[0]!r}") if len(set(signs)) == 1 else None
    words = raw_words(slot.name)
    if slot.type != "string" or "unit" not in {stem(word) for word in words}:
        return None
    if _TARGET & {*words}:
        return _target_unit(text)
    numbers = [mention for mention in found if mention.kind == "number"]
    known = {*slot.shown, *(str(option).lower() for option in slot.options)}
    for mention in numbers:
        if mention.unit and (slot.required or mention.unit in known):
            return Found(mention.unit, 1.2, None, f"{mention.text} {mention.unit}")
    # Where numbers differ in kind, it may be the unit of what comes out.
    units = {mention.unit for mention in numbers}
    if len(units) == 1 and all(map(is_measure, units)) and not slot.options and {*map(stem, words)} <= _MEASURE:
        return Found(units.pop(), 1.2, None, "the unit of all numbers")
    return None


def _target_unit(text: str) -> Found | None:
    """The unit that something is wanted in: `into grams`, `in centimeters`."""
    said = [found["unit"] for found in _INTO.finditer(text) if is_measure(found["unit"].lower())]
    return Found(said[-1], 1.5, None, repr(said[-1])) if said else None


_TARGET = frozenset(("to", "target", "into", "output", "result", "desired"))
_MEASURE = frozenset(("unit", "of", "measur", "measurement"))
_INTO = re.compile(r"\b(?:to|into|in|as)\s+(?:the\s+)?(?P<unit>[a-z°]+(?:/[a-z]+)?)\b", re.IGNORECASE)


_FREQUENCIES = {
    "annually": 1,
    "yearly": 1,
    "annual": 1,
    "semiannually": 2,
    "quarterly": 4,
    "monthly": 12,
    "weekly": 52,
    "daily": 365,
}
#: What a parameter of it speaks of, in its name or description.
_REPEATED = frozenset(("compound", "compounded", "compounding", "frequency", "interest", "installment"))
_FREQUENCY = re.compile(r"\b(annually|yearly|semiannually|quarterly|monthly|weekly|daily)\b", re.IGNORECASE)


def from_frequency(slot: Slot, text: str) -> Found | None:
    """How often a year, of a parameter that asks for that number: `compounded quarterly` is 4."""
    if slot.type not in ("integer", "number") or not _REPEATED & (slot.described | {*slot.words}):
        return None
    if not re.search(r"\b(?:times|number|periods|frequency)\b", f"{slot.name} {slot.description}", re.IGNORECASE):
        return None
    said = _FREQUENCY.search(text)
    return Found(_FREQUENCIES[said.group(1).lower()], 1.6, None, repr(said.group(1))) if said else None


def from_shown(slot: Slot, text: str) -> Found | None:
    """A value that the parameter's description gives as an example and that the text says."""
    lowered = " ".join(raw_words(text))
    for shown in slot.shown:
        words = " ".join(raw_words(shown))
        if words and any(True for _ in whole_words(lowered, words)):
            if not slot.required and str(slot.default or "").lower() == shown.lower():
                return None
            at = re.search(re.escape(shown), text, re.IGNORECASE)
            value: Json = at.group() if at else shown
            if slot.type == "array":
                value = [value]
            elif slot.type not in ("string", "any"):
                return None
            return Found(value, 1.5, None, f"{shown!r} is said")
    return None
