"""An agent's process is killed with every event: no model is asked and no tool called again, on either store."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.store_cases import dropped, postgres_url

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PROGRAM = Path(__file__).with_name("killed_agent.py")


def killed(folder: Path, store: str, scene: str = "one") -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), store, scene], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_nothing_repeated(found: dict[str, Any], kills: int = 25) -> None:
    assert (found["status"], found["outputs"]) == ("completed", "ended")
    # A store that shares commits among events has fewer of them.
    assert found["kills"] >= kills
    assert found["resumed"] >= found["kills"] / 2
    assert found["begun_after_the_end"] == found["made_again"] == []
    called, begun = Counter(found["calls"]), Counter(found["starts"])
    for path, times in called.items():
        # Made again only what was in flight: what had begun once more.
        assert times <= begun[path], path
    writes = [
        "a/round[2]/act[0]",
        "a/round[4]/act[0]/s",
        "a/round[7]/act[0]",
        "a/round[7]/act[1]",
        "a/round[9]/act[0]/s",
    ]
    assert {path: called[path] for path in writes} == dict.fromkeys(writes, 1)
    # Killed when a write had begun, it was asked about; nothing else was.
    assert found["in_doubt"] or kills < len(writes)
    assert set(found["in_doubt"]) <= set(writes)


def assert_no_agent_of_the_fan_repeats_anything(found: dict[str, Any]) -> None:
    assert (found["status"], found["outputs"]) == ("completed", ["ended"] * 3)
    assert found["kills"] >= 15
    assert found["begun_after_the_end"] == found["made_again"] == []
    called = Counter(found["calls"])
    agents = [f"fan[{item}]/a" for item in range(3)]
    writes = [f"{agent}/round[2]/{act}" for agent in agents for act in ("act[0]", "act[1]/s")]
    assert {path: called[path] for path in writes} == dict.fromkeys(writes, 1)
    assert set(found["in_doubt"]) <= set(writes)
    thoughts = {path for path in called if path.endswith("think")}
    assert thoughts == {f"{agent}/round[{number}]/think" for agent in agents for number in (1, 2, 3)}


@pytest.mark.slow
def test_an_agent_killed_with_every_event_repeats_nothing(tmp_path: Path) -> None:
    assert_nothing_repeated(killed(tmp_path, str(tmp_path / "runs.db")))


@pytest.fixture
def postgres() -> Iterator[str]:
    schema = f"agents_{os.getpid()}_{uuid.uuid4().hex[:8]}"
    asyncio.run(dropped(schema))
    yield postgres_url(schema)
    asyncio.run(dropped(schema))


# Each scene once and each store once are quick; the other two pairs are long.
@pytest.mark.soak
@pytest.mark.postgres
def test_an_agent_killed_with_every_event_repeats_nothing_on_postgres(tmp_path: Path, postgres: str) -> None:
    assert_nothing_repeated(killed(tmp_path, postgres))


@pytest.mark.soak
def test_agents_side_by_side_killed_with_every_event_repeat_nothing(tmp_path: Path) -> None:
    assert_no_agent_of_the_fan_repeats_anything(killed(tmp_path, str(tmp_path / "runs.db"), "fan"))


@pytest.mark.slow
@pytest.mark.postgres
def test_agents_side_by_side_killed_with_every_event_repeat_nothing_on_postgres(tmp_path: Path, postgres: str) -> None:
    assert_no_agent_of_the_fan_repeats_anything(killed(tmp_path, postgres, "fan"))
