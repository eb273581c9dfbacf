"""The store that a test of the contract is given: every one in turn."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.store.store_cases import STORES, Now, dropped, emptied

from toolpath.ports import Store

KINDS = [pytest.param(kind, marks=[pytest.mark.postgres] if kind == "postgres" else []) for kind in STORES]


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture(scope="session")
def own_schema() -> Iterator[str]:
    """A schema of this process, dropped when it ends."""
    schema = f"test_{os.getpid()}"
    # In a thread, because the loop of the test that asks for it first is running.
    with ThreadPoolExecutor(1) as beside:
        beside.submit(asyncio.run, dropped(schema)).result()
        yield schema
        beside.submit(asyncio.run, dropped(schema)).result()


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path, now: Now) -> AsyncIterator[Store]:
    if request.param == "postgres":
        await emptied(request.getfixturevalue("own_schema"))
    store = STORES[request.param](tmp_path, now)
    await store.open()
    yield store
    await store.close()
