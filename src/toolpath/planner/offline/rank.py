"""Rank of a tool for a part of a request, by the words of its name, description and parameters. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from toolpath.catalog.words import STOP, raw_words, stem
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.model.tool import Tool
from toolpath.planner.offline.match import is_like, words_of
from toolpath.planner.offline.opposites import is_opposite
from toolpath.planner.offline.slots import Slot, slots_of
from toolpath.planner.offline.terms import ANY_CURRENCY

#: Words that many tools share, whatever they do: they tell little.
COMMON = frozenset(
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
#: Words for a look at what there is.
_LOOKS = frozenset(
    [
        "get",
        "list",
        "find",
        "search",
        "show",
        "read",
        "fetch",
        "retrieve",
        "view",
        "display",
        "lookup",
        "browse",
        "query",
    ]
)
#: Words that begin a request and say nothing of what is wanted.
_POLITE = re.compile(
    r"\s*[\"']?(?:(?:and|then|also|please|kindly|now|first|finally|can|could|would|will|you|i|we|want|need|like|to|d|"
    r"let|us|me|help|hey|hi)\b[\s,']*)*",
    re.IGNORECASE,
)
_THING = re.compile(r"(?P<word>[a-z]+)\s+(?:on|about|upon|['\"“])", re.IGNORECASE)
_QUESTION = re.compile(
    r"\s*[\"']?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|did|do)\b", re.IGNORECASE
)
#: Question → words of the tools that answer it.
_ASKED = tuple(
    (re.compile(rf"\b(?:{question})\b", re.IGNORECASE), tuple(words.split()))
    for question, words in (
        (r"when (?:is|was|were|are|will|does|do|did|should|can)", "date time"),
        (r"what (?:day|year)", "date"),
        (r"where (?:is|are|was|were|can|could|do|does)|nearest|nearby|closest", "location place near nearby"),
        (r"how far", "distance"),
        (r"how (?:tall|high)", "height"),
        (r"how (?:long|soon|quickly)", "duration time"),
        (r"how (?:old|young)", "age"),
        (r"how heavy|weighs?", "weight"),
        (r"how (?:hot|cold|warm)", "temperature weather"),
        (r"how (?:fast)", "speed velocity"),
        (
            rf"\d[\d,.]* ?(?:{ANY_CURRENCY})\b.{{1,20}}\b(?:in|to|into)\s+(?:the )?(?:{ANY_CURRENCY})",
            "convert conversion currency exchange",
        ),
        (r"how (?:likely)|chances? of|odds of", "probability"),
        (r"how many \w+ (?:are )?in \w+ \w+", "convert conversion unit"),
        (r"(?:how much|what) (?:does|do|would|will|is|are) .{1,60} (?:cost|worth)", "price cost"),
        (r"who (?:is|are|was|were|will|has|have|wrote|won|made|discovered|invented)", "person people leader winner"),
    )
)
#: So much of its fit keeps a tool that would change something, for a question that speaks of no change.
_UNASKED = 0.5


class RankedTool(msgspec.Struct, frozen=True):
    """A tool prepared for planning."""

    tool: Tool
    slots: tuple[Slot, ...]
    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]
    verb: str
    """The first word of its name."""


class Fit(msgspec.Struct, frozen=True):
    """Fit of a tool to a text: shares from 0 to 1."""

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


def candidate(tool: Tool) -> RankedTool:
    """The tool with its words and parameters read; kept with it, since tools are frozen."""
    known = tool.__dict__.get("_candidate")
    if not isinstance(known, RankedTool):
        known = tool.__dict__["_candidate"] = _candidate(tool)
    return known


def _candidate(tool: Tool) -> RankedTool:
    slots = slots_of(plain_inputs(tool))
    parameters = {word for slot in slots for word in slot.words}
    parameters |= {
        word for slot in slots for shown in (*slot.shown, *map(str, slot.options)) for word in words_of(shown)
    }
    texts = (tool.description, *(example.query for example in tool.examples), *tool.capabilities)
    return RankedTool(
        tool,
        slots,
        frozenset(words_of(f"{tool.name} {tool.title}")),
        frozenset(word for text in texts for word in words_of(text[:600])),
        frozenset(parameters),
        next(iter(raw_words(tool.name)), ""),
    )


class Ranker:
    """Fits of a fixed set of tools; how much a word tells depends on how many of them have it."""

    def __init__(self, candidates: Sequence[RankedTool]) -> None:
        self.candidates = candidates
        self._count = len(candidates)
        self._made = {(row, thing) for one in candidates if (row := _row(one.verb)) for thing in _things(one)}
        self._having = Counter(word for one in candidates for word in one.name | one.description)
        self._weights: dict[str, float] = {}
        self._fits: dict[tuple[str, str], Fit] = {}

    def weight(self, word: str) -> float:
        """How much a word tells."""
        known = self._weights.get(word)
        if known is None:
            known = self._weights[word] = self._weight(word)
        return known

    def _weight(self, word: str) -> float:
        rarity = math.log(1 + (self._count + 1) / (self._having.get(word, 0) + 0.5))
        return rarity * (0.35 if word in COMMON else 1.0)

    def fit(self, one: RankedTool, text: str) -> Fit:
        """How the tool fits the text; the same is asked again and again while a request is planned."""
        known = self._fits.get((one.tool.key, text))
        if known is None:
            known = self._fits[one.tool.key, text] = self._fit_of(one, text)
        return known

    def _fit_of(self, one: RankedTool, text: str) -> Fit:
        said = set(words_of(text))
        if not said:
            return NO_FIT
        meant = said | _meant(text)
        row, thing = self._command(text)
        if row is not None and row is _row(one.verb):
            meant.add(one.verb)
            # `write a comment on the blog`: it is the comment that is written.
            is_other = bool(thing) and row is not _LOOKS and thing not in _things(one)
        else:
            # Another tool does to the same thing what is asked for.
            is_other = _row(one.verb) is not None and any((row, thing) in self._made for thing in _things(one))
        fit = self._fit(one, said, meant)
        if is_opposite(one.name | one.description, said):
            return _lessened(_lessened(fit))
        if is_other or (_QUESTION.match(text) and _is_unasked(one, said)):
            return _lessened(fit)
        return fit

    def things(self) -> frozenset[str]:
        """The things that the tools make: `comment`, of a tool that creates comments."""
        return frozenset(thing for row, thing in self._made if row is _CHANGES[0])

    def _command(self, text: str) -> tuple[frozenset[str] | None, str]:
        """The row of the verb that a command begins with, and the first thing after it that a tool of that row is for.

        What tools make is a verb too: `comment on it`.
        """
        polite = _POLITE.match(text)
        rest = text[polite.end() if polite else 0 :]
        verb = next(iter(raw_words(rest[:60])), "")
        thing = _THING.match(rest)
        if thing is not None and (_CHANGES[0], stem(thing["word"].lower())) in self._made and not verb.endswith("s"):
            return _CHANGES[0], stem(thing["word"].lower())
        row = _row(verb)
        said = map(stem, raw_words(rest[:400])[1:]) if row is not None else ()
        return row, next((word for word in said if (row, word) in self._made), "")

    def _fit(self, one: RankedTool, said: set[str], meant: set[str]) -> Fit:
        name = self._share(one.name, meant)
        description = self._share(one.description, meant)
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


@lru_cache(maxsize=4_096)
def _meant(text: str) -> frozenset[str]:
    """The words that are meant without being said: `how far` is a distance, `lowest common multiple` is `lcm`."""
    begin = text[:2_000]
    tokens = raw_words(begin)
    asked = {word for question, words in _ASKED if question.search(begin) for word in words}
    return frozenset(asked) | frozenset(
        "".join(word[0] for word in tokens[start : start + length])
        for length in (3, 4)
        for start in range(len(tokens) - length + 1)
        if not STOP & {*tokens[start : start + length]}
    )


def _row(verb: str) -> frozenset[str] | None:
    """The words that mean about the same."""
    return next((row for row in (*_CHANGES, _LOOKS) if verb in row), None)


def _things(one: RankedTool) -> list[str]:
    """The things that a tool is for, by its name: `comment` of `listCommentsByBlog`."""
    return words_of(one.tool.name)[1:2]


def _is_unasked(one: RankedTool, said: set[str]) -> bool:
    rows = [row for row in _CHANGES if one.verb in row]
    return bool(rows) and not any(is_like(word, change) for row in rows for change in row for word in said)


def _lessened(fit: Fit) -> Fit:
    return Fit(fit.name * _UNASKED, fit.description * _UNASKED, fit.said * _UNASKED)
