"""What npm has for these tests, fetched once: the official suite, the reference server, and the Node that they need."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Where npm puts it all: once, since it does not change.
KEPT = ROOT / ".conformance"


def installed() -> Path:
    """The folder with the packages in it; the test is skipped where they cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here")
    wanted = (HERE / "package.json").read_text()
    done = KEPT / ".installed"
    KEPT.mkdir(exist_ok=True)
    # Two workers of the tests that install at once would take files away from each other.
    with (KEPT / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(npm, wanted, done)
    return KEPT / "node_modules"


def _install(npm: str, wanted: str, done: Path) -> None:
    if not (done.is_file() and done.read_text() == wanted):
        (KEPT / "package.json").write_text(wanted)
        options = ["--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=30000"]
        install = subprocess.run(
            [npm, "install", *options], cwd=KEPT, capture_output=True, text=True, timeout=300, check=False
        )
        if install.returncode:
            pytest.skip(f"npm cannot install the packages: {install.stderr[-300:]}")
        done.write_text(wanted)
