"""A process that is killed anywhere loses nothing, repeats nothing that was finished, and makes no write twice."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.soak import scaled
from tests.store.store_cases import dropped, postgres_url

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

#: Kills of the long form, on each store.
MOST = int(os.environ.get("TOOLPATH_KILLS", scaled(2_000, least=20)))
#: Parts that may be tried side by side.
PARTS = 4
KILLER = Path(__file__).with_name("killer.py")


#: So many kills meet every kind of step in flight; fewer may miss one by chance.
MANY = 100


def killed(folder: Path, kills: int, seed: int, store: str = "") -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(KILLER), str(folder), "--kills", str(kills), "--seed", str(seed), "--store", store],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    # What it finds and how far it is, it tells on stderr, which the report of a test that fails shows.
    assert done.returncode == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_nothing_lost(found: dict[str, Any], kills: int) -> None:
    assert found["violations"] == []
    assert found["kills"] >= kills
    if kills < MANY:
        return
    # Without these the rules for writes in doubt, for calls of tools and for people would not have been tried.
    assert found["asked"] > 0
    assert found["called"] > 0
    assert found["answered"] > 0


@pytest.mark.slow
def test_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    assert_nothing_lost(killed(tmp_path, 25, seed=1), 25)


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of a schema of its own."""
    schema = f"test_kills_{os.getpid()}"
    asyncio.run(dropped(schema))
    yield postgres_url(schema)
    asyncio.run(dropped(schema))


@pytest.mark.slow
@pytest.mark.postgres
def test_ten_kills_on_postgres_lose_nothing_and_repeat_nothing(tmp_path: Path, postgres: str) -> None:
    assert_nothing_lost(killed(tmp_path, 10, seed=1, store=postgres), 10)


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_kills_on_postgres_lose_nothing_and_repeat_nothing(
    tmp_path: Path, postgres: str, part: int, tried: Callable[[str, int], None]
) -> None:
    tried("kills on PostgreSQL", MOST // PARTS)
    assert_nothing_lost(killed(tmp_path, MOST // PARTS, 600_000 + 10_000 * part, store=postgres), MOST // PARTS)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_kills_lose_nothing_and_repeat_nothing(
    tmp_path: Path, part: int, tried: Callable[[str, int], None]
) -> None:
    tried("kills on SQLite", MOST // PARTS)
    assert_nothing_lost(killed(tmp_path, MOST // PARTS, 500_000 + 10_000 * part), MOST // PARTS)
