"""Finder of a damaged text in an SQLite file: it looks only after reading has failed."""

from __future__ import annotations

import re
import sqlite3

import msgspec

from toolpath.errors import StoreError

_COLUMN = re.compile(r"Could not decode to UTF-8 column '(\w+)'")
#: Rows of a table that are looked at; to name the place is not worth more.
_MOST_ROWS = 100_000
#: What names a row better than its key does.
_NAMED = {
    "runs": "run_id",
    "events": "(SELECT run_id FROM runs WHERE number = events.id >> 32), events.id & 4294967295",
}
_HINT = "Restore a backup, or save what is readable with `sqlite3 FILE .recover`."


def damage(error: BaseException, path: str, connection: sqlite3.Connection | None = None) -> StoreError | None:
    """The error for a stored text that is damaged, with its place where that can be found; None for other errors."""
    match error:
        case sqlite3.OperationalError():
            column = _COLUMN.match(str(error))
            if column is None:
                return None
            place = None if connection is None else _place(connection, column[1])
            where = place or f"a row, in its column {column[1]}"
            return StoreError(f"The store {path} is damaged: {where}, is no text.", hint=_HINT)
        case UnicodeDecodeError() | msgspec.DecodeError():
            # What is given is encoded; what is read is decoded.
            return StoreError(f"The store {path} is damaged: a row cannot be read ({error}).", hint=_HINT)
        case _:
            return None


def _place(connection: sqlite3.Connection, column: str) -> str | None:
    """Table and row of the first text in such a column that is none."""
    reader = connection.cursor()
    reader.row_factory = None
    text_factory, connection.text_factory = connection.text_factory, bytes
    try:
        tables = reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for table in (name.decode() for (name,) in tables):
            described = reader.execute(f"PRAGMA table_info({table})").fetchall()
            names = [row[1].decode() for row in described]
            if column not in names:
                continue
            keys = [f'"{row[1].decode()}"' for row in sorted(described, key=lambda row: row[5]) if row[5]] or ["rowid"]
            wanted = f'{_NAMED.get(table, ", ".join(keys))}, "{column}"'
            # Names come from the file's own schema.
            rows = reader.execute(
                f"SELECT {wanted} FROM {table} WHERE typeof(\"{column}\") = 'text' LIMIT {_MOST_ROWS}"  # noqa: S608
            )
            for *key, text in rows:
                if not _is_text(text):
                    return f"{table}, row {', '.join(_shown(part) for part in key)}, column {column}"
    except sqlite3.Error:
        return None
    finally:
        connection.text_factory = text_factory
    return None


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(part: object) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else str(part)
