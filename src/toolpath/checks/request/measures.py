"""Measures of what a condition compares: euros, percent. Which value of a tool is counted in them. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import currencies
from toolpath.checks.request.counts import COUNTS
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

_AMOUNT: Final = re.compile(r"(?P<before>[€$£¥])?(?P<number>\d+(?:[.,]\d+)*)\s?(?P<after>[€$£¥%°])?")
_PERCENT: Final = re.compile(r"%|\bper\s?cent\b|\bpercent(?:age)?\b|\bprozent\b", re.IGNORECASE)
_PERCENTS: Final = frozenset(("%", "percent", "prozent", "pourcent", "cent", "pour", "por", "ciento", "per"))
#: Words of the names of values that are money, whatever they count in.
_MONEY: Final = frozenset(
    re.findall(
        r"\S+",
        """amount price cost costs total balance fee fees sum rent salary fare due owed outstanding paid payment refund
        deposit budget available invoice charge charges premium tax net gross""",
    )
)


class SaidAmount(msgspec.Struct, frozen=True):
    """A number of a request, and the sign that is written with it."""

    number: str
    unit: str = ""


def amount_of(word: str) -> SaidAmount | None:
    """The number that a word is, as a `when` writes it: `1,10` is `1.1`, `2.000` is `2000`."""
    if word == "one" or word in COUNTS:
        return SaidAmount(str(COUNTS.get(word, 1)))
    found = _AMOUNT.fullmatch(word)
    if found is None:
        return None
    digits = found["number"]
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits) and not digits.startswith("0"):
        digits = re.sub(r"[.,]", "", digits)
    try:
        number = float(digits.replace(",", "."))
    except ValueError:
        return None
    return SaidAmount(
        str(int(number)) if number == int(number) else str(number), found["before"] or found["after"] or ""
    )


def counts_in(unit: str, schema: JsonObject, name: str, tool: Tool | None) -> bool:
    """Whether a value of a tool is counted in a unit, as far as a word for it is known."""
    told = f"{' '.join(raw_words(name))} {schema.get('description') or ''}"
    if unit in _PERCENTS:
        return _PERCENT.search(told) is not None
    said = currencies(unit)
    if not said:
        return False
    own = currencies(told) or currencies(tool.description if tool is not None else "")
    return bool(said & own) if own else bool(_MONEY & {*raw_words(name)})


def counts_alone(unit: str, name: str, tool: Tool | None) -> bool:
    """Whether the value is the only one of the tool that is counted in the unit."""
    properties: Json = tool.output_schema.get("properties") if tool is not None and tool.output_schema else None
    if not isinstance(properties, dict):
        return False
    found = [
        str(each)
        for each, schema in properties.items()
        if isinstance(schema, dict) and schema.get("type") in ("number", "integer")
        if counts_in(unit, schema, str(each), tool)
    ]
    return found == [name]
