"""Vectors of texts in a file, so that a process that starts again does not compute them again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_MOST = 200_000
"""Vectors that are kept, about 160 MB; the oldest make room."""
_AT_ONCE = 500


def cache_file() -> Path | None:
    """Where vectors are kept: `toolpath/vectors.db` in the user's folder for caches; None for a user without one."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(given) if given else Path.home() / ".cache") / "toolpath" / "vectors.db"
    except RuntimeError:
        return None


class VectorCache:
    """Digest → vector, in SQLite; several processes may share the file.

    For one thread. Opening raises `sqlite3.Error` and `OSError` where the file cannot be used; what goes wrong later is
    a vector that is not there.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(file, timeout=5)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB UNIQUE, vector BLOB NOT NULL)")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def read(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """Vectors of those texts that the file has."""
        found: dict[bytes, bytes] = {}
        with suppress(sqlite3.Error):
            self._read(digests, found)
        return found

    def _read(self, digests: Sequence[bytes], found: dict[bytes, bytes]) -> None:
        for start in range(0, len(digests), _AT_ONCE):
            asked = digests[start : start + _AT_ONCE]
            marks = ",".join("?" * len(asked))
            found.update(
                self._connection.execute(f"SELECT digest, vector FROM vectors WHERE digest IN ({marks})", asked)  # noqa: S608
            )

    def write(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep these."""
        with suppress(sqlite3.Error), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors.items())
            self._connection.execute(
                "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?", (_MOST,)
            )
