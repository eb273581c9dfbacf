"""Types of the fields of a notation: how each is read, printed and described to editors; and tables of fields.

A table says all there is to say of a mapping: reader, printer and JSON Schema follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args, get_origin

import msgspec

from toolpath.model.plan import Block, Flow
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.durations import spelled
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.values import Json, JsonObject

#: A field that is not given, or not of its type: the record's default holds.
UNSET: Final = msgspec.UNSET


class BlockReader(Protocol):
    """Reader of the steps of one plan."""

    def block(self, fields: Fields, block_id: str, around: Flow) -> Block:
        """The block whose `flow` and `steps` are among the fields."""
        ...

    def branches(self, node: DocumentNode, path: str, flow: Flow) -> tuple[Block, ...]:
        """The branches of a list."""
        ...


class Around(NamedTuple):
    """Surroundings of a step that is read."""

    reader: BlockReader
    flow: Flow
    is_timed: bool
    """The step's time is that of an attempt; else that of a person, who may take days."""


class FieldType(Protocol):
    """Type of a field: how its values are read, printed and described."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        """The value as the record has it, or UNSET; what is wrong is noted."""
        ...

    def written(self, value: Any, flow: Flow) -> Json:
        """The record's value in the notation; `flow` is that of the block around it."""
        ...

    def schema(self, entry: Entry) -> JsonObject:
        """The JSON Schema of a value that is given."""
        ...


class Entry(msgspec.Struct, frozen=True):
    """One field of a mapping."""

    name: str
    type: FieldType
    tells: str = ""
    """What it is for, as editors show it."""
    attribute: str | None = ""
    """That of the record; empty: the name; None: the record has none, its reader makes something of it."""
    aliases: tuple[str, ...] = ()
    """Other names that are read."""
    is_required: bool = False
    takes_null: bool = True
    """For editors: null counts as not given."""
    is_always: bool = False
    """Printed at its default too."""
    inlined: Table | None = None
    """The value takes these fields of the mapping itself; its type reads and prints them together."""
    hint: str = ""
    """What to write where it is missing or no mapping."""
    default: Json = None
    """The record's; this and the next are filled in by the table."""
    target: str = ""
    """Attribute of the record, or the name where it has none."""

    def properties(self) -> JsonObject:
        """The JSON Schemas of all names of the field."""
        if self.inlined is not None:
            return self.inlined.properties()
        own = self.type.schema(self)
        if self.takes_null and not self.is_required:
            own = _or_null(own)
        told: JsonObject = {"description": self.tells} if self.tells else {}
        other: Callable[[Entry], JsonObject] | None = getattr(self.type, "schema_of_aliases", None)
        old = {"description": f"Another name of '{self.name}'.", "deprecated": True}
        old |= own if other is None else _or_null(other(self))
        return {self.name: told | own, **dict.fromkeys(self.aliases, old)}


def _or_null(schema: JsonObject) -> JsonObject:
    """The schema of an optional field: null counts as not given."""
    match schema:
        case {"enum": [*words]}:
            return schema | {"enum": [*words, None]}
        case {"type": str() as kind}:
            return schema | {"type": [kind, "null"]}
        case {"anyOf": [*options]}:
            return schema | {"anyOf": [*options, {"type": "null"}]}
        case {"$ref": str()}:
            return {"anyOf": [schema, {"type": "null"}]}
        case _:
            return schema


