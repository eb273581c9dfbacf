"""Faults of SQLite for the operator of the store: what happened, where, and what to do. Pure."""

from __future__ import annotations

import sqlite3

from toolpath.errors import StoreError, Unstorable
from toolpath.store.sqlite.damage import damage

_ADVICE = {
    sqlite3.SQLITE_BUSY: (
        "is locked by another process",
        "Try again; if it stays so, find the process that keeps the file open, or raise the busy timeout.",
    ),
    sqlite3.SQLITE_FULL: (
        "cannot grow: the disk is full, or the file has reached its size limit",
        "Free space or delete old runs, then resume the run.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "Stop using it; restore a backup, or save what is readable with `sqlite3 FILE .recover`.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not an SQLite database",
        "Name another file for the store, or move this one away.",
    ),
    sqlite3.SQLITE_READONLY: (
        "can only be read",
        "Give this user the right to write the file and its folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "Check that its folder exists and that this user may write there.",
    ),
    sqlite3.SQLITE_PERM: (
        "cannot be opened",
        "Check that its folder exists and that this user may write there.",
    ),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk reports an error",
        "Check the disk and its free space, then resume the run.",
    ),
    sqlite3.SQLITE_NOMEM: ("needs more memory than there is", "Free memory, then resume the run."),
}
_ADVICE[sqlite3.SQLITE_LOCKED] = _ADVICE[sqlite3.SQLITE_BUSY]


def store_error(error: BaseException, path: str) -> StoreError:
    """The error of the store at `path` that tells people what SQLite's own error means."""
    damaged = damage(error, path)
    if damaged is not None:
        return damaged
    match error:
        case StoreError():
            return type(error)(error.message, hint=error.hint)
        case sqlite3.Error():
            # The low byte is the kind; the rest only says where in SQLite it arose.
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            what, hint = _ADVICE.get(kind, ("cannot be used", ""))
            return StoreError(f"The store {path} {what} ({error}).", hint=hint)
        case UnicodeError() | OverflowError() | TypeError():
            return Unstorable(
                f"The store cannot hold a text or number that was given: {error}.",
                hint="Use valid Unicode text and numbers of 64 bits.",
            )
        case OSError():
            return StoreError(
                f"The store {path} cannot be made: {error.strerror or error}.",
                hint="Check that its folder exists and that this user may write there.",
            )
        case _:
            return StoreError(f"The store {path} failed: {type(error).__name__}: {error}")


def closed(path: str) -> StoreError:
    """The error to raise when a store is used before `open` or after `close`."""
    return StoreError(f"The store {path} is not open.", hint="Open it first, and use it before it is closed.")
