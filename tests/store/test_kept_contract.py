"""The laws that every store keeps for what lies beside the journals: bytes, signals, cached results, statistics."""

from __future__ import annotations

import asyncio

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import Now, blob, keep, large, new_run

from toolpath.errors import StaleEpoch, StoreError, ToolpathError
from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry, Signal, Store

# Blobs


async def test_bytes_are_kept_with_the_events_that_point_to_them(store: Store) -> None:
    journal = await new_run(store)
    kept = blob("large")
    await keep(journal, large(1, kept), blobs=(kept,))
    await keep(journal, large(2, kept), blobs=(kept,))
    assert await store.get_blob(kept.digest) == b"large"
    with pytest.raises(StoreError, match="sha256:none"):
        await store.get_blob("sha256:none")


async def test_bytes_of_a_refused_append_are_not_kept(store: Store) -> None:
    old = await new_run(store)
    await store.drive("run_1", "d")
    kept = blob("late")
    with pytest.raises(StaleEpoch):
        await keep(old, large(1, kept), blobs=(kept,))
    with pytest.raises(StoreError):
        await store.get_blob(kept.digest)


async def test_bytes_go_with_the_last_run_that_points_to_them(store: Store) -> None:
    kept, own = blob("shared"), blob("own")
    first = await new_run(store, "run_1")
    await keep(first, large(1, kept), large(2, own), blobs=(kept, own), status="completed")
    # A fork copies events; it does not hand in the bytes again.
    fork = await new_run(store, "run_2")
    await keep(fork, large(1, kept), status="completed")
    assert await store.delete_runs(["run_1"]) == 1
    assert await store.get_blob(kept.digest) == b"shared"
    with pytest.raises(StoreError):
        await store.get_blob(own.digest)
    assert await store.delete_runs(["run_2"]) == 1
    with pytest.raises(StoreError):
        await store.get_blob(kept.digest)


# Signals


async def test_signals_are_kept_in_order_until_they_are_dropped(store: Store) -> None:
    await new_run(store)
    await store.put_signal("run_1", Signal(kind="approve", path="a", data={"digest": "d"}, by="ann"))
    await store.put_signal("run_1", Signal(kind="cancel", id=77))
    first, second = await store.take_signals("run_1")
    assert (first.kind, first.path, first.data, first.by) == ("approve", "a", {"digest": "d"}, "ann")
    assert second.kind == "cancel"
    assert 0 < first.id < second.id
    assert await store.take_signals("run_1") == [first, second]
    await store.drop_signals("run_1", [first.id])
    assert await store.take_signals("run_1") == [second]
    await store.drop_signals("run_1", [first.id, second.id])
    assert await store.take_signals("run_1") == []


async def test_signals_are_dropped_of_their_own_run_alone(store: Store) -> None:
    await new_run(store, "run_1")
    await new_run(store, "run_2")
    await store.put_signal("run_1", Signal(kind="cancel"))
    (signal,) = await store.take_signals("run_1")
    await store.drop_signals("run_2", [signal.id])
    await store.drop_signals("run_gone", [signal.id])
    assert await store.take_signals("run_1") == [signal]


async def test_a_signal_calls_the_driver_back_in_its_loop(store: Store) -> None:
    await new_run(store, "run_1")
    await new_run(store, "run_2")
    called = asyncio.Event()
    store.on_signal("run_1", called.set)
    await store.put_signal("run_2", Signal(kind="cancel"))
    assert not called.is_set()
    await store.put_signal("run_1", Signal(kind="cancel"))
    async with asyncio.timeout(PATIENCE):
        await called.wait()
    called.clear()
    store.on_signal("run_1", None)
    await store.put_signal("run_1", Signal(kind="cancel"))
    await store.take_signals("run_1")
    assert not called.is_set()


# Cache and statistics


async def test_a_kept_result_is_found_until_it_expires(store: Store, now: Now) -> None:
    entry = CacheEntry({"rows": [1, 2]}, 1_060.0)
    await store.cache_put("k", "blog", entry)
    assert await store.cache_get("k", 1_059.0) == entry
    assert await store.cache_get("other", 1_059.0) is None
    assert await store.cache_get("k", 1_060.0) is None


async def test_a_kept_result_is_nobodys_to_change(store: Store) -> None:
    value = {"rows": [1]}
    await store.cache_put("k", "blog", CacheEntry(value, 2_000.0))
    value["rows"].append(2)
    found = await store.cache_get("k", 1_000.0)
    assert found is not None
    found.value["rows"].append(3)
    assert await store.cache_get("k", 1_000.0) == CacheEntry({"rows": [1]}, 2_000.0)


async def test_a_result_is_replaced_and_a_group_emptied(store: Store) -> None:
    await store.cache_put("k", "blog", CacheEntry(1, 2_000.0))
    await store.cache_put("k", "blog", CacheEntry(2, 2_000.0))
    await store.cache_put("other", "mail", CacheEntry(3, 2_000.0))
    assert await store.cache_get("k", 1_000.0) == CacheEntry(2, 2_000.0)
    await store.cache_clear("blog")
    assert await store.cache_get("k", 1_000.0) is None
    assert await store.cache_get("other", 1_000.0) == CacheEntry(3, 2_000.0)


async def test_a_result_takes_the_place_of_a_mark_unless_its_group_was_emptied_meanwhile(store: Store) -> None:
    for mark in ("first", "second"):
        await store.cache_put(mark, "blog", CacheEntry(None, 2_000.0))
    await store.cache_put("k", "blog", CacheEntry(1, 2_000.0), mark="first")
    assert await store.cache_get("k", 1_000.0) == CacheEntry(1, 2_000.0)
    assert await store.cache_get("first", 1_000.0) is None
    await store.cache_clear("blog")
    await store.cache_put("k", "blog", CacheEntry(2, 2_000.0), mark="second")
    assert await store.cache_get("k", 1_000.0) is None


async def test_a_result_that_is_no_json_is_refused(store: Store) -> None:
    with pytest.raises(ToolpathError):
        await store.cache_put("k", "blog", CacheEntry(object(), 2_000.0))


async def test_statistics_add_up_and_keep_the_latest_durations(store: Store) -> None:
    assert await store.load_stats() == {}
    await store.add_stats({"t.a": ToolStats(calls=150, durations=(1.0,) * 150, total_duration=150.0, updated_at=5.0)})
    await store.add_stats(
        {
            "t.a": ToolStats(calls=100, failures=1, timeouts=2, durations=(2.0,) * 97, cost=0.5, confidences=1),
            "t.b": ToolStats(calls=1, confidence_total=0.9, confidences=1),
        }
    )
    stats = await store.load_stats()
    assert stats["t.a"].calls == 250
    assert stats["t.a"].durations == (1.0,) * 103 + (2.0,) * 97
    assert (stats["t.a"].failures, stats["t.a"].timeouts, stats["t.a"].cost) == (1, 2, 0.5)
    assert (stats["t.a"].updated_at, stats["t.a"].average_duration) == (5.0, 0.6)
    assert stats["t.b"].average_confidence == 0.9


async def test_statistics_added_at_once_lose_nothing(store: Store) -> None:
    await asyncio.gather(*(store.add_stats({"t": ToolStats(calls=1)}) for _ in range(50)))
    assert (await store.load_stats())["t"].calls == 50
