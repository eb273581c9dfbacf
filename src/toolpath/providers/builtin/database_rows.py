"""Rows of a database as JSON, rows added to a table, and what is known of tables. Needs SQLAlchemy."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, CursorResult, MetaData, Table, inspect
from sqlalchemy.exc import NoSuchTableError

from toolpath.errors import ToolFailed, closest
from toolpath.values import Json, JsonObject

#: Tables of which the columns are told.
_MOST_TABLES: Final = 200
#: What a column holds → how it is read from JSON's text.
_READERS: Final[Mapping[type, Callable[[str], Any]]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    decimal.Decimal: decimal.Decimal,
    uuid.UUID: uuid.UUID,
    bytes: base64.b64decode,
}


def rows_of(result: CursorResult[Any], most: int, most_bytes: int) -> tuple[list[JsonObject], bool]:
    """The first rows as objects, as many as may be given, and whether there are more."""
    names = _distinct(list(result.keys()))
    rows: list[JsonObject] = []
    size = 0
    for row in result:
        if len(rows) >= most:
            return rows, True
        made = {name: _json(value) for name, value in zip(names, row, strict=True)}
        size += len(msgspec.json.encode(made))
        if size > most_bytes:
            if not rows:
                raise ToolFailed(
                    f"The first row alone has more than {most_bytes:,} bytes.",
                    hint="Select fewer columns, or parts of them.",
                )
            return rows, True
        rows.append(made)
    return rows, False


def _distinct(names: list[str]) -> list[str]:
    """The names, each once: a second `id` is `id_2`."""
    found: list[str] = []
    for name in names:
        wanted, count = name, 1
        while wanted in found:
            count += 1
            wanted = f"{name}_{count}"
        found.append(wanted)
    return found


def _json(value: Any) -> Json:
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) < 2**63 else str(value)
        case float():
            return value if math.isfinite(value) else None
        case decimal.Decimal():
            return _number(value)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case dict():
            return {str(name): _json(item) for name, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_json(item) for item in value]
        case _:
            return str(value)


def _number(value: decimal.Decimal) -> Json:
    """A number where JSON's has the same value, else its digits as text."""
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    near = float(value)
    return near if math.isfinite(near) and decimal.Decimal(repr(near)) == value else str(value)


def inserted(connection: Connection, name: str, rows: list[JsonObject]) -> int:
    """How many rows were added to the table. Raises `ToolFailed` for what is no table, or no column of it."""
    table = _table(connection, name)
    wanted = rows[0].keys()
    known = {column.name: column for column in table.columns}
    for number, row in enumerate(rows):
        unknown = sorted(row.keys() - known.keys())
        if unknown:
            near = closest(unknown[0], known)
            raise ToolFailed(
                f"{name} has no column {unknown[0][:100]!r} (row {number})."
                + (f" Did you mean {near[0]!r}?" if near else ""),
                hint=f"Its columns are {', '.join(known)}.",
            )
        if row.keys() != wanted:
            raise ToolFailed(
                f"Row {number} has other columns than the first.", hint="Give null for what a row has not."
            )
    read = {column: _reader(known[column].type) for column in wanted}
    try:
        values = [{column: read[column](value) for column, value in row.items()} for row in rows]
    except (ValueError, ArithmeticError) as error:
        raise ToolFailed(f"A value does not fit its column: {error}", hint="Write times as ISO 8601.") from None
    connection.execute(table.insert(), values)
    return len(values)


def _reader(kind: Any) -> Callable[[Json], Any]:
    try:
        python = kind.python_type
    except NotImplementedError:
        python = str
    read = _READERS.get(python)

    def value(given: Json) -> Any:
        if read is not None and isinstance(given, str):
            return read(given)
        if python in (dict, list):
            return given
        return msgspec.json.encode(given).decode() if isinstance(given, list | dict) else given

    return value


def _table(connection: Connection, name: str) -> Table:
    schema, dot, bare = name.rpartition(".")
    for where, called in ((None, name), (schema, bare)) if dot else ((None, name),):
        try:
            return Table(called, MetaData(), schema=where, autoload_with=connection, resolve_fks=False)
        except NoSuchTableError:
            continue
    near = closest(name, inspect(connection).get_table_names())
    raise ToolFailed(
        f"There is no table {name[:200]!r}.{f' Did you mean {near[0]!r}?' if near else ''}",
        hint="database.metadata lists the tables.",
    )


def tables_of(connection: Connection, name: str) -> JsonObject:
    """The tables and views with their columns: of one where it is named."""
    if name:
        _table(connection, name)
        schema, dot, bare = name.rpartition(".")
        looker = inspect(connection)
        is_plain = not dot or looker.has_table(name)
        one = _described(looker, None, name, "table") if is_plain else _described(looker, schema, bare, "table")
        return {"tables": [one], "cut": False}
    looker = inspect(connection)
    named = [(table, "table") for table in looker.get_table_names()]
    named += [(view, "view") for view in looker.get_view_names()]
    told: list[Json] = [_described(looker, None, table, kind) for table, kind in named[:_MOST_TABLES]]
    return {"tables": told, "cut": len(named) > _MOST_TABLES}


def _described(looker: Any, schema: str | None, table: str, kind: str) -> JsonObject:
    keys = (looker.get_pk_constraint(table, schema=schema) or {}).get("constrained_columns") or []
    columns: list[Json] = [
        {
            "name": column["name"],
            "type": str(column["type"]),
            "nullable": bool(column["nullable"]),
            "primary_key": column["name"] in keys,
            "default": None if column.get("default") is None else str(column["default"])[:200],
        }
        for column in looker.get_columns(table, schema=schema)
    ]
    references: list[Json] = [
        {
            "columns": list(key["constrained_columns"]),
            "table": ".".join(filter(None, (key.get("referred_schema"), key["referred_table"]))),
            "referred": list(key["referred_columns"]),
        }
        for key in looker.get_foreign_keys(table, schema=schema)
    ]
    return {
        "name": f"{schema}.{table}" if schema else table,
        "kind": kind,
        "columns": columns,
        "references": references,
    }
