"""Decisions on a run's row and a tool's statistics that every store takes alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from toolpath.errors import RecordConflict, RecordNotFound, RunConflict, RunNotFound, StaleEpoch, StoreError, closest
from toolpath.model.events import AnyEvent, event_type
from toolpath.model.record import Record
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import RunChange

#: Sorts after every id.
_BEYOND = "\U0010ffff"

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


def begun(info: RunInfo, driver: str, events: Sequence[AnyEvent], now: float) -> RunInfo:
    """The row of a run that is stored with its first events, and taken at once where there is a driver."""
    status, epoch = ("running", 1) if driver else ("pending", 0)
    return msgspec.structs.replace(
        info,
        status=status,
        epoch=epoch,
        driver=driver,
        driver_seen_at=now,
        updated_at=max(info.updated_at, events[-1].at) if events else info.updated_at,
        last_seq=len(events),
    )


def given(**wanted: str | None) -> dict[str, str]:
    """Filters that were given."""
    return {name: value for name, value in wanted.items() if value is not None}


def between(since: float | None, until: float | None) -> dict[str, float]:
    """The bounds of a time; those that were not given lie beyond every run."""
    return {"since": float("-inf") if since is None else since, "until": float("inf") if until is None else until}


def page_bound(last: tuple[float, str] | None) -> tuple[float, str]:
    """Time and id before which a page begins, after the last one of the page before."""
    return (float("inf"), _BEYOND) if last is None else last


def next_record(record: Record, known: Record | None, expected: int | None, now: float) -> Record:
    """The record as it is to be kept in place of `known`. Raises `RecordConflict`."""
    version = 0 if known is None else known.version
    if expected is not None and expected != version:
        there = f"has version {version}" if version else "is not stored"
        wanted = f"to have version {expected}" if expected else "to be new"
        raise RecordConflict(
            f"The {record.kind} {record.id!r} was expected {wanted}, but it {there}.",
            hint="Read it again, and make the change to what is there.",
        )
    created_at = known.created_at if known is not None else record.created_at or now
    return msgspec.structs.replace(record, created_at=created_at, updated_at=now, version=version + 1)


def no_record(kind: str, record_id: str) -> RecordNotFound:
    """The error to raise for a record that is not stored."""
    return RecordNotFound(f"No {kind} {record_id!r} is stored.", hint="It may have been deleted; list them anew.")


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
    """The error to raise for a run that is not stored; `known` are ids that may have been meant."""
    # Ids of one day share most of their digits: only very like ones are worth a mention.
    suggestions = closest(run_id, known, threshold=0.85)
    return RunNotFound(f"No run {run_id!r} is stored.", suggestions=suggestions, hint="List the runs to see their ids.")


def run_exists(run_id: str) -> RunConflict:
    """The error to raise when a new run has the id of a stored one."""
    return RunConflict(f"A run {run_id!r} is stored already.", hint="Give the new run another id.")


def taken_over(run_id: str, epoch: int) -> StaleEpoch:
    """The error to raise when a journal of an earlier epoch appends, or its run was deleted."""
    return StaleEpoch(
        f"Run {run_id!r} is no longer driven with epoch {epoch}: another driver has taken it, or it was deleted.",
        hint="Stop driving it here; what this driver still does is refused.",
    )


def out_of_order(run_id: str, event: AnyEvent, last_seq: int) -> StoreError:
    """The error to raise for events that do not follow the last one."""
    return StoreError(
        f"Event {event.seq} ({event_type(event)}) of run {run_id!r} does not follow event {last_seq}; "
        "nothing was written.",
        hint="Number a run's events from 1 without gaps.",
    )


def not_its_end(run_id: str, last_seq: int, known: int) -> StoreError:
    """The error to raise for an append to a journal that has another end than its driver knows."""
    return StoreError(
        f"Run {run_id!r} ends with event {last_seq} where its driver knows {known}; nothing was written.",
        hint="Something else writes its journal: take the run anew and go on from what is stored.",
    )


def no_blob(digest: str) -> StoreError:
    """The error to raise for bytes that are not stored."""
    return StoreError(f"No value {digest!r} is stored.", hint="The run it belonged to may have been deleted.")
