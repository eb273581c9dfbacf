"""The laws that every store keeps for runs, their journals and what belongs to them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.patience import PATIENCE
from tests.store.store_cases import STORES, Now, blob, emptied, keep, large, new_run, ready, settled

from toolpath.errors import RunConflict, RunNotFound, StaleEpoch, StoreError, ToolpathError, Unstorable
from toolpath.ids import new_id
from toolpath.model.events import AnyEvent, RunStarted, StepReady, StepStarted, StepSucceeded, encode_event
from toolpath.model.run import RunInfo
from toolpath.model.tool import ToolStats
from toolpath.ports import CacheEntry, RunChange, Signal, Store
from toolpath.store.memory.store import MemoryStore

# Runs


async def test_a_run_is_read_as_it_was_created(store: Store) -> None:
    info = RunInfo(
        run_id="run_1",
        name="plan",
        status="waiting",
        reason="approval",
        created_at=5.0,
        updated_at=6.0,
        tenant="t",
        user="u",
        driver="d",
        driver_seen_at=7.0,
        idempotency_key="k",
        parent="run_0",
        plan_id="plan_1",
        conversation_id="conv_1",
        priority=7,
        epoch=3,
    )
    assert await store.create_run(info) == info
    assert await store.get_run("run_1") == info


@pytest.mark.parametrize("text", ["a\0b", "a\ud800"])
async def test_a_text_that_no_store_of_the_kind_can_hold_is_the_fault_of_who_gave_it(store: Store, text: str) -> None:
    with pytest.raises((RunNotFound, Unstorable)) as raised:
        await store.get_run(text)
    assert "postgresql" not in str(raised.value)
    assert "/" not in str(raised.value)


async def test_a_new_run_has_no_events_whatever_its_row_claims(store: Store) -> None:
    assert (await store.create_run(RunInfo(run_id="run_1", last_seq=9))).last_seq == 0
    assert await store.read_events("run_1") == []


async def test_the_same_idempotency_key_gives_the_first_run(store: Store) -> None:
    first = await store.create_run(RunInfo(run_id="run_1", idempotency_key="k", tenant="t"))
    assert await store.create_run(RunInfo(run_id="run_2", idempotency_key="k", tenant="t")) == first
    other = await store.create_run(RunInfo(run_id="run_3", idempotency_key="k", tenant="u"))
    assert other.run_id == "run_3"
    with pytest.raises(RunNotFound):
        await store.get_run("run_2")


async def test_runs_without_an_idempotency_key_are_never_the_same(store: Store) -> None:
    await store.create_run(RunInfo(run_id="run_1"))
    assert (await store.create_run(RunInfo(run_id="run_2"))).run_id == "run_2"


async def test_a_second_run_of_the_same_id_is_refused(store: Store) -> None:
    await store.create_run(RunInfo(run_id="run_1", name="first"))
    with pytest.raises(RunConflict, match="run_1"):
        await store.create_run(RunInfo(run_id="run_1", name="second"))
    assert (await store.get_run("run_1")).name == "first"


async def test_one_of_many_concurrent_creations_with_a_key_wins(store: Store) -> None:
    runs = [RunInfo(run_id=f"run_{number}", idempotency_key="k") for number in range(20)]
    created = await asyncio.gather(*(store.create_run(info) for info in runs))
    assert {info.run_id for info in created} == {created[0].run_id}
    assert len(await store.list_runs()) == 1


@pytest.mark.parametrize("use", ["get_run", "read_events", "take_signals", "drive", "put_signal", "wait_events"])
async def test_a_run_that_is_not_stored_is_named_with_its_likes(store: Store, use: str) -> None:
    await store.create_run(RunInfo(run_id="run_1704123456789_k3x9q2m1z"))
    wrong = "run_1704123456789_k3x9q2m1y"
    extra: dict[str, tuple[object, ...]] = {
        "drive": ("d",),
        "put_signal": (Signal(kind="cancel"),),
        "wait_events": (0,),
    }
    with pytest.raises(RunNotFound, match="Did you mean 'run_1704123456789_k3x9q2m1z'"):
        await getattr(store, use)(wrong, *extra.get(use, ()))


async def test_text_that_no_file_can_hold_is_a_clear_error_and_harms_nothing(store: Store) -> None:
    journal = await new_run(store)
    with pytest.raises(ToolpathError):
        await store.get_run("\ud800")
    await keep(journal, ready(1), reason="half a \ud83d pair", status="running")
    assert (await store.get_run("run_1")).last_seq == 1


async def test_the_newest_runs_come_first_page_by_page(store: Store) -> None:
    for number in range(7):
        # Two runs a second: the id decides between them.
        await store.create_run(RunInfo(run_id=f"run_{number}", created_at=float(number // 2)))
    seen: list[str] = []
    before = None
    while page := await store.list_runs(limit=3, before=before):
        seen += [info.run_id for info in page]
        before = seen[-1]
    assert seen == [f"run_{number}" for number in reversed(range(7))]


FILTERED = {"status": "failed", "tenant": "t", "user": "u", "name": "n", "plan_id": "p", "conversation_id": "c"}


@pytest.mark.parametrize("field", FILTERED)
async def test_runs_are_listed_by_what_is_given(store: Store, field: str) -> None:
    for number in range(4):
        fields = dict(FILTERED) if number % 2 else {**FILTERED, field: "running" if field == "status" else "other"}
        await store.create_run(RunInfo(run_id=f"run_{number}", created_at=float(number), **fields))  # type: ignore[arg-type]
    for wanted in ({field: FILTERED[field]}, FILTERED):
        (newest,) = await store.list_runs(**wanted, limit=1)  # type: ignore[arg-type]
        assert newest.run_id == "run_3"
        rest = await store.list_runs(**wanted, before="run_3")  # type: ignore[arg-type]
        assert [info.run_id for info in rest] == ["run_1"]


async def test_runs_without_a_plan_are_those_whose_plan_is_empty(store: Store) -> None:
    await store.create_run(RunInfo(run_id="run_1", plan_id="p"))
    await store.create_run(RunInfo(run_id="run_2"))
    assert [info.run_id for info in await store.list_runs(plan_id="")] == ["run_2"]


async def test_runs_are_listed_by_status_and_tenant(store: Store) -> None:
    await store.create_run(RunInfo(run_id="run_1", status="failed", tenant="t"))
    await store.create_run(RunInfo(run_id="run_2", status="failed", tenant="u"))
    await store.create_run(RunInfo(run_id="run_3", status="running", tenant="t"))
    assert [info.run_id for info in await store.list_runs(status="failed")] == ["run_2", "run_1"]
    assert [info.run_id for info in await store.list_runs(tenant="t")] == ["run_3", "run_1"]
    assert [info.run_id for info in await store.list_runs(status="failed", tenant="t")] == ["run_1"]
    assert await store.list_runs(limit=0) == []
    assert await store.list_runs(limit=-1) == []


async def test_a_page_after_a_run_that_is_gone_is_refused(store: Store) -> None:
    with pytest.raises(RunNotFound):
        await store.list_runs(before="run_gone")


# The journal


async def test_events_are_read_as_they_were_appended(store: Store) -> None:
    journal = await new_run(store)
    events: list[AnyEvent] = [
        RunStarted(1, 1.0, run_id="run_1", plan={"name": "p", "steps": []}, inputs={"x": [1, 2.5, None, "é\u2028"]}),
        StepStarted(2, 2.0, "a", tool="t", inputs={"deep": {"list": [True]}}, timeout=30.0, key="run_1/a/0"),
        StepSucceeded(3, 3.0, "a", output={"x": 1}, duration=1.0, sources=("s",)),
    ]
    await keep(journal, *events[:1])
    await keep(journal, *events[1:])
    assert await store.read_events("run_1") == events
    assert await store.read_events("run_1", after=1) == events[1:]
    assert await store.read_events("run_1", after=1, limit=1) == events[1:2]
    assert await store.read_events("run_1", after=3) == []
    assert await store.read_events("run_1", limit=0) == []
    assert await store.read_events("run_1", after=-5) == events
    assert await store.read_events("run_1", after=2**40) == []


async def test_a_long_journal_is_read_whole_and_in_parts(store: Store) -> None:
    journal = await new_run(store)
    events = [ready(seq) for seq in range(1, 10_001)]
    await keep(journal, *events)
    assert await store.read_events("run_1") == events
    assert await store.read_events("run_1", after=3, limit=5_000) == events[3:5_003]
    assert await store.read_events("run_1", after=4_999, limit=5_002) == events[4_999:]


async def test_a_page_of_a_journal_ends_with_its_bytes(store: Store) -> None:
    journal = await new_run(store)
    events: list[AnyEvent] = [
        StepSucceeded(seq, 1.0, f"s{seq}", output="x" * (100_000 if seq % 3 else 10)) for seq in range(1, 31)
    ]
    await keep(journal, *events)
    found: list[AnyEvent] = []
    while page := await store.read_events("run_1", after=len(found), limit=20, most_bytes=250_000):
        assert sum(len(encode_event(event)) for event in page[:-1]) < 250_000
        found += page
    assert found == events
    # However little is asked for, there is one: who reads page by page comes to the end.
    assert await store.read_events("run_1", after=4, most_bytes=1) == events[4:5]
    assert await store.read_events("run_1", after=4, limit=2, most_bytes=10**9) == events[4:6]
    assert await store.read_events("run_1", after=30, most_bytes=1) == []


async def test_a_journal_that_came_in_many_pieces_is_read_as_one(store: Store) -> None:
    journal = await new_run(store)
    events = [ready(seq) for seq in range(1, 701)]
    left = list(events)
    for size in (1, 2, 60, 1, 63, 64, 65, 1, 200, 1, 1, 241):
        await keep(journal, *(left.pop(0) for _ in range(size)))
    assert not left
    for after in (0, 1, 62, 63, 64, 127, 128, 191, 192, 256, 459, 698, 699, 700, 701):
        assert await store.read_events("run_1", after=after) == events[after:]
        for limit in (0, 1, 64, 130):
            assert await store.read_events("run_1", after=after, limit=limit) == events[after : after + limit]


async def test_the_journals_of_neighbouring_runs_do_not_mix(store: Store) -> None:
    journals = [await new_run(store, f"run_{number}") for number in range(3)]
    for number, journal in enumerate(journals):
        await keep(journal, *(ready(seq, f"of_{number}") for seq in range(1, number + 3)), status="completed")
    await store.delete_runs(["run_1"])
    for number in (0, 2):
        events = await store.read_events(f"run_{number}")
        assert [event.path for event in events if isinstance(event, StepReady)] == [f"of_{number}"] * (number + 2)


async def test_an_append_moves_the_row(store: Store) -> None:
    journal = await new_run(store, created_at=1.0, updated_at=1.0)
    await keep(journal, ready(1), ready(2), status="failed", reason="timeout", ended_at=2.0)
    info = await store.get_run("run_1")
    assert (info.last_seq, info.updated_at, info.status, info.reason, info.ended_at) == (
        2,
        2.0,
        "failed",
        "timeout",
        2.0,
    )
    await keep(journal, ready(3))
    info = await store.get_run("run_1")
    assert (info.status, info.last_seq, info.updated_at) == ("failed", 3, 3.0)


async def test_the_row_of_a_run_tells_of_its_own_events_alone(store: Store) -> None:
    journals = [await new_run(store, f"run_{number}") for number in range(3)]
    await keep(journals[0], *(ready(seq) for seq in range(1, 6)))
    await keep(journals[2], *(ready(seq) for seq in range(1, 4)))
    rows = [await store.get_run(f"run_{number}") for number in range(3)]
    assert [(row.last_seq, row.updated_at) for row in rows] == [(5, 5.0), (0, 0.0), (3, 3.0)]
    # The journal of a run without events goes on from none, whatever stands beside it.
    await keep(journals[1], ready(1))
    assert (await store.drive("run_1", "d")).epoch == journals[1].epoch + 1
    assert [row.last_seq for row in await store.list_runs()] == [3, 1, 5]


async def test_a_run_that_goes_on_has_no_end_any_more(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1), status="failed", reason="error", ended_at=2.0)
    await keep(journal, ready(2), status="running", reason="")
    info = await store.get_run("run_1")
    assert (info.status, info.reason, info.ended_at) == ("running", "", None)


async def test_a_change_needs_no_events(store: Store, now: Now) -> None:
    journal = await new_run(store)
    now.at = 1_234.0
    await keep(journal, status="paused")
    info = await store.get_run("run_1")
    assert (info.status, info.last_seq, info.updated_at) == ("paused", 0, 1_234.0)


async def test_appends_of_an_earlier_epoch_are_refused(store: Store) -> None:
    old = await new_run(store)
    await keep(old, ready(1))
    new = await store.drive("run_1", "host:2:b")
    assert new.epoch == old.epoch + 1
    with pytest.raises(StaleEpoch, match="run_1"):
        await keep(old, ready(2))
    await keep(new, ready(2, "b"))
    assert await store.read_events("run_1") == [ready(1), ready(2, "b")]


async def test_the_epoch_is_never_used_twice(store: Store) -> None:
    journals = [await new_run(store), *[await store.drive("run_1", "d") for _ in range(3)]]
    assert len({journal.epoch for journal in journals}) == 4
    assert (await store.get_run("run_1")).epoch == journals[-1].epoch


async def test_events_out_of_order_are_refused_as_a_whole(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1))
    for events in ([ready(1)], [ready(3)], [ready(2), ready(4)]):
        with pytest.raises(StoreError, match="does not follow"):
            await keep(journal, *events, status="failed")
    assert await store.read_events("run_1") == [ready(1)]
    assert (await store.get_run("run_1")).status == "pending"
    await keep(journal, ready(2))


async def test_values_may_be_changed_after_the_append(store: Store) -> None:
    if isinstance(store, MemoryStore):
        pytest.skip("in memory the journal holds the values themselves")
    journal = await new_run(store)
    output = {"x": 1}
    pending = journal.append([StepSucceeded(1, 1.0, "a", output=output)])
    output["x"] = 2
    await settled(pending)
    (event,) = await store.read_events("run_1")
    assert event == StepSucceeded(1, 1.0, "a", output={"x": 1})


async def test_appends_that_nobody_awaits_are_kept_in_order(store: Store) -> None:
    journal = await new_run(store)
    outcomes = [journal.append([ready(seq)]) for seq in range(1, 101)]
    await settled(outcomes[-1])
    assert [event.seq for event in await store.read_events("run_1")] == list(range(1, 101))


@pytest.mark.parametrize("kind", ["sqlite-file", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_close_keeps_what_was_accepted(
    kind: str, tmp_path: Path, now: Now, request: pytest.FixtureRequest
) -> None:
    if kind == "postgres":
        await emptied(request.getfixturevalue("own_schema"))
    first, second = (STORES[kind](tmp_path, now) for _ in range(2))
    await first.open()
    journal = await new_run(first)
    outcome = journal.append([ready(seq) for seq in range(1, 51)])
    await first.close()
    await settled(outcome)
    await second.open()
    assert len(await second.read_events("run_1")) == 50
    await second.close()


async def test_a_cancelled_wait_does_not_lose_the_append(store: Store) -> None:
    journal = await new_run(store)
    waiting = asyncio.ensure_future(keep(journal, ready(1)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await keep(journal, ready(2))
    assert await store.read_events("run_1") == [ready(1), ready(2)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(0, 5), max_size=12), drivers=st.lists(st.integers(0, 2), max_size=12))
@pytest.mark.parametrize("kind", ["memory", "sqlite-memory", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_however_drivers_take_turns_the_sequence_has_no_gap(
    kind: str, sizes: list[int], drivers: list[int], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "postgres":
        request.getfixturevalue("own_schema")

    async def scenario() -> None:
        store = STORES[kind](tmp_path, Now())
        await store.open()
        # Each driver numbers from what it knows itself.
        run_id = new_id("run", 1.0)
        journals = [(await new_run(store, run_id), 0)]
        seq = 0
        for size, driver in zip(sizes, drivers, strict=False):
            if driver == 0:
                journals.append((await store.drive(run_id, "d"), seq))
            chosen = -1 if driver < 2 else 0
            journal, known = journals[chosen]
            try:
                await keep(journal, *[ready(known + step) for step in range(1, size + 1)])
            except StaleEpoch:
                assert journal is not journals[-1][0]
            else:
                assert journal is journals[-1][0]
                seq += size
                journals[chosen] = (journal, seq)
        assert [event.seq for event in await store.read_events(run_id)] == list(range(1, seq + 1))
        assert (await store.get_run(run_id)).last_seq == seq
        await store.close()

    asyncio.run(scenario())


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
    await store.begin_run(RunInfo(run_id="run_3"), "host:1:a", [started("run_3")])
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


# Waiting


async def test_who_waits_for_events_is_woken_by_the_next_append(store: Store) -> None:
    journal = await new_run(store)
    waiting = [asyncio.ensure_future(store.wait_events("run_1", 0)) for _ in range(3)]
    for _ in range(3):
        await asyncio.sleep(0)
    await keep(journal, ready(1))
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*waiting)


async def test_events_that_are_there_already_need_no_waiting(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1), ready(2))
    async with asyncio.timeout(PATIENCE):
        await store.wait_events("run_1", 1)


async def test_events_of_other_runs_wake_nobody(store: Store) -> None:
    journal, other = await new_run(store, "run_1"), await new_run(store, "run_2")
    waiting = asyncio.ensure_future(store.wait_events("run_1", 0))
    await keep(other, ready(1))
    await store.get_run("run_1")
    assert not waiting.done()
    await keep(journal, ready(1))
    async with asyncio.timeout(PATIENCE):
        await waiting


async def test_a_reader_that_follows_sees_every_event_once(store: Store) -> None:
    journal = await new_run(store)
    seen: list[int] = []

    async def follow() -> None:
        while len(seen) < 50:
            await store.wait_events("run_1", len(seen))
            seen.extend(event.seq for event in await store.read_events("run_1", after=len(seen)))

    following = asyncio.ensure_future(follow())
    for seq in range(1, 51):
        await keep(journal, ready(seq))
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await following
    assert seen == list(range(1, 51))


async def test_one_of_many_readers_may_give_up_and_each_gets_a_list_of_its_own(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1))
    reads = [asyncio.ensure_future(store.read_events("run_1")) for _ in range(5)]
    waits = [asyncio.ensure_future(store.wait_events("run_1", 0)) for _ in range(5)]
    await asyncio.sleep(0)
    for task in (reads[0], waits[0]):
        task.cancel()
    async with asyncio.timeout(PATIENCE):
        lists = await asyncio.gather(*reads[1:])
        await asyncio.gather(*waits[1:])
    if not isinstance(store, MemoryStore):
        lists[0].clear()
    assert lists[1:] == [[ready(1)]] * 3
    with pytest.raises(RunNotFound):
        await asyncio.gather(*(store.read_events("run_gone") for _ in range(3)))
    # What was committed before one asks is read, whoever asked before.
    early = asyncio.ensure_future(store.read_events("run_1"))
    await asyncio.sleep(0)
    await keep(journal, ready(2))
    assert await store.read_events("run_1") == [ready(1), ready(2)]
    await early


async def test_a_wait_can_be_given_up(store: Store) -> None:
    journal = await new_run(store)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await store.wait_events("run_1", 0)
    await keep(journal, ready(1))


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


# Deletion


async def test_only_runs_that_have_ended_are_deleted(store: Store) -> None:
    done, running = await new_run(store, "run_1", idempotency_key="k"), await new_run(store, "run_2")
    await keep(done, ready(1), status="completed")
    await keep(running, ready(1), status="running")
    await store.put_signal("run_1", Signal(kind="cancel"))
    assert await store.delete_runs(["run_1", "run_2", "run_gone", "run_1"]) == 1
    assert [info.run_id for info in await store.list_runs()] == ["run_2"]
    for use in (store.get_run, store.read_events, store.take_signals):
        with pytest.raises(RunNotFound):
            await use("run_1")
    assert (await store.create_run(RunInfo(run_id="run_5", idempotency_key="k"))).run_id == "run_5"


async def test_a_journal_of_a_deleted_run_is_refused(store: Store) -> None:
    journal = await new_run(store)
    await keep(journal, ready(1), status="failed")
    await store.delete_runs(["run_1"])
    with pytest.raises(StaleEpoch):
        await keep(journal, ready(2))
    fresh = await new_run(store)
    assert await store.read_events("run_1") == []
    with pytest.raises(StaleEpoch):
        await keep(journal, ready(1))
    await keep(fresh, ready(1))


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


async def test_nobody_is_a_driver_that_did_not_hear_of_its_take(store: Store) -> None:
    journal = await new_run(store)
    await settled(journal.release())
    await store.drive("run_1", "", expected=1)
    with pytest.raises(StaleEpoch):
        await store.drive("run_1", "", expected=1)
    assert (await store.get_run("run_1")).epoch == 2
