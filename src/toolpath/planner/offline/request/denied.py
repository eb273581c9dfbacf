"""Words of a clause that are denied, and settings of a tool that are denied with them: `no refund`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from toolpath.checks.request.settings import CallSetting, is_named, none_of, options_said
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.parts import Word

#: So far before a word stands what says that it is not so.
_BEHIND: Final = 40
_DENIED: Final = re.compile(
    r"(?:\b(?:not|nicht|kein\w*|pas|non?|sin|ohne|sans|without|never|aucune?|ning[uú]na?)|n['\u2019]t)\s+"
    r"(?:(?:yet|been|being|any|an?|the|d[ey]|eine?n?|une?|una?|est[aá]n?|est[eé]n?|sean?|son|es|ha[ny]?|hayan?|encore|todavía|aún)\s+"
    r"|d['\u2019])*$",
    re.IGNORECASE,
)
#: Behind what is denied of several things.
_EITHER: Final = frozenset(("either", "both", "each", "beide", "beiden", "ambos", "ambas"))


def is_denied(word: Word, text: str) -> bool:
    """Whether it is said that the word is not so."""
    return _DENIED.search(text[max(0, word.start - _BEHIND) : word.start]) is not None


def denied_words(setting: CallSetting, words: Sequence[Word], text: str) -> list[Word]:
    """The words that deny a setting which has one value for that; none where another of its options is said."""
    if setting.is_flag or none_of(setting) is None:
        return []
    said = [one for one in words if is_named(one.text, setting) and is_denied(one, text)]
    return [] if any(options_said(one.text, setting) for one in words if one not in said) else said


def denying(denied: Word, words: Sequence[Word], text: str) -> Iterable[Word]:
    """The words that deny a word, and `either` and the like of those that it is denied of."""
    before = [one for one in words if one.end <= denied.start][-3:]
    yield from (one for one in before if _DENIED.search(text[one.start : denied.start]))
    yield from (one for one in before if folded(one.text) == "ne")
    yield from (one for one in words if folded(one.text) in _EITHER)
