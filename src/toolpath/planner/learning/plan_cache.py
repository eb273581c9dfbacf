"""Plans that were made before, for the same request and for requests that differ in their values alone.

A plan is given only for the catalogue it was made with, to whom it was made for, and only after it was checked again.
The texts of requests are kept, so one cache belongs to one tenant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check, has_errors
from toolpath.checks.request.mandate import mandated
from toolpath.checks.request.tools import acts
from toolpath.model.plan import Call, Plan, every_step, freeze, thaw
from toolpath.planner.learning.like_values import is_timeless
from toolpath.planner.learning.patterns import Pattern, pattern_of, plain, with_values
from toolpath.planner.records import PlanningRecord, PlanningResult, PlanRequest
from toolpath.ports import Clock
from toolpath.values import JsonObject, digest, made_ready, walk

#: Characters of a request that is kept.
_LONGEST: Final = 20_000
#: A plan that is less sure than this is not kept.
_SURE: Final = 0.5
#: Which rules made the patterns: those of other rules match nothing.
_RULES: Final = 2
#: A day or a moment as tools take it: one that the request does not have in these digits was counted from a day.
_MOMENT: Final = re.compile(r"(?<!\d)(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{10}(?:\d{3})?)(?!\d)")


class CachedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that is kept."""

    scope: str
    """Digest of the catalogue and of what else a plan depends on."""
    pattern: Pattern
    plan: JsonObject
    reasoning: str = ""
    """What the planner said of it."""
    strategy: str = ""
    """The way of planning that made it."""
    made_at: float = 0.0
    """Unix time."""


