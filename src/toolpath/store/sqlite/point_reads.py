"""Reads of single rows by their keys, made in the loop's own turn: a thread for each would cost ten times the read."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping
from typing import Any

from toolpath.store.sqlite.database import FileSettings, open_reader
from toolpath.store.sqlite.writer import QUICK

#: What is left of a slow read's time in the mind with each read that was not made here for it.
_FORGETS = 0.9


class PointReads:
    """Rows by key, from a connection of their own. Where the file is slow, or in use, there is none to be had here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._using = threading.Lock()
        """Held by whoever uses the connection: several loops may share the store."""
        self._usual = 0.0
        """Seconds that a read takes, lately."""

    def row(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Row | None:
        """The statement's only row. None: there is none, or who wants to know has to ask by the way of all reads."""
        if self._usual >= QUICK:
            # The loop is not to wait for a slow disk; now and then it is tried again.
            self._usual *= _FORGETS
            return None
        if not self._using.acquire(blocking=False):
            return None
        began = time.perf_counter()
        try:
            row: sqlite3.Row | None = self._connection.execute(statement, values).fetchone()
        except (sqlite3.Error, OverflowError, ValueError):
            # Locked, or something worse: it is met again and told where there is time for it.
            return None
        finally:
            self._usual += (time.perf_counter() - began - self._usual) / 8
            self._using.release()
        return row

    def close(self) -> None:
        """Let go of the file."""
        with self._using:
            self._connection.close()


def open_point_reads(settings: FileSettings) -> PointReads:
    """Open the connection. Raises `StoreError`."""
    connection = open_reader(settings)
    connection.row_factory = sqlite3.Row
    # The loop must never wait for another process.
    connection.execute("PRAGMA busy_timeout = 0")
    return PointReads(connection)
