"""An inverted index: for each word the documents that hold it and how much it counts there. Pure.

What a word counts in a document depends on that document alone, by reference lengths instead of averages, so that
documents come and go without touching others. Only rarity is of the whole, and is read when a query is asked.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping

#: Saturation: the fourth mention of a word says little more than the third.
_K1 = 0.8
#: How much a field longer than usual dilutes its words, 0 to 1.
_B = 0.75


class FieldWeight:
    """Weight of a field, and how many words it usually has."""

    __slots__ = ("length", "weight")

    def __init__(self, weight: float, length: float) -> None:
        self.weight = weight
        self.length = length


class Postings:
    """Documents by number, each of several fields of words."""

    def __init__(self, fields: Mapping[str, FieldWeight]) -> None:
        self._fields = fields
        self._impacts: dict[str, dict[int, float]] = {}
        self._size = 0
        self._rarities: dict[str, float] = {}

    def __len__(self) -> int:
        return self._size

    @property
    def vocabulary(self) -> Mapping[str, object]:
        """Every word that some document holds."""
        return self._impacts

    def add(self, number: int, document: Mapping[str, list[str]]) -> frozenset[str]:
        """Take in a document; gives its distinct words, to be handed back to `remove`."""
        weights: dict[str, float] = {}
        for name, words in document.items():
            if not words:
                continue
            field = self._fields[name]
            share = field.weight / (1 - _B + _B * len(words) / field.length)
            for word in words:
                weights[word] = weights.get(word, 0.0) + share
        for word, weight in weights.items():
            self._impacts.setdefault(word, {})[number] = weight / (weight + _K1) * (_K1 + 1)
        self._size += 1
        self._rarities.clear()
        return frozenset(weights)

    def remove(self, number: int, held: Iterable[str]) -> None:
        """Take out a document that holds these words."""
        for word in held:
            impacts = self._impacts[word]
            del impacts[number]
            if not impacts:
                del self._impacts[word]
        self._size -= 1
        self._rarities.clear()

    def rarity(self, word: str) -> float:
        """How much the word tells: near 0 for one that all documents have."""
        known = self._rarities.get(word)
        if known is None:
            count = len(self._impacts.get(word, ()))
            known = self._rarities[word] = math.log(1 + (self._size - count + 0.5) / (count + 0.5))
        return known

    def best(self, query: Mapping[str, float], limit: int) -> dict[int, float]:
        """Scores of at least the `limit` best documents for words with weights; exact for those.

        The rarest words go first. Once what is left cannot lift an unseen document among the best, only documents
        already seen are looked up.
        """
        known = [(self.rarity(word) * weight, word) for word, weight in query.items() if word in self._impacts]
        known.sort(reverse=True)
        left = sum(value for value, _ in known) * (_K1 + 1)
        scores: dict[int, float] = {}
        closed = False
        for value, word in known:
            impacts = self._impacts[word]
            if not closed and len(scores) > limit and len(impacts) > len(scores):
                closed = heapq.nlargest(limit, scores.values())[-1] >= left
            if not closed:
                for number, impact in impacts.items():
                    scores[number] = scores.get(number, 0.0) + value * impact
            else:
                for number in scores.keys() & impacts.keys():
                    scores[number] += value * impacts[number]
            left -= value * (_K1 + 1)
        return scores
