"""Memories of planning, one a tenant, kept in the store: plans, lessons, outcomes of ways of planning.

Several processes may keep theirs in one store: each adds to what is there what it has learned itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from typing import Final

from toolpath.errors import RecordConflict, StoreError
from toolpath.model.record import Record
from toolpath.model.redaction import Redactor
from toolpath.planner.choose import Chooser, Strategy
from toolpath.planner.learning.lessons import Lessons
from toolpath.planner.learning.plan_cache import PlanCache
from toolpath.planner.scoring.experiment import Experiment
from toolpath.ports import Clock, Store
from toolpath.values import JsonObject, decode, encode

KIND: Final = "notebook"
_OUTCOMES: Final = "planner.experiment"
_LESSONS: Final = "planner.lessons"
_CACHE: Final = "planner.cache"
_PAGES: Final = (_OUTCOMES, _LESSONS, _CACHE)
#: Seconds between two writings of what a long-lived process learns; the rest is written at its end.
_OFTEN: Final = 5.0
_TRIES: Final = 5
#: Plans and lessons that one tenant has.
CAPACITY: Final = 1_000
#: Tenants of which the memory is at hand.
_MOST_TENANTS: Final = 64


class PlanningMemory:
    """Remembers for one tenant."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        tenant: str,
        redactor: Redactor,
        *,
        strategies: Mapping[str, Strategy],
        weights: Mapping[str, float],
    ) -> None:
        self._store = store
        self._clock = clock
        self._tenant = tenant
        self._redactor = redactor
        self._base: dict[str, JsonObject] = {page: {} for page in _PAGES}
        """What the store is known to hold of what is remembered here."""
        self._loading = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._is_loaded = False
        self._is_changed = False
        self._written_at = 0.0
        self.chooser = Chooser(
            strategies,
            experiment=Experiment(weights),
            cache=PlanCache(clock),
            lessons=Lessons(),
        )

    async def load(self) -> Chooser:
        """The chooser, read from the store the first time."""
        async with self._loading:
            if not self._is_loaded:
                for page in _PAGES:
                    record = await self._store.get_record(KIND, self._id(page))
                    self._base[page] = record.data if record is not None else {}
                self._take(self._base)
                self._is_loaded = True
                self._written_at = self._clock.monotonic()
        return self.chooser

    def _take(self, pages: Mapping[str, JsonObject]) -> None:
        chooser = self.chooser
        chooser.experiment = Experiment.from_json(chooser.experiment.weights, pages[_OUTCOMES])
        chooser.lessons = Lessons.from_json(pages[_LESSONS])
        if chooser.cache is not None:
            chooser.cache.load(pages[_CACHE])

    def changed(self) -> None:
        """Note that there is something to be written."""
        self._is_changed = True

    async def save(self, *, at_once: bool = False) -> None:
        """Write what was learned since, now and then or `at_once`. Raises `StoreError`."""
        is_due = at_once or self._clock.monotonic() - self._written_at >= _OFTEN
        if not (self._is_changed and self._is_loaded and is_due):
            return
        self._is_changed = False
        self._written_at = self._clock.monotonic()
        for page in _PAGES:
            await self._save_page(page)

    async def save_outcomes(self) -> None:
        """Write how the ways of planning did, which is small, at once: no process that is killed takes it along."""
        await self._save_page(_OUTCOMES)

    async def _save_page(self, page: str) -> None:
        # One after the other: what came since the base is added once.
        async with self._writing:
            value = self._page(page)
            if value != self._base[page]:
                await self._write(page, value)
                self._base[page] = value

    def _page(self, page: str) -> JsonObject:
        chooser = self.chooser
        kept = {_OUTCOMES: chooser.experiment, _LESSONS: chooser.lessons, _CACHE: chooser.cache}[page]
        said: JsonObject = {} if kept is None else kept.as_json()
        if not self._redactor:
            return said
        # As it is kept: lists, which are looked through.
        clean: JsonObject = self._redactor.value(decode(encode(said)))
        return clean

    async def _write(self, page: str, ours: JsonObject) -> None:
        for _ in range(_TRIES):
            known = await self._store.get_record(KIND, self._id(page))
            theirs = known.data if known is not None else {}
            data = _MERGED[page](theirs, self._base[page], ours)
            record = Record(kind=KIND, id=self._id(page), tenant=self._tenant, name=page, data=data)
            try:
                await self._store.put_record(record, expected=known.version if known is not None else 0)
            except RecordConflict:
                continue
            return

    def _id(self, page: str) -> str:
        return f"{self._tenant}/{page}"


class Memories:
    """Memories of the tenants, each made when it is first asked for."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        redactor: Redactor,
        *,
        strategies: Mapping[str, Strategy],
        weights: Mapping[str, float],
    ) -> None:
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._strategies = strategies
        self._weights = weights
        self._at_hand: dict[str, PlanningMemory] = {}

    async def of(self, tenant: str) -> PlanningMemory:
        """The tenant's memory. The one that was not asked for the longest is written, and let go."""
        memory = self._at_hand.pop(tenant, None)
        if memory is None:
            memory = PlanningMemory(
                self._store,
                self._clock,
                tenant,
                self._redactor,
                strategies=self._strategies,
                weights=self._weights,
            )
            while len(self._at_hand) >= _MOST_TENANTS:
                await self._at_hand.pop(next(iter(self._at_hand))).save(at_once=True)
        self._at_hand[tenant] = memory
        return memory

    async def close(self) -> None:
        """Write down what was learned."""
        for memory in self._at_hand.values():
            # What could not be kept is learned anew; the door closes all the same.
            with contextlib.suppress(StoreError):
                await memory.save(at_once=True)


def _merged_tallies(theirs: JsonObject, base: JsonObject, ours: JsonObject) -> JsonObject:
    return {name: _sum(theirs.get(name, {}), base.get(name, {}), ours.get(name, {})) for name in {**theirs, **ours}}


def _merged_lessons(theirs: JsonObject, base: JsonObject, ours: JsonObject) -> JsonObject:
    old, mine, found = (
        {(str(one["request"]).casefold(), tuple(one["tools"])): one for one in page.get("lessons", ())}
        for page in (base, ours, theirs)
    )
    for key, lesson in mine.items():
        known, before = found.pop(key, {}), old.get(key, {})
        found[key] = {**lesson, **_sum(known, before, lesson, ("successes", "failures"))}
    return {"lessons": list(found.values())[-CAPACITY:]}


def _merged_plans(theirs: JsonObject, base: JsonObject, ours: JsonObject) -> JsonObject:
    old, mine, found = (
        {encode([one["scope"], one["pattern"]]): one for one in page.get("plans", ())} for page in (base, ours, theirs)
    )
    kept = {key: plan for key, plan in found.items() if key not in old or key in mine}
    plans = list({**kept, **mine}.values())[-CAPACITY:]
    return {"plans": plans, **_sum(theirs, base, ours, ("hits", "misses"))}


def _sum(theirs: JsonObject, base: JsonObject, ours: JsonObject, names: Collection[str] = ()) -> JsonObject:
    """The sum of theirs and of what came to ours since the base, number by number."""
    wanted = names or {**theirs, **ours}
    return {name: theirs.get(name, 0) + ours.get(name, 0) - base.get(name, 0) for name in wanted}


_MERGED: Final = {
    _OUTCOMES: _merged_tallies,
    _LESSONS: _merged_lessons,
    _CACHE: _merged_plans,
}
