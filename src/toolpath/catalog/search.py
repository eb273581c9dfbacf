"""Ranks tools for a text: BM25 over weighted fields, by request and by clause, helped by coverage. Pure."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec
from rapidfuzz import process
from rapidfuzz.distance import OSA

from toolpath.catalog.postings import FieldWeight, Postings
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import clauses, raw_words, words
from toolpath.model.tool import Tool, ToolStats
from toolpath.values import JsonObject

_FIELDS: Mapping[str, FieldWeight] = {
    "name": FieldWeight(3.0, 3.5),
    "capability": FieldWeight(2.0, 3.0),
    "group": FieldWeight(1.0, 1.5),
    "description": FieldWeight(1.0, 11.0),
    "example": FieldWeight(0.7, 12.0),
    "parameter": FieldWeight(0.5, 4.5),
    "meaning": FieldWeight(0.2, 25.0),
    "category": FieldWeight(0.3, 1.2),
}
_LONGEST_QUERY = 2_000
_LONGEST_TEXT = 4_000
_MOST_CLAUSES = 12
_MOST_WORDS = 96
#: How much of the score is the best clause's instead of the whole request's.
_CLAUSE_SHARE = 0.45
#: How much it counts that the request says all of a tool's name, and of its description.
_COVERED = 0.4
#: A word nobody knows is read as the nearest known one from this likeness on.
_LIKE = 0.8
_MOST_MISSPELT = 4
_MOST_SPELLINGS = 4_096


class Hit(msgspec.Struct, frozen=True):
    """A tool and how well it fits, greater is better."""

    tool: Tool
    score: float


class Similarity(Protocol):
    """Nearness of tools to a text by meaning: `toolpath.catalog.embeddings` gives one."""

    def add(self, key: str, tool: Tool) -> None:
        """Take in a tool."""

    def remove(self, key: str) -> None:
        """Forget a tool."""

    def near(self, parts: Sequence[str], limit: int, also: Iterable[str]) -> Mapping[str, float]:
        """Key → nearness, about 0 to 1, of the `limit` nearest tools and of `also`; the first part is the whole."""


class _Entry(msgspec.Struct, frozen=True):
    number: int
    tool: Tool
    held: frozenset[str]
    name: frozenset[str]
    description: frozenset[str]


class ToolSearch:
    """An index over tools; tools may be added and removed at any time."""

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        stats: Mapping[str, ToolStats] | None = None,
        similarity: Similarity | None = None,
    ) -> None:
        self._postings = Postings(_FIELDS)
        self._entries: dict[str, _Entry] = {}
        self._keys: dict[int, str] = {}
        self._next = 0
        self._totals: dict[int, tuple[float, float]] = {}
        self._spellings: dict[str, tuple[str, float] | None] = {}
        self._by_letter: dict[str, list[str]] = {}
        self._stats = stats or {}
        self._similarity = similarity
        self._followed: Mapping[str, Tool] | None = None
        for tool in tools:
            self.add(tool)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, tool: Tool) -> None:
        """Take in a tool; one of the same key is replaced."""
        self.remove(tool.key)
        document = {place: words(text[:_LONGEST_TEXT]) for place, text in _document(tool).items()}
        number, self._next = self._next, self._next + 1
        self._entries[tool.key] = _Entry(
            number,
            tool,
            self._postings.add(number, document),
            frozenset(document["name"]),
            frozenset(document["description"]),
        )
        self._keys[number] = tool.key
        self._forget()
        if self._similarity is not None:
            self._similarity.add(tool.key, tool)

    def remove(self, key: str) -> None:
        """Take out the tool of this key, if it is there."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        del self._keys[entry.number]
        self._postings.remove(entry.number, entry.held)
        self._forget()
        if self._similarity is not None:
            self._similarity.remove(key)

    def follow(self, catalog: Catalog) -> None:
        """Hold the tools and statistics of this catalogue; what is the same as before is not indexed again."""
        self._stats = catalog.stats
        if self._followed is catalog.tools:
            return
        for key in [key for key in self._entries if key not in catalog.tools]:
            self.remove(key)
        for key, tool in catalog.tools.items():
            entry = self._entries.get(key)
            if entry is None or entry.tool is not tool:
                self.add(tool)
        self._followed = catalog.tools

    def search(
        self,
        text: str,
        limit: int = 10,
        *,
        capabilities: Collection[str] | None = None,
        categories: Collection[str] | None = None,
    ) -> list[Hit]:
        """The tools that fit the text, best first; equal scores in the order of their keys.

        Only tools with one of the `capabilities`, and of one of the `categories`, where these are given. Words that no
        tool has are read as the nearest word.
        """
        text = text[:_LONGEST_QUERY]
        depth = max(4 * limit, 60 if self._similarity is None else 300)
        if capabilities is not None or categories is not None:
            depth = len(self._entries)
        scores = self._scores(text, depth)
        hits: list[tuple[float, str]] = []
        for key, score in scores.items():
            tool = self._entries[key].tool
            if score > 0 and _is_wanted(tool, capabilities, categories):
                hits.append((-score * self._reliability(key), key))
        return [Hit(self._entries[key].tool, -score) for score, key in heapq.nsmallest(limit, hits)]

    def _scores(self, text: str, depth: int) -> dict[str, float]:
        """Key → score of at least the `depth` best."""
        parts = clauses(text)[:_MOST_CLAUSES]
        query = self._query(words(text))
        scores = self._covered(self._postings.best(query, depth), query, depth)
        top = max(scores.values(), default=0.0)
        if len(parts) > 1 and top:
            best_of_parts: dict[int, float] = {}
            for part in parts:
                own = self._query(words(part))
                found = self._covered(self._postings.best(own, depth), own, depth)
                highest = max(found.values(), default=1.0)
                for number, score in found.items():
                    best_of_parts[number] = max(best_of_parts.get(number, 0.0), score / highest)
            scores = {
                number: (1 - _CLAUSE_SHARE) * scores.get(number, 0.0)
                + _CLAUSE_SHARE * top * best_of_parts.get(number, 0.0)
                for number in scores.keys() | best_of_parts.keys()
            }
        named = {self._keys[number]: score for number, score in scores.items()}
        # Where no word is, there is no meaning either.
        if self._similarity is None or not raw_words(text):
            return named
        return self._blend(named, [text, *parts], depth)

    def _covered(self, scores: dict[int, float], query: Mapping[str, float], depth: int) -> dict[int, float]:
        """The best of them, raised by how much of their name and description the query says."""
        raised = {}
        for score, number in heapq.nlargest(depth, zip(scores.values(), scores.keys(), strict=True)):
            entry = self._entries[self._keys[number]]
            name, description = self._totals.get(number) or self._total(entry)
            said = sum(map(self._postings.rarity, entry.name & query.keys())) / name
            said += sum(map(self._postings.rarity, entry.description & query.keys())) / description
            raised[number] = score * (1 + _COVERED * said)
        return raised

    def _total(self, entry: _Entry) -> tuple[float, float]:
        """How much all words of the name tell, and of the description."""
        totals = tuple(sum(map(self._postings.rarity, held)) or 1.0 for held in (entry.name, entry.description))
        self._totals[entry.number] = totals[0], totals[1]
        return self._totals[entry.number]

    def _forget(self) -> None:
        """Drop all that was computed of the whole."""
        self._totals.clear()
        self._spellings.clear()
        self._by_letter.clear()

    def _query(self, found: Sequence[str]) -> dict[str, float]:
        """The words to look for, each with its weight."""
        query: dict[str, float] = {}
        misspelt = 0
        for word, count in Counter(found).most_common(_MOST_WORDS):
            weight = 1.0 if count == 1 else 1.4
            if word in self._postings.vocabulary:
                query[word] = weight
            elif len(word) > 3 and misspelt < _MOST_MISSPELT:
                misspelt += 1
                near = self._spelt(word)
                if near is not None:
                    query.setdefault(near[0], weight * near[1])
        return query

    def _spelt(self, word: str) -> tuple[str, float] | None:
        """The known word most like this one, and how like it is."""
        if word not in self._spellings:
            if len(self._spellings) >= _MOST_SPELLINGS:
                self._spellings.clear()
            near = process.extractOne(
                word, self._beginning(word[0]), scorer=OSA.normalized_similarity, score_cutoff=_LIKE
            )
            self._spellings[word] = near and (near[0], near[1])
        return self._spellings[word]

    def _beginning(self, letter: str) -> Sequence[str]:
        """The known words with this first letter: few get that one wrong, and looking at all takes long."""
        if not self._by_letter:
            for word in self._postings.vocabulary:
                self._by_letter.setdefault(word[0], []).append(word)
        return self._by_letter.get(letter, ())

    def _blend(self, scores: dict[str, float], parts: Sequence[str], depth: int) -> dict[str, float]:
        """Words and meaning together, each measured by its own best."""
        assert self._similarity is not None
        near = self._similarity.near(parts, depth, scores)
        top = max(scores.values(), default=1.0)
        nearest = max(near.values(), default=1.0) or 1.0
        return {
            key: (1 - _MEANING) * scores.get(key, 0.0) / top + _MEANING * near.get(key, 0.0) / nearest
            for key in scores.keys() | near.keys()
            if key in self._entries
        }

    def _reliability(self, key: str) -> float:
        """At most 1: a tool that often fails, or takes long, comes after its equals."""
        stats = self._stats.get(key)
        if stats is None or not stats.calls:
            return 1.0
        failures = (stats.failures + stats.timeouts) / (stats.calls + 5)
        slowness = min(1.0, (stats.average_duration or 0.0) / 30)
        return (1 - 0.2 * failures) * (1 - 0.05 * slowness)


