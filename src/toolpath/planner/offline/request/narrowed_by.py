"""The one text by which a list may be narrowed: `the projects of Delmas`, `recipes with leeks`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from toolpath.planner.offline.request.field_kinds import FieldKind
from toolpath.planner.offline.request.named import takes_a_name
from toolpath.planner.offline.request.parts import Word
from toolpath.planner.offline.request.plain_words import PlainWords
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, ToolField

SEARCHED: Final = frozenset(["query", "text", "name", "title", "words", "keyword", "search"])
"""Names of parameters that take whatever is looked for."""
#: Kinds that a name may be of.
_NAMED: Final[tuple[FieldKind, ...]] = ("text", "person", "place", "company")
#: Before whose things are meant.
_OF: Final = re.compile(
    r"\b(?:of|by|from|for|von|vom|bei|für|de|du|des|del|chez|pour|par|para|por)\s+(?:(?:the|der|dem|den|la|le|el)\s+)?$"
    r"|\bd['\u2019]$",
    re.IGNORECASE,
)
#: Letters that the words before a value have.
_BEHIND: Final = 40
#: Before what something has, or is about.
_WITH: Final = re.compile(r"\b(?:with|about|containing|mit|über|avec|sur|con|sobre)\s+$", re.IGNORECASE)


def whose_name(kit: Kit, left: Sequence[Span], taken: Collection[str], text: str) -> tuple[ToolField, Span] | None:
    """The text by which a list may be narrowed, where there is no other one, and the name of whose things are meant.

    `left`: values that nothing took; `taken`: parameters that have one.
    """
    texts = [one for one in kit.fields if one.kind in _NAMED and not one.options and not one.is_list]
    names = [one for one in left if one.kind == "name"]
    if kit.is_acting or not kit.lists or len(texts) != 1 or len(names) != 1:
        return None
    field, name = texts[0], names[0]
    if field.required or field.name in taken or field.name in SEARCHED:
        return None
    return (field, name) if _OF.search(text[max(0, name.start - _BEHIND) : name.start]) is not None else None


def about_what(
    kit: Kit, plain: PlainWords, fields: Sequence[ToolField], text: str
) -> Iterator[tuple[ToolField, Sequence[Word]]]:
    """The text by which a tool that reads may be narrowed, where there is no other one, and the words that say it."""
    texts = [one for one in kit.fields if one.kind in _NAMED]
    if kit.is_acting or len(texts) != 1 or texts[0] not in fields or texts[0].kind != "text" or takes_a_name(texts[0]):
        return
    phrase = next((run for run in plain.runs(texts[0]) if _WITH.search(text[: run[0].start]) is not None), None)
    if phrase is not None:
        yield texts[0], phrase


def pointed(plain: PlainWords, fields: Sequence[ToolField]) -> Iterator[tuple[ToolField, Sequence[Word]]]:
    """Plain words that a word before them points to a parameter that may be left out: `from github`."""
    for field in fields:
        phrase = next((run for run in plain.runs(field) if plain.is_for(run, field)), None)
        if phrase is not None:
            yield field, phrase
