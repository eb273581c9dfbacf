"""Encoding of what stores write, checked before anything is written: events of a journal, texts of a row. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from toolpath.errors import StaleEpoch, StoreError, ToolpathError
from toolpath.model.events import AnyEvent, encode_event, encode_events, event_type
from toolpath.model.open_questions import AskingRun, OpenQuestion
from toolpath.model.run import ENDED_RUN
from toolpath.ports import RunChange
from toolpath.store.handles import digests_in
from toolpath.store.rows import out_of_order

#: What encoding raises for what is no plain JSON.
_UNWRITABLE = (TypeError, ValueError, RecursionError, OverflowError)
_asked_decoder = msgspec.json.Decoder(tuple[OpenQuestion, ...])


class AppendTexts(NamedTuple):
    """The texts of an append."""

    texts: list[bytes]
    """JSON, one for each event."""
    size: int
    """Bytes of them all."""
    uses: list[str]
    """Digests of the blobs that they point to."""


def texts_of(run_id: str, events: Sequence[AnyEvent], before: int, *, largest: int, most: int) -> AppendTexts:
    """The events as JSON text; `largest` bytes each and up to the number `most`.

    Raises `StoreError` where one does not follow the event `before`, or cannot be written.
    """
    seq = before
    for event in events:
        seq += 1
        if event.seq != seq:
            raise out_of_order(run_id, event, seq - 1)
    try:
        # A line each: a text has no end of a line in it but the one behind it.
        lines = encode_events(events)
    except _UNWRITABLE as error:
        raise _faulty(run_id, events, str(error)) from error
    texts = lines.splitlines() if events else []
    size = len(lines) - len(events)
    if seq > most or size > largest:
        for event, data in zip(events, texts, strict=True):
            if len(data) > largest or event.seq > most:
                raise _unwritable(run_id, event, f"it has {len(data)} bytes and number {event.seq}")
    found = [digests_in(data) for data in texts] if digests_in(lines) else []
    return AppendTexts(texts, size, [digest for digests in found for digest in sorted(digests)])


def _faulty(run_id: str, events: Sequence[AnyEvent], why: str) -> StoreError:
    """The error that names the first event that cannot be written."""
    for event in events:
        try:
            encode_event(event)
        except _UNWRITABLE as error:
            return _unwritable(run_id, event, str(error))
    return _unwritable(run_id, events[0], why)


def _unwritable(run_id: str, event: AnyEvent, why: str) -> StoreError:
    return StoreError(
        f"Event {event.seq} ({event_type(event)}) of run {run_id!r} cannot be written: {why}. "
        "Nothing of its append was.",
        hint="Events hold plain JSON values; large ones belong into blobs.",
    )


def again(error: ToolpathError) -> ToolpathError:
    """The same error anew: one that is raised twice would carry the tracebacks of both."""
    kind = StaleEpoch if isinstance(error, StaleEpoch) else StoreError
    return kind(error.message, hint=error.hint)


def storable(text: str) -> str:
    """The text as every store can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def row_values(change: RunChange | None) -> dict[str, Any]:
    """The values for a statement that changes a run's row. A run that goes on has no time of end any more."""
    change = change or RunChange()
    return {
        "status": change.status,
        "reason": None if change.reason is None else storable(change.reason),
        "ended_at": change.ended_at,
        "goes_on": change.status is not None and change.status not in ENDED_RUN,
        "asked": None if change.asked is None else msgspec.json.encode(change.asked).decode(),
        "asked_at": asked_at(change.asked),
    }


def asked_at(asked: Sequence[OpenQuestion] | None) -> float | None:
    """Time at which the first of the questions was asked; None where there is none."""
    return min((question.at for question in asked), default=None) if asked else None


def asking_run(row: Mapping[str, Any]) -> AskingRun:
    """The run that a row of one that waits for people is about."""
    asked = _asked_decoder.decode(row["asked"]) if row["is_told"] else None
    return AskingRun(row["run_id"], row["last_seq"], row["since"], asked, row["name"])