class PlanCache:
    """Keeps at most `capacity` plans for `ttl` seconds; the one not used longest goes first."""

    def __init__(self, clock: Clock, *, capacity: int = 1_000, ttl: float = 3_600.0) -> None:
        self.capacity = capacity
        self.ttl = ttl
        self.hits = 0
        self.misses = 0
        self._clock = clock
        self._plans: dict[tuple[str, Pattern], CachedPlan] = {}
        self._scopes: dict[str, dict[Pattern, None]] = {}

    def __len__(self) -> int:
        return len(self._plans)

    @property
    def hit_rate(self) -> float | None:
        """Share of requests that were answered; None before the first."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else None

    def find(self, request: PlanRequest, catalog: Catalog, *, strategy: str = "") -> PlanningResult | None:
        """The plan for a request that is the same but for its values; None where none is kept that still checks.

        `strategy`: one that this way of planning has made.
        """
        found = self._find(request, catalog, strategy)
        self.hits += found is not None
        self.misses += found is None
        return found

    def _find(self, request: PlanRequest, catalog: Catalog, strategy: str) -> PlanningResult | None:
        if not _stands_alone(request):
            return None
        began = self._clock.monotonic()
        scope = _scope(request, catalog)
        text = plain(request.text)
        for pattern in reversed(list(self._scopes.get(scope, ()))):
            values = pattern.match_plain(text)
            if values is None:
                continue
            kept = self._plans[scope, pattern]
            if not 0 <= self._clock.time() - kept.made_at <= self.ttl:
                self._drop(scope, pattern)
                continue
            if strategy and strategy != kept.strategy:
                continue
            plan = _told_anew(with_values(thaw(kept.plan), values), request.text, kept)
            if (
                has_errors(check(plan, catalog, secrets=()))
                or mandated(plan, request.text, catalog, strict=False).questions
            ):
                continue
            self._touch(kept)
            return self._planned(plan, request, kept, self._clock.monotonic() - began)
        return None

    def _planned(self, plan: Plan, request: PlanRequest, kept: CachedPlan, duration: float) -> PlanningResult:
        record = PlanningRecord(
            request=request.text,
            planner="cache",
            strategy=kept.strategy,
            reason="The same request was planned before."
            if not kept.pattern.slots
            else "A like request was planned before.",
            catalog=kept.scope,
            reasoning=plan.reasoning,
            confidence=plan.confidence,
            started_at=self._clock.time(),
            duration=duration,
        )
        return PlanningResult(plan=plan, record=record)

    def keep(self, request: PlanRequest, catalog: Catalog, planned: PlanningResult) -> bool:
        """Keep a plan for later, where it is worth that; says whether it is kept.

        Not kept: a fallback, a plan that is unsure or leaves a question open, one that rests on results of another run
        or on what was said before, and one whose request means something else on another day.
        """
        plan = planned.plan
        is_sure = (plan.confidence or 0.0) >= _SURE and not plan.questions
        is_own = planned.record.outcome == "planned" and planned.record.planner != "cache"
        lasts = is_timeless(request.text) and not any(_counted_days(plan, request.text))
        if not (is_sure and is_own and lasts and _stands_alone(request)):
            return False
        strict = any(acts(catalog.get(call.tool)) for call in _calls(plan))
        self._touch(
            CachedPlan(
                scope=_scope(request, catalog),
                pattern=pattern_of(request.text, plan, strict=strict),
                plan=freeze(plan),
                reasoning=planned.record.reasoning,
                strategy=planned.record.strategy,
                made_at=self._clock.time(),
            )
        )
        return True

    def forget(self, request: PlanRequest, catalog: Catalog) -> int:
        """Drop what would answer the request, e.g. because its run failed; returns how many plans."""
        scope = _scope(request, catalog)
        wrong = [pattern for pattern in self._scopes.get(scope, ()) if pattern.match(request.text) is not None]
        for pattern in wrong:
            self._drop(scope, pattern)
        return len(wrong)

    def _touch(self, kept: CachedPlan) -> None:
        self._drop(kept.scope, kept.pattern)
        self._plans[kept.scope, kept.pattern] = kept
        self._scopes.setdefault(kept.scope, {})[kept.pattern] = None
        while len(self._plans) > self.capacity:
            self._drop(*next(iter(self._plans)))

    def _drop(self, scope: str, pattern: Pattern) -> None:
        self._plans.pop((scope, pattern), None)
        patterns = self._scopes.get(scope)
        if patterns is not None:
            patterns.pop(pattern, None)
            if not patterns:
                del self._scopes[scope]

    def as_json(self) -> JsonObject:
        """The record as it is kept."""
        plans = [msgspec.to_builtins(kept) for kept in self._plans.values()]
        return {"plans": plans, "hits": self.hits, "misses": self.misses}

    def load(self, data: JsonObject) -> None:
        """Take what `as_json` gave; what is unreadable of it is left out."""
        self.hits += _count(data.get("hits"))
        self.misses += _count(data.get("misses"))
        for value in data.get("plans") or ():
            try:
                kept = msgspec.convert(value, CachedPlan)
                thaw(kept.plan)
            except msgspec.ValidationError:
                continue
            self._touch(kept)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _stands_alone(request: PlanRequest) -> bool:
    """Whether the words of the request say by themselves what is wanted, and are few enough to be compared."""
    return request.is_words and not request.kept and not request.context and len(request.text) <= _LONGEST


def _counted_days(plan: Plan, text: str) -> Iterator[str]:
    """Days and moments of the plan that the request does not have in the same digits."""
    for call in _calls(plan):
        for _, value in walk(call.inputs):
            for found in _MOMENT.findall(str(value) if isinstance(value, str | int) else ""):
                if found not in text:
                    yield found


def _calls(plan: Plan) -> list[Call]:
    return [step for _, step in every_step(plan.block) if isinstance(step, Call)]


def _told_anew(plan: Plan, text: str, kept: CachedPlan) -> Plan:
    """The plan as one of this request; what was said of the values of another one is left out."""
    is_same = plain(text) == plain(plan.origin.request)
    reasoning = kept.reasoning if is_same else ""
    origin = msgspec.structs.replace(plan.origin, request=text, reasoning=reasoning)
    description = plan.description if is_same else ""
    return msgspec.structs.replace(plan, origin=origin, description=description)


def _scope(request: PlanRequest, catalog: Catalog) -> str:
    return digest(
        {
            "rules": _RULES,
            "catalog": catalog.digest,
            "tools": sorted(request.tools),
            "inputs": request.inputs,
            "decomposition": msgspec.to_builtins(request.decomposition),
            "asker": request.asker,
        }
    )


made_ready(CachedPlan)
