"""A store that fails or dies at a chosen append, around any real one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NoReturn

from toolpath.errors import StoreError
from toolpath.model.events import AnyEvent
from toolpath.model.open_questions import AskingRun
from toolpath.model.record import AuditEntry, AuditRow, Record
from toolpath.model.run import Beat, RunInfo, RunTimes, Standing
from toolpath.model.tool import ToolStats
from toolpath.ports import Blob, CacheEntry, Journal, RunChange, Signal, Store

When = Literal["before", "after"]
How = Literal["raise", "die"]


class Died(BaseException):
    """The store has 'died', as if the process had been killed: nothing can be kept or read any more.

    No `Exception`, so that code which handles faults does not handle this one.
    """


class CrashingStore:
    """Any store, with one crash on cue. Fits `ports.Store`.

    The crash comes at the `at`-th append (from 1, over all runs) or at the first one whose events `cue` accepts;
    `before` it is kept or `after`; as a `StoreError` of this one append (`raise`), or as the end of everything
    (`die`): then every later call raises `Died` too, until `reopen()` gives what a new process would have.
    """

    def __init__(
        self,
        inner: Store,
        *,
        at: int | None = None,
        cue: Callable[[Sequence[AnyEvent]], bool] | None = None,
        when: When = "before",
        how: How = "raise",
    ) -> None:
        self.inner = inner
        self.at = at
        self.cue = cue
        self.when = when
        self.how = how
        self.appends = 0
        """Appends asked for so far."""
        self.crashed = False
        self.dead = False

    @property
    def hears_others(self) -> bool:
        """As the store inside."""
        return self.inner.hears_others

    def reopen(self) -> CrashingStore:
        """The same store without a crash, as a new process finds it. What the old one still does raises `Died`."""
        self.dead = True
        return CrashingStore(self.inner)

    def is_cue(self, events: Sequence[AnyEvent]) -> bool:
        """Count the append, and say whether the crash comes with it."""
        self.appends += 1
        if self.crashed:
            return False
        return self.appends == self.at or (self.cue is not None and self.cue(events))

    def crash(self) -> NoReturn:
        """Crash now. Raises `StoreError` or `Died`."""
        self.crashed = True
        if self.how == "die":
            self.dead = True
            raise Died(f"The store died at append {self.appends}.")
        raise StoreError(f"The store failed on cue at append {self.appends}.")

    def living(self) -> Store:
        """The store inside. Raises `Died` when it is dead."""
        if self.dead:
            raise Died("The store is dead.")
        return self.inner

    async def open(self) -> None:
        """As the store inside."""
        await self.living().open()

    async def close(self) -> None:
        """As the store inside, which lives on when this one is dead."""
        if not self.dead:
            await self.inner.close()

    async def create_run(self, info: RunInfo) -> RunInfo:
        """As the store inside."""
        return await self.living().create_run(info)

    async def begin_run(
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent], *, asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, Journal | None]:
        """As the store inside, with a journal whose appends crash on cue."""
        stored, journal = await self.living().begin_run(info, driver, events, asked=asked)
        return stored, None if journal is None else CrashingJournal(self, journal)

    async def get_run(self, run_id: str) -> RunInfo:
        """As the store inside."""
        return await self.living().get_run(run_id)

    async def list_runs(self, **wanted: Any) -> list[RunInfo]:
        """As the store inside."""
        return await self.living().list_runs(**wanted)

    async def lost_runs(self, seen_before: float, limit: int = 100, *, queued: bool = True) -> list[RunInfo]:
        """As the store inside."""
        return await self.living().lost_runs(seen_before, limit, queued=queued)

    async def enqueue(self, run_id: str) -> bool:
        """As the store inside."""
        return await self.living().enqueue(run_id)

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """As the store inside."""
        return await self.living().next_run(most_of_tenant=most_of_tenant)

    async def queued(self, limit: int) -> list[str]:
        """As the store inside."""
        return await self.living().queued(limit)

    async def run_times(self, since: float, **wanted: Any) -> list[RunTimes]:
        """As the store inside."""
        return await self.living().run_times(since, **wanted)

    async def processes(self, seen_after: float) -> list[Beat]:
        """As the store inside."""
        return await self.living().processes(seen_after)

    async def newest_audit(self, **wanted: Any) -> list[AuditEntry]:
        """As the store inside."""
        return await self.living().newest_audit(**wanted)

    async def standing(self, *, tenant: str | None = None) -> Standing:
        """As the store inside."""
        return await self.living().standing(tenant=tenant)

    async def asking_runs(self, **wanted: Any) -> list[AskingRun]:
        """As the store inside."""
        return await self.living().asking_runs(**wanted)

    async def drive(
        self, run_id: str, driver: str, *, expected: int | None = None, change: RunChange | None = None
    ) -> Journal:
        """A journal whose appends crash on cue."""
        return CrashingJournal(self, await self.living().drive(run_id, driver, expected=expected, change=change))

    async def beat(self, driver: str) -> None:
        """As the store inside."""
        await self.living().beat(driver)

    async def drivers(self) -> list[Beat]:
        """As the store inside."""
        return await self.living().drivers()

    async def runs_of(self, drivers: Sequence[str], limit: int = 100, *, tenant: str | None = None) -> list[RunInfo]:
        """As the store inside."""
        return await self.living().runs_of(drivers, limit, tenant=tenant)

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[AnyEvent]:
        """As the store inside."""
        return await self.living().read_events(run_id, after=after, limit=limit, most_bytes=most_bytes)

    async def wait_events(self, run_id: str, after: int) -> None:
        """As the store inside."""
        await self.living().wait_events(run_id, after)

    async def get_blob(self, digest: str) -> bytes:
        """As the store inside."""
        return await self.living().get_blob(digest)

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        """As the store inside."""
        return await self.living().read_blob(digest, offset, size)

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """As the store inside."""
        await self.living().put_signal(run_id, signal)

    async def take_signals(self, run_id: str) -> list[Signal]:
        """As the store inside."""
        return await self.living().take_signals(run_id)

    async def drop_signals(self, run_id: str, ids: Sequence[int]) -> None:
        """As the store inside."""
        await self.living().drop_signals(run_id, ids)

    def on_signal(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """As the store inside."""
        self.living().on_signal(run_id, callback)

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """As the store inside."""
        return await self.living().cache_get(key, now)

    async def cache_put(self, key: str, group: str, entry: CacheEntry, *, mark: str = "") -> None:
        """As the store inside."""
        await self.living().cache_put(key, group, entry, mark=mark)

    async def cache_clear(self, group: str) -> None:
        """As the store inside."""
        await self.living().cache_clear(group)

    async def load_stats(self) -> dict[str, ToolStats]:
        """As the store inside."""
        return await self.living().load_stats()

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """As the store inside."""
        await self.living().add_stats(changes)

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        """As the store inside."""
        return await self.living().put_record(record, expected=expected)

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        """As the store inside."""
        return await self.living().get_record(kind, record_id)

    async def list_records(self, kind: str, **wanted: Any) -> list[Record]:
        """As the store inside."""
        return await self.living().list_records(kind, **wanted)

    async def delete_record(self, kind: str, record_id: str) -> bool:
        """As the store inside."""
        return await self.living().delete_record(kind, record_id)

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """As the store inside."""
        return await self.living().append_audit(entries)

    async def unlinked_audit(self) -> int:
        """As the store inside."""
        return await self.living().unlinked_audit()

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """As the store inside."""
        await self.living().keep_audit(entries)

    async def drop_audit(self, through: int) -> None:
        """As the store inside."""
        await self.living().drop_audit(through)

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """As the store inside."""
        return await self.living().read_audit(tenant=tenant, after=after, limit=limit)

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """As the store inside."""
        return await self.living().read_audit_rows(after=after, limit=limit)

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """As the store inside."""
        return await self.living().delete_runs(run_ids)


class CrashingJournal:
    """The journal of one drive on a `CrashingStore`."""

    def __init__(self, store: CrashingStore, inner: Journal) -> None:
        self.store = store
        self.inner = inner
        self.epoch = inner.epoch
        # What it is there to show is which calls come before their events are kept, on any store.
        self.durable = True
        self.log = None

    def append(
        self,
        events: Sequence[AnyEvent],
        *,
        blobs: Sequence[Blob] = (),
        change: RunChange | None = None,
        awaited: bool = False,
    ) -> Awaitable[None] | None:
        """As the journal inside, but for the crash."""
        self.store.living()
        on_cue = self.store.is_cue(events)
        if on_cue and self.store.when == "before":
            self.store.crash()
        kept = self.inner.append(events, blobs=blobs, change=change, awaited=awaited)
        if on_cue and kept is None:
            self.store.crash()
        return self._crash_after(kept) if on_cue and kept is not None else kept

    def release(self) -> Awaitable[None] | None:
        """As the journal inside."""
        self.store.living()
        return self.inner.release()

    async def _crash_after(self, kept: Awaitable[None]) -> None:
        await kept
        self.store.crash()
