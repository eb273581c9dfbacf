"""Old entries of the trail are let go of: what stays is a chain that can be verified, and says what went."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.store.store_cases import STORES, Now, emptied

from toolpath.access.pruned import prune_trail
from toolpath.access.trail import Trail
from toolpath.access.verifying import verify
from toolpath.machine import SystemClock
from toolpath.model.record import AuditEntry
from toolpath.model.redaction import Redactor
from toolpath.ports import Store

KINDS = [pytest.param(kind, marks=[pytest.mark.postgres] if kind == "postgres" else []) for kind in STORES]


async def filled(kind: str, folder: Path, count: int) -> Store:
    if kind == "postgres":
        await emptied(f"test_{os.getpid()}")
    store = STORES[kind](folder, Now())
    await store.open()
    for number in range(count):
        await store.append_audit([AuditEntry(action="done", subject=str(number), at=1_000.0 + number)])
    return store


def trail_of(store: Store, *, enabled: bool = True) -> Trail:
    return Trail(store, SystemClock(), Redactor(), enabled=enabled)


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_old_goes_and_the_rest_is_verified(kind: str, tmp_path: Path) -> None:
    store = await filled(kind, tmp_path, 10)
    noted = {entry.seq: entry.digest for entry in await store.read_audit()}
    assert await prune_trail(store, trail_of(store), before=1_004.0) == 4
    kept = await store.read_audit()
    assert [entry.seq for entry in kept] == [5, 6, 7, 8, 9, 10, 11]
    assert kept[-1].action == "audit.prune"
    verdict = await verify(store, noted=noted)
    assert (verdict.faults, verdict.entries) == ((), 7), "what was exported and let go of is no fault"
    assert await prune_trail(store, trail_of(store), before=1_007.0) == 3
    assert (await verify(store)).good
    assert await prune_trail(store, trail_of(store), before=1_000.0) == 0
    links = await store.append_audit([AuditEntry(action="more")])
    assert links[0].seq == 13
    assert (await verify(store)).good
    await store.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_taken_without_a_word_is_seen(kind: str, tmp_path: Path) -> None:
    store = await filled(kind, tmp_path, 6)
    await store.drop_audit(2)
    faults = (await verify(store)).faults
    assert len(faults) == 1
    assert "Entries up to 2 are missing" in faults[0]
    # Nor does it help to let go of some more as one should.
    await prune_trail(store, trail_of(store), before=1_003.0)
    await store.drop_audit(4)
    assert "Entries up to 4 are missing" in (await verify(store)).faults[0]
    await store.close()


async def test_however_old_the_last_entry_stays_and_without_a_trail_nothing_goes(tmp_path: Path) -> None:
    store = await filled("memory", tmp_path, 3)
    assert await prune_trail(store, trail_of(store, enabled=False), before=9e9) == 0
    assert await prune_trail(store, trail_of(store), before=2_000.0) == 3
    assert [entry.action for entry in await store.read_audit()] == ["audit.prune"]
    assert (await verify(store)).good
    await store.close()
