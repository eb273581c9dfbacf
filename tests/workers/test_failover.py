"""Workers die and stand still: every run ends right, nothing finished is redone, no write is made twice unasked."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.store_cases import dropped, postgres_url
from tests.workers.worker_cases import URL, queue_name

pytestmark = pytest.mark.rabbitmq

FAILOVER = Path(__file__).parents[1] / "simulation" / "failover.py"


@pytest.fixture
async def name() -> AsyncIterator[str]:
    async with queue_name() as name:
        yield name


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of a schema of its own."""
    schema = f"test_failover_{os.getpid()}"
    asyncio.run(dropped(schema))
    yield postgres_url(schema)
    asyncio.run(dropped(schema))


async def disturbed(folder: Path, store: str, name: str, **wanted: float) -> dict[str, Any]:
    words = [sys.executable, str(FAILOVER), str(folder), "--store", store, "--queue", URL, "--name", name]
    for option, value in wanted.items():
        words += [f"--{option}", str(value)]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    sys.stdout.write(f"{done.stdout}\n")
    return found


def assert_right(found: dict[str, Any], *, kills: int, stalls: int) -> None:
    assert found["violations"] == []
    assert (found["kills"], found["stalls"]) == (kills, stalls)
    assert found["after_kills"]["count"] >= kills
    assert found["after_stalls"]["count"] >= stalls


def assert_quick(found: dict[str, Any]) -> None:
    """For the long test alone, which has a machine to itself."""
    assert found["after_kills"]["median"] <= 2.0
    assert found["after_stalls"]["worst"] <= 20.0


@pytest.mark.slow
@pytest.mark.postgres
async def test_three_kills_and_a_stall_on_postgres(tmp_path: Path, postgres: str, name: str) -> None:
    found = await disturbed(tmp_path, postgres, name, steps=12, kills=3, stalls=1, seed=1)
    assert_right(found, kills=3, stalls=1)


@pytest.mark.soak
async def test_two_kills_on_sqlite(tmp_path: Path, name: str) -> None:
    found = await disturbed(tmp_path, str(tmp_path / "runs.db"), name, runs=4, steps=20, kills=2, stalls=0, seed=2)
    assert_right(found, kills=2, stalls=0)


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [10, 20])
async def test_ten_kills_and_three_stalls_of_forty_long_runs(
    tmp_path: Path, postgres: str, name: str, seed: int
) -> None:
    found = await disturbed(
        tmp_path, postgres, name, runs=40, steps=120, kills=10, stalls=3, every=3, pace=800, patience=900, seed=seed
    )
    assert_right(found, kills=10, stalls=3)
    assert_quick(found)
