"""Every route is asked for things that are not quite right: each answer is right, or says what is wrong."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.attacks.besieged import besieged
from tests.soak import scaled
from tests.store.store_cases import dropped, postgres_url

from toolpath.access.sealing import KEY_VARIABLE, new_key

#: Requests of one seed of the long form.
MANY = scaled(400)


@pytest.fixture
async def postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    schema = f"besieged_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv(KEY_VARIABLE, new_key())
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_is_asked_gets_a_clear_answer(seed: int) -> None:
    async with besieged() as service:
        await service.attack(seed, 120)
    assert service.faults == []


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(1_000, 1_040))
async def test_whatever_is_asked_at_length_gets_a_clear_answer(
    tmp_path: Path, seed: int, tried: Callable[[str, int], None]
) -> None:
    async with besieged(tmp_path / "runs.db") as service:
        await service.attack(seed, MANY)
    tried("hostile requests on SQLite", service.asked)
    assert service.faults == []


@pytest.mark.soak
@pytest.mark.postgres
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2_000, 2_020))
async def test_whatever_is_asked_at_length_gets_a_clear_answer_on_postgres(
    tmp_path: Path, postgres: str, seed: int, tried: Callable[[str, int], None]
) -> None:
    async with besieged(postgres, files_dir=str(tmp_path / "files")) as service:
        await service.attack(seed, MANY)
    tried("hostile requests on PostgreSQL", service.asked)
    assert service.faults == []
