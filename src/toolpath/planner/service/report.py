"""Report on the memory of planning: the plan cache, lessons, and the ways of planning side by side."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.errors import ConfigError, closest
from toolpath.planner.choose import Chooser
from toolpath.planner.records import Lesson
from toolpath.planner.scoring.experiment import Report
from toolpath.values import JsonObject

WAYS = ("model", "rules")


class PlanningReport(msgspec.Struct, frozen=True, kw_only=True):
    """Report of how planning did so far."""

    plans: int
    """Plans that are kept for like requests."""
    hits: int
    """Requests that were planned from the cache."""
    misses: int
    hit_rate: float | None
    """Share of requests that were; None before the first."""
    lessons: tuple[Lesson, ...]
    """What is known best of which tools do which requests."""
    ways: Report

    def __str__(self) -> str:
        rate = "" if self.hit_rate is None else f" ({self.hit_rate:.0%})"
        asked = self.hits + self.misses
        lines = [f"Plan cache: {self.plans} plans, {self.hits} of {asked} requests planned from it{rate}."]
        lines += [str(self.ways)]
        lines += [
            f"{lesson.successes} of {lesson.successes + lesson.failures} went well: "
            f"{lesson.request} → {', '.join(lesson.tools)}"
            for lesson in self.lessons
        ]
        return "\n".join(lines)

    def as_json(self) -> JsonObject:
        """The report as plain JSON."""
        data: JsonObject = msgspec.to_builtins(self)
        for one, comparison in zip(data["ways"]["comparisons"], self.ways.comparisons, strict=True):
            one["is_real"] = comparison.is_real
        return data


def report_of(chooser: Chooser) -> PlanningReport:
    """The report of what is remembered."""
    cache, lessons = chooser.cache, chooser.lessons
    known = lessons.all() if lessons is not None else ()
    best = sorted(known, key=lambda one: (one.failures - one.successes, one.request))[:10]
    return PlanningReport(
        plans=len(cache) if cache is not None else 0,
        hits=cache.hits if cache is not None else 0,
        misses=cache.misses if cache is not None else 0,
        hit_rate=cache.hit_rate if cache is not None else None,
        lessons=tuple(best),
        ways=chooser.experiment.report(),
    )


def read_weights(written: Sequence[str]) -> dict[str, float]:
    """`model=3`, `rules=1` → how many requests of how many are planned which way. Raises `ConfigError`."""
    weights: dict[str, float] = {}
    for part in written:
        name, _, weight = part.partition("=")
        if name not in WAYS:
            raise ConfigError(f"{name!r} is no way of planning.", suggestions=closest(name, WAYS))
        try:
            weights[name] = float(weight)
        except ValueError:
            raise ConfigError(
                f"planner_experiment has {part!r}; a weight is a number.", hint="model=3, rules=1"
            ) from None
    # A way that is given no requests may still be asked for, and is counted then.
    return {name: weights.get(name, 0.0) for name in WAYS} if any(weights.values()) else {"model": 1.0, "rules": 0.0}
