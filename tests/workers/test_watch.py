"""When a driver counts as gone: by what it says while somebody looks on, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolpath.errors import StoreError
from toolpath.model.events import RunStarted
from toolpath.model.run import Beat, RunInfo
from toolpath.recovery.heartbeats import Heartbeats
from toolpath.recovery.timing import DISCONNECTED, LOOK, SILENT
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock

DRIVER = "host:1:a"


class Ground(MemoryStore):
    """A store with one run, whose driver may lose its connection, and that may be away itself."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock=clock.time)
        self.clock = clock
        self.is_connected = True
        self.is_away = False

    async def drivers(self) -> list[Beat]:
        if self.is_away:
            raise StoreError("away")
        return [Beat(beat.driver, beat.seen_at, self.is_connected) for beat in await super().drivers()]

    async def passes(self, seconds: float, watch: Heartbeats, *, beats: bool = False) -> bool:
        """Let the time pass with two looks a second; whether the driver has gone then."""
        for _ in range(round(seconds / LOOK)):
            await self.clock.advance(LOOK)
            if beats:
                await self.beat(DRIVER)
            await watch.look()
        return watch.has_gone(DRIVER)


@pytest.fixture
async def store() -> Ground:
    store = Ground(FakeClock())
    await store.begin_run(RunInfo(run_id="run_1"), DRIVER, [RunStarted(1, 0.0, run_id="run_1", plan={})])
    return store


def watching(store: Ground, has_died: Callable[[str], bool] = lambda _: False) -> Heartbeats:
    return Heartbeats(store, store.clock, has_died)


async def test_one_that_says_that_it_lives_has_not_gone(store: Ground) -> None:
    watch = watching(store)
    assert not await store.passes(10 * SILENT, watch, beats=True)
    store.is_connected = False
    assert not await store.passes(10 * SILENT, watch, beats=True), "it only lost a connection"


async def test_one_that_is_connected_and_says_nothing_has_gone_after_a_while(store: Ground) -> None:
    watch = watching(store)
    await store.passes(3, watch, beats=True)
    assert not await store.passes(SILENT - LOOK, watch)
    assert await store.passes(2 * LOOK, watch)
    assert await watch.look() == {DRIVER}


async def test_one_whose_connection_is_gone_is_waited_for_a_moment(store: Ground) -> None:
    watch = watching(store)
    await store.passes(3, watch, beats=True)
    store.is_connected = False
    assert not await store.passes(DISCONNECTED - LOOK, watch)
    assert await store.passes(2 * LOOK, watch)


async def test_one_that_was_never_heard_is_given_all_the_time(store: Ground) -> None:
    watch = watching(store)
    store.is_connected = False
    assert not await store.passes(SILENT - LOOK, watch)
    assert await store.passes(3 * LOOK, watch)


async def test_a_process_that_has_ended_is_known_at_once(store: Ground) -> None:
    watch = watching(store, has_died=lambda driver: driver == DRIVER)
    assert await watch.look() == {DRIVER}


async def test_who_stood_still_itself_takes_nobody_for_gone(store: Ground) -> None:
    watch = watching(store)
    await store.passes(3, watch, beats=True)
    store.is_connected = False
    await store.clock.advance(1_000)
    assert await watch.look() == frozenset()


async def test_while_the_store_is_away_nobody_can_say_that_they_live(store: Ground) -> None:
    watch = watching(store)
    await store.passes(3, watch, beats=True)
    store.is_away, store.is_connected = True, False
    for _ in range(100):
        await store.clock.advance(LOOK)
        with pytest.raises(StoreError):
            await watch.look()
    store.is_away = False
    assert not await store.passes(SILENT - LOOK, watch)
    assert await store.passes(3 * LOOK, watch)
