"""Amounts, percentages, lengths of time, measures and plain numbers of a request, in four languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.lengths import TIME_UNIT_OF, lengths_in
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.number_words import numbers_in_words
from toolpath.planner.offline.request.span import Span

_AMOUNT: Final = r"\d{1,3}(?:[., '\u2019]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?"
_CURRENCY: Final = {
    "€": "EUR",
    "eur": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "$": "USD",
    "usd": "USD",
    "dollar": "USD",
    "dollars": "USD",
    "dolares": "USD",
    "£": "GBP",
    "gbp": "GBP",
    "pound": "GBP",
    "pounds": "GBP",
    "pfund": "GBP",
    "livres": "GBP",
    "libras": "GBP",
    "quid": "GBP",
    "chf": "CHF",
    "franken": "CHF",
    "swiss francs": "CHF",
    "yen": "JPY",
    "jpy": "JPY",
    "¥": "JPY",
    "sek": "SEK",
    "nok": "NOK",
    "dkk": "DKK",
    "pln": "PLN",
    "cad": "CAD",
    "aud": "AUD",
    "inr": "INR",
    "rupees": "INR",
    "cny": "CNY",
    "yuan": "CNY",
}
_MONEY_WORDS: Final = "|".join(
    sorted((re.escape(word) for word in _CURRENCY if word.isascii() and word != "$"), key=len, reverse=True)
)
#: French books and Spanish scales are no money where no amount stands before them.
_MONEY_ALONE: Final = _MONEY_WORDS.replace("livres|", "").replace("libras|", "")
_MONEY: Final = re.compile(
    rf"(?<![\w.,-])(?:(?P<sign>[€$£¥])\s?(?P<first>{_AMOUNT})"
    rf"|(?P<last>{_AMOUNT})\s?(?:(?P<after>[€$£¥])|(?P<word>(?:{_MONEY_WORDS}|dólares))\b))",
    re.IGNORECASE,
)
_SIGNS: Final = frozenset("€$£¥")
_BARE_MONEY: Final = re.compile(rf"(?<![\w])(?:(?:{_MONEY_ALONE}|dólares)\b|[€$£¥](?!\s?\d))", re.IGNORECASE)
_PERCENT: Final = re.compile(
    r"(?<![\w.,])(\d+(?:[.,]\d+)?)\s?(?:%|percent\b|per cent\b|prozent\b|pour\s?cent\b|por ciento\b)", re.IGNORECASE
)
_OF_HUNDRED: Final = re.compile(r"\s?(?:%|(?:percent|per cent|prozent|pour\s?cent|por ciento)\b)", re.IGNORECASE)
_OF_MONEY: Final = re.compile(rf"\s?(?:d['\u2019]|de\s)?(?P<unit>(?:{_MONEY_WORDS}|dólares)\b|[€$£¥])", re.IGNORECASE)
_WORDS: Final = {
    folded(word): number
    for number, words in (
        (1, "one eins une uno una"),
        (2, "twice"),
        (12, "dozen dutzend douzaine docena"),
    )
    for word in words.split()
}
#: A distance, which some tools ask for as others do for a time.
_DISTANCES: Final = frozenset(map(folded, ("km", "kilometre", "kilometres", "kilometer", "kilometers", "kilómetros")))
#: Before `one` it stands for a thing: `the first one`.
_ONE_OF_THEM: Final = re.compile(
    r"\b(?:first|second|third|last|next|other|another|new|old|this|that|which|each|every|any|no|right|wrong|same|the|\w+est)\s+$",
    re.IGNORECASE,
)
#: Articles, which count only where nothing follows that they could belong to.
_ARTICLES: Final = frozenset(("une", "uno", "una", "eins", "one", "un"))
_ONES: Final = "|".join(sorted((word for word in _WORDS), key=len, reverse=True))
_DISTANCE: Final = re.compile(
    rf"(?<![\w.,])(\d+(?:[.,]\d+)?)\s?({'|'.join(sorted(_DISTANCES, key=len, reverse=True))}|kilómetros)(?!\w)", re.I
)
#: A number and the measure that it is given in, which is no part of what is measured: `20 kg flour`, `3 Flaschen Wein`.
_MEASURES: Final = (
    "kg|g|mg|mcg|µg|km/h|kmh|kph|mph|m/s|km|cm|mm|ml|µl|ul|cl|dl|l|t|kwh|gb|mb|tb|lbs?|oz|bpm|mmhg|°c|°f|°"
    "|kilos?|kilograms?|kilogramm|grams?|gramm|grammes?|gramos?|litres?|liters?|litros?|tonnes?|tons?|tonnen|toneladas?"
    "|milligrams?|pcs|pieces|stück|stk|pièces|piezas|units?|unidades|unités|bottles?|flaschen?|bouteilles?|botellas?"
    "|boxes|box|kisten?|caisses?|cajas?|cartons?|kartons?|bags?|säcke?|sacs?|sacos?|packs?|packets?|crates?|cans?|dosen?"
)
_MEASURED: Final = re.compile(rf"\s?(?P<measure>{_MEASURES})(?![\w/-])", re.IGNORECASE)
_COUNTED: Final = re.compile(r"[\s-]*(?P<unit>[^\W\d_]+)(?!\w)", re.IGNORECASE)
_NUMBER: Final = re.compile(rf"(?<![\w.,:/-])-?(?:{_AMOUNT})(?![\w/]|[.,:]\d)")
_NUMBER_WORD: Final = re.compile(rf"(?<![\w-])(?:{_ONES})(?![\w-])", re.IGNORECASE)


def currency_of(word: str) -> str | None:
    """The three letters of a currency that a word names."""
    plain = folded(word)
    return _CURRENCY.get(plain) or _CURRENCY.get(word)


def _number_of(digits: str) -> float | int:
    """`1.250,50`, `1,299.99`, `2,000` and `35,50` as people mean them."""
    plain = re.sub(r"[ '\u2019]", "", digits)
    cut = max(plain.rfind("."), plain.rfind(","))
    if cut < 0:
        return int(plain)
    whole, rest = plain[:cut], plain[cut + 1 :]
    others = re.sub(r"[.,]", "", whole)
    if len(rest) == 3 and not (plain[cut] == "." and whole == "0"):
        return int(others + rest)
    return float(f"{others}.{rest}")


def amounts_in(text: str) -> Iterator[Span]:
    """Money, percentages and lengths of time."""
    yield from _large_amounts(text)
    for found in _MONEY.finditer(text):
        currency = currency_of(found["sign"] or found["after"] or found["word"])
        amount = _number_of(found["first"] or found["last"])
        yield Span("money", found[0], amount, found.start(), found.end(), currency or "")
    for found in _PERCENT.finditer(text):
        yield Span("percent", found[0], _number_of(found[1]), found.start(), found.end())
    yield from _said_in_words(text)
    for one in lengths_in(text):
        yield Span("duration", text[one.start : one.end], one.value, one.start, one.end, one.unit)
    for told in numbers_in_words(text, tongues_of(text)):
        following = _COUNTED.match(text, told.end)
        unit = _unit_of(folded(following["unit"])) if following is not None else None
        if following is not None and unit is not None:
            end = following.end()
            yield Span("duration", text[told.start : end], told.value, told.start, end, unit)
    for found in _DISTANCE.finditer(text):
        yield Span("duration", found[0], _number_of(found[1]), found.start(), found.end(), "km")


def _said_in_words(text: str) -> Iterator[Span]:
    """Money and percentages whose number is said in words: `two hundred euros`, `zwanzig Prozent`."""
    for told in numbers_in_words(text, tongues_of(text)):
        share, money = _OF_HUNDRED.match(text, told.end), _OF_MONEY.match(text, told.end)
        if share is not None:
            yield Span("percent", text[told.start : share.end()], told.value, told.start, share.end())
        elif money is not None:
            unit = currency_of(money["unit"]) or ""
            yield Span("money", text[told.start : money.end()], told.value, told.start, money.end(), unit)


def _large_amounts(text: str) -> Iterator[Span]:
    """Thousands and millions of a currency: `$2.5 million`, `3k euros`."""
    for start, end, value in _scaled(text):
        money = _OF_MONEY.match(text, end)
        sign = text[start - 1 : start]
        if money is not None:
            yield Span("money", text[start : money.end()], value, start, money.end(), currency_of(money["unit"]) or "")
        elif sign in _SIGNS:
            yield Span("money", text[start - 1 : end], value, start - 1, end, currency_of(sign) or "")


def _unit_of(word: str) -> str | None:
    return "km" if word in _DISTANCES else TIME_UNIT_OF.get(word)


_SCALED: Final = re.compile(
    r"(?<![\w.,:/-])(\d{1,9}(?:[.,]\d{1,3})?)(?:\s?(k|K|[Tt]sd\.?|[Mm]io\.?)|\s(thousand|tausend|mille|mil|million|millionen|millions?"
    r"|millón|millones))(?![\w-])"
)


_HALVED: Final = tuple(
    (re.compile(rf"(?<![\w-])(?:{form})(?!\w)", re.IGNORECASE), value)
    for form, value in (
        (r"half\s+a\s+dozen|(?:ein\s+)?halbes\s+dutzend|(?:une\s+)?demi-douzaine|media\s+docena", 6),
        (r"half\s+a\s+million|(?:eine\s+)?halbe\s+million|(?:un\s+)?demi-million|medio\s+millón", 500_000),
    )
)


_BEFORE_MEASURE: Final = re.compile(rf"(?<![\w.,:/-])-?(?:{_AMOUNT})(?=\s?(?:{_MEASURES})(?![\w/-]))", re.IGNORECASE)


#: `ciérralas las dos`, `the two of them`: both, and no number of anything.
_THE_TWO: Final = re.compile(r"(?:^|\W)(?:the|las|los|les|alle|die)\s+$", re.IGNORECASE)


def _measured(text: str) -> Iterator[Span]:
    """Numbers with the measure that they are given in: `20 kg`, `drei Flaschen`."""
    told = [
        (found.start(), found.end(), _signed(found[0]))
        for found in _BEFORE_MEASURE.finditer(text)
        if len(found[0]) < 18
    ]
    told += [(one.start, one.end, one.value) for one in numbers_in_words(text, tongues_of(text))]
    for start, end, value in told:
        measure = _MEASURED.match(text, end)
        if measure is not None:
            yield Span("number", text[start : measure.end()], value, start, measure.end(), folded(measure["measure"]))


def _scaled(text: str) -> Iterator[tuple[int, int, float | int]]:
    """Numbers that are said by their scale: `3k`, `2.5 million`, `half a dozen`."""
    for form, value in _HALVED:
        for found in form.finditer(text):
            yield found.start(), found.end(), value
    for found in _SCALED.finditer(text):
        scale = (found[2] or found[3]).casefold()
        size = 1_000_000 if scale.startswith("mi") and scale not in ("mil", "mille") else 1_000
        amount = float(found[1].replace(",", ".")) * size
        yield found.start(), found.end(), int(amount) if amount.is_integer() else amount


def _signed(digits: str) -> float | int:
    number = _number_of(digits.lstrip("-"))
    return -number if digits.startswith("-") else number


def numbers_in(text: str) -> Iterator[Span]:
    """Plain and measured numbers, and currencies without an amount."""
    for start, end, value in _scaled(text):
        yield Span("number", text[start:end], value, start, end)
    yield from _measured(text)
    for found in _NUMBER.finditer(text):
        if len(found[0]) < 18:
            yield Span("number", found[0], _signed(found[0]), found.start(), found.end())
    for told in numbers_in_words(text, tongues_of(text)):
        if told.value != 2 or not _THE_TWO.search(text, max(0, told.start - 8), told.start):
            yield Span("number", text[told.start : told.end], told.value, told.start, told.end)
    for found in _NUMBER_WORD.finditer(text):
        plain = folded(found[0])
        if plain in _ARTICLES and plain != "one":
            continue
        if plain == "one" and (_ONE_OF_THEM.search(text[: found.start()]) or text[found.end() :].startswith(" of ")):
            continue
        yield Span("number", found[0], _WORDS[plain], found.start(), found.end())
    for found in _BARE_MONEY.finditer(text):
        yield Span("money", found[0], None, found.start(), found.end(), currency_of(found[0]) or "")
