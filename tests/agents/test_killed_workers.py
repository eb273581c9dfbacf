"""Workers that drive an agent die with every event: others take over, and nothing is asked or called again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.test_killed_agents import assert_no_agent_of_the_fan_repeats_anything, assert_nothing_repeated
from tests.store.store_cases import dropped, postgres_url
from tests.workers.worker_cases import URL, queue_name

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.rabbitmq,
    pytest.mark.postgres,
]

PROGRAM = Path(__file__).with_name("killed_workers.py")
#: As often the whole is done in the long form: where the kills fall differs with who is quick.
TIMES = 3


@pytest.fixture
async def ground() -> AsyncIterator[tuple[str, str]]:
    """The addresses of a store and of a queue that nobody else has."""
    schema = f"killed_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    await dropped(schema)
    async with queue_name() as name:
        yield postgres_url(schema), name
    await dropped(schema)


async def killed(folder: Path, ground: tuple[str, str], scene: str, every: int) -> dict[str, Any]:
    """What came of a run of which every so many events cost a worker its life."""
    store, name = ground
    words = [sys.executable, str(PROGRAM), str(folder), store, scene, URL, name, str(every)]
    done = await asyncio.to_thread(subprocess.run, words, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
async def test_an_agent_whose_workers_are_killed_repeats_nothing(tmp_path: Path, ground: tuple[str, str]) -> None:
    assert_nothing_repeated(await killed(tmp_path, ground, "one", every=16), kills=3)


@pytest.mark.soak
@pytest.mark.parametrize("time", range(TIMES))
async def test_an_agent_whose_workers_are_killed_with_every_event_repeats_nothing(
    tmp_path: Path, ground: tuple[str, str], time: int, tried: Callable[[str, int], None]
) -> None:
    found = await killed(tmp_path, ground, "one", every=1)
    tried("kills of an agent's workers", found["kills"])
    assert_nothing_repeated(found)


@pytest.mark.soak
@pytest.mark.parametrize("time", range(TIMES))
async def test_agents_side_by_side_whose_workers_are_killed_with_every_event_repeat_nothing(
    tmp_path: Path, ground: tuple[str, str], time: int, tried: Callable[[str, int], None]
) -> None:
    found = await killed(tmp_path, ground, "fan", every=1)
    tried("kills of an agent's workers", found["kills"])
    assert_no_agent_of_the_fan_repeats_anything(found)
