"""Units of amounts, as a tool takes them: apart from the number, or with `a kilo` as a number of its own. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit
from toolpath.planner.offline.request.values_of_fields import is_unit, measure_of, same_measure

#: Words of weights and volumes, which say how much without a number: `a kilo of fondant`.
_WEIGHTS: Final = (
    r"kg|kilos?|kilograms?|kilogramm|kilogrammes?|kilogramos?|pounds?|pfund|lit(?:re|er)s?|litros?|tonnes?|tons?"
    r"|tonnen?|toneladas?|pints?|gallons?|g|grams?|gramm|grammes?|gramos?|ml|l|t"
)
#: Words of what things are packed in, or come in.
_PACKS: Final = (
    r"bags?|box(?:es)?|bottles?|cartons?|cases?|crates?|jars?|cans?|tins?|packs?|packets?|loa(?:f|ves)|bunch(?:es)?|tubes?|rolls?"
    r"|sacks?|barrels?|kegs?|buckets?|tubs?|slices?|portions?|trays?|pallets?|sheets?|bars?"
    r"|beutel|tüten?|kisten?|flaschen?|kartons?|dosen?|packung(?:en)?|päckchen|gläser|glas|bund|säcke?|fass|fässer|eimer|becher"
    r"|scheiben?|portion(?:en)?|paletten?|rollen?|tuben?|tafeln?"
    r"|sacs?|sachets?|boîtes?|bouteilles?|caisses?|pots?|paquets?|bottes?|rouleaux?|barquettes?|briques?|tranches?|palettes?"
    r"|tablettes?|bolsas?|cajas?|botellas?|cart[oó]n(?:es)?|latas?|tarros?|paquetes?|manojos?|tubos?|rollos?|sacos?|rebanadas?"
    r"|porci[oó]n(?:es)?|pal[eé]s?|tabletas?"
)
_UNIT: Final = re.compile(rf"[\s-]*(?P<unit>{_WEIGHTS}|{_PACKS})(?![\w/-])", re.IGNORECASE)
#: `2 heads of lettuce`: what stands before `of` is what is counted.
_COUNTED: Final = re.compile(r"\s+(?P<unit>[^\W\d_]{2,20})(?=\s+(?:of|de)\s+[^\W\d_]|\s+d['\u2019])", re.IGNORECASE)
#: One, or a half, that is said with no number.
_ONE: Final = re.compile(
    rf"(?<![\w-])(?:(?P<half>half\s+an?|(?:ein(?:en?)?\s+)?halbe[sn]?|(?:une?\s+)?demi[e]?|medi[oa])|an?|eine?n?|une?|una?)"
    rf"[\s-]+(?P<unit>{_WEIGHTS}|{_PACKS})(?![\w/-])",
    re.IGNORECASE,
)
_WEIGHT: Final = re.compile(_WEIGHTS, re.IGNORECASE)
#: What of an amount says what it is of: `de`, `of`; in German nothing does.
_OF: Final = re.compile(r"\s+(?:of|de)(?=\s)|\s+(?=d['\u2019])", re.IGNORECASE)


#: Before an amount that is another one: `about a kilo`, which is asked.
_BOUNDED: Final = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|most|least|than|up\s+to|over|under|maybe|perhaps|or"
    r"|etwa|ungefähr|circa|ca\.?|fast|knapp|mindestens|höchstens|bis\s+zu|als|über|unter|oder|vielleicht"
    r"|environ|presque|moins|plus|jusqu['\u2019]à|ou|casi|unos|aproximadamente|menos|más|hasta|máximo|mínimo|o)"
    r"(?:\s+d['\u2019e]?)?\s*$",
    re.IGNORECASE,
)
#: So many letters stand before it, with what it stands behind.
_BEFORE: Final = 24


def with_units(kit: Kit, part: ClausePart, text: str) -> ClausePart:
    """The clause with amounts as the tool takes them: a number and its unit, or a number in its own unit."""
    numbers = [field for field in kit.fields if field.kind == "number" and not field.is_name]
    is_apart = any(is_unit(field) for field in kit.fields)
    if not numbers:
        return part
    own = [measure for field in numbers if (measure := measure_of(field))]
    for found in _ONE.finditer(text, part.start, part.end):
        is_own = any(same_measure(found["unit"], measure) is not None for measure in own)
        if _BOUNDED.search(text, max(0, found.start() - _BEFORE), found.start()):
            continue
        if not (is_apart or is_own) or any(one.start < found.end() and found.start() < one.end for one in part.spans):
            continue
        value = 0.5 if found["half"] else 1
        said = Span("number", found[0], value, found.start(), found.end(), folded(found["unit"]))
        part = _with(part, said)
    return _apart(part, text) if is_apart else part


def _apart(part: ClausePart, text: str) -> ClausePart:
    """The clause with the unit of each number as a value of its own."""
    for span in part.spans:
        unit = next(_units(span, text), None) if span.kind == "number" else None
        if unit is not None and unit[1] <= part.end:
            start, end = unit
            whole = msgspec.structs.replace(span, text=text[span.start : end], end=end)
            part = _with(part, whole, Span("unit", text[start:end], text[start:end], span.start, end))
    return part


def _units(span: Span, text: str) -> Iterator[tuple[int, int]]:
    """Where the unit of a number stands: in what was read with it, or right behind it."""
    if span.unit and span.unit != "#":
        at = folded(span.text).rfind(span.unit)
        if at > 0 and len(folded(span.text)) == len(span.text):
            yield span.start + at, span.start + at + len(span.unit)
    elif not span.unit:
        for form in (_UNIT, _COUNTED):
            if (found := form.match(text, span.end)) is not None:
                yield found.span("unit")


def _with(part: ClausePart, *spans: Span) -> ClausePart:
    """The clause with these values in place of what stands there."""
    start, end = spans[0].start, spans[0].end
    others = [one for one in part.spans if one.end <= start or one.start >= end]
    words = tuple(word for word in part.words if word.end <= start or word.start >= end)
    return msgspec.structs.replace(part, spans=tuple(sorted((*others, *spans), key=lambda one: one.start)), words=words)
