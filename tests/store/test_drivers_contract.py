"""The laws that every store keeps for drivers: who has a run, who may take it, which runs are lost."""

from __future__ import annotations

import pytest
from tests.store.store_cases import Now, keep, new_run, ready, settled

from toolpath.errors import RunConflict, RunNotFound, StaleEpoch
from toolpath.model.events import RunStarted
from toolpath.model.record import AuditEntry, broken_link
from toolpath.model.run import RunInfo
from toolpath.ports import RunChange, Signal, Store

# Drivers


async def test_a_drive_is_seen_in_the_row_until_it_is_released(store: Store, now: Now) -> None:
    journal = await new_run(store)
    info = await store.get_run("run_1")
    assert (info.driver, info.driver_seen_at, info.epoch) == ("host:1:a", 1_000.0, journal.epoch)
    await settled(journal.release())
    assert (await store.get_run("run_1")).driver == ""


async def test_a_late_release_leaves_the_new_driver(store: Store) -> None:
    old = await new_run(store)
    await store.drive("run_1", "host:2:b")
    await settled(old.release())
    assert (await store.get_run("run_1")).driver == "host:2:b"


async def test_a_beat_is_of_all_runs_of_the_driver_and_of_no_other(store: Store, now: Now) -> None:
    await new_run(store, "run_1")
    await new_run(store, "run_2")
    await store.create_run(RunInfo(run_id="run_3"))
    await store.drive("run_3", "host:2:b")
    await store.create_run(RunInfo(run_id="run_4"))
    now.at = 2_000.0
    await store.beat("host:1:a")
    await store.beat("")
    seen = {info.run_id: info.driver_seen_at for info in await store.list_runs()}
    assert seen == {"run_1": 2_000.0, "run_2": 2_000.0, "run_3": 1_000.0, "run_4": 0.0}


async def test_a_run_is_taken_only_once_by_those_who_expect_the_same_epoch(store: Store) -> None:
    await store.begin_run(RunInfo(run_id="run_1"), "", [])
    taken = await store.drive("run_1", "a", expected=0)
    assert taken.epoch == 1
    with pytest.raises(StaleEpoch, match="run_1"):
        await store.drive("run_1", "b", expected=0)
    await settled(taken.append([ready(1)]))
    assert (await store.drive("run_1", "b", expected=1)).epoch == 2
    with pytest.raises(RunNotFound):
        await store.drive("run_2", "b", expected=0)


async def test_who_asked_for_a_run_is_in_the_trail_with_it_and_with_no_other(store: Store) -> None:
    asked = AuditEntry(action="run.start", subject="run_1", tenant="acme")
    await store.append_audit([AuditEntry(action="before")])
    await store.begin_run(RunInfo(run_id="run_1", idempotency_key="k"), "host:1:a", [started("run_1")], asked=[asked])
    # Neither the one that is there already by its key begins anew, nor the one whose id is taken.
    again = AuditEntry(action="run.start", subject="run_2")
    info, _ = await store.begin_run(RunInfo(run_id="run_2", idempotency_key="k"), "", [started("run_2")], asked=[again])
    assert info.run_id == "run_1"
    with pytest.raises(RunConflict):
        await store.begin_run(RunInfo(run_id="run_1"), "", [started("run_1")], asked=[again])
    await store.begin_run(RunInfo(run_id="run_3"), "", [started("run_3")], asked=[again, asked])
    entries = await store.read_audit()
    assert [(entry.seq, entry.action, entry.subject) for entry in entries] == [
        (1, "before", ""),
        (2, "run.start", "run_1"),
        (3, "run.start", "run_2"),
        (4, "run.start", "run_1"),
    ]
    assert entries[1].tenant == "acme"
    assert all(not broken_link(entry, last) for entry, last in zip(entries[1:], entries, strict=False))


