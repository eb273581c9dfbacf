"""Copying a SQLite store while runs are being written to it, by SQLite's own means."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from toolpath.errors import StoreError


def back_up(source: Path, target: Path) -> int:
    """Write all of the store, as it is at one moment, into `target`; gives its size in bytes.

    What is committed meanwhile is not in it, and writers are not held up. The copy is whole or not there at all.
    Raises `StoreError`.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        # Readable for its owner alone: a journal holds what people said to tools.
        part.touch(mode=0o600)
        with (
            contextlib.closing(sqlite3.connect(f"file:{quote(str(source))}?mode=rw", uri=True, timeout=30)) as store,
            contextlib.closing(sqlite3.connect(part)) as copy,
        ):
            # In one step: with several, a store that is written to all the time would be begun anew for ever.
            store.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE")
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(f"The store {source} is damaged: {found}.", hint="Keep it as it is, and an older copy.")
        os.replace(part, target)
        return target.stat().st_size
    except sqlite3.Error as error:
        raise StoreError(f"The store {source} cannot be copied: {error}.") from None
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error}.", hint="Name another place."
        ) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
