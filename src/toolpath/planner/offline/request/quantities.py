"""Amounts, percentages, lengths of time, measures and plain numbers of a request, in four languages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

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
_BARE_MONEY: Final = re.compile(rf"(?<![\w])(?:(?:{_MONEY_ALONE}|dólares)\b|[€$£¥](?!\s?\d))", re.IGNORECASE)
_PERCENT: Final = re.compile(
    r"(?<![\w.,])(\d+(?:[.,]\d+)?)\s?(?:%|percent\b|per cent\b|prozent\b|pour cent\b|por ciento\b)", re.IGNORECASE
)
_WORDS: Final = {
    folded(word): number
    for number, words in (
        (1, "one eins une uno una"),
        (2, "twice"),
        (12, "dozen dutzend douzaine docena"),
    )
    for word in words.split()
}
_UNITS: Final = {
    "minute": "minute minutes min mins minuten minutos minuto",
    "hour": "hour hours hr hrs stunde stunden heure heures hora horas",
    "day": "day days tag tage tagen jour jours día días",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "second": "second seconds sekunden secondes segundos",
    "km": "km kilometre kilometres kilometer kilometers kilómetros",
}
_UNIT_OF: Final = {folded(word): unit for unit, words in _UNITS.items() for word in words.split()}
#: Before `one` it stands for a thing: `the first one`.
_ONE_OF_THEM: Final = re.compile(
    r"\b(?:first|second|third|last|next|other|another|new|old|this|that|which|each|every|any|no|right|wrong|same|the|\w+est)\s+$",
    re.IGNORECASE,
)
#: Articles, which count only where nothing follows that they could belong to.
_ARTICLES: Final = frozenset(("une", "uno", "una", "eins", "one", "un"))
_ONES: Final = "|".join(sorted((word for word in _WORDS), key=len, reverse=True))
_DURATION: Final = re.compile(
    rf"(?<![\w.,])(?:(?P<half>half an|half a|half|(?:a|an|one) half|eine halbe|une demi-?|media)\s+hours?\b"
    rf"|(?P<number>\d+(?:[.,]\d+)?|an?\b|eine\b|une\b|una\b"
    rf"|{_ONES})[\s-]*(?P<unit>[^\W\d_]+)(?P<plus>\s+and\s+a\s+half)?)(?!\w)",
    re.IGNORECASE,
)
#: A number and the measure that it is given in, which is no part of what is measured: `20 kg flour`, `3 Flaschen Wein`.
_MEASURES: Final = (
    "kg|g|mg|mcg|µg|km|cm|mm|ml|cl|dl|l|t|kwh|gb|mb|tb|lbs?|oz|bpm|mmhg|°c|°f|°"
    "|kilos?|kilograms?|kilogramm|grams?|gramm|grammes?|gramos?|litres?|liters?|litros?|tonnes?|tons?|tonnen|toneladas?"
    "|milligrams?|pcs|pieces|stück|stk|pièces|piezas|units?|unidades|unités|bottles?|flaschen?|bouteilles?|botellas?"
    "|boxes|box|kisten?|caisses?|cajas?|cartons?|kartons?|bags?|säcke?|sacs?|sacos?|packs?|packets?|crates?|cans?|dosen?"
)
_MEASURED: Final = re.compile(rf"\s?(?P<measure>{_MEASURES})(?![\w/-])", re.IGNORECASE)
_COUNTED: Final = re.compile(r"[\s-]*(?P<unit>[^\W\d_]+)(?!\w|\s+and\s+a\s+half)", re.IGNORECASE)
_HALF_HOUR: Final = re.compile(r"\b(?:halbe Stunde|demi-heure|media hora)\b", re.IGNORECASE)
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
    for found in _MONEY.finditer(text):
        currency = currency_of(found["sign"] or found["after"] or found["word"])
        amount = _number_of(found["first"] or found["last"])
        yield Span("money", found[0], amount, found.start(), found.end(), currency or "")
    for found in _PERCENT.finditer(text):
        yield Span("percent", found[0], _number_of(found[1]), found.start(), found.end())
    for found in _HALF_HOUR.finditer(text):
        yield Span("duration", found[0], 30, found.start(), found.end(), "minute")
    for told in numbers_in_words(text, tongues_of(text)):
        following = _COUNTED.match(text, told.end)
        unit = _UNIT_OF.get(folded(following["unit"])) if following is not None else None
        if following is not None and unit is not None:
            end = following.end()
            yield Span("duration", text[told.start : end], told.value, told.start, end, unit)
    for found in _DURATION.finditer(text):
        if found["half"]:
            yield Span("duration", found[0], 30, found.start(), found.end(), "minute")
            continue
        unit = _UNIT_OF.get(folded(found["unit"]))
        if unit is None:
            continue
        said = folded(found["number"])
        amount = _number_of(said) if said[0].isdigit() else _WORDS.get(said, 1)
        if found["plus"]:
            amount += 0.5
        yield Span("duration", found[0], amount, found.start(), found.end(), unit)


_SCALED: Final = re.compile(
    r"(?<![\w.,:/-])(\d{1,9}(?:[.,]\d{1,3})?)(?:\s?(k|K|[Tt]sd\.?|[Mm]io\.?)|\s(thousand|tausend|mille|mil|million|millionen|millions?"
    r"|millón|millones))(?![\w-])"
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


def _signed(digits: str) -> float | int:
    number = _number_of(digits.lstrip("-"))
    return -number if digits.startswith("-") else number


def numbers_in(text: str) -> Iterator[Span]:
    """Plain and measured numbers, and currencies without an amount."""
    for found in _SCALED.finditer(text):
        scale = (
            1_000_000
            if (found[2] or found[3]).casefold().startswith("mi") and found[3] not in ("mil", "mille")
            else 1_000
        )
        amount = float(found[1].replace(",", ".")) * scale
        yield Span("number", found[0], int(amount) if amount.is_integer() else amount, found.start(), found.end())
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
