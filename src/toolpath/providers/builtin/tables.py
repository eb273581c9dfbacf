"""Rows as the text of a table: comma-separated or tab-separated values. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from toolpath.errors import ToolFailed
from toolpath.values import Json, encode

#: Ending of a file → the sign between its values.
SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
#: Columns of a table.
_MOST_COLUMNS: Final = 1_000


def table_text(rows: list[Json], columns: list[str] | None, separator: str) -> str:
    """The rows, objects or lists, under a line of column names. Raises `ToolFailed` for rows that fit no table.

    Without `columns` these are the names in objects, in the order in which they come; rows that are lists need them.
    """
    names = list(dict.fromkeys(_named(rows))) if columns is None else columns
    if len(names) > _MOST_COLUMNS:
        raise ToolFailed(f"The table would have {len(names):,} columns; at most {_MOST_COLUMNS:,} are written.")
    if len(set(names)) < len(names):
        raise ToolFailed("Two columns have the same name.")
    known = frozenset(names)
    cells = ([_cell(value) for value in _values(row, number, names, known)] for number, row in enumerate(rows))
    return "".join(_lines([names], separator)) + "".join(_lines(cells, separator))


def _lines(cells: Iterable[list[str]], separator: str) -> Iterator[str]:
    text = io.StringIO(newline="")
    # Each sign that readers may take for the end of a line is quoted: those of this end are.
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    for row in cells:
        writer.writerow(row)
        # Lines end as those of other files of the run do.
        yield text.getvalue()[:-2] + "\n"
        text.seek(0)
        text.truncate()


def _named(rows: list[Json]) -> Iterator[str]:
    for row in rows:
        if not isinstance(row, dict):
            raise ToolFailed("Rows that are lists have no names.", hint="Give 'columns', or rows that are objects.")
        yield from row


def _values(row: Json, number: int, names: list[str], known: frozenset[str]) -> list[Json]:
    if isinstance(row, dict):
        unknown = next((name for name in row if name not in known), None)
        if unknown is not None:
            raise ToolFailed(f"Row {number} has {unknown[:100]!r}, which is no column.", hint="Name it in 'columns'.")
        return [row.get(name) for name in names]
    if not isinstance(row, list):
        raise ToolFailed(f"Row {number} is neither an object nor a list.")
    if len(row) != len(names):
        raise ToolFailed(f"Row {number} has {len(row)} values for {len(names)} columns.")
    return row


def _cell(value: Json) -> str:
    """A text as it is, nothing as an empty one, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else encode(value).decode()
