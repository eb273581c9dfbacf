"""Stored settings of one Toolpath: what may be changed while it runs, for the runs that begin afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import inspect

from toolpath.access.trail import Trail
from toolpath.config import ENGINE_NAMES, Settings
from toolpath.engine.drive.services import Services
from toolpath.errors import RecordConflict, SchemaError, closest
from toolpath.model.record import Record
from toolpath.values import Json, JsonObject
from toolpath.workspace.changes import StoredChanges

#: What may be stored. The rest is said when a process is started: where the store is, who may come in.
CHANGEABLE: Final = (
    "default_timeout",
    "max_retries",
    "retry_backoff",
    "parallel_limit",
    "cache_enabled",
    "cache_ttl",
    "max_replans",
    "agent_context",
    "agent_rounds",
    "agent_parallel_calls",
    "user_input_timeout",
    "conversation_memory",
)
_RECORD: Final = ("setting", "all")
_FIELDS: Final = {field.name: field for field in msgspec.structs.fields(Settings)}


_WORDS: Final = {
    inspect.BoolType: "boolean",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.StrType: "text",
    inspect.NoneType: "null",
    inspect.CollectionType: "list",
}


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it is in force here, and where that comes from."""

    name: str
    value: Json
    source: str
    """`environment`, `stored`, `file` (or what the program gave), or `default`."""
    default: Json
    stored: Json = None
    """What is stored, also where the environment goes before it; null: nothing."""
    type: str = ""
    """What it may be: `integer`, `number`, `boolean`, `text`, `list`, `object`; several with `or` between."""
    options: tuple[str, ...] = ()
    """The texts that it may be; empty: any."""


class StoredSettings:
    """The settings that the store has. The environment goes before them, they before file and program."""

    def __init__(self, services: Services, trail: Trail, changes: StoredChanges) -> None:
        self._services = services
        self._trail = trail
        self._changes = changes

    async def all(self) -> list[Setting]:
        """Every setting that may be changed."""
        stored = await self._stored()
        return [self._setting(name, stored) for name in CHANGEABLE]

    async def get(self, name: str) -> Setting:
        """One. Raises `SchemaError` for a name that is none of them."""
        _check_name(name)
        return self._setting(name, await self._stored())

    async def change(self, values: Mapping[str, Json], *, user: str = "") -> list[Setting]:
        """Store all of these, or none; runs that have begun keep theirs. null: as it is without the store.

        Raises `SchemaError` with every fault.
        """
        read = {name: _read(name, value) for name, value in values.items()}
        for _ in range(20):
            record = await self._services.store.get_record(*_RECORD)
            known = {} if record is None else record.data
            data = {name: value for name, value in {**known, **read}.items() if value is not None}
            await self._trail.record("settings.change", "settings", user=user, values=read)
            try:
                expected = 0 if record is None else record.version
                await self._services.store.put_record(
                    Record(kind=_RECORD[0], id=_RECORD[1], data=data), expected=expected
                )
                break
            except RecordConflict:
                continue
        await self._changes.tell()
        return [await self.get(name) for name in read]

    async def reset(self, *, user: str = "") -> list[Setting]:
        """Store nothing any more."""
        await self.change(dict.fromkeys(await self._stored()), user=user)
        return await self.all()

    async def take(self) -> None:
        """Have what is stored be in force in this process, for what begins from now on."""
        stored = {name: value for name, value in (await self._stored()).items() if not _variable(name)}
        services = self._services
        services.stored_settings = stored
        services.settings = with_stored(services.given_settings or services.settings, stored)

    async def _stored(self) -> JsonObject:
        record = await self._services.store.get_record(*_RECORD)
        # What another version of us stored, and this one does not know, says nothing here.
        return {} if record is None else {name: value for name, value in record.data.items() if name in CHANGEABLE}

    def _setting(self, name: str, stored: JsonObject) -> Setting:
        default = getattr(Settings(), name)
        given = getattr(self._services.given_settings or self._services.settings, name)
        source = "file" if given != default else "default"
        value = given
        if _variable(name):
            source = "environment"
        elif name in stored:
            source, value = "stored", stored[name]
        kinds, options = _kinds_of(inspect.type_info(_FIELDS[name].type))
        return Setting(
            name=name,
            value=value,
            source=source,
            default=default,
            stored=stored.get(name),
            type=" or ".join(dict.fromkeys(kinds)),
            options=options,
        )


def _kinds_of(type: inspect.Type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words for a type, and the texts that it is one of."""
    match type:
        case inspect.UnionType(types=types):
            found = [_kinds_of(one) for one in types]
            return tuple(kind for kinds, _ in found for kind in kinds), tuple(
                o for _, options in found for o in options
            )
        case inspect.LiteralType(values=values):
            return ("text",), tuple(str(value) for value in values)
    word = next((word for kind, word in _WORDS.items() if isinstance(type, kind)), "object")
    return (word,), ()


def with_stored(settings: Settings, stored: Mapping[str, Any]) -> Settings:
    """The settings with these in their place; what is no value of theirs is left out."""
    fitting = {}
    for name, value in stored.items():
        try:
            fitting[name] = _read(name, value)
        except SchemaError:
            continue
    return msgspec.structs.replace(settings, **fitting) if fitting else settings


def _variable(name: str) -> bool:
    """Whether the environment says what the setting is."""
    names = [f"TOOLPATH_{name.upper()}", *(variable for variable, own in ENGINE_NAMES.items() if own == name)]
    return any(os.environ.get(variable, "").strip() for variable in names)


def _check_name(name: str) -> None:
    if name in CHANGEABLE:
        return
    if name in _FIELDS:
        raise SchemaError(
            f"The setting {name!r} is said when a process is started.", hint="Set it in toolpath.toml or a variable."
        )
    raise SchemaError(f"There is no setting {name[:100]!r}.", suggestions=closest(name[:100], CHANGEABLE))


def _read(name: str, value: Json) -> Json:
    """The value as the setting has it. Raises `SchemaError`."""
    _check_name(name)
    if value is None:
        return None
    try:
        read: Json = msgspec.convert(value, _FIELDS[name].type, strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        raise SchemaError(f"The setting {name!r} is {value!r:.100}: {error}.") from None
    return read
