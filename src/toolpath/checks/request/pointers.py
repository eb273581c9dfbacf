"""Pointers in a command to what it does not name: `email it`, `and then to EUR`, `restart that`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolpath.checks.request.calendar_words import WEEKDAY_NAMES
from toolpath.checks.request.verbs import folded
from toolpath.values import Json, walk

#: A word that stands for what was said or done before; before a noun it names which of several.
_POINTS: Final = re.compile(
    r"\b(?:it|its|itself|them|they|these|those|this|that|him|her|hers|his|their|theirs"
    r"|the\s+(?:result|results|output|outcome|answer|same|latter|former|original|rest|other|others|one|ones|first\s+one"
    r"|second\s+one|last\s+one|converted\s+\w+|resulting\s+\w+))\b",
    re.IGNORECASE,
)
#: `that` and `this` that point to nothing: `so that`, `this week`, `that says`; `that #`: what is named right after.
_NO_POINTER: Final = re.compile(
    r"\s+(?:is|are|was|were|says?|reads?|has|have|contains?|week|month|year|morning|afternoon|evening|weekend|quarter"
    rf"|time|{WEEKDAY_NAMES}|#)",
    re.IGNORECASE,
)
#: What `that` begins: `tell Ann that the room is free`.
_CLAUSE: Final = re.compile(
    r"\s+(?:the|an?|my|our|your|his|her|their|its|it|they|we|he|she|i|you|there|all|no|some|both|everyone|nobody)\b",
    re.I,
)
#: `convert 5 GBP to USD and then to EUR`: the same again, with what came of it.
_TO: Final = r"\s+(?:(?:back|on|over)\s+)?(?:in)?to\s+#?[\w.-]+"
_ON: Final = re.compile(rf"(?:\bthen|\bafterwards|\bafter\s+that|,\s*finally){_TO}", re.IGNORECASE)
#: The same said with a verb or a pointer, where a tool is called again: `then that to EUR`, `and convert it to EUR`.
_AGAIN: Final = re.compile(
    r"(?:\b(?:then|and|afterwards)|,)(?:\s+\w+)?\s+(?:it|that|this|those|them|the\s+(?:results?|outcome|output|sum))"
    rf"{_TO}",
    re.IGNORECASE,
)
#: An id, an address, a path: what is named by it is named once and for all.
_NAMING: Final = re.compile(r"(?=.*[\d@/\\]).{2,}|.*[\w-]\.\w{1,5}", re.DOTALL)
_AMOUNT: Final = re.compile(r"[-+$€£]?[\d.,]+%?[€$£]?")
#: A number that counts nothing: `Don't publish 44 yet`.
_NUMBERED: Final = re.compile(
    r"(?<![\w.,-])\d{1,12}(?=\s*(?:$|[,.;:!?](?:\s|$)|(?:yet|and|but|then|und|aber|noch|nicht|pas|et|mais|y|pero)\b))"
)
_ADDRESS: Final = re.compile(r"[^\s@]+@[^\s@]+")
_PERSONS: Final = frozenset(("him", "her", "his", "hers", "them", "they", "their", "theirs"))
#: A path, a blank, and what has a file's ending without being a path of its own.
_TORN: Final = re.compile(
    r"(?<![\w\"'`])(?P<place>(?:~|\.{1,2})?/\S{0,200}[\w-]|[a-z]:\\\S{0,200}[\w-])[ ]"
    r"(?P<rest>[\w-]+(?:[ ][\w-]+)?\.\w{1,5})(?!\w)",
    re.IGNORECASE,
)


def pointers(text: str) -> list[str]:
    """Words of a clause that stand for something said or made before."""
    found = [
        match
        for match in _POINTS.finditer(text)
        if not _NO_POINTER.match(text, match.end())
        and not (match.group().casefold() == "that" and _CLAUSE.match(text, match.end()))
    ]
    return list(dict.fromkeys(" ".join(match.group().split()).casefold() for match in found))


def goes_on(text: str, *, is_again: bool) -> str | None:
    """The words that have the same done again with what came of it; None where there are none.

    `is_again`: the same is done more than once, so that a pointer with a goal means what came of it, too.
    """
    found = _ON.search(text) or (_AGAIN.search(text) if is_again else None)
    return None if found is None else " ".join(found.group().split())


def reads_a_step(inputs: Mapping[str, Json]) -> bool:
    """Whether an argument is what another step gave."""
    return any(isinstance(value, str) and "{{" in value for _, value in walk(dict(inputs), ""))


def names_one_thing(inputs: Mapping[str, Json], earlier: str, pointer: str) -> bool:
    """Whether the arguments are all that the words before name, as in `Look at order O-7 and cancel it`.

    An amount names nothing, and the address of a person is no `it` beside something else.
    """
    tokens = [folded(one.strip(".,;:!?()\"'")).removesuffix("'s") for one in earlier.split()]
    named = {one for one in tokens if _NAMING.fullmatch(one) and not _AMOUNT.fullmatch(one)}
    # Where a number is all that is named, it is what is numbered so.
    named = named or {folded(one) for one in _NUMBERED.findall(earlier)}
    if pointer not in _PERSONS:
        named = {one for one in named if _ADDRESS.fullmatch(one) is None} or named
    return bool(named) and named <= _texts(inputs)


def torn_apart(request: str, calls: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Places with a blank in them, of which the plan makes two: `/home/ann/My Notes.txt`."""
    told = {text for inputs in calls for text in _texts(inputs)}
    for match in _TORN.finditer(request):
        if "." in match["place"].rpartition("/")[2].strip(".") or folded(match["rest"]).startswith(("to ", "into ")):
            continue
        if {folded(match["place"]), folded(match["rest"])} & told and folded(match.group()) not in told:
            yield match.group()


def _texts(inputs: Mapping[str, Json]) -> set[str]:
    found = (
        value for _, value in walk(dict(inputs), "") if isinstance(value, str | int) and not isinstance(value, bool)
    )
    return {folded(str(value)) for value in found}
