"""Lessons of earlier plans: which tools together did which kind of request, and how often that went well.

The texts of requests are kept, so one set of lessons belongs to one tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.catalog.search import Hit
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import words
from toolpath.planner.records import Lesson, Rank
from toolpath.planner.scoring.intervals import wilson
from toolpath.values import JsonObject, encode, made_ready

_LONGEST: Final = 300
#: Bytes of the steps that did a request.
_LONGEST_STEPS: Final = 800
#: How alike the words of two requests must be for one to teach the other.
_ALIKE: Final = 0.25
#: The most that what was learned adds to a tool's score, as a share of the best.
_WEIGHT: Final = 0.5


class Lessons:
    """Requests, the tools that did them, successes and failures. Holds so many; the one not used longest goes first."""

    def __init__(self, capacity: int = 1_000, lessons: Sequence[Lesson] = ()) -> None:
        self.capacity = capacity
        self._lessons: dict[tuple[str, tuple[str, ...]], tuple[Lesson, frozenset[str]]] = {}
        for lesson in lessons:
            self._keep(lesson)

    def __len__(self) -> int:
        return len(self._lessons)

    def all(self) -> tuple[Lesson, ...]:
        """Every lesson, the one not used longest first."""
        return tuple(lesson for lesson, _ in self._lessons.values())

    def learn(self, request: str, tools: Sequence[str], success: bool, steps: Sequence[JsonObject] = ()) -> None:
        """Note what came of a request that these tools did, in these steps."""
        if not tools:
            return
        text = " ".join(request.split())[:_LONGEST]
        used = tuple(dict.fromkeys(tools))
        known = self._lessons.pop((text.casefold(), used), None)
        last = known[0] if known else Lesson(request=text, tools=used, successes=0, failures=0)
        self._keep(
            Lesson(
                request=last.request,
                tools=used,
                steps=tuple(steps) if success and len(encode(steps)) <= _LONGEST_STEPS else last.steps,
                successes=last.successes + success,
                failures=last.failures + (not success),
            )
        )

    def _keep(self, lesson: Lesson) -> None:
        self._lessons[lesson.request.casefold(), lesson.tools] = (lesson, frozenset(words(lesson.request)))
        while len(self._lessons) > self.capacity:
            del self._lessons[next(iter(self._lessons))]

    def like(self, request: str, limit: int = 3) -> list[Lesson]:
        """The lessons from requests like it that mostly went well, best first: likeness times how surely it works."""
        return [lesson for _, lesson in self._scored(request) if lesson.successes > lesson.failures][:limit]

    def _scored(self, request: str) -> list[tuple[float, Lesson]]:
        wanted = frozenset(words(request[:_LONGEST]))
        found = []
        for lesson, known in self._lessons.values():
            likeness = len(wanted & known) / (len(wanted | known) or 1)
            if likeness >= _ALIKE:
                sure = wilson(lesson.successes, lesson.successes + lesson.failures)
                found.append((likeness * (sure.low + sure.high) / 2, lesson))
        return sorted(found, key=lambda one: (-one[0], one[1].request, one[1].tools))

    def ranked(self, rank: Rank) -> Rank:
        """The ranking in which tools go up that did requests like this one, and down that failed at them."""

        def rank_with_lessons(catalog: Catalog, text: str, limit: int) -> Sequence[Hit]:
            hits = rank(catalog, text, limit)
            best = max((hit.score for hit in hits), default=0.0) or 1.0
            gains = self._gains(text)
            found = {hit.tool.key: hit.score + best * gains.pop(hit.tool.key, 0.0) for hit in hits}
            # What was learned counts for tools, too, that the words alone do not find.
            found |= {key: best * gain for key, gain in gains.items() if gain > 0 and key in catalog}
            ordered = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]
            return [Hit(catalog.tools[key], score) for key, score in ordered]

        return rank_with_lessons

    def _gains(self, text: str) -> dict[str, float]:
        gains: dict[str, float] = {}
        for score, lesson in self._scored(text)[:10]:
            share = lesson.successes / (lesson.successes + lesson.failures)
            for tool in lesson.tools:
                gains[tool] = gains.get(tool, 0.0) + score * (2 * share - 1)
        return {tool: max(-_WEIGHT, min(_WEIGHT, gain)) for tool, gain in gains.items()}

    def as_json(self) -> JsonObject:
        """The record as it is kept."""
        return {"lessons": [msgspec.to_builtins(lesson) for lesson, _ in self._lessons.values()]}

    @classmethod
    def from_json(cls, data: JsonObject, capacity: int = 1_000) -> Lessons:
        """The lessons that `as_json` gave; what is unreadable of it is left out."""
        found = []
        for value in data.get("lessons") or ():
            try:
                found.append(msgspec.convert(value, Lesson))
            except msgspec.ValidationError:
                continue
        return cls(capacity, found)


made_ready(Lesson)
