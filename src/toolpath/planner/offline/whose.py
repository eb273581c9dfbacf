"""Whose things a write goes over: `cancel all her appointments` is done to nobody's but hers. Pure.

Whose they are is said before, or not at all: a list that is not narrowed to anybody holds everybody's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit

#: Whose: of one who was spoken of before; with one word at most between it and the thing.
_WHOSE: Final = re.compile(
    r"(?<![\w'\u2019-])(?P<whose>her|his|their|its|ihre[nmrs]?|seine[nmrs]?|leurs?|ses|sus)\s+"
    r"(?P<things>[^\W\d_]+(?:[\s-]+[^\W\d_]+)?)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Kinds of values by which somebody, or something, goes.
_NAMING: Final = ("name", "id", "code", "email", "phone", "quoted", "number")


def whose(text: str, spans: Sequence[Span], lister: Kit, held: str) -> str | None:
    """The words that say whose things a list is gone over for, where nothing that is held names the owner.

    `held`: what the plan calls, compares and goes over, as one text.
    """
    things = frozenset[str]().union(
        *lister.named[1:], *(concepts_of(part) for one in lister.lists for part in one.path)
    )
    for found in _WHOSE.finditer(text):
        thing = next((word for word in _WORD.findall(found["things"]) if concepts_of(word) & things), None)
        if thing is None:
            continue
        named = [one.text for one in spans if one.end <= found.start() and one.kind in _NAMING]
        if not any(_is_held(part, held) for one in named for part in (one, *one.split())):
            return f"{found['whose']} {thing}"
    return None


def _is_held(name: str, held: str) -> bool:
    plain = folded(name.strip("'\"“”„«» ").removesuffix("'s").removesuffix("\u2019s"))
    return len(plain) > 1 and any(True for _ in whole_words(held, plain))
