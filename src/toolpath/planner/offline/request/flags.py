"""Flags that other words than their names say: `close slope 7` of `true opens it, false closes it`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.contraries import contrary
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.denied import is_denied
from toolpath.planner.offline.request.parts import Word
from toolpath.planner.offline.request.toolbox import Kit, ToolField

#: What a description says of each value: `true opens it, false closes it`, `true: at home; false: away`.
_TRUE_FIRST: Final = re.compile(
    r"\btrue\b\W*(?:(?:to|means|if|for|when|is)\s+)?(?P<yes>[^;.()]{1,60}?)[\s,;.(]*(?:(?:and|or)\s+)?\bfalse\b\W*"
    r"(?:(?:to|means|if|for|when|is)\s+)?(?P<no>[^;.()]{1,60})",
    re.IGNORECASE,
)
_TRUE_LAST: Final = re.compile(
    r"(?P<yes>[\w-]{2,30})\s+(?:if|when|=)?\s*\(?true\)?\W+(?:or\s+|and\s+)?(?P<no>[\w-]{2,30})\s+(?:if|when|=)?\s*\(?false\b",
    re.IGNORECASE,
)
#: Two words of which a tool does, or finds, one: `Open or close a slope`, `Only occupied / only vacant rooms`.
_EITHER: Final = re.compile(
    r"(?:\bonly\s+)?\b(?P<first>[^\W\d_]{3,20})(?:\s+ones)?(?:\s*/\s*|,?\s+or\s+)(?:only\s+)?(?P<second>[^\W\d_]{3,20})\b",
    re.IGNORECASE,
)
#: Words of names of flags that say nothing of what they switch.
_PALE: Final = frozenset(("only", "is", "has", "was", "set", "be", "flag", "state", "status"))


class _Glosses(msgspec.Struct, frozen=True):
    """Keys of the words that say that a flag holds, and of those that say that it does not."""

    yes: frozenset[str]
    no: frozenset[str]


def flag_said(field: ToolField, kit: Kit, words: Sequence[Word], text: str) -> tuple[bool, tuple[Word, ...]] | None:
    """The value of a flag that the words of a clause say, with these words; None where they say none, or both."""
    told = _glosses(field.name, field.description, kit.tool.description[:200])
    found: dict[bool, list[Word]] = {}
    for word in words:
        holds = _says(word, told, field)
        if holds is None:
            continue
        if is_denied(word, text):
            return None
        found.setdefault(holds, []).append(word)
    if len(found) != 1:
        return None
    ((value, said),) = found.items()
    return value, tuple(said)


def _says(word: Word, told: _Glosses, field: ToolField) -> bool | None:
    keys = _keys(word.text) | word.concepts
    is_yes, is_no = bool(keys & told.yes), bool(keys & told.no)
    if is_yes is not is_no:
        return is_yes
    # `closed` of a flag that is called `open`.
    own = frozenset().union(*(_keys(one) for one in raw_words(field.name) if one not in _PALE))
    return False if not is_yes and contrary(word.text) & own else None


@lru_cache(maxsize=1_024)
def _glosses(name: str, description: str, purpose: str) -> _Glosses:
    found = _TRUE_FIRST.search(description) or _TRUE_LAST.search(description)
    if found is not None:
        yes, no = _keys_in(found["yes"]), _keys_in(found["no"])
        return _Glosses(yes - no, no - yes)
    own = frozenset().union(*(_keys(one) for one in raw_words(name) if one not in _PALE))
    for text in (description, purpose):
        for either in _EITHER.finditer(text):
            first, second = _keys(either["first"]), _keys(either["second"])
            if bool(first & own) is not bool(second & own):
                yes, no = (first, second) if first & own else (second, first)
                return _Glosses(yes, no)
    return _Glosses(frozenset(), frozenset())


def _keys_in(text: str) -> frozenset[str]:
    words = [word for word in raw_words(text) if folded(word) not in STOPS and len(word) > 2]
    return frozenset().union(*map(_keys, words)) if words else frozenset()


def _keys(word: str) -> frozenset[str]:
    """The names of the concepts that a word has a line of its own for, and the word itself."""
    base = stem(folded(word))
    return frozenset((base, f"to-{base}")) & (concepts_of(word) | {base})
