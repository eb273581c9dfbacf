"""The store that a test of the contract is given: every one in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.store.store_cases import STORES, Now

from toolpath.ports import Store


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path, now: Now) -> AsyncIterator[Store]:
    store = STORES[request.param](tmp_path, now)
    await store.open()
    yield store
    await store.close()
