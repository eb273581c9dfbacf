"""Runs of a time as figures: how many began in each part of it and how they stand, and how long they took. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from toolpath.model.run import RunTimes

#: Parts that a time is told in.
PERIODS = 48


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a time. `at` is when it began, Unix time."""

    at: float
    runs: dict[str, int] = {}
    """How many runs that were begun in it stand in each status now."""


class Throughput(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of the runs that were begun in a time. Durations in seconds, from when they were begun to their end."""

    begun: int
    ended: int
    statuses: dict[str, int]
    median_duration: float | None
    p95_duration: float | None
    periods: tuple[Period, ...]


def throughput(times: Sequence[RunTimes], since: float, until: float, periods: int = PERIODS) -> Throughput:
    """Figures of runs that were begun from `since` to `until`, told in so many parts of equal length."""
    width = max(until - since, 1e-9) / periods
    counts = [Counter[str]() for _ in range(periods)]
    for run in times:
        counts[min(max(int((run.created_at - since) / width), 0), periods - 1)][run.status] += 1
    durations = sorted(run.ended_at - run.created_at for run in times if run.ended_at is not None)
    return Throughput(
        begun=len(times),
        ended=len(durations),
        statuses=_summed(counts),
        median_duration=_share(durations, 0.5),
        p95_duration=_share(durations, 0.95),
        periods=tuple(Period(at=since + number * width, runs=dict(count)) for number, count in enumerate(counts)),
    )


def _summed(counts: Iterable[Counter[str]]) -> dict[str, int]:
    total = Counter[str]()
    for count in counts:
        total += count
    return dict(total)


def _share(ordered: Sequence[float], share: float) -> float | None:
    return max(0.0, ordered[min(len(ordered) - 1, int(share * len(ordered)))]) if ordered else None
