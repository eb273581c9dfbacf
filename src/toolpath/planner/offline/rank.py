"""How well a tool fits a part of a request, by the words of its name, description and parameters. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.model.tool import Tool
from toolpath.planner.offline.match import is_like, words_of
from toolpath.planner.offline.slots import Slot, slots_of

#: Words that many tools share, whatever they do: they tell little.
_COMMON = frozenset(
    [
        "get",
        "find",
        "calculate",
        "calc",
        "search",
        "list",
        "information",
        "info",
        "data",
        "retrieve",
        "fetch",
        "detail",
        "return",
        "compute",
        "determine",
        "specific",
        "given",
        "based",
        "provide",
        "function",
        "value",
        "number",
        "result",
        "name",
        "create",
        "generate",
        "certain",
        "different",
        "item",
        "various",
        "type",
        "using",
        "know",
        "set",
        "tell",
        "show",
        "give",
        "many",
        "much",
        "make",
        "use",
    ]
)


#: Words for a change; a tool whose name begins with one is meant only where the text has one of its row.
_CHANGES = tuple(
    frozenset(row.split())
    for row in (
        "create add make new insert write post register open start build set generate draft",
        "delete remove drop erase clear cancel destroy close stop end",
        "update change edit modify rename set adjust correct replace move",
        "send mail email forward reply message share notify tell post let",
        "buy purchase order pay book reserve transfer sell invest withdraw",
    )
)
_QUESTION = re.compile(
    r"\s*[\"']?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|did|do)\b", re.IGNORECASE
)
#: So much of its fit keeps a tool that would change something, for a question that speaks of no change.
_UNASKED = 0.5


class Candidate(msgspec.Struct, frozen=True):
    """A tool prepared for planning."""

    tool: Tool
    slots: tuple[Slot, ...]
    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]
    verb: str
    """The first word of its name."""


class Fit(msgspec.Struct, frozen=True):
    """How a tool fits a text: shares from 0 to 1."""

    name: float
    """Of the tool's name that the text says."""
    description: float
    said: float
    """Of the text that the tool speaks of."""

    @property
    def score(self) -> float:
        """All of it as one number, 0 to 1."""
        return 0.45 * self.name + 0.3 * self.description + 0.25 * self.said


NO_FIT = Fit(0.0, 0.0, 0.0)


def candidate(tool: Tool) -> Candidate:
    """The tool with its words and parameters read."""
    slots = slots_of(tool.input_schema)
    parameters = {word for slot in slots for word in slot.words}
    parameters |= {
        word for slot in slots for shown in (*slot.shown, *map(str, slot.options)) for word in words_of(shown)
    }
    texts = (tool.description, *(example.query for example in tool.examples), *tool.capabilities)
    return Candidate(
        tool,
        slots,
        frozenset(words_of(f"{tool.name} {tool.title}")),
        frozenset(word for text in texts for word in words_of(text[:600])),
        frozenset(parameters),
        next(iter(raw_words(tool.name)), ""),
    )


class Ranker:
    """Fits of a fixed set of tools; how much a word tells depends on how many of them have it."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self._count = len(candidates)
        self._having = Counter(word for one in candidates for word in one.name | one.description)

    def weight(self, word: str) -> float:
        """How much a word tells."""
        rarity = math.log(1 + (self._count + 1) / (self._having.get(word, 0) + 0.5))
        return rarity * (0.35 if word in _COMMON else 1.0)

    def fit(self, one: Candidate, text: str) -> Fit:
        """How the tool fits the text."""
        said = set(words_of(text))
        if not said:
            return NO_FIT
        if _QUESTION.match(text) and _is_unasked(one, said):
            return _lessened(self._fit(one, said))
        return self._fit(one, said)

    def _fit(self, one: Candidate, said: set[str]) -> Fit:
        name = self._share(one.name, said)
        description = self._share(one.description, said)
        known = self._share(frozenset(said), one.name | one.description | one.parameters)
        return Fit(name, description, known)

    def _share(self, words: frozenset[str], others: set[str] | frozenset[str]) -> float:
        total = met = 0.0
        heads = {other[:4] for other in others}
        for word in words:
            weight = self.weight(word)
            total += weight
            if word in others or (word[:4] in heads and any(is_like(word, other) for other in others)):
                met += weight
        return met / total if total else 0.0


def _is_unasked(one: Candidate, said: set[str]) -> bool:
    rows = [row for row in _CHANGES if one.verb in row]
    return bool(rows) and not any(is_like(word, change) for row in rows for change in row for word in said)


def _lessened(fit: Fit) -> Fit:
    return Fit(fit.name * _UNASKED, fit.description * _UNASKED, fit.said * _UNASKED)
