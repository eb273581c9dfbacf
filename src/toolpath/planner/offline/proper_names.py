"""Proper names in a request: runs of capitals, places with their country, without the capitals of grammar. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from toolpath.catalog.words import STOP, raw_words
from toolpath.planner.offline.mention import Mention
from toolpath.planner.offline.terms import is_region

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\wÀ-ÿ'\u2019.&-]*[\wÀ-ÿ]|[A-Z]"
_TITLE = r"(?:(?:Mrs?|Ms|Dr|Prof|St|Mt)\.?\s+)?"
_NAME = re.compile(
    rf"(?<!\w){_TITLE}(?:{_CAPITAL})"
    rf"(?:(?:\s+|\s+(?:of|the|of the|de|la|du|von|van|&)\s+)(?:(?:{_CAPITAL})|\d{{1,4}}(?![\w%/])))*"
)
_PLACE = re.compile(rf",\s*(?!I\b)(?:{_CAPITAL})(?:\s+(?:{_CAPITAL}))*")
#: Words that begin sentences and requests; alone, their capital says nothing.
_OPENERS = STOP | frozenset(
    re.findall(
        r"\S+",
        """find get calculate create show give tell list search book compute convert determine generate check send add
    make set update delete order play provide retrieve fetch estimate predict identify analyze translate plan schedule
    i'm i've i'd what's who's it's let's there's that's how's where's secondly firstly thirdly moreover furthermore
    meanwhile suppose assume given imagine hi hello hey dear okay thanks thank many much during while because since
    before second third fourth another later using remember recommend compare use identify look locate display write
    register record enter remove cancel publish submit note post put save store assign invite notify email reply answer
    name call ask check confirm verify measure count sort rank filter draw print run test load import export download
    read open close turn start stop buy sell solve simulate change modify train run execute""",
    )
)
_PLACE_BEFORE = frozenset(
    ("in", "at", "near", "around", "from", "to", "of", "for", "within", "between", "into", "visiting")
)


def proper_names(text: str) -> Iterator[Mention]:
    """Every proper name, in the order of the text."""
    was_place = False
    position = 0
    while (match := _NAME.search(text, position)) is not None:
        position = match.end()
        start, name = _without_openers(text, match)
        if name and not name[0].isupper():
            # What follows a number may be a name again, as in `Convert 200 GBP`.
            position = start
            continue
        # After a colon there are names as well: `two authors: Alice and Bob`.
        is_grammar = _begins(text[:start]) and not text[:start].rstrip().endswith(":")
        if not name or name in ("ID", "Id", "IDs") or (name.isalpha() and not name.isupper() and is_grammar):
            continue
        name = _without_ending(name)
        end = start + len(name)
        place = _PLACE.match(text, end)
        if place is not None and _is_in_place(name, place, text, start, was_place=was_place):
            end = place.end()
            name = text[start:end]
            was_place = True
        yield Mention("name", name, name, start, end)


def _without_openers(text: str, match: re.Match[str]) -> tuple[int, str]:
    """Where a name begins, and the name, without words that only open a sentence before it: `Convert 200 GBP`."""
    start, name = match.start(), match.group()
    while name and name[0].isupper():
        first, blank, rest = name.partition(" ")
        word = first.lower().strip(".,'\u2019")
        if word not in ("i", "i'm", "i'd", "i've") and not (word in _OPENERS and _opens_sentence(text, start)):
            break
        start += len(first) + len(blank) + (len(rest) - len(rest.lstrip()))
        name = rest.lstrip()
    return start, name


def _without_ending(name: str) -> str:
    """The name without a genitive and what ends its sentence."""
    for ending in ("'s", "\u2019s", "'", "\u2019", "."):
        if name.endswith(ending) and not re.search(r"\.\w\.$", name):
            name = name[: -len(ending)]
    return name


def _is_in_place(name: str, place: re.Match[str], text: str, start: int, *, was_place: bool) -> bool:
    """Whether a name with another one behind a comma is a place with what it is in: `Austin, Texas`."""
    goes_on = _goes_on(text, place.end())
    if is_region(place.group()[1:]) and not (is_region(name) and goes_on):
        return True
    previous = raw_words(text[max(0, start - 12) : start])
    is_after = bool(previous) and (previous[-1] in _PLACE_BEFORE or (previous[-1] in ("and", "or") and was_place))
    return is_after and not goes_on


def without_verb(mention: Mention, text: str, verbs: Collection[str]) -> Mention | None:
    """The name without the verb that a request begins with, as in `Expel Tom`; None where nothing else is left.

    `verbs`: the words of the tool that is filled, in small letters.
    """
    first, _, rest = mention.text.partition(" ")
    if mention.kind != "name" or first.lower() not in verbs or not _begins(text[: mention.start]):
        return mention
    if not rest.strip():
        return None
    start = mention.end - len(rest.lstrip())
    name = rest.lstrip()
    return (
        msgspec.structs.replace(mention, text=name, value=name, start=start) if text[start:].startswith(name) else None
    )


def _goes_on(text: str, end: int) -> bool:
    """Whether a list of names goes on here, so that the comma before was one of the list: `Paris, London and Rome`."""
    rest = text[end : end + 80]
    if re.match(rf",?\s+and\s+(?:{_CAPITAL})(?:\s+(?:{_CAPITAL}))*,\s*[A-Z]", rest):
        return False
    return bool(re.match(r",?\s+and\s+[A-Z]|,\s*[A-Z]", rest))


def _opens_sentence(text: str, start: int) -> bool:
    """Where a capital is a matter of grammar."""
    return _begins(text[:start]) or text[:start].rstrip(" \t\"'“(").lower().endswith((", and", ", then", " and then"))


def _begins(before: str) -> bool:
    """Whether a sentence begins after this."""
    before = before.rstrip(" \t\"'“(")
    return not before or before[-1] in ".!?:;\n"
