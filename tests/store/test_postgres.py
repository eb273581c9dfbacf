"""What only a database of many machines can do: wake across processes, and outlive the loss of a connection."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from tests.patience import PATIENCE
from tests.store.breakable import Relay, relayed
from tests.store.store_cases import (
    blob,
    dropped,
    emptied,
    keep,
    large,
    new_run,
    postgres_connection,
    postgres_url,
    ready,
)

from toolpath.errors import ConfigError, StaleEpoch, StoreError
from toolpath.model.events import RunStarted
from toolpath.model.record import AuditEntry, Record
from toolpath.model.run import RunInfo
from toolpath.ports import RunChange, Signal
from toolpath.store.postgres.address import read_address
from toolpath.store.postgres.store import PostgresStore

pytestmark = pytest.mark.postgres


@asynccontextmanager
async def opened(url: str, **settings: object) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url, **settings)  # type: ignore[arg-type]
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def schema(own_schema: str) -> str:
    await emptied(own_schema)
    return own_schema


@pytest.fixture
async def pair(schema: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two stores of one schema, as two processes have them: they share nothing but the database."""
    async with opened(postgres_url()) as one, opened(postgres_url()) as other:
        yield one, other


def started(run_id: str) -> RunStarted:
    return RunStarted(1, 1.0, run_id=run_id, plan={"name": "p", "steps": []})


# Group commit


async def test_appends_that_come_together_share_a_commit(pair: tuple[PostgresStore, PostgresStore]) -> None:
    store, _ = pair
    journals = [await new_run(store, f"run_{number}") for number in range(30)]
    before = store.commits
    await asyncio.gather(*(keep(journal, ready(1)) for journal in journals))
    assert store.commits == before + 1
    for number in range(30):
        assert await store.read_events(f"run_{number}") == [ready(1)]


async def test_appends_of_one_run_that_come_together_are_one(pair: tuple[PostgresStore, PostgresStore]) -> None:
    store, _ = pair
    journal = await new_run(store)
    kept = blob("large")
    before = store.commits
    outcomes = [
        journal.append([ready(1), ready(2)], change=RunChange(status="failed", reason="error", ended_at=2.0)),
        journal.append([], change=RunChange(status="running", reason="")),
        journal.append([large(3, kept)], blobs=[kept, kept]),
        journal.append([ready(4)]),
    ]
    await asyncio.gather(*(outcome for outcome in outcomes if outcome is not None))
    assert store.commits == before + 1
    info = await store.get_run("run_1")
    assert (info.status, info.reason, info.ended_at, info.last_seq, info.updated_at) == ("running", "", None, 4, 4.0)
    assert await store.get_blob(kept.digest) == b"large"


async def test_a_stale_append_does_not_take_its_group_with_it(pair: tuple[PostgresStore, PostgresStore]) -> None:
    store, _ = pair
    stale, other = await new_run(store, "run_1"), await new_run(store, "run_2")
    fresh = await store.drive("run_1", "host:2:b")
    outcomes = await asyncio.gather(
        keep(stale, ready(1, "stale")), keep(other, ready(1)), keep(fresh, ready(1)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StaleEpoch, type(None), type(None)]
    assert await store.read_events("run_1") == [ready(1)]
    assert await store.read_events("run_2") == [ready(1)]


async def test_an_append_that_the_database_refuses_fails_alone(pair: tuple[PostgresStore, PostgresStore]) -> None:
    store, _ = pair
    bad, good = await new_run(store, "run_1"), await new_run(store, "run_2")
    outcomes = await asyncio.gather(
        keep(bad, ready(1), status="no\0status"), keep(good, ready(1)), return_exceptions=True
    )
    assert isinstance(outcomes[0], StoreError)
    assert outcomes[1] is None
    assert await store.read_events("run_1") == []
    assert await store.read_events("run_2") == [ready(1)]


# Across processes


async def test_who_waits_is_woken_by_what_another_process_appends(pair: tuple[PostgresStore, PostgresStore]) -> None:
    one, other = pair
    journal = await new_run(one)
    waiting = asyncio.ensure_future(other.wait_events("run_1", 0))
    await other.get_run("run_1")
    assert not waiting.done()
    await keep(journal, ready(1))
    async with asyncio.timeout(PATIENCE):
        await waiting
    assert await other.read_events("run_1") == [ready(1)]


async def test_a_driver_hears_what_another_process_signals(pair: tuple[PostgresStore, PostgresStore]) -> None:
    one, other = pair
    await new_run(one)
    called = asyncio.Event()
    one.on_signal("run_1", called.set)
    await other.put_signal("run_1", Signal(kind="approve", path="a", by="ann"))
    async with asyncio.timeout(PATIENCE):
        await called.wait()
    assert [signal.by for signal in await one.take_signals("run_1")] == ["ann"]


WRITER = """
import asyncio, sys
from toolpath.model.events import StepReady
from toolpath.store.postgres.store import PostgresStore

async def main():
    store = PostgresStore(sys.argv[1])
    await store.open()
    journal = await store.drive("run_1", "host:2:b")
    seq = int(sys.argv[2])
    while True:
        seq += 1
        await journal.append([StepReady(seq, float(seq), "a")])
        print(seq, flush=True)

asyncio.run(main())
"""


async def test_every_awaited_append_outlives_the_kill_of_its_process(
    pair: tuple[PostgresStore, PostgresStore],
) -> None:
    store, _ = pair
    await new_run(store)
    told = 0
    for _ in range(3):
        url = postgres_url()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, url, str(told), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(20):
            told = int(await process.stdout.readline())
        process.kill()
        rest = await process.stdout.read()
        await process.wait()
        told = int(rest.split()[-1]) if rest.endswith(b"\n") and rest.split() else told
        # The next driver waits for a commit that is under way, and refuses what comes after.
        await store.drive("run_1", "host:1:a")
        seqs = [event.seq for event in await store.read_events("run_1")]
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) >= told
        told = len(seqs)


