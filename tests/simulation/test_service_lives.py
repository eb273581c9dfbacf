"""Agents in a service that dies again and again: nothing is repeated or left behind, whatever its clients do."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.soak import scaled
from tests.store.store_cases import dropped, postgres_url

from toolpath.access.sealing import KEY_VARIABLE, new_key

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PROGRAM = Path(__file__).with_name("service_lives.py")


def lived(folder: Path, seed: int, store: str = "", **wanted: int) -> dict[str, Any]:
    words = [sys.executable, str(PROGRAM), str(folder), "--seed", str(seed), "--store", store]
    for option, value in wanted.items():
        words += [f"--{option}", str(value)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_right(found: dict[str, Any], tried: Callable[[str, int], None] | None = None) -> None:
    if tried is not None:
        for what in ("runs", "deaths", "answers", "calls"):
            tried(f"{what} of agents in a service that dies", found[what])
    assert found["violations"] == []
    assert found["runs"] > 0
    assert found["calls"] > 0


@pytest.mark.slow
def test_agents_in_a_service_that_dies_repeat_nothing(tmp_path: Path) -> None:
    assert_right(lived(tmp_path, 1, deaths=2, moves=2))


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_lives_of_agents_repeat_nothing(tmp_path: Path, seed: int, tried: Callable[[str, int], None]) -> None:
    assert_right(lived(tmp_path, seed, deaths=scaled(10)), tried)


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    schema = f"lives_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv(KEY_VARIABLE, new_key())
    asyncio.run(dropped(schema))
    yield postgres_url(schema)
    asyncio.run(dropped(schema))


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(200, 220))
def test_many_lives_of_agents_on_postgres_repeat_nothing(
    tmp_path: Path, postgres: str, seed: int, tried: Callable[[str, int], None]
) -> None:
    assert_right(lived(tmp_path, seed, postgres, deaths=scaled(10)), tried)
