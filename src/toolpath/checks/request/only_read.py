"""Commands that only have something shown, held against tools that act: `Check BK-12` checks nothing out. Pure.

A verb of reading is in the name or the description of many a tool that writes: `check_out`, `Give a job to a mechanic`.
There it says what the tool does with another word alone, and the command has to say that word too.
"""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import commanded
from toolpath.checks.request.tools import acts, verbs_of
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.model.tool import Tool

#: Words that make another verb of one of reading: `check out`, `look up`, `read in`.
_PARTICLES: Final = ("in", "out", "up", "off", "on", "back", "down", "away", "over")
#: Where a description may say such a word: behind its verb and what that is done to.
_OPENING: Final = 6
#: What takes a little word for its own: `in the hall` is a place.
_PLACE: Final = re.compile(
    r"\s+(?!and\b|und\b|et\b|y\b|or\b|please\b|until\b|again\b|now\b|today\b|at\b|for\b|by\b)[^\W\d_]"
)
#: Verbs that hand something to somebody, and have something told: whom it is for decides.
_HANDING: Final = frozenset(("give", "tell", "gib", "gebt", "gebe", "donne", "donnez", "da", "dale", "di", "dis"))
#: Whoever asks, right behind the verb: `Give me T-7`, `donne-moi T-7`, `dame T-7`.
_ASKER: Final = re.compile(r"\W+(?:(?:please|bitte|mal)\W+)?(?:me|us|mir|uns|moi|nous)\b")
#: Spanish has it at the end of the verb.
_ASKED_FOR: Final = frozenset(("dame", "danos", "dime", "dinos"))


def only_reads(text: str, verb: str, tool: Tool) -> bool:
    """Whether a command's verb has something shown, and says nothing of what a tool that acts does."""
    # `Donne-moi` is `donne` with whom it is for.
    plain = folded(verb).partition("-")[0]
    if not plain or not acts(tool):
        return False
    rest = folded(text).partition(plain)[2]
    if plain in _HANDING:
        return _ASKER.match(rest) is not None
    if plain in _ASKED_FOR:
        return True
    if not is_reading(plain) or meanings_of(plain):
        return False
    words = raw_words(tool.name)
    if any(words[:1] == [plain + one] and _is_said(one, rest) for one in _PARTICLES):
        return False
    if words[:1] and (words[0] == plain or commanded(plain) & commanded(words[0])):
        # `check_stock` is what it is called; `check_in` is another verb.
        return words[1:2] != [] and words[1] in _PARTICLES and not _is_said(words[1], rest)
    told = raw_words(tool.description[:200])[: _OPENING + 1]
    if told[:1] and plain in (told[0], told[0].removesuffix("s")):
        return not any(one in _PARTICLES and _is_said(one, rest) for one in told[1:])
    return plain in verbs_of(tool) or bool(commanded(plain) & frozenset().union(*map(commanded, verbs_of(tool))))


def _is_said(particle: str, rest: str) -> bool:
    return re.match(rf"\s+{particle}\b", rest) is not None or stands_alone(particle, rest)


def stands_alone(particle: str, text: str) -> bool:
    """Whether the word stands there with no place of its own: `in` of `Check GM-2 in`, not of `in hall 2`."""
    found = [*re.finditer(rf"(?<![\w-]){particle}(?![\w-])", text)]
    return any(particle in ("out", "off") or not _PLACE.match(text, one.end()) for one in found)
