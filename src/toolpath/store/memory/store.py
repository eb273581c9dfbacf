"""The store in memory: a run's journal is a log of its events. Nothing outlives the process."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from toolpath.model.event_log import EventLog
from toolpath.model.events import AnyEvent, encode_event
from toolpath.model.open_questions import AskingRun, OpenQuestion
from toolpath.model.record import AuditEntry
from toolpath.model.run import ENDED_RUN, Beat, RunInfo, RunTimes, Standing
from toolpath.ports import Blob, RunChange, Signal
from toolpath.store.handles import digests_in
from toolpath.store.memory.records import MemoryRecords
from toolpath.store.memory.results import MemoryResults
from toolpath.store.rows import begun, between, changed, given, no_blob, no_run, out_of_order, run_exists, taken_over
from toolpath.store.waiters import Waiters

#: Runs that were begun come before all that were not.
BEGUN = 1_000


class _Run:
    """One run: its row, and its events in order."""

    __slots__ = ("asked", "epoch", "events", "info", "intent", "rank", "referred", "signals", "turn")

    def __init__(self, info: RunInfo) -> None:
        self.info = info
        self.epoch = info.epoch
        self.events = EventLog()
        self.signals: dict[int, Signal] = {}
        self.referred: tuple[int, frozenset[str]] = (0, frozenset())
        self.asked: tuple[OpenQuestion, ...] = ()
        self.turn: int | None = None
        """Its place among those that wait for a worker."""
        self.rank = 0
        self.intent: tuple[int, str] = (-1, "")
        """After which event it was said why the run goes on, and what."""

    def row(self) -> RunInfo:
        updated_at = self.events.last.at if self.events else self.info.updated_at
        after, intent = self.intent
        return msgspec.structs.replace(
            self.info,
            epoch=self.epoch,
            last_seq=len(self.events),
            updated_at=max(updated_at, self.info.updated_at),
            intent=intent if after == len(self.events) and self.info.status in ("pending", "running") else "",
        )

    def is_due(self) -> bool:
        """Whether somebody should drive it."""
        match self.info.status:
            case "pending" | "running":
                return True
            case "waiting":
                return bool(self.signals)
            case "paused":
                return any(signal.kind in ("cancel", "resume") for signal in self.signals.values())
        return False

    def blobs(self) -> frozenset[str]:
        """Digests that its events point to; events never change, so only new ones are read."""
        count, digests = self.referred
        if count < len(self.events):
            found = digests.union(*(digests_in(encode_event(event)) for event in self.events.read(count)))
            self.referred = (len(self.events), found)
        return self.referred[1]


class MemoryJournal:
    """The journal of one run in memory."""

    __slots__ = ("_blobs", "_clock", "_run", "_waiters", "epoch", "log")

    durable = False

    def __init__(self, store: MemoryStore, run: _Run) -> None:
        self.epoch = run.epoch
        self.log = run.events
        self._run = run
        self._blobs = store._blobs
        self._waiters = store._waiters
        self._clock = store._clock

    def append(
        self,
        events: Sequence[AnyEvent],
        *,
        blobs: Sequence[Blob] = (),
        change: RunChange | None = None,
        awaited: bool = False,
    ) -> None:
        """Keep the events; they are kept when this returns. Raises `StaleEpoch`."""
        run = self._run
        if run.epoch != self.epoch:
            raise taken_over(run.info.run_id, self.epoch)
        kept = run.events
        if events:
            last = len(kept)
            if events[0].seq != last + 1 or events[-1].seq != last + len(events):
                raise out_of_order(run.info.run_id, events[0], last)
            kept.extend(events)
        if blobs:
            self._blobs.update((blob.digest, blob.data) for blob in blobs)
        if change is not None:
            now = events[-1].at if events else self._clock()
            run.info = msgspec.structs.replace(changed(run.info, change), updated_at=now)
            run.asked = run.asked if change.asked is None else change.asked
        if self._waiters.waiting and events:
            self._waiters.wake(run.info.run_id)

    def release(self) -> None:
        """Say that this process drives the run no more."""
        run = self._run
        if run.epoch == self.epoch:
            seen_at = max(run.info.driver_seen_at, self._clock())
            run.info = msgspec.structs.replace(run.info, driver="", driver_seen_at=seen_at)


class MemoryStore(MemoryResults, MemoryRecords):
    """Everything in dictionaries of this process. `clock` gives Unix time in seconds."""

    hears_others = False

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        MemoryResults.__init__(self)
        MemoryRecords.__init__(self, clock)
        self._runs: dict[str, _Run] = {}
        self._by_key: dict[tuple[str, str], str] = {}
        self._beats: dict[str, float] = {}
        self._blobs: dict[str, bytes] = {}
        self._signal_ids = itertools.count(1)
        self._waiters = Waiters()

    async def open(self) -> None:
        """Do nothing: it is open."""

    async def close(self) -> None:
        """Wake all who wait; what was stored stays readable."""
        self._waiters.wake_all()

    async def create_run(self, info: RunInfo) -> RunInfo:
        """Store the run, or return the one that has the same idempotency key and tenant."""
        known = self._with_key(info)
        if known is not None:
            return known.row()
        if info.run_id in self._runs:
            raise run_exists(info.run_id)
        run = _Run(info)
        self._runs[info.run_id] = run
        if info.idempotency_key:
            self._by_key[info.tenant, info.idempotency_key] = info.run_id
        return run.row()

    def _with_key(self, info: RunInfo) -> _Run | None:
        """The run that has the same idempotency key and tenant."""
        run_id = self._by_key.get((info.tenant, info.idempotency_key)) if info.idempotency_key else None
        return None if run_id is None else self._runs[run_id]

    async def begin_run(
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent], *, asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, MemoryJournal | None]:
        """Store the run, take it unless `driver` is empty, and keep its first events and who asked for it."""
        known = self._with_key(info)
        if known is not None:
            return known.row(), None
        if info.run_id in self._runs:
            raise run_exists(info.run_id)
        if asked:
            await self.append_audit(asked)
        await self.create_run(begun(info, driver, events, self._clock()))
        run = self._runs[info.run_id]
        run.events.extend(events)
        if not driver:
            await self.enqueue(run.info.run_id)
        return run.row(), MemoryJournal(self, run) if driver else None

    async def get_run(self, run_id: str) -> RunInfo:
        """The run's row. Raises `RunNotFound`."""
        return self._find(run_id).row()

    def _find(self, run_id: str) -> _Run:
        run = self._runs.get(run_id)
        if run is None:
            raise no_run(run_id, itertools.islice(reversed(self._runs), 1000))
        return run

    async def list_runs(  # noqa: PLR0913 - each is a filter
        self,
        *,
        status: str | None = None,
        tenant: str | None = None,
        user: str | None = None,
        name: str | None = None,
        plan_id: str | None = None,
        conversation_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[RunInfo]:
        """The newest runs first; `before` is the last id of the page before."""
        wanted = given(
            status=status, tenant=tenant, user=user, name=name, plan_id=plan_id, conversation_id=conversation_id
        )
        ordered = sorted(self._runs.values(), key=_age, reverse=True)
        if before is not None:
            bound = _age(self._find(before))
            ordered = [run for run in ordered if _age(run) < bound]
        bounds = between(since, until)
        ordered = [run for run in ordered if bounds["since"] <= run.info.created_at < bounds["until"]]
        fitting = (run for run in ordered if all(getattr(run.info, field) == value for field, value in wanted.items()))
        return [run.row() for run in itertools.islice(fitting, max(limit, 0))]

    async def run_times(self, since: float, *, tenant: str | None = None, limit: int = 1_000) -> list[RunTimes]:
        """When runs that were begun from the Unix time `since` on began and ended, newest first."""
        found = await self.list_runs(since=since, tenant=tenant, limit=limit)
        return [RunTimes(info.status, info.created_at, info.ended_at) for info in found]

    async def lost_runs(self, seen_before: float, limit: int = 100, *, queued: bool = True) -> list[RunInfo]:
        """Begun runs that somebody should drive and nobody was seen to since, longest unseen first, pending last."""
        begun = (run for run in self._runs.values() if run.events and (queued or run.turn is None))
        lost = [run for run in begun if run.info.driver_seen_at < seen_before and run.is_due()]
        lost.sort(key=lambda run: (run.info.status == "pending", run.info.driver_seen_at, run.info.run_id))
        return [run.row() for run in lost[: max(limit, 0)]]

    async def enqueue(self, run_id: str) -> bool:
        """Give the run a turn among those that wait for a worker; false where it has one."""
        run = self._runs.get(run_id)
        if run is None or run.turn is not None:
            return False
        turns = [(other.turn, other.info.tenant) for other in self._runs.values() if other.turn is not None]
        first = min((turn for turn, _ in turns), default=0)
        run.turn = max(first, 1 + max((turn for turn, tenant in turns if tenant == run.info.tenant), default=-1))
        run.rank = run.info.priority if run.info.status == "pending" else BEGUN
        return True

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """Take the turn of the run that comes next, and give the run's id; None where none has a turn."""
        busy = Counter(
            run.info.tenant
            for run in self._runs.values()
            if run.turn is None and run.info.status in ("pending", "running")
        )
        waiting = [
            run
            for run in self._runs.values()
            if run.turn is not None and not (most_of_tenant and busy[run.info.tenant] >= most_of_tenant)
        ]
        if not waiting:
            return None
        head = min(waiting, key=lambda run: run.turn or 0)
        # Of the runs that are alike, the first stored.
        best = min((run for run in waiting if run.info.tenant == head.info.tenant), key=lambda run: -run.rank)
        # The run whose turn another takes goes in the other's place.
        head.turn, best.turn = best.turn, None
        best.info = msgspec.structs.replace(best.info, driver_seen_at=max(best.info.driver_seen_at, self._clock()))
        return best.info.run_id

    async def queued(self, limit: int) -> list[str]:
        """Ids of the runs that have a turn, the first `limit` of them."""
        waiting = sorted((run.turn, run.info.run_id) for run in self._runs.values() if run.turn is not None)
        return [run_id for _, run_id in waiting[: max(limit, 0)]]

    async def standing(self, *, tenant: str | None = None) -> Standing:
        """How many runs have not ended, and what they wait for people to say."""
        theirs = [run for run in self._runs.values() if tenant in (None, run.info.tenant)]
        runs = Counter[str](run.info.status for run in theirs if run.info.status not in ENDED_RUN)
        questions = Counter[str](asked.kind for run in theirs for asked in run.asked)
        return Standing(dict(runs), dict(questions))

    async def asking_runs(
        self, *, tenant: str | None = None, limit: int = 50, after: tuple[float, str] | None = None
    ) -> list[AskingRun]:
        """The runs that wait for people, longest first; `after` are `since` and id of the last of the page before."""
        asking = [
            AskingRun(run.info.run_id, len(run.events), min(asked.at for asked in run.asked), run.asked, run.info.name)
            for run in self._runs.values()
            if run.asked and tenant in (None, run.info.tenant)
        ]
        asking.sort(key=lambda run: (run.since, run.run_id))
        return [run for run in asking if after is None or (run.since, run.run_id) > after][: max(limit, 0)]

    async def drive(
        self, run_id: str, driver: str, *, expected: int | None = None, change: RunChange | None = None
    ) -> MemoryJournal:
        """Take the run with a new epoch."""
        run = self._find(run_id)
        if expected not in (None, run.epoch):
            raise taken_over(run_id, expected or 0)
        run.epoch += 1
        info = run.info if change is None else changed(run.info, change)
        if change is not None and change.intent is not None:
            run.intent = (len(run.events), change.intent)
        run.info = msgspec.structs.replace(info, driver=driver, driver_seen_at=self._clock())
        run.turn = None if driver else run.turn
        return MemoryJournal(self, run)

    async def beat(self, driver: str) -> None:
        """Say that this process still drives its runs."""
        now = self._clock()
        if driver:
            self._beats[driver] = now
        for run in self._runs.values():
            if driver and run.info.driver == driver:
                run.info = msgspec.structs.replace(run.info, driver_seen_at=now)

    async def drivers(self) -> list[Beat]:
        """Who drives a running run."""
        seen: dict[str, float] = {}
        for run in self._runs.values():
            if run.info.driver and run.info.status == "running":
                seen[run.info.driver] = max(seen.get(run.info.driver, 0.0), run.info.driver_seen_at)
        return [Beat(driver, seen_at) for driver, seen_at in sorted(seen.items())]

    async def processes(self, seen_after: float) -> list[Beat]:
        """Who said since the Unix time `seen_after` that they live."""
        return [Beat(driver, seen_at) for driver, seen_at in sorted(self._beats.items()) if seen_at > seen_after]

    async def runs_of(self, drivers: Sequence[str], limit: int = 100, *, tenant: str | None = None) -> list[RunInfo]:
        """The running runs of these drivers, longest unseen first."""
        found = [
            run
            for run in self._runs.values()
            if run.info.status == "running" and run.info.driver in drivers and tenant in (None, run.info.tenant)
        ]
        found.sort(key=lambda run: (run.info.driver_seen_at, run.info.run_id))
        return [run.row() for run in found[: max(limit, 0)]]

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[AnyEvent]:
        """The events with a greater `seq` than `after`, in order, no more than are asked for."""
        start = max(after, 0)
        found = self._find(run_id).events.read(start, None if limit is None else max(limit, 0))
        if most_bytes is not None:
            for count, event in enumerate(found, start=1):
                most_bytes -= len(encode_event(event))
                if most_bytes <= 0:
                    return found[:count]
        return found

    async def wait_events(self, run_id: str, after: int) -> None:
        """Return when the run has events beyond `after`."""
        if len(self._find(run_id).events) > after:
            return
        future = self._waiters.add(run_id)
        try:
            await future
        finally:
            self._waiters.discard(run_id, future)

    async def get_blob(self, digest: str) -> bytes:
        """The bytes. Raises `StoreError` when they are not there."""
        if digest not in self._blobs:
            raise no_blob(digest)
        return self._blobs[digest]

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        """At most so many of the bytes from there on."""
        return (await self.get_blob(digest))[offset : offset + size]

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """Keep a signal for the run's driver and wake it."""
        number = next(self._signal_ids)
        self._find(run_id).signals[number] = msgspec.structs.replace(signal, id=number)
        self._waiters.signal(run_id)

    async def take_signals(self, run_id: str) -> list[Signal]:
        """The signals not yet dropped, oldest first."""
        return list(self._find(run_id).signals.values())

    async def drop_signals(self, run_id: str, ids: Sequence[int]) -> None:
        """Forget signals whose effect is in the journal."""
        if run_id in self._runs:
            for number in ids:
                self._runs[run_id].signals.pop(number, None)

    def on_signal(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """Have `callback` called in the loop when a signal for the run was put; None: no more."""
        self._waiters.watch(run_id, callback)

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """Delete ended runs with all that is theirs; returns how many."""
        gone = [self._runs.pop(run_id) for run_id in dict.fromkeys(run_ids) if self._has_ended(run_id)]
        self._forget_secrets({run.info.run_id for run in gone})
        for run in gone:
            run.epoch = -1
            self._by_key.pop((run.info.tenant, run.info.idempotency_key), None)
            self._waiters.wake(run.info.run_id)
        orphans = frozenset[str]().union(*(run.blobs() for run in gone)) & self._blobs.keys() if self._blobs else ()
        if orphans:
            needed = frozenset[str]().union(*(run.blobs() for run in self._runs.values()))
            for digest in orphans - needed:
                del self._blobs[digest]
        return len(gone)

    def _has_ended(self, run_id: str) -> bool:
        return run_id in self._runs and self._runs[run_id].info.status in ENDED_RUN


def _age(run: _Run) -> tuple[float, str]:
    return run.info.created_at, run.info.run_id