class Table:
    """The fields of one mapping, and the record that they make."""

    def __init__(  # a record that is filled once
        self,
        record: type[Any],
        *entries: Entry,
        what: str = "",
        title: str = "",
        hints: Mapping[str, str] | None = None,
    ) -> None:
        self.record = record
        known = {field.name: field for field in msgspec.structs.fields(record)}
        usual = {name: _default(field) for name, field in known.items()}
        targets = [entry.attribute or entry.name for entry in entries]
        self.entries = tuple(
            msgspec.structs.replace(
                entry, type=_with_words(entry.type, known.get(target)), target=target, default=usual.get(target)
            )
            for entry, target in zip(entries, targets, strict=True)
        )
        self.what = what
        """Names the mapping in messages."""
        self.title = title
        self.hints = hints or {}
        """What to do about fields that belong elsewhere."""
        self._always = tuple(
            entry
            for entry in self.entries
            if entry.is_required or entry.inlined is not None or usual.get(entry.target) is UNSET
        )
        """Entries that are read where they are not given, too: to say so, or since the record cannot do without."""
        self._named = {
            name: entry for entry in self.entries if entry not in self._always for name in (entry.name, *entry.aliases)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The fields as messages list them."""
        return tuple(name for entry in self.entries for name in _names(entry))

    @property
    def aliases(self) -> frozenset[str]:
        """Every other name that is read."""
        return frozenset(name for entry in self.entries for name in entry.aliases)

    def schema(self, description: str = "") -> JsonObject:
        """The JSON Schema of the mapping."""
        required = [one.name for entry in self.entries for one in _entries(entry) if one.is_required]
        found: JsonObject = {"title": self.title} if self.title else {}
        found |= {"description": description} if description else {}
        found |= {"type": "object", "properties": self.properties(), "additionalProperties": False}
        return found | ({"required": required} if required else {})

    def properties(self) -> JsonObject:
        """The JSON Schemas of its fields."""
        found: JsonObject = {}
        for entry in self.entries:
            found |= entry.properties()
        return found

    def values(self, fields: Fields, around: Any = None) -> dict[str, Any]:
        """The given values, by the record's attributes; a required one that is missing is noted."""
        found: dict[str, Any] = {}
        for entry in self._always:
            if entry.is_required and fields.require(entry.name, *entry.aliases, hint=entry.hint) is None:
                continue
            value = entry.type.read(fields, entry, around)
            if value is not UNSET:
                found[entry.target] = value
        named, members = self._named, fields.members
        for name in members:
            if name in named:
                entry = named[name]
                if name != entry.name and _is_read_by_another(name, entry, members):
                    continue
                value = entry.type.read(fields, entry, around)
                if value is not UNSET:
                    found[entry.target] = value
        return found

    def read(self, fields: Fields, around: Any = None) -> Any:
        """The record of the fields."""
        found = self.values(fields, around)
        self.finish(fields)
        return self.record(**found)

    def finish(self, fields: Fields) -> None:
        """Note every field that is none of these."""
        if not fields.are_read:
            fields.finish(self.what, self.names, dict(self.hints))

    def written(self, record: Any, flow: Flow = "graph", *, without: Iterable[str] = ()) -> JsonObject:
        """The record's fields that differ from the defaults, in the notation."""
        found: JsonObject = {}
        for entry in self.entries:
            if entry.attribute is None or entry.target in without:
                continue
            value = getattr(record, entry.target)
            if entry.inlined is not None:
                found |= entry.type.written(value, flow)
            elif (
                entry.is_required or entry.is_always or value != entry.default or type(value) is not type(entry.default)
            ):
                found[entry.name] = entry.type.written(value, flow)
        return found


def _is_read_by_another(name: str, entry: Entry, members: Mapping[str, DocumentNode]) -> bool:
    """Another of the entry's names is given too, and comes before this one."""
    return name != next(one for one in (entry.name, *entry.aliases) if one in members)


def _entries(entry: Entry) -> tuple[Entry, ...]:
    return (entry,) if entry.inlined is None else entry.inlined.entries


def _names(entry: Entry) -> tuple[str, ...]:
    return tuple(one.name for one in _entries(entry))


def _with_words(of: FieldType, field: Any) -> FieldType:
    """The type; a choice that names no words has those of the record's own type."""
    if not isinstance(of, Choice) or of.words or field is None:
        return of
    parts = (field.type, *get_args(field.type))
    return msgspec.structs.replace(of, words=next(get_args(part) for part in parts if get_origin(part) is Literal))


def _default(field: Any) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return UNSET if field.default is msgspec.NODEFAULT else field.default


class AsIs(msgspec.Struct, frozen=True, kw_only=True):
    """A value that is printed as it is."""

    def written(self, value: Any, flow: Flow) -> Json:
        """The value."""
        return value


def _unset(value: Any) -> Any:
    return UNSET if value is None else value


class Text(AsIs, frozen=True, kw_only=True):
    """Text; numbers count as they are written."""

    least: int = 0
    numbers: bool = False
    """Editors let numbers stand."""
    ref: str = ""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        found = fields.optional_text(entry.name, *entry.aliases)
        return UNSET if found is None or (entry.default and not found) else found

    def schema(self, entry: Entry) -> JsonObject:
        if self.ref:
            return {"$ref": f"#/$defs/{self.ref}"}
        if self.numbers:
            return {"anyOf": [{"type": ["string", "number"]}]}
        return {"type": "string", **({"minLength": self.least} if self.least else {})}


class Flag(AsIs, frozen=True, kw_only=True):
    """True or false."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return fields.flag(entry.name, bool(entry.default), *entry.aliases)

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "boolean", "default": bool(entry.default)}


class Whole(AsIs, frozen=True, kw_only=True):
    """A whole number."""

    least: int = 0

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return _unset(fields.integer(entry.name, least=self.least))

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "integer", "minimum": self.least}


class Number(AsIs, frozen=True, kw_only=True):
    """A number from 0."""

    most: float | None = None

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return _unset(fields.number(entry.name, most=self.most))

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "number", "minimum": 0, **({} if self.most is None else {"maximum": self.most})}


class Choice(AsIs, frozen=True, kw_only=True):
    """One of a few words."""

    words: tuple[str, ...] = ()
    """None given: those of the record's type."""
    message: str = ""
    """Of a word that is none of them, without the word."""
    shows: str | None = None
    """The word that editors offer; None: the record's default."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name, *entry.aliases)
        if node is None:
            return UNSET
        message = f"{self.message}: {node.value}" if self.message and isinstance(node.value, str) else ""
        return _unset(fields.choice_in(node, below(fields.path, entry.name), self.words, message))

    def schema(self, entry: Entry) -> JsonObject:
        offered = entry.default if self.shows is None else self.shows
        return {"enum": list(self.words), **({"default": offered} if offered else {})}


class ChoiceOrNull(Choice, frozen=True, kw_only=True):
    """One of the words, of which `null` may be written without quotes."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.members.get(entry.name)
        if node is None or node.value is not None:
            return _unset(fields.choice(entry.name, self.words))
        fields.ignore(entry.name)
        fields.notes.place(below(fields.path, entry.name), node)
        return "null"


class Duration(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds, or text such as `30s`."""

    zero: bool = False
    limits: bool | None = False
    """It ends what takes longer: unlikely ones are noted; None: where the step makes attempts."""
    named: bool = True

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        if self.limits or (self.limits is None and around.is_timed):
            found = fields.time_limit(entry.name, named=self.named)
        else:
            found = fields.duration(entry.name, zero=self.zero)
        return UNSET if found is None else found

    def written(self, value: Any, flow: Flow) -> Json:
        return spelled(value)

    def schema(self, entry: Entry) -> JsonObject:
        return {"$ref": "#/$defs/duration"}


class TextList(msgspec.Struct, frozen=True, kw_only=True):
    """A list of texts; a single text is a list of one."""

    unique: bool = False

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        if fields.node_of(entry.name, *entry.aliases) is None:
            return UNSET
        found = fields.texts(entry.name, *entry.aliases)
        return tuple(dict.fromkeys(found)) if self.unique else found

    def written(self, value: Any, flow: Flow) -> Json:
        return list(value)

    def schema(self, entry: Entry) -> JsonObject:
        return {"$ref": "#/$defs/texts"}


class AnyJson(AsIs, frozen=True, kw_only=True):
    """Any JSON value, with templates in it."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return _unset(fields.json(entry.name, *entry.aliases))

    def schema(self, entry: Entry) -> JsonObject:
        return {}


class Object(AsIs, frozen=True, kw_only=True):
    """A mapping of any JSON values."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        if entry.default is None and fields.node_of(entry.name, *entry.aliases) is None:
            return UNSET
        return fields.mapping(entry.name, *entry.aliases)

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "object"}


class NestedMapping(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping with a table of its own."""

    table: Table
    ref: str = ""
    """Its name among the `$defs`; empty: it stands where it is used."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return _unset(fields.inside(entry.name, self.table.read, entry.hint))

    def written(self, value: Any, flow: Flow) -> Json:
        return self.table.written(value, flow)

    def schema(self, entry: Entry) -> JsonObject:
        return {"$ref": f"#/$defs/{self.ref}"} if self.ref else self.table.schema()
