"""The tools of `database`: read, write, insert and metadata, over sources that settings name.

Values are always bound, never pasted. That a read writes nothing is the database's word: what asks is a transaction
that may only read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import msgspec

from toolpath.errors import ConfigError, ToolFailed, ToolTimeout, ToolUnavailable, closest, needs_extra
from toolpath.model.plan import Retry
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.builtin.option_secrets import filled
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from toolpath.providers.builtin.database_sources import DatabaseSource

_Found = TypeVar("_Found")
#: Seconds that the engine waits longer than the database may take.
_GRACE: Final = 10.0
_LONGEST: Final = 100_000
_MOST_BATCH: Final = 10_000


class SourceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """One database."""

    url: str
    """As SQLAlchemy writes it, with `{{ secrets.NAME }}` for what is secret."""
    description: str = ""
    """What is in it, for who chooses."""
    write: bool = False
    """It may be written to."""
    reads_alone: bool = False
    """The user of the URL can do nothing but read: has to be said of databases whose transactions cannot promise it."""


class DatabaseOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the group `database`."""

    sources: dict[str, SourceOptions] = {}
    max_rows: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1_000
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000, le=100_000_000)] = 1_000_000
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3_600)] = 30.0


def database_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools over the sources that the options name. Raises `ConfigError` where they name none, or odd ones."""
    options = options_of("database", given, DatabaseOptions)
    if not options.sources:
        raise ConfigError(
            "The built-in tools of 'database' have no source.",
            hint='Name one: [builtin.database.sources.shop] url = "postgresql://reader@db.example.org/shop".',
        )
    for name, source in options.sources.items():
        scheme = source.url.partition(":")[0].partition("+")[0]
        if scheme not in ("sqlite", "postgresql", "postgres") and not source.reads_alone and not source.write:
            raise ConfigError(
                f"Setting 'builtin.database': nothing keeps a read of {name!r} from writing.",
                hint="Give a user that can only read, and say so: reads_alone = true.",
            )
    databases = _Databases(options, surroundings)
    writable = [name for name, source in options.sources.items() if source.write]
    tools = [_read_tool(databases), _metadata_tool(databases)]
    if writable:
        tools += [_write_tool(databases, writable), _insert_tool(databases, writable)]
    said = ", ".join(f"{name} (writes)" if name in writable else name for name in options.sources)
    return BuiltinGroup(tuple(tools), said=said)


class _Databases:
    """The sources, each opened anew for every call: no call finds what another has set."""

    def __init__(self, options: DatabaseOptions, surroundings: Surroundings) -> None:
        self.options = options
        self._surroundings = surroundings

    async def work(
        self, name: str, act: Callable[[Connection], _Found], *, writes: bool = False, statement: bool = True
    ) -> _Found:
        """The result of `act`, in a transaction of its own. Raises `ToolFailed`, without passwords."""
        options = self.options.sources[name]
        if writes and not options.write:
            raise ToolFailed(f"{name} may not be written to.", hint="Who runs this may allow it: write = true.")
        redactor = Redactor()
        source: DatabaseSource | None = None
        try:
            with needs_extra("database", "The tools of 'database'"):
                from toolpath.providers.builtin.database_sources import fault_of, open_source

            source = open_source(options.url, lambda text: self._filled(text, redactor))
            async with asyncio.timeout(self.options.timeout):
                return await source.work(act, writes=writes, statement=statement, seconds=self.options.timeout)
        except ConfigError as error:
            raise ToolFailed(redactor.text(error.message), hint=redactor.text(error.hint)) from None
        except TimeoutError:
            if source is not None and source.is_committing:
                raise ToolUnavailable(f"{name} has not said in time whether it has kept what was written.") from None
            done = " Nothing was written." if writes else ""
            if source is not None and source.is_left:
                done = " It is still at work, and is not told to keep anything of it." if writes else ""
            raise ToolTimeout(
                f"{name} took longer than {self.options.timeout:g} seconds.{done}", hint="Ask for less."
            ) from None
        except ToolFailed as error:
            error.message = redactor.text(error.message)
            error.args = (error.message,)
            raise
        except Exception as error:
            if source is None:
                raise
            found = fault_of(error, name, is_committing=source.is_committing, is_open=source.is_open)
            if found is None:
                raise
            found.message = redactor.text(found.message)
            found.args = (found.message,)
            raise found from None

    def _filled(self, text: str, redactor: Redactor) -> str:
        found = filled(text, self._surroundings.secrets)
        if found != text:
            redactor.add((found,))
        return found


class _Names(msgspec.Struct, frozen=True):
    """Names of sources as a tool tells of them."""

    schema: JsonObject

    @classmethod
    def of(cls, databases: _Databases, names: list[str] | None = None) -> _Names:
        """Those of all sources, or of these."""
        sources = databases.options.sources
        told = [f"{name}: {sources[name].description}" for name in names or sources if sources[name].description]
        schema: JsonObject = {"type": "string", "enum": list(names or sources), "description": "The database."}
        if told:
            schema["description"] = f"The database. {' '.join(told)}"[:1_000]
        return cls(schema)


_SQL: Final[JsonObject] = {
    "type": "string",
    "minLength": 1,
    "maxLength": _LONGEST,
    "description": (
        "One SQL statement. Values are never part of it: write :name and give them as parameters; "
        "cast(:day AS date) where another type than that of JSON is meant."
    ),
}
_PARAMETERS: Final[JsonObject] = {
    "type": "object",
    "description": "Name → value of each :name in the statement. Lists and objects are given as JSON text.",
}
_ROWS: Final[JsonObject] = {"type": "array", "items": {"type": "object"}}


def _tool(databases: _Databases, name: str, run: Callable[[JsonObject], Any], **fields: Any) -> Tool:
    async def invoke(inputs: JsonObject, context: Any) -> Json:
        found: Json = await run(inputs)
        return found

    return Tool(
        name=name,
        group="database",
        category="external",
        output_validation="strict",
        timeout=databases.options.timeout + _GRACE,
        capabilities=(f"database.{name}",),
        body=Body(invoke=invoke),
        **fields,
    )


def _object(properties: JsonObject, required: list[str]) -> JsonObject:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _read_tool(databases: _Databases) -> Tool:
    options = databases.options

    async def read(inputs: JsonObject) -> Json:
        most = min(inputs.get("max_rows") or options.max_rows, options.max_rows)

        def act(connection: Connection) -> JsonObject:
            from toolpath.providers.builtin.database_rows import rows_of

            result = _executed(connection, inputs["sql"], inputs.get("parameters") or {})
            if not result.returns_rows:
                raise ToolFailed("The statement gives no rows.", hint="What writes goes through database.write.")
            rows, cut = rows_of(result, most, options.max_bytes)
            return {"columns": list(result.keys()), "rows": rows, "count": len(rows), "cut": cut}

        return await databases.work(inputs["source"], act)

    return _tool(
        databases,
        "read",
        read,
        title="Read from a database",
        description="Ask a database with one SQL statement that reads. Rows come as objects, column → value.",
        input_schema=_object(
            {
                "source": _Names.of(databases).schema,
                "sql": _SQL,
                "parameters": _PARAMETERS,
                "max_rows": {"type": "integer", "minimum": 1, "maximum": options.max_rows},
            },
            ["source", "sql"],
        ),
        output_schema=_object(
            {
                "columns": {"type": "array", "items": {"type": "string"}},
                "rows": _ROWS,
                "count": {"type": "integer", "description": "Rows that are here."},
                "cut": {"type": "boolean", "description": "There are more."},
            },
            ["columns", "rows", "count", "cut"],
        ),
        effect="read",
        limitations=(f"At most {options.max_rows:,} rows and {options.max_bytes:,} bytes are given.",),
    )


def _write_tool(databases: _Databases, names: list[str]) -> Tool:
    options = databases.options

    async def write(inputs: JsonObject) -> Json:
        given = inputs.get("parameters") or {}

        def act(connection: Connection) -> JsonObject:
            from toolpath.providers.builtin.database_rows import rows_of

            result = _executed(connection, inputs["sql"], given)
            if result.returns_rows:
                rows, _ = rows_of(result, options.max_rows, options.max_bytes)
                return {"count": len(rows), "rows": rows}
            return {"count": max(result.rowcount, 0), "rows": []}

        return await databases.work(inputs["source"], act, writes=True)

    several: JsonObject = {"type": "array", "items": {"type": "object"}, "minItems": 1, "maxItems": _MOST_BATCH}
    return _tool(
        databases,
        "write",
        write,
        title="Write to a database",
        description="Change a database with one SQL statement, in a transaction: all of it happens, or nothing.",
        input_schema=_object(
            {
                "source": _Names.of(databases, names).schema,
                "sql": _SQL,
                "parameters": {
                    "anyOf": [_PARAMETERS, several],
                    "description": "As for database.read; a list of such runs the statement for each of them.",
                },
            },
            ["source", "sql"],
        ),
        output_schema=_object(
            {"count": {"type": "integer", "description": "Rows that were changed."}, "rows": _ROWS}, ["count", "rows"]
        ),
        effect="write",
        retry=Retry(max_retries=0),
    )


def _insert_tool(databases: _Databases, names: list[str]) -> Tool:
    async def insert(inputs: JsonObject) -> Json:
        def act(connection: Connection) -> JsonObject:
            from toolpath.providers.builtin.database_rows import inserted

            return {"count": inserted(connection, inputs["table"], inputs["rows"])}

        return await databases.work(inputs["source"], act, writes=True, statement=False)

    return _tool(
        databases,
        "insert",
        insert,
        title="Add rows to a table",
        description="Add rows to a table of a database, in a transaction: all of them, or none.",
        input_schema=_object(
            {
                "source": _Names.of(databases, names).schema,
                "table": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 300,
                    "description": "`table` or `schema.table`.",
                },
                "rows": {
                    "type": "array",
                    "items": {"type": "object", "minProperties": 1},
                    "minItems": 1,
                    "maxItems": _MOST_BATCH,
                    "description": "Objects column → value, each with the same columns. Times as ISO 8601.",
                },
            },
            ["source", "table", "rows"],
        ),
        output_schema=_object({"count": {"type": "integer"}}, ["count"]),
        effect="write",
        retry=Retry(max_retries=0),
    )


def _metadata_tool(databases: _Databases) -> Tool:
    async def metadata(inputs: JsonObject) -> Json:
        def act(connection: Connection) -> JsonObject:
            from toolpath.providers.builtin.database_rows import tables_of

            return tables_of(connection, inputs.get("table") or "")

        return await databases.work(inputs["source"], act, statement=False)

    return _tool(
        databases,
        "metadata",
        metadata,
        title="Tables of a database",
        description="The tables and views of a database with their columns and keys; of one where it is named.",
        input_schema=_object(
            {
                "source": _Names.of(databases).schema,
                "table": {"type": "string", "description": "`table` or `schema.table`."},
            },
            ["source"],
        ),
        output_schema=_object(
            {"tables": _ROWS, "cut": {"type": "boolean", "description": "There are more."}}, ["tables", "cut"]
        ),
        effect="read",
    )


def _executed(connection: Connection, sql: str, given: JsonObject | list[JsonObject]) -> Any:
    """The result of the statement with its values bound. Raises `ToolFailed` for values that do not fit its names."""
    from sqlalchemy import text

    statement = text(sql)
    wanted = set(statement.compile().params)
    rows = given if isinstance(given, list) else [given]
    for row in rows:
        missing, unknown = sorted(wanted - row.keys()), sorted(row.keys() - wanted)
        if missing:
            near = closest(missing[0], unknown)
            raise ToolFailed(
                f"The statement has :{missing[0]}, and no parameter of that name was given."
                + (f" Did you mean {near[0]!r}?" if near else ""),
                hint=f"Give parameters.{missing[0]}; where a colon is meant as text, write \\:{missing[0]}.",
            )
        if unknown:
            raise ToolFailed(
                f"No :{unknown[0][:100]} is in the statement.", hint="Values stand in it as :name, without quotes."
            )
    bound = [{name: _bound(value) for name, value in row.items()} for row in rows]
    return connection.execute(statement, bound if isinstance(given, list) else bound[0])


def _bound(value: Json) -> Any:
    if isinstance(value, str) and "\0" in value:
        raise ToolFailed("A value holds a NUL, which no text of a database may.")
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value
