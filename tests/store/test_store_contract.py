"""The laws that every store keeps for runs and their journals: rows, events, waiting for them, deletion."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.patience import PATIENCE
from tests.store.store_cases import STORES, Now, emptied, keep, new_run, ready, settled

from toolpath.errors import RunConflict, RunNotFound, StaleEpoch, StoreError, ToolpathError, Unstorable
from toolpath.machine import new_id
from toolpath.model.events import AnyEvent, RunStarted, StepReady, StepStarted, StepSucceeded, encode_event
from toolpath.model.run import RunInfo
from toolpath.ports import RunChange, Signal, Store
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


async def test_runs_are_listed_and_timed_between_two_times(store: Store) -> None:
    for number in range(4):
        await store.create_run(RunInfo(run_id=f"run_{number}", created_at=10.0 * number, tenant=f"t{number % 2}"))
    assert [run.run_id for run in await store.list_runs(since=10.0, until=30.0)] == ["run_2", "run_1"]
    assert [run.run_id for run in await store.list_runs(since=10.0, tenant="t1", before="run_3")] == ["run_1"]
    journal = await store.drive("run_3", "host:1:a")
    await settled(journal.append([], change=RunChange(status="completed", ended_at=42.0)))
    times = await store.run_times(15.0)
    assert [(run.status, run.created_at, run.ended_at) for run in times] == [
        ("completed", 30.0, 42.0),
        ("pending", 20.0, None),
    ]
    assert [run.created_at for run in await store.run_times(0.0, tenant="t0", limit=1)] == [20.0]


async def test_what_is_open_is_counted_for_each_tenant(store: Store) -> None:
    for number in range(3):
        await store.create_run(RunInfo(run_id=f"run_{number}", tenant="t" if number else ""))
    assert (await store.standing()).runs == {"pending": 3}
    assert (await store.standing(tenant="t")).runs == {"pending": 2}
    assert (await store.standing(tenant="nobody")).runs == {}


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