#: How much meaning counts against words.
_MEANING = 0.5


def search(catalog: Catalog, text: str, *, limit: int = 10) -> list[Hit]:
    """The tools of the catalogue that fit the text, best first: an index for one question."""
    return ToolSearch(catalog.tools.values(), stats=catalog.stats).search(text, limit)


def _is_wanted(tool: Tool, capabilities: Collection[str] | None, categories: Collection[str] | None) -> bool:
    if categories is not None and tool.category not in categories:
        return False
    return capabilities is None or any(
        known.casefold() == wanted.casefold() for known in tool.capabilities for wanted in capabilities
    )


def _document(tool: Tool) -> dict[str, str]:
    """The texts of a tool by the field they stand in."""
    parameters = list(_parameters(tool.input_schema))
    return {
        "name": " ".join((tool.name, tool.title, *tool.aliases)),
        "capability": " ".join(tool.capabilities),
        "group": tool.group,
        "description": tool.description,
        "example": " ".join(example.query for example in tool.examples),
        "parameter": " ".join(name for name, _ in parameters),
        "meaning": " ".join(meaning for _, meaning in parameters),
        "category": "" if tool.category == "general" else tool.category,
    }


def _parameters(schema: JsonObject) -> Iterator[tuple[str, str]]:
    """Name and description of each top-level parameter."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for name, value in properties.items():
        described = value.get("description") if isinstance(value, dict) else None
        yield str(name), described if isinstance(described, str) else ""