async def test_a_run_is_taken_and_its_row_changed_in_one(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1), status="failed", reason="error", ended_at=5.0)
    taken = await store.drive("run_1", "b", expected=1, change=RunChange(status="running", reason="retry"))
    info = await store.get_run("run_1")
    assert (info.epoch, info.driver, info.status, info.reason, info.ended_at, info.last_seq) == (
        taken.epoch,
        "b",
        "running",
        "retry",
        None,
        1,
    )
    # Whoever comes too late changes nothing of the row either.
    with pytest.raises(StaleEpoch):
        await store.drive("run_1", "c", expected=1, change=RunChange(status="paused", reason="late"))
    assert await store.get_run("run_1") == info


async def test_nobody_is_a_driver_whose_take_was_not_answered(store: Store) -> None:
    journal = await new_run(store)
    await settled(journal.release())
    await store.drive("run_1", "", expected=1)
    with pytest.raises(StaleEpoch):
        await store.drive("run_1", "", expected=1)
    assert (await store.get_run("run_1")).epoch == 2


async def test_who_lives_is_told_whether_they_drive_a_run_or_none(store: Store, now: Now) -> None:
    await store.beat("host:1:idle")
    assert [(beat.driver, beat.seen_at) for beat in await store.processes(now.at - 1)] == [("host:1:idle", now.at)]
    assert await store.processes(now.at) == []


# Runs begun, and runs lost


def started(run_id: str) -> RunStarted:
    return RunStarted(1, 1.0, run_id=run_id, plan={"name": "p", "steps": []})


async def test_a_run_is_stored_with_its_start_and_taken(store: Store) -> None:
    info, journal = await store.begin_run(RunInfo(run_id="run_1", tenant="t"), "host:1:a", [started("run_1")])
    assert journal is not None
    assert (info.status, info.epoch, info.driver, info.last_seq, info.driver_seen_at) == (
        "running",
        journal.epoch,
        "host:1:a",
        1,
        1_000.0,
    )
    assert await store.get_run("run_1") == info
    await keep(journal, ready(2))
    assert await store.read_events("run_1") == [started("run_1"), ready(2)]


async def test_a_run_without_a_driver_is_pending_until_somebody_takes_it(store: Store) -> None:
    info, journal = await store.begin_run(RunInfo(run_id="run_1"), "", [started("run_1")])
    assert journal is None
    assert (info.status, info.driver, info.epoch, info.last_seq) == ("pending", "", 0, 1)
    assert await store.get_run("run_1") == info
    assert await store.read_events("run_1") == [started("run_1")]
    taken = await store.drive("run_1", "host:2:b")
    await keep(taken, ready(2), status="running")
    assert (await store.get_run("run_1")).status == "running"


@pytest.mark.parametrize("driver", ["host:1:a", ""])
async def test_a_run_begun_twice_with_one_key_is_the_first(store: Store, driver: str) -> None:
    first, _ = await store.begin_run(RunInfo(run_id="run_1", idempotency_key="k"), driver, [started("run_1")])
    again, journal = await store.begin_run(RunInfo(run_id="run_2", idempotency_key="k"), driver, [started("run_2")])
    assert journal is None
    assert again == first
    with pytest.raises(RunConflict):
        await store.begin_run(RunInfo(run_id="run_1"), driver, [started("run_1")])
    assert await store.read_events("run_1") == [started("run_1")]


@pytest.mark.parametrize("driver", ["host:1:a", ""])
async def test_a_run_begun_twice_with_one_key_and_one_id_has_one_journal(store: Store, driver: str) -> None:
    info = RunInfo(run_id="run_1", idempotency_key="k")
    first, _ = await store.begin_run(info, driver, [started("run_1")])
    again, journal = await store.begin_run(info, driver, [started("run_1")])
    assert journal is None
    assert again == first
    assert await store.read_events("run_1") == [started("run_1")]


async def lost(store: Store, seen_before: float, limit: int = 100) -> list[str]:
    return [info.run_id for info in await store.lost_runs(seen_before, limit)]


