"""Picks: which one of a list a request speaks of, `the cheapest flight`, `the first of them`. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from toolpath.catalog.words import stem
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.toolbox import Listed, ToolField

#: Words that sort, the names of the values that they sort by, and whether the greatest is meant.
_SORTS: Final[tuple[tuple[str, tuple[str, ...], bool], ...]] = (
    ("cheapest|billigste\\w*|günstigste\\w*|moins chère?|más barat[oa]", ("price", "cost", "fare", "total"), False),
    ("most expensive|priciest|dearest|teuerste\\w*|plus chère?|más car[oa]", ("price", "cost", "fare", "total"), True),
    ("nearest|closest|nächste\\w*|nächstgelegene\\w*|plus proche|más cercan[oa]", ("distance",), False),
    ("farthest|furthest|most distant", ("distance",), True),
    ("fastest|quickest|schnellste\\w*|plus rapide|más rápid[oa]", ("duration",), False),
    ("largest|biggest|größte\\w*|plus grande?|más grande", ("size", "bytes", "length"), True),
    ("smallest|tiniest|kleinste\\w*|plus petite?|más pequeñ[oa]", ("size", "bytes", "length"), False),
    (
        "(?:best|highest|top)[- ]rated|(?<=the )best|bestbewertete\\w*|mieux notée?|mejor valorad[oa]",
        ("rating", "score"),
        True,
    ),
    ("(?:worst|lowest)[- ]rated|(?<=the )worst", ("rating", "score"), False),
)
#: Sorts by when something was.
_MOMENT: Final = ("moment",)
_OLDEST: Final = "oldest|earliest|älteste\\w*|früheste\\w*|plus ancien(?:ne)?s?|más antigu[oa]s?"
#: `the server with the highest load`, `the post with the fewest votes`: what it sorts by is said.
_WITH: Final = (
    r"(?:with|having|mit|con|avec)\s+(?:the|dem|der|den|el|la|le)\s+(?:(?P<most>highest|most|greatest|largest|biggest"
    r"|höchsten|meisten|größten|mayor|más|plus)|(?P<least>lowest|fewest|least|smallest|niedrigsten|wenigsten"
    r"|kleinsten|menor|menos|moins))\s+(?:de\s+|d['\u2019])?(?P<of>[^\W\d_]+)"
)
_ORDINALS: Final = r"(?:first|latest|newest|top|erste\w*|neueste\w*|premier\w*|première|primer\w*)"
PICKED: Final = re.compile(
    rf"\b(?:{_WITH}|{'|'.join(f'(?P<by{at}>{words})' for at, (words, _, _) in enumerate(_SORTS))}"
    rf"|(?P<oldest>{_OLDEST})|{_ORDINALS})(?!\w)",
    re.IGNORECASE,
)
#: Before a word that picks one out of several: `first name` is none, `the first ticket` is.
_THE: Final = re.compile(r"\b(?:the|my|our|der|die|das|den|dem|des|l[ea]|el|mon|ma|mi)\s+$", re.IGNORECASE)
#: What is opened by `first`, or is no item of a list.
_NO_ITEM: Final = re.compile(r"\s+(?:name|class|aid|half|quarter|floor|of\s+all|of\s+\w+(?:\s+\d{4})?$)\b", re.I)


#: Words for what a list holds.
_ITEMS: Final = re.compile(
    r"\b(?:them|these|those|each|all|every|diese|alle|jede[nrms]?|chacun\w*|cada|tod[oa]s|tou(?:s|tes))\b"
    r"|-(?:les|los|las)\b",
    re.IGNORECASE,
)


class Pick(msgspec.Struct, frozen=True):
    """Pick of one out of a list."""

    text: str
    start: int
    end: int
    by: tuple[str, ...] = ()
    """Names of the values that it sorts by; none: it takes the first one."""
    is_greatest: bool = False

    def chosen(self, at: str, listed: Listed, path: str) -> str | None:
        """The expression for what is picked out of the list at a place; None where its items lack what it sorts by."""
        if not self.by:
            return f"{{{{ {at}[0].{path} }}}}"
        own = self._sorting(listed)
        if own is None:
            return None
        end = "last" if self.is_greatest else "first"
        return f"{{{{ ({at} | sort(attribute='{'.'.join(own.path)}') | {end}).{path} }}}}"

    def _sorting(self, listed: Listed) -> ToolField | None:
        """The field of an item by which it is picked: of the first name that one has, or the only time of it."""
        if self.by == _MOMENT:
            times = [one for one in listed.fields if one.kind in ("day", "moment")]
            return times[0] if len(times) == 1 else None
        return next((one for word in self.by for one in listed.fields if word in one.name), None)


def picks_in(text: str) -> tuple[Pick, ...]:
    """The picks that a text says, in its order."""
    return tuple(_pick(found) for found in PICKED.finditer(text) if not _NO_ITEM.match(text, found.end()))


def is_picking(start: int, text: str) -> bool:
    """Whether the word at a place of a text is one that picks, or a part of such words: `best` of `best rated`."""
    return any(first <= start < last for first, last in _places(text))


@lru_cache(maxsize=64)
def _places(text: str) -> tuple[tuple[int, int], ...]:
    """Where a text says picks."""
    return tuple(found.span() for found in PICKED.finditer(text))


def is_of_items(text: str, pick: Pick) -> bool:
    """Whether the words of a text make the pick one of several things: by an order, or with an article."""
    return bool(pick.by) or _THE.search(text[: pick.start]) is not None


def is_item_of_list(text: str) -> bool:
    """Whether a clause speaks of what a list before it holds: `delete the first one`, `send them`, `close each`."""
    return _ITEMS.search(text) is not None or any(is_of_items(text, one) for one in picks_in(text))


def _pick(found: re.Match[str]) -> Pick:
    if found["of"]:
        noun = folded(found["of"])
        names = (noun, stem(noun))
        return Pick(folded(found.group()), found.start(), found.end(), names, found["most"] is not None)
    if found["oldest"]:
        return Pick(folded(found.group()), found.start(), found.end(), _MOMENT)
    for at, (_, by, is_greatest) in enumerate(_SORTS):
        if found[f"by{at}"]:
            return Pick(folded(found.group()), found.start(), found.end(), by, is_greatest)
    return Pick(folded(found.group()), found.start(), found.end())
