"""A process that is killed anywhere loses nothing, repeats nothing that was finished, and makes no write twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")

KILLER = Path(__file__).with_name("killer.py")


def killed(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(KILLER), str(folder), "--kills", str(kills), "--seed", str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_nothing_lost(found: dict[str, Any], kills: int) -> None:
    assert found["violations"] == []
    assert found["kills"] >= kills
    # Without writes in doubt the rule that a person is asked would not have been tried.
    assert found["asked"] > 0


@pytest.mark.timeout(300)
def test_two_hundred_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    assert_nothing_lost(killed(tmp_path, 200, seed=1), 200)


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seed", [10_000, 20_000, 30_000, 40_000])
def test_two_thousand_kills_lose_nothing_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    assert_nothing_lost(killed(tmp_path, 500, seed), 500)
