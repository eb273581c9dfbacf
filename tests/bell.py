"""A named pipe into which another process writes, so that a test waits for it without looking again and again."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE


class Bell:
    """What other processes have written into a pipe at this place."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    @classmethod
    @contextmanager
    def hung(cls, place: Path) -> Iterator[Bell]:
        """The bell, at a place where nothing is yet."""
        os.mkfifo(place)
        # Open for both, nobody who writes waits for us, and the end of one of them is not the end of all.
        pipe = os.open(place, os.O_RDWR)
        try:
            yield cls(pipe)
        finally:
            os.close(pipe)

    def rung(self, count: int = 1) -> str:
        """Wait until so many bytes at least are there, and give them."""
        heard = b""
        while len(heard) < count:
            ready, _, _ = select.select([self._pipe], [], [], PATIENCE)
            assert ready, f"{len(heard)} of {count} bytes have come"
            heard += os.read(self._pipe, 65_536)
        return heard.decode()
