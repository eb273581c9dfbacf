"""The audit trail of many processes on one database: none waits for another, and it is one chain all the same."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import Now, emptied, postgres_connection, postgres_url

from toolpath.access.verifying import verify
from toolpath.model.record import AuditEntry
from toolpath.store.postgres.store import PostgresStore

pytestmark = pytest.mark.postgres


@pytest.fixture
async def stores(own_schema: str, now: Now) -> AsyncIterator[list[PostgresStore]]:
    await emptied(own_schema)
    opened = [PostgresStore(postgres_url(), clock=now, database_clock=False) for _ in range(4)]
    for store in opened:
        await store.open()
    yield opened
    for store in opened:
        await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_entries_that_many_processes_keep_at_once_are_one_chain_without_gaps(
    stores: list[PostgresStore], seed: int
) -> None:
    chance = random.Random(seed)
    kept: list[str] = []

    async def write(store: PostgresStore, who: int) -> None:
        for number in range(12):
            names = [f"{who} {number} {part}" for part in range(chance.randint(1, 3))]
            entries = [AuditEntry(action="done", tenant=f"t{who}", subject=name) for name in names]
            if chance.random() < 0.2:
                links = await store.append_audit(entries)
                assert [link.subject for link in links] == names
            else:
                await store.keep_audit(entries)
            kept.extend(names)
            if chance.random() < 0.2:
                seen = [entry.subject for entry in await store.read_audit(limit=1_000)]
                assert set(names) <= set(seen), "what was kept before it was read is not there"

    await asyncio.gather(*(write(store, number) for number, store in enumerate(stores * 2)))
    trail = await stores[0].read_audit(limit=1_000)
    assert sorted(entry.subject for entry in trail) == sorted(kept)
    assert [entry.seq for entry in trail] == list(range(1, len(trail) + 1))
    verdict = await verify(stores[1])
    assert (verdict.good, verdict.entries) == (True, len(kept))


async def test_a_process_that_keeps_an_entry_waits_for_no_other(stores: list[PostgresStore]) -> None:
    connection = await postgres_connection(postgres_url())
    try:
        async with connection.transaction():
            schema = postgres_url().partition("schema=")[2].partition("&")[0]
            await connection.execute(f'LOCK TABLE "{schema}".audit IN SHARE ROW EXCLUSIVE MODE')
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(store.keep_audit([AuditEntry(action="done")]) for store in stores))
    finally:
        await connection.close()
    assert [entry.seq for entry in await stores[0].read_audit()] == [1, 2, 3, 4]


async def test_what_a_process_kept_and_did_not_link_is_linked_by_who_reads(stores: list[PostgresStore]) -> None:
    connection = await postgres_connection(postgres_url())
    schema = postgres_url().partition("schema=")[2].partition("&")[0]
    await connection.execute(
        f'INSERT INTO "{schema}".audit_inbox (token, data) VALUES (\'t\', \'{{"action":"left","at":5}}\')'
    )
    await connection.close()
    verdict = await verify(stores[0])
    assert (verdict.entries, verdict.unlinked) == (1, 1)
    assert (await verify(stores[0])).unlinked == 0
    assert [entry.action for entry in await stores[1].read_audit()] == ["left"]