# Clocks


async def test_drivers_are_seen_by_one_clock_however_those_of_the_machines_differ(schema: str) -> None:
    slow, fast = (lambda: time.time() - 3_000), (lambda: time.time() + 5_000)
    async with opened(postgres_url(), clock=slow) as one, opened(postgres_url(), clock=fast) as other:
        await one.begin_run(RunInfo(run_id="run_1"), "host:1:a", [started("run_1")])
        for store, clock in ((one, slow), (other, fast)):
            assert abs((await store.get_run("run_1")).driver_seen_at - clock()) < 5
            assert await store.lost_runs(clock() - 60) == []
            assert [info.run_id for info in await store.lost_runs(clock() + 60)] == ["run_1"]
        await one.beat("host:1:a")
        assert abs((await other.get_run("run_1")).driver_seen_at - fast()) < 5


async def test_a_driver_whose_connection_is_gone_is_known_at_once(schema: str) -> None:
    async with opened(postgres_url()) as looking:
        async with relayed() as relay, opened(relay.url(schema)) as driving:
            await driving.begin_run(RunInfo(run_id="run_1"), "host:1:a", [started("run_1")])
            (beat,) = await looking.drivers()
            assert beat.is_connected, "one that had no time to say anything yet"
            await driving.beat("host:1:a")
            (beat,) = await looking.drivers()
            assert beat.is_connected
            await relay.cut()
            async with asyncio.timeout(PATIENCE):
                while (await looking.drivers())[0].is_connected:
                    pass
            with pytest.raises(StoreError):
                await driving.beat("host:1:a")
            await relay.open()
            await driving.beat("host:1:a")
            assert (await looking.drivers())[0].is_connected
        async with asyncio.timeout(PATIENCE):
            while (await looking.drivers())[0].is_connected:
                pass


async def test_drivers_that_could_not_say_that_they_live_are_given_time_when_the_database_is_back(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema)) as store, opened(postgres_url()) as other:
        await other.begin_run(RunInfo(run_id="run_driven"), "host:1:a", [started("run_driven")])
        await other.begin_run(RunInfo(run_id="run_pending"), "", [started("run_pending")])
        at = time.time() + 1
        assert {info.run_id for info in await store.lost_runs(at)} == {"run_driven", "run_pending"}
        waiting = asyncio.ensure_future(store.wait_events("run_driven", 1))
        await store.get_run("run_driven")
        await relay.cut()
        while time.time() < at:
            await other.get_run("run_driven")
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            await waiting
        assert [info.run_id for info in await store.lost_runs(at)] == ["run_pending"]
        assert {info.run_id for info in await store.lost_runs(time.time() + 1)} == {"run_driven", "run_pending"}


# The database away


