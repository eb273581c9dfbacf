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
        start, end, name = match.start(), match.end(), match.group()
        while True:
            first, blank, rest = name.partition(" ")
            word = first.lower().strip(".,'\u2019")
            is_opener = word in ("i", "i'm", "i'd", "i've") or (word in _OPENERS and _opens_sentence(text, start))
            if not is_opener:
                break
            start += len(first) + len(blank) + (len(rest) - len(rest.lstrip()))
            name = rest.lstrip()
            if not name or not name[0].isupper():
                # What follows a number may be a name again, as in `Convert 200 GBP`.
                position = start if name else position
                name = ""
                break
        # After a colon there are names as well: `two authors: Alice and Bob`.
        is_grammar = _begins(text[:start]) and not text[:start].rstrip().endswith(":")
        if not name or name in ("ID", "Id", "IDs") or (name.isalpha() and not name.isupper() and is_grammar):
            continue
        for ending in ("'s", "\u2019s", "'", "\u2019", "."):
            if name.endswith(ending) and not re.search(r"\.\w\.$", name):
                name = name[: -len(ending)]
                end = start + len(name)
        place = _PLACE.match(text, end)
        previous = raw_words(text[max(0, start - 12) : start])
        if place and (
            (is_region(place.group()[1:]) and not (is_region(name) and _goes_on(text, place.end())))
            or (
                previous
                and (previous[-1] in _PLACE_BEFORE or (previous[-1] in ("and", "or") and was_place))
                and not _goes_on(text, place.end())
            )
        ):
            end = place.end()
            name = text[start:end]
            was_place = True
        yield Mention("name", name, name, start, end)


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
