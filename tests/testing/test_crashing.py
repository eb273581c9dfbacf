"""The crashing store: one crash on cue, before or after what is kept, and life after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolpath.errors import StoreError
from toolpath.model.events import StepReady, StepStarted
from toolpath.model.run import RunInfo
from toolpath.ports import Store
from toolpath.store.memory.store import MemoryStore
from toolpath.store.sqlite.store import SqliteStore
from toolpath.testing.crashing import CrashingStore, Died


@pytest.fixture(params=[MemoryStore, lambda: SqliteStore(":memory:")], ids=["memory", "sqlite"])
async def inner(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    store = request.param()
    await store.open()
    await store.create_run(RunInfo(run_id="run_1"))
    yield store
    await store.close()


async def append(journal: Any, *events: Any) -> None:
    kept = journal.append(events)
    if kept is not None:
        await kept


def ready(seq: int) -> StepReady:
    return StepReady(seq=seq, at=0.0, path="a")


async def test_without_a_cue_nothing_crashes(inner: Store) -> None:
    journal = await CrashingStore(inner).drive("run_1", "test")
    for seq in range(1, 4):
        await append(journal, ready(seq))
    assert [event.seq for event in await inner.read_events("run_1")] == [1, 2, 3]


@pytest.mark.parametrize(("when", "kept"), [("before", 1), ("after", 2)])
async def test_a_failed_append_is_kept_or_not_and_the_store_goes_on(inner: Store, when: Any, kept: int) -> None:
    store = CrashingStore(inner, at=2, when=when)
    journal = await store.drive("run_1", "test")
    await append(journal, ready(1))
    with pytest.raises(StoreError, match="at append 2"):
        await append(journal, ready(2))
    assert [event.seq for event in await store.read_events("run_1")] == list(range(1, kept + 1))
    await append(journal, ready(kept + 1))
    assert len(await store.read_events("run_1")) == kept + 1


async def test_a_dead_store_answers_nothing_until_it_is_opened_anew(inner: Store) -> None:
    store = CrashingStore(inner, cue=lambda events: any(isinstance(e, StepStarted) for e in events), how="die")
    journal = await store.drive("run_1", "test")
    await append(journal, ready(1))
    with pytest.raises(Died):
        await append(journal, StepStarted(seq=2, at=0.0, path="a"))
    with pytest.raises(Died):
        await append(journal, ready(3))
    with pytest.raises(Died):
        await store.read_events("run_1")
    again = store.reopen()
    assert [event.seq for event in await again.read_events("run_1")] == [1]
    await append(await again.drive("run_1", "next"), ready(2))
    with pytest.raises(Died):
        await append(journal, ready(3))