async def test_an_append_waits_for_the_database_and_is_made_once(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema)) as store, opened(postgres_url()) as other:
        journal = await new_run(store)
        await keep(journal, ready(1))
        await relay.cut()
        pending = asyncio.ensure_future(keep(journal, ready(2), ready(3)))
        reading = asyncio.ensure_future(store.get_run("run_1"))
        assert [event.seq for event in await other.read_events("run_1")] == [1]
        assert not pending.done()
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            await pending
            assert (await reading).last_seq in (1, 3)
        assert await store.read_events("run_1") == [ready(1), ready(2), ready(3)]
        await keep(journal, ready(4))


async def test_an_append_of_which_nobody_heard_is_known_when_it_is_tried_again(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema)) as store, opened(postgres_url()) as other:
        journal = await new_run(store)
        await keep(journal, ready(1))
        relay.deaf = True
        pending = asyncio.ensure_future(keep(journal, ready(2), status="waiting"))
        async with asyncio.timeout(PATIENCE):
            # Others are told when the writer has heard of its commit.
            while (await other.get_run("run_1")).last_seq < 2:
                pass
        assert not pending.done()
        await relay.cut()
        relay.deaf = False
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            await pending
        await keep(journal, ready(3))
        assert [event.seq for event in await other.read_events("run_1")] == [1, 2, 3]


async def test_an_append_that_comes_back_after_a_takeover_is_refused(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema)) as store, opened(postgres_url()) as other:
        journal = await new_run(store)
        await relay.cut()
        pending = asyncio.ensure_future(keep(journal, ready(1, "late")))
        fresh = await other.drive("run_1", "host:2:b")
        await keep(fresh, ready(1))
        await relay.open()
        with pytest.raises(StaleEpoch):
            async with asyncio.timeout(PATIENCE):
                await pending
        assert await other.read_events("run_1") == [ready(1)]


async def unheard(relay: Relay, work: asyncio.Future[object], done: Callable[[], Awaitable[bool]]) -> None:
    """Cut the way after the work was done and before its answer came."""
    async with asyncio.timeout(PATIENCE):
        # Nothing tells of it: its own notification is what is kept back.
        while not await done():
            pass
    assert not work.done()
    await relay.cut()
    relay.deaf = False
    await relay.open()


async def test_rows_of_which_nobody_heard_are_not_made_twice(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema, pool=1)) as store, opened(postgres_url()) as other:
        # The statements are known to the connection: what is unheard is the commit itself.
        await store.begin_run(RunInfo(run_id="run_0", created_at=1.0), "host:1:a", [started("run_0")])
        await store.put_record(Record(kind="plan", id="a"))
        await store.append_audit([AuditEntry(action="a")])
        await store.put_signal("run_0", Signal(kind="pause"))

        relay.deaf = True
        begun: asyncio.Future[object] = asyncio.ensure_future(
            store.begin_run(RunInfo(run_id="run_1", created_at=1.0), "host:1:a", [started("run_1")])
        )
        await unheard(relay, begun, lambda: _listed(other, "run_1"))
        info, journal = await asyncio.wait_for(begun, PATIENCE)
        assert journal is not None
        await keep(journal, ready(2))
        assert info.run_id == "run_1"

        await store.put_signal("run_0", Signal(kind="resume"))
        relay.deaf = True
        put = asyncio.ensure_future(store.put_signal("run_0", Signal(kind="cancel")))
        await unheard(relay, put, lambda: _signals(other, 3))
        await asyncio.wait_for(put, PATIENCE)
        assert [signal.kind for signal in await other.take_signals("run_0")] == ["pause", "resume", "cancel"]


async def _listed(store: PostgresStore, run_id: str) -> bool:
    return run_id in [info.run_id for info in await store.list_runs()]


async def _signals(store: PostgresStore, count: int) -> bool:
    return len(await store.take_signals("run_0")) == count


async def test_everybody_is_woken_once_after_the_way_was_cut(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema)) as store, opened(postgres_url()) as other:
        journal = await new_run(other)
        called = asyncio.Event()
        store.on_signal("run_1", called.set)
        waiting = asyncio.ensure_future(store.wait_events("run_1", 0))
        await store.get_run("run_1")
        await relay.cut()
        await keep(journal, ready(1))
        await other.put_signal("run_1", Signal(kind="cancel"))
        assert not waiting.done()
        assert not called.is_set()
        await relay.open()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(waiting, called.wait())


