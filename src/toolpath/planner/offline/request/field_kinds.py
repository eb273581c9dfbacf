"""Kinds of values that parameters take, by the name, form, pattern and description that each has. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from toolpath.catalog.words import raw_words
from toolpath.checks.request.codes import COUNTRIES, LANGUAGES, takes_codes
from toolpath.values import JsonObject

FieldKind = Literal[
    "enum",
    "bool",
    "email",
    "url",
    "phone",
    "day",
    "moment",
    "time",
    "duration",
    "money",
    "currency",
    "percent",
    "number",
    "month",
    "country",
    "language",
    "id",
    "path",
    "pattern",
    "repo",
    "person",
    "company",
    "place",
    "text",
    "other",
]
_UNITS: Final = {
    "minutes": "minute",
    "minute": "minute",
    "hours": "hour",
    "days": "day",
    "seconds": "second",
    "weeks": "week",
    "months": "month",
    "years": "year",
    "km": "km",
}
_MONEY: Final = frozenset(["amount", "price", "cost", "total", "budget", "fee", "sum"])
_PLACES: Final = frozenset(
    [
        "city",
        "address",
        "location",
        "origin",
        "destination",
        "place",
        "near",
        "country",
        "airport",
        "room",
        "town",
        "region",
        "street",
        "venue",
        "departure",
    ]
)
_PEOPLE: Final = frozenset(
    [
        "passenger",
        "guest",
        "patient",
        "student",
        "students",
        "people",
        "member",
        "members",
        "employee",
        "agent",
        "assignee",
        "owner",
        "sender",
        "person",
        "author",
        "employee",
        "attendee",
        "recipient",
        "user",
    ]
)
_COMPANIES: Final = frozenset(["company", "organisation", "organization", "firm", "employer"])
_PATHS: Final = frozenset(["path", "folder", "file", "directory", "source", "target", "archive", "filename"])
LONGEST_PATTERN: Final = 80
PLAIN_PATTERN: Final = re.compile(r"[^()|*]{1,80}")
_LONGEST_MATCHED: Final = 60


@lru_cache(maxsize=1_024)
def matches(pattern: str, text: str) -> bool:
    """Whether a text fits the pattern of a schema; patterns with groups are not tried: they may take for ever."""
    if len(text) > _LONGEST_MATCHED or not PLAIN_PATTERN.fullmatch(pattern):
        return False
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def kind_of_field(name: str, schema: JsonObject, description: str) -> tuple[FieldKind, str]:
    """The kind of values that a parameter or an output has, and the unit of what is measured."""
    words = raw_words(name)
    opening = raw_words(description)[:8]
    if isinstance(schema.get("enum"), list):
        return ("currency", "") if "currency" in words else ("enum", "")
    match schema.get("type"):
        case "boolean":
            return "bool", ""
        case "integer" | "number":
            return _kind_of_number(words, opening)
        case "string":
            form, pattern = str(schema.get("format") or ""), str(schema.get("pattern") or "")
            coded = _kind_of_code(words, description, schema.get("maxLength"), pattern)
            if coded is not None:
                return coded, ""
            return _kind_of_text(name, words, opening, description, form, pattern[:LONGEST_PATTERN]), ""
        case _:
            return "other", ""


def _kind_of_code(words: Sequence[str], description: str, longest: object, pattern: str) -> FieldKind | None:
    """The kind of a text that takes the two letters of a language or a country; None where it takes others."""
    is_coded = longest == _TWO or (matches(pattern, "de") and not matches(pattern, "german"))
    if takes_codes(words, description, LANGUAGES, is_coded=is_coded):
        return "language"
    return "country" if takes_codes(words, description, COUNTRIES, is_coded=longest == _TWO) else None


_TWO: Final = 2


def _kind_of_number(words: Sequence[str], opening: Sequence[str]) -> tuple[FieldKind, str]:
    unit = next((_UNITS[word] for word in (*words, *opening) if word in _UNITS), "")
    if unit:
        return "duration", unit
    if _MONEY & {*words}:
        return "money", ""
    return ("percent" if "percent" in words else "number"), ""


#: What a pattern that takes this alone, and none of the others, is for.
_SAMPLES: Final[tuple[tuple[str, FieldKind], ...]] = (
    ("19:30", "time"),
    ("2026-05-13", "day"),
    ("2026-05", "month"),
    ("2026-05-13T19:30", "moment"),
    ("2026-05-13T19:30:00", "moment"),
    ("DE", "country"),
    ("EUR", "currency"),
)


def _kind_of_pattern(pattern: str, described: str, words: Sequence[str]) -> FieldKind | None:
    """The kind of values that a pattern takes, or that a description writes as a form: `HH:MM`."""
    if pattern:
        taken = [kind for sample, kind in _SAMPLES if matches(pattern, sample)]
        if len({*taken}) == 1 and (taken[0] != "country" or {"country", "region", "nation"} & {*words}):
            return taken[0]
        if not taken and matches(pattern, "1234567890"[:4]) and not matches(pattern, "word"):
            return "id"
    for form, kind in _FORMS:
        if form.search(described):
            return kind
    return None


_FORMS: Final[tuple[tuple[re.Pattern[str], FieldKind], ...]] = (
    (re.compile(r"yyyy-mm-ddt|iso 8601|date and time"), "moment"),
    (re.compile(r"yyyy-mm-dd"), "day"),
    (re.compile(r"yyyy-mm(?!-)"), "month"),
    (re.compile(r"\bhh:mm"), "time"),
)


#: The formats of JSON Schema that say the kind.
_OF_FORMATS: Final[dict[str, FieldKind]] = {
    "email": "email",
    "date": "day",
    "date-time": "moment",
    "uri": "url",
    "time": "time",
}
#: Last words of the names of parameters that one thing is known by.
_IDENTIFYING: Final = frozenset(
    ("id", "ids", "sha", "code", "seat", "no", "plate", "image", "isbn", "ean", "iban", "vin", "sku", "barcode")
)


def _kind_of_text(
    name: str, words: Sequence[str], opening: Sequence[str], description: str, form: str, pattern: str
) -> FieldKind:
    if form in _OF_FORMATS:
        return _OF_FORMATS[form]
    last = words[-1] if words else ""
    low = description.casefold()
    shape = _kind_of_pattern(pattern, low, words)
    if shape is not None:
        return shape
    checks: tuple[tuple[bool, FieldKind], ...] = (
        (last in ("email",) or low.startswith(("e-mail address", "email address")), "email"),
        (last in ("phone", "telephone"), "phone"),
        ("owner/name" in low, "repo"),
        ("time of day" in low, "time"),
        ("currency" in words or "three letters" in low, "currency"),
        (last in ("pattern", "glob"), "pattern"),
        (last in ("date",), "day"),
        (last in ("url", "uri"), "url"),
        (name == "id" or last in _IDENTIFYING or low.startswith(("id of", "hash of")), "id"),
        (last in ("number", "account") and not low.startswith("how"), "id"),
        (low.startswith(("account ", "the account")), "id"),
        (bool(_PATHS & {*words}) and bool(_PATHS & {*opening}), "path"),
        ("path" in opening, "path"),
        (bool(_COMPANIES & {*words}), "company"),
        (bool(_PLACES & {*words}), "place"),
        (bool(_PEOPLE & {*words}), "person"),
        (last == "name" and bool({"person", "full", "passenger", "guest"} & {*opening}), "person"),
    )
    return next((kind for holds, kind in checks if holds), "text")
