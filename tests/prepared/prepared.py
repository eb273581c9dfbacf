"""Programs that start in a moment, since what they import has been imported: how a test names one.

All tests of a run, on however many workers, share the one process that forks them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HERE = Path(__file__).parent
_SOCKET = "PREPARED_PROGRAMS"


@contextmanager
def opened() -> Iterator[None]:
    """The process that forks programs, which imports nothing before the first of them is asked for."""
    with tempfile.TemporaryDirectory(prefix="prepared-") as folder:
        os.environ[_SOCKET] = str(Path(folder) / "socket")
        words = [sys.executable, str(_HERE / "programs.py"), os.environ[_SOCKET]]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        try:
            yield
        finally:
            del os.environ[_SOCKET]
            process.communicate()


def prepared(program: str, *arguments: str) -> list[str]:
    """The command of a program that `programs.py` knows."""
    return [sys.executable, "-I", "-S", str(_HERE / "launch.py"), os.environ[_SOCKET], program, *arguments]
