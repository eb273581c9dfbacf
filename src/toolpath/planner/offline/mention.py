"""One thing that a request mentions, with its place in the text and the words around it. Pure data."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolpath.values import Json

Kind = Literal[
    "quoted", "email", "url", "handle", "list", "date", "time", "expression", "code", "number", "name", "phrase"
]


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


def is_joined(text: str, left: Mention, right: Mention) -> bool:
    """Whether only a comma or a conjunction stands between two mentions, as in `A, B and C`."""
    between = text[left.end : right.start].lower()
    return len(between) < 30 and not re.sub(
        r"[\s,;&/'\"]|\b(?:and|or|the|a|an|also|vs|versus|then|with)\b", "", between
    )
