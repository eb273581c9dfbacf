"""Parameters as the questions for them tell them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.json_schema.faults import listed
from toolpath.values import Json


def about(described: str, options: Sequence[Json]) -> str:
    """Its description with the values that it may take: who answers is not to guess them."""
    if not options:
        return described
    return f"one of {listed(options)}" if described == "enum" else f"{described}; one of {listed(options)}"


_LEFT_OUT: Final = re.compile(r"The plan does nothing about (?P<said>.+): what of it\?")
_SUBJECT: Final = re.compile(r"'([^']+)'|\"([^\"]+)\"")
_WORD: Final = re.compile(r"[^\W_]+(?:[.,:/-]\d+)*")


def told_once(questions: Sequence[str]) -> list[str]:
    """The questions without those about what the plan leaves out that an earlier one asks about, word for word."""
    kept: list[str] = []
    asked: set[str] = set()
    for one in dict.fromkeys(questions):
        found = _LEFT_OUT.fullmatch(one)
        subjects = " ".join(" ".join(groups) for groups in _SUBJECT.findall(one))
        words = {*_WORD.findall(subjects)}
        telling = {word for word in words if len(word) > _SHORT or any(map(str.isdigit, word))}
        if found is not None and telling and telling <= asked:
            continue
        asked |= words
        kept.append(one)
    return kept


#: Shorter words ask about nothing by themselves.
_SHORT: Final = 3