async def test_runs_that_nobody_drives_are_lost_after_a_while(store: Store, now: Now) -> None:
    await store.begin_run(RunInfo(run_id="run_pending"), "", [started("run_pending")])
    now.at += 1
    await store.begin_run(RunInfo(run_id="run_dead"), "host:1:dead", [started("run_dead")])
    await store.begin_run(RunInfo(run_id="run_alive"), "host:1:alive", [started("run_alive")])
    await store.create_run(RunInfo(run_id="run_never_begun"))
    now.at += 100
    await store.beat("host:1:alive")
    assert await lost(store, 1_000.0) == []
    assert await lost(store, 1_050.0) == ["run_dead", "run_pending"], "those that wait their turn come last"
    assert await lost(store, 1_050.0, limit=1) == ["run_dead"]
    assert await lost(store, 1_102.0) == ["run_dead", "run_alive", "run_pending"]
    await store.drive("run_pending", "host:1:alive")
    assert await lost(store, 1_050.0) == ["run_dead"]


async def test_who_drives_running_runs_and_when_they_said_so_last(store: Store, now: Now) -> None:
    _, journal = await store.begin_run(RunInfo(run_id="run_1"), "host:1:a", [started("run_1")])
    assert journal is not None
    await store.begin_run(RunInfo(run_id="run_2"), "host:1:b", [started("run_2")])
    await store.begin_run(RunInfo(run_id="run_3", tenant="acme"), "host:1:a", [started("run_3")])
    await store.begin_run(RunInfo(run_id="run_pending"), "", [started("run_pending")])
    assert [beat.driver for beat in await store.drivers()] == ["host:1:a", "host:1:b"]
    now.at += 10
    await store.beat("host:1:b")
    before = {beat.driver: beat.seen_at for beat in await store.drivers()}
    now.at += 10
    await store.beat("host:1:b")
    after = {beat.driver: beat.seen_at for beat in await store.drivers()}
    assert (after["host:1:a"], after["host:1:b"]) == (before["host:1:a"], before["host:1:b"] + 10)
    assert [info.run_id for info in await store.runs_of(["host:1:a", "host:1:c"])] == ["run_1", "run_3"]
    assert [info.run_id for info in await store.runs_of(["host:1:b", "host:1:a"], limit=1)] == ["run_1"]
    assert await store.runs_of([]) == []
    assert [info.run_id for info in await store.runs_of(["host:1:a"], limit=1, tenant="acme")] == ["run_3"]
    assert [info.run_id for info in await store.runs_of(["host:1:a"], tenant="")] == ["run_1"]
    await settled(journal.release())
    assert [info.run_id for info in await store.runs_of(["host:1:a"])] == ["run_3"]


async def test_a_run_that_is_handed_back_is_lost_when_nobody_takes_it(store: Store, now: Now) -> None:
    _, journal = await store.begin_run(RunInfo(run_id="run_1"), "host:1:a", [started("run_1")])
    assert journal is not None
    now.at = 1_100.0
    await settled(journal.release())
    # Whoever is to go on is given the time from then on.
    assert await lost(store, 1_100.0) == []
    assert await lost(store, 1_101.0) == ["run_1"]


@pytest.mark.parametrize(
    ("status", "told", "is_lost"),
    [
        ("waiting", None, False),
        ("waiting", "answer", True),
        ("paused", None, False),
        ("paused", "answer", False),
        ("paused", "resume", True),
        ("paused", "cancel", True),
        ("completed", "answer", False),
    ],
)
async def test_a_run_that_waits_is_lost_when_it_was_told_something(
    store: Store, status: str, told: str | None, is_lost: bool
) -> None:
    _, journal = await store.begin_run(RunInfo(run_id="run_1"), "host:1:a", [started("run_1")])
    assert journal is not None
    await keep(journal, ready(2), status=status)
    await settled(journal.release())
    for _ in range(2):
        if told is not None:
            await store.put_signal("run_1", Signal(kind=told))
    assert await lost(store, 1_001.0) == (["run_1"] if is_lost else [])
