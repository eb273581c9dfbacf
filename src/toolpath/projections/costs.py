"""Costs of a run. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.model.events import AnyEvent, StepSucceeded
from toolpath.projections.paths import ancestors


def run_cost(events: Iterable[AnyEvent]) -> float:
    """USD of all calls that were made; results from the cache cost nothing.

    A step that tells the cost of what it did itself through other steps of the journal is not counted twice.
    """
    total = 0.0
    counted: set[str] = set()
    for event in events:
        if isinstance(event, StepSucceeded) and event.cost and not event.cached and event.path not in counted:
            total += event.cost
            counted.update(ancestors(event.path))
    return total
