"""One thing that a request mentions, with its place in the text and the words around it. Pure data."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolpath.values import Json

Kind = Literal[
    "quoted", "email", "url", "handle", "list", "date", "time", "expression", "code", "number", "name", "phrase"
]
#: Longer text between two things joins nothing.
_LONGEST = 60
_JOINTS = frozenset(("and", "or", "vs", "versus", "then", "with"))


class Mention(msgspec.Struct, frozen=True):
    """One thing mentioned."""

    kind: Kind
    text: str
    value: Json
    start: int
    end: int
    unit: str = ""
    """What a number counts: the word after it, `%`, or a currency sign."""
    before: tuple[str, ...] = ()
    """Words before, nearest last, lower case."""
    after: tuple[str, ...] = ()
    """Words after, nearest first, lower case."""


_JOINING = re.compile(r"[\s,;&/'\"]|\b(?:and|or|the|a|an|also|vs|versus|then|with)\b")
_WORD = re.compile(r"[\s-]*([^\s,;:.!?()-]+)")
#: So many words may follow each of the things in a list: `20 square meters, 35 square meters`.
_MOST_SHARED = 3


def is_joined(text: str, left: Mention, right: Mention) -> bool:
    """Whether only a comma or a conjunction stands between two mentions, as in `A, B and C`.

    What is said again with each of them counts for nothing: `5 cm, 7 cm and 9 cm`, `by car and by train`.
    """
    between = text[left.end : right.start]
    if len(between) > _LONGEST:
        return False
    between = _without_shared(between, text, right).lower()
    led = left.before[-1:]
    if led and led == right.before[-1:] and re.search(r"[,;]|\band\b|\bor\b", between):
        between = re.sub(rf"\b{re.escape(led[0])}\b", "", between)
    return len(between) < 30 and not _JOINING.sub("", between)


def _without_shared(between: str, text: str, right: Mention) -> str:
    """The text between, without the words at its start that follow the right one as well."""
    at, end = 0, right.end
    for _ in range(_MOST_SHARED):
        own, other = _WORD.match(between, at), _WORD.match(text, end)
        if own is None or other is None or own[1].lower() != other[1].lower() or own[1].lower() in _JOINTS:
            break
        at, end = own.end(), other.end()
    return between[at:]
