"""All tests of the page once more, while what it asks of the server is under way for a while and is overtaken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.page.page_cases import CHROMIUM
from tests.server.late import LATE


@pytest.mark.chromium
@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed; on Debian: apt-get install chromium")
@pytest.mark.parametrize("seed", range(1, 4))
def test_every_test_of_the_page_holds_when_answers_are_late(seed: int, tried: Callable[[str, int], None]) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--reruns",
        "0",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).parent),
    ]
    told = subprocess.run(command, env={**os.environ, LATE: str(seed)}, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout[-20_000:] + told.stderr[-2_000:]
    passed = re.search(r"(\d+) passed", told.stdout)
    assert passed, told.stdout
    tried("tests of the page with late answers", int(passed[1]))
