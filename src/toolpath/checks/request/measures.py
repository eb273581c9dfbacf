"""Measures of what a request counts: euros, percent, kilograms. Which value of a tool is counted in them. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import currencies
from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.lengths import TIME_UNIT_OF
from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.checks.request.units import MEASURES
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

_AMOUNT: Final = re.compile(r"(?P<before>[€$£¥])?(?P<number>\d+(?:[.,]\d+)*)(?P<thousands>k)?\s?(?P<after>[€$£¥%°])?")
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


def measure_named(name: str, description: str) -> str:
    """The measure that a value is given in, as its name or its description says; empty where it says none."""
    # A letter by itself is rather of an id: `such as T-7`.
    words = [*raw_words(name), *re.findall(r"km/h|m/s|[^\W\d_]{2,}|°[cf]", description.casefold())]
    return next((word for word in map(folded, words) if word in MEASURES), "")


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
    number *= 1_000 if found["thousands"] else 1
    return SaidAmount(
        str(int(number)) if number == int(number) else str(number), found["before"] or found["after"] or ""
    )


#: Words for things that are counted one by one.
_PIECES: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """pcs piece pieces item items unit units bottle bottles box boxes pack packs packet packets bag bags
        can cans tin tins crate crates carton cartons copy copies stück stk flasche flaschen dose
        dosen kiste kisten packung packungen sack säcke exemplare pièce pièces bouteille bouteilles
        boîte boîtes caisse caisses paquet paquets sac sacs exemplaires pieza piezas unidad unidades
        botella botellas caja cajas paquete paquetes saco sacos ejemplares""",
    )
)
#: Words of the names of what there is of something.
_STOCK: Final = frozenset(("stock", "left", "remaining", "hand", "available", "onhand"))


def is_stock(name: str) -> bool:
    """Whether a value says how much there is of something, by its name: `on_hand`, `seats_left`."""
    return bool(_STOCK & {*raw_words(name)})


def counts_in(unit: str, schema: JsonObject, name: str, tool: Tool | None) -> bool:
    """Whether a value of a tool is counted in a unit, as far as a word for it is known."""
    description = str(schema.get("description") or "")
    told = f"{' '.join(raw_words(name))} {description}"
    if unit in MEASURES:
        return MEASURES.get(measure_named(name, description)) == MEASURES[unit]
    if unit in _PIECES and is_stock(name):
        return True
    if unit in TIME_UNIT_OF:
        return TIME_UNIT_OF[unit] in {TIME_UNIT_OF.get(word) for word in raw_words(name)}
    if unit in _PERCENTS:
        return _PERCENT.search(told) is not None
    said = currencies(unit)
    if not said:
        return False
    own = currencies(told) or currencies(tool.description if tool is not None else "")
    return bool(said & own) if own else bool(_MONEY & {*raw_words(name)})


def counts_alone(unit: str, name: str, tool: Tool | None) -> bool:
    """Whether the value is the only one of the tool that is counted in the unit."""
    properties: Json = plain_outputs(tool).get("properties") if tool is not None else None
    if not isinstance(properties, dict):
        return False
    found = [
        str(each)
        for each, schema in properties.items()
        if isinstance(schema, dict) and schema.get("type") in ("number", "integer")
        if counts_in(unit, schema, str(each), tool)
    ]
    return found == [name]
