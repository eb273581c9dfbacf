"""Live events for any number of readers: a run's journal is read once for all readers, which are woken.

No reader has a queue: who is slow reads from the store where they stand, who is gone is forgotten.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Literal

import msgspec

from toolpath.app import Toolpath
from toolpath.errors import RunNotFound, StoreError
from toolpath.model.events import AnyEvent, RunCancelled, RunCompleted, RunFailed, RunResumed, encode_event
from toolpath.model.run import ENDED_RUN, RunInfo

#: Events of a run that are kept for readers who are nearly at its end, and the bytes that their texts have at most.
TAIL = 512
TAIL_BYTES = 2_000_000
#: Events that are read at once for one who is further behind, and the bytes with which a page of them ends.
PAGE = 256
PAGE_BYTES = 1_000_000
#: Pages of a run that are kept for readers who stand at the same place.
PAGES = 4
#: Bytes that are kept and read at once for all readers together, and the least for one of them.
SHARED_BYTES = 16_000_000
LEAST_BYTES = 50_000
#: Seconds without news after which readers are told that the server is there.
HEARTBEAT = 15.0
#: Seconds between two looks at a run whose driver cannot wake this process.
LOOK = 1.0
#: Seconds before a store that cannot be read is tried again.
PAUSE = 1.0


class EventFrame(msgspec.Struct, frozen=True, gc=False):
    """One event, and the same as JSON text."""

    seq: int
    event: AnyEvent
    data: bytes


class EventBatch(msgspec.Struct, frozen=True, gc=False):
    """Events that came, none for a heartbeat; `end` where no more will come, and why."""

    frames: Sequence[EventFrame] = ()
    end: Literal["", "run", "server", "gone"] = ""
    """run: it has ended; server: this process stops, ask again; gone: the run was deleted."""


class Feeds:
    """Feeds of the runs of one Toolpath that have readers."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self._feeds: dict[str, _Feed] = {}
        self._readers = 0
        self._closing = False

    async def follow(self, info: RunInfo, after: int = 0) -> AsyncGenerator[EventBatch]:
        """The run's events beyond `after`, in order, until it ends: also while it waits for people."""
        feed = self._feeds.get(info.run_id)
        if feed is None:
            feed = self._feeds[info.run_id] = _Feed(self._tp, info, self._share)
        feed.readers += 1
        self._readers += 1
        try:
            while not self._closing:
                batch = await feed.beyond(after)
                if batch.frames:
                    after = batch.frames[-1].seq
                yield batch
                if batch.end:
                    return
            yield EventBatch(end="server")
        finally:
            feed.readers -= 1
            self._readers -= 1
            if not feed.readers and self._feeds.get(info.run_id) is feed:
                del self._feeds[info.run_id]
                feed.close()

    def close(self) -> None:
        """Have all readers end: the server stops."""
        self._closing = True
        for feed in self._feeds.values():
            feed.wake()

    @property
    def readers(self) -> int:
        """Number of readers."""
        return self._readers

    def _share(self, most: int) -> int:
        """Bytes that one may have in memory who would have so many if there were no others."""
        return min(most, max(LEAST_BYTES, SHARED_BYTES // max(1, self._readers)))


class _Feed:
    """The end of one run's journal, as long as somebody reads it."""

    def __init__(self, tp: Toolpath, info: RunInfo, share: Callable[[int], int]) -> None:
        self.readers = 0
        self._tp = tp
        self._share = share
        """Bytes that it may have in memory of those that it would like to."""
        self._run_id = info.run_id
        self._last = max(0, info.last_seq - TAIL)
        self._tail: deque[EventFrame] = deque()
        self._size = 0
        """Bytes of the texts in the tail."""
        self._pages: dict[int, asyncio.Future[Sequence[EventFrame]]] = {}
        """The pages before the tail that were read last, by the event that they come after."""
        self._ended = False
        self._caught_up = False
        self._gone = False
        self._news = asyncio.Event()
        self._woken = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._watch(), name=f"feed {info.run_id}")

    async def beyond(self, after: int) -> EventBatch:
        """The batch beyond `after`, as soon as there is something or it is time for a heartbeat."""
        if self._gone:
            return EventBatch(end="gone")
        begin = self._tail[0].seq if self._tail else self._last + 1
        if after + 1 < begin:
            return EventBatch(frames=await self._stored(after, begin))
        if after < self._last:
            # The numbers of a journal have no gaps.
            return EventBatch(frames=list(self._tail)[after + 1 - begin :])
        if self._is_over:
            return EventBatch(end="run")
        if self._task.done():
            # It broke: readers are told by the end of their streams.
            self._task.result()
        # One event for all readers, and one timer: they are woken together, for heartbeats too.
        await self._news.wait()
        if after < self._last or self._is_over or self._gone:
            return await self.beyond(after)
        return EventBatch()

    @property
    def _is_over(self) -> bool:
        return self._ended and self._caught_up

    async def _stored(self, after: int, begin: int) -> Sequence[EventFrame]:
        """The frames before the tail: readers at the same place are given the same page, however many they are."""
        reading = self._pages.get(after)
        if reading is None or reading.cancelled() or (reading.done() and reading.exception() is not None):
            while len(self._pages) >= PAGES:
                self._pages.pop(next(iter(self._pages)))
            reading = self._pages[after] = asyncio.ensure_future(self._page(after, begin))
        # A reader that goes away must not take the page away from the others.
        return await asyncio.shield(reading)

    async def _page(self, after: int, begin: int) -> Sequence[EventFrame]:
        events = await self._tp.store.read_events(
            self._run_id, after=after, limit=min(PAGE, begin - 1 - after), most_bytes=self._share(PAGE_BYTES)
        )
        return [_frame(event) for event in events]

    async def _watch(self) -> None:
        """Read what is committed, once for all readers, and sleep until there is more."""
        store = self._tp.store
        while not self._gone:
            try:
                most = self._share(PAGE_BYTES)
                events = await store.read_events(self._run_id, after=self._last, limit=PAGE, most_bytes=most)
                if events:
                    self._take(events, most)
                    continue
                info = await store.get_run(self._run_id)
                self._caught_up = True
                self._ended = self._ended or (info.status in ENDED_RUN and info.last_seq <= self._last)
                if self._ended:
                    self.wake()
                async with asyncio.timeout(self._patience(info)):
                    await store.wait_events(self._run_id, self._last)
            except TimeoutError:
                self._beat()
            except RunNotFound:
                self._gone = True
                self.wake()
            except StoreError:
                # Readers stay: what they missed is in the journal when it can be read again.
                await asyncio.sleep(PAUSE)
                self._beat()

    def _take(self, events: Sequence[AnyEvent], most: int) -> None:
        size = 0
        for event in events:
            size += self._keep(_frame(event))
            match event:
                case RunCompleted() | RunFailed() | RunCancelled():
                    self._ended = True
                case RunResumed():
                    self._ended = False
        self._last = events[-1].seq
        # As long as it was not asked for less than there is, by number or by bytes.
        self._caught_up = len(events) < PAGE and size < most // 2
        self.wake()

    def _keep(self, frame: EventFrame) -> int:
        """Put it at the end of the tail, and let go of what is too much at its beginning; gives its bytes."""
        tail = self._tail
        tail.append(frame)
        self._size += len(frame.data)
        most = self._share(TAIL_BYTES)
        while len(tail) > TAIL or (self._size > most and len(tail) > 1):
            self._size -= len(tail.popleft().data)
        return len(frame.data)

    def _patience(self, info: RunInfo) -> float:
        """Seconds until the run is looked at unasked: another process that drives it may not be able to wake this."""
        if self._tp.store.hears_others:
            return HEARTBEAT
        return LOOK if self._tp.is_driven_elsewhere(info) else HEARTBEAT

    def wake(self) -> None:
        """Have all readers look."""
        self._woken = asyncio.get_running_loop().time()
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _beat(self) -> None:
        """Wake all readers where they had no news for long."""
        if asyncio.get_running_loop().time() >= self._woken + HEARTBEAT:
            self.wake()

    def close(self) -> None:
        """End the feed: nobody reads any more."""
        self._task.cancel()


def _frame(event: AnyEvent) -> EventFrame:
    return EventFrame(event.seq, event, encode_event(event))