async def test_patience_ends_with_a_clear_error_and_the_run_can_be_taken_again(schema: str) -> None:
    async with relayed() as relay, opened(relay.url(schema, patience=2)) as store, opened(postgres_url()) as other:
        journal = await new_run(store)
        await relay.cut()
        with pytest.raises(StoreError, match=r"cannot be reached for \d seconds"):
            await keep(journal, ready(1))
        with pytest.raises(StoreError, match="cannot be reached"):
            journal.append([ready(1)])
        with pytest.raises(StoreError, match="cannot be reached"):
            await store.get_run("run_1")
        fresh = await other.drive("run_1", "host:2:b")
        await keep(fresh, ready(1))


async def test_connections_that_the_server_ends_are_made_anew(schema: str) -> None:
    async with opened(postgres_url()) as store:
        journal = await new_run(store)
        other = await postgres_connection()
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolpath'"
            " AND pid IN (SELECT pid FROM pg_stat_activity WHERE query LIKE '%' || $1 || '%'"
            " OR pid = ANY ($2::int[]))",
            schema,
            [store._writer.pid],  # type: ignore[union-attr]
        )
        await other.close()
        async with asyncio.timeout(PATIENCE):
            await keep(journal, ready(1))
            assert (await store.get_run("run_1")).last_seq == 1


# Addresses and errors


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cr3t!@127.0.0.1:1/db",
        "postgresql://ann:s3cr3t%21@127.0.0.1:1/db?schema=a",
        "postgresql://ann@127.0.0.1:1/db?password=s3cr3t!",
    ],
)
async def test_a_database_that_is_away_is_a_clear_error_without_the_password(url: str) -> None:
    store = PostgresStore(url)
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        await store.open()
    for text in (str(raised.value), repr(raised.value), repr(store), repr(raised.value.__cause__)):
        assert "s3cr3t" not in text
    assert raised.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda url: url.replace("/postgres?", "/no_such_database?"), "no such database"),
        (lambda url: url.replace("postgres@", "no_such_user@"), "does not let this user in|cannot be reached|failed"),
    ],
)
async def test_what_keeps_a_store_from_opening_is_said(change: Callable[[str], str], message: str, schema: str) -> None:
    with pytest.raises(StoreError, match=message):
        await PostgresStore(change(postgres_url())).open()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:pa/ss@host/db",
        "postgresql://ann:pa#ss@host/db",
        "postgresql://host/db?schema=Bad-Name",
        "postgresql://host/db?schema=pg_catalog",
        "postgresql://host/db?schema=",
        "postgresql://host/db?pool=0",
        "postgresql://host/db?pool=many",
        "postgresql://host/db?patience=-1",
        "postgresql://[::1/db",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        PostgresStore(url)
    assert "pa/ss" not in str(raised.value)
    assert "pa#ss" not in str(raised.value)


def test_an_address_is_shown_without_its_password() -> None:
    address = read_address("postgres://ann:p%40ss@one:1,two:2/db?schema=s&sslmode=require&pool=3&patience=5")
    assert address.shown == "postgresql://ann@one:1,two:2/db?schema=s"
    assert address.dsn == "postgresql://ann:p%40ss@one:1,two:2/db?sslmode=require"
    assert (address.pool, address.patience) == (3, 5.0)
    assert address.without_secrets("password p@ss of p%40ss") == "password … of …"
    assert "ss@" not in repr(address)


async def test_a_store_that_is_not_open_says_so(schema: str) -> None:
    store = PostgresStore(postgres_url())
    with pytest.raises(StoreError, match="not open"):
        await store.list_runs()
    await store.open()
    journal = await new_run(store)
    waiting = asyncio.ensure_future(store.wait_events("run_1", 0))
    await store.get_run("run_1")
    await store.close()
    await store.close()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(waiting, return_exceptions=True)
    with pytest.raises(StoreError, match="not open"):
        await store.get_run("run_1")
    with pytest.raises(StoreError, match="not open"):
        await keep(journal, ready(1))


async def test_two_schemas_of_one_database_know_nothing_of_one_another(schema: str) -> None:
    second = f"{schema}_b"
    await dropped(second)
    async with opened(postgres_url()) as one, opened(postgres_url(second)) as other:
        await new_run(one)
        await new_run(other)
        await one.put_signal("run_1", Signal(kind="cancel"))
        assert await other.take_signals("run_1") == []
    await dropped(second)
