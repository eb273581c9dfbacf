"""Quantifiers of a request, words that ask for every one of several things: `all`, `jede`, `both`. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.calendar_words import WHEN
from toolpath.checks.request.held_values import HeldValues
from toolpath.checks.request.verbs import folded

#: Words that ask for more than one call does.
_EVERY: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """all every each everything everyone everybody both any anything alle alles jede jeden jedes jeder
        beide beiden sämtliche tous toutes tout chaque tous-les todos todas todo cada ambos ambas cualquier""",
    )
)
#: Words for all that ask for nothing.
_ALL_IN_IDIOMS: Final = re.compile(
    r"\b(?:tout de suite|tout de même|first of all|after all|at all|all right|vor allem|ante todo|sobre todo)\b"
    # `at 30 each` is the price of one.
    r"|(?<=[\d#])\s*(?:[€$£]|euros?|dollars?|pounds?|eur|usd|gbp|chf)?\s*\beach\b(?!\s+of\b)",
    re.IGNORECASE,
)


def asks_for_more(word: str) -> bool:
    """Whether the word asks for every one of several things, or says when."""
    return folded(word) in _EVERY or folded(word) in WHEN


def quantifiers(text: str, held: HeldValues) -> list[str]:
    """Words that ask for every one of several things, where no value holds them."""
    text = _ALL_IN_IDIOMS.sub(" ", text)
    found = [match.group() for match in re.finditer(r"[^\W\d_]+", text) if folded(match.group()) in _EVERY]
    return [word for word in dict.fromkeys(found) if not held.has(word) and folded(word) not in held.vocabulary]


def asks_for_all(text: str) -> bool:
    """Whether a text has no words but those that ask for every one of several things, and what leads to them."""
    words = [folded(word) for word in re.findall(r"[^\W\d_]+", text)]
    return bool(_EVERY.intersection(words)) and all(word in _EVERY or len(word) < 4 for word in words)
