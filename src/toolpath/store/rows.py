"""Decisions on a run's row and a tool's statistics that every store takes alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolpath.errors import RunConflict, RunNotFound, StaleEpoch, StoreError, closest
from toolpath.model.events import AnyEvent, event_type
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import RunChange

#: How many of a tool's latest durations are kept.
KEPT_DURATIONS = 200


def changed(info: RunInfo, change: RunChange) -> RunInfo:
    """The row after the change. A run that goes on has no time of end any more."""
    status = info.status if change.status is None else change.status
    ended_at = info.ended_at if change.ended_at is None else change.ended_at
    return msgspec.structs.replace(
        info,
        status=status,
        reason=info.reason if change.reason is None else change.reason,
        ended_at=ended_at if change.status is None or status in ENDED_RUN else None,
    )


def merged(known: ToolStats, more: ToolStats) -> ToolStats:
    """Both statistics together, with the latest durations last."""
    return ToolStats(
        calls=known.calls + more.calls,
        failures=known.failures + more.failures,
        timeouts=known.timeouts + more.timeouts,
        total_duration=known.total_duration + more.total_duration,
        durations=(known.durations + more.durations)[-KEPT_DURATIONS:],
        confidence_total=known.confidence_total + more.confidence_total,
        confidences=known.confidences + more.confidences,
        cost=known.cost + more.cost,
        updated_at=max(known.updated_at, more.updated_at),
    )


def no_run(run_id: str, known: Iterable[str]) -> RunNotFound:
    """What to raise for a run that is not stored; `known` are ids that may have been meant."""
    # Ids of one day share most of their digits: only very like ones are worth a mention.
    suggestions = closest(run_id, known, threshold=0.85)
    return RunNotFound(f"No run {run_id!r} is stored.", suggestions=suggestions, hint="List the runs to see their ids.")


def run_exists(run_id: str) -> RunConflict:
    """What to raise when a new run has the id of a stored one."""
    return RunConflict(f"A run {run_id!r} is stored already.", hint="Give the new run another id.")


def taken_over(run_id: str, epoch: int) -> StaleEpoch:
    """What to raise when a journal of an earlier epoch appends, or its run was deleted."""
    return StaleEpoch(
        f"Run {run_id!r} is no longer driven with epoch {epoch}: another driver has taken it, or it was deleted.",
        hint="Stop driving it here; what this driver still does is refused.",
    )


def out_of_order(run_id: str, event: AnyEvent, last_seq: int) -> StoreError:
    """What to raise for events that do not follow the last one."""
    return StoreError(
        f"Event {event.seq} ({event_type(event)}) of run {run_id!r} does not follow event {last_seq}; "
        "nothing was written.",
        hint="Number a run's events from 1 without gaps.",
    )


def no_blob(digest: str) -> StoreError:
    """What to raise for bytes that are not stored."""
    return StoreError(f"No value {digest!r} is stored.", hint="The run it belonged to may have been deleted.")
