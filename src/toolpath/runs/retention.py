"""Retention of runs: which old ones go, and deleting them page by page while others are being written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from toolpath.access.pruned import prune_trail
from toolpath.access.trail import Trail
from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.ports import Clock, Store

#: Runs that are looked through, and at most deleted, at once: the store is not held up for longer.
_PAGE = 500
#: Seconds between two looks of a server at what is old enough.
EVERY = 3600.0
_DAY = 86_400.0
_log = logging.getLogger("toolpath.runs.retention")


Forget = Callable[[Sequence[str]], Awaitable[None]]
"""Deletes what is kept of runs elsewhere than in the store."""


Doomed = Callable[[Sequence[RunInfo]], Awaitable[None]]
"""Keeps elsewhere what is to stay of runs that are about to be deleted."""


async def prune_runs(  # noqa: PLR0913  # what is to go, said in full
    store: Store,
    *,
    ended_before: float,
    status: str | None = None,
    tenant: str | None = None,
    keep: int = 0,
    dry_run: bool = False,
    trail: Trail | None = None,
    because: str = "prune",
    forget: Forget | None = None,
    doomed: Doomed | None = None,
) -> list[RunInfo]:
    """Delete the runs that ended before a time, with all that is theirs; gives those deleted.

    `keep`: so many of the newest that fit `status` and `tenant` stay, however old. Runs that have not ended stay.
    In the `trail` each is written down first, with why; `doomed` is told of those that will be deleted, `forget` of
    those that are gone.
    Raises `StoreError`: what cannot be written is not deleted.
    """

    async def delete(runs: list[RunInfo]) -> list[RunInfo]:
        if runs and not dry_run:
            if doomed is not None:
                await doomed(runs)
            if trail is not None:
                await trail.runs_deleted(runs, because=because)
            await store.delete_runs([info.run_id for info in runs])
            if forget is not None:
                await forget([info.run_id for info in runs])
        return runs

    gone: list[RunInfo] = []
    page: list[RunInfo] = []
    seen = 0
    async for info in _all_runs(store, status, tenant):
        seen += 1
        if seen <= keep or info.status not in ENDED_RUN or (info.ended_at or info.updated_at) >= ended_before:
            continue
        page.append(info)
        if len(page) >= _PAGE:
            gone += await delete(page)
            page = []
    return gone + await delete(page)


async def _all_runs(store: Store, status: str | None, tenant: str | None) -> AsyncIterator[RunInfo]:
    """Every run, newest first. The page after the next is asked for before what it begins with may be deleted."""
    page = await store.list_runs(status=status, tenant=tenant, limit=_PAGE)
    while page:
        after = await store.list_runs(status=status, tenant=tenant, limit=_PAGE, before=page[-1].run_id)
        for info in page:
            yield info
        page = after


async def keep_pruned(
    store: Store,
    clock: Clock,
    days: float,
    trail: Trail | None = None,
    forget: Forget | None = None,
    doomed: Doomed | None = None,
) -> None:
    """Delete what ended more than so many days ago, now and every hour, until cancelled. A failure waits an hour."""
    while True:
        try:
            before = clock.time() - days * _DAY
            gone = await prune_runs(
                store, ended_before=before, trail=trail, because="retention", forget=forget, doomed=doomed
            )
            if gone:
                _log.info("deleted %d runs that ended more than %g days ago", len(gone), days)
        except Exception as error:  # noqa: BLE001  # the server goes on, and tries again
            _log.warning("old runs could not be deleted: %s", error)
        await _slept(clock, EVERY)


async def keep_swept(sweep: Callable[[], Awaitable[int]], clock: Clock) -> None:
    """Delete files that are nobody's any more, now and every hour, until cancelled. A failure waits an hour."""
    while True:
        try:
            if gone := await sweep():
                _log.info("deleted %d uploads and folders that were too old, or whose runs are gone", gone)
        except Exception as error:  # noqa: BLE001  # the server goes on, and tries again
            _log.warning("old files could not be deleted: %s", error)
        await _slept(clock, EVERY)


async def keep_trail_pruned(store: Store, clock: Clock, days: float, trail: Trail) -> None:
    """Delete entries of the audit trail that are older than so many days, now and every hour, until cancelled."""
    while True:
        try:
            gone = await prune_trail(store, trail, before=clock.time() - days * _DAY, because="retention")
            if gone:
                _log.info("let go of %d entries of the audit trail that are older than %g days", gone, days)
        except Exception as error:  # noqa: BLE001  # the server goes on, and tries again
            _log.warning("old entries of the audit trail could not be deleted: %s", error)
        await _slept(clock, EVERY)


async def _slept(clock: Clock, seconds: float) -> None:
    over = asyncio.Event()
    timer = clock.call_at(clock.monotonic() + seconds, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()
