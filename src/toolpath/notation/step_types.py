"""Types of fields of single kinds of steps: the tool of a call, what a loop goes over, the fields of a form."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.model.plan import Field, Flow
from toolpath.notation.field_types import UNSET, AsIs, Entry, Table, Text
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.ids import FORBIDDEN, is_id
from toolpath.notation.reading.notes import Notes, below, shown
from toolpath.notation.reading.parameters import read_inputs
from toolpath.values import Json, JsonObject


class ToolName(Text, frozen=True, kw_only=True):
    """The name of a tool."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is None:
            return ""
        if node.value == "":
            fields.notes.missing(below(fields.path, entry.name), entry.name, node)
        return (fields.text_in(node, below(fields.path, entry.name)) or "").strip()


class Over(AsIs, frozen=True, kw_only=True):
    """A list, or a template that gives one."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is not None and isinstance(node.value, str | list | dict):
            return fields.notes.value(below(fields.path, entry.name), node)
        if node is not None:
            fields.notes.wrong_type(below(fields.path, entry.name), node, "A list, or a template that gives one")
        return UNSET

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": ["string", "array", "object"]}


class LoopVariable(Text, frozen=True, kw_only=True):
    """The name of a loop variable."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name)
        if node is None:
            return UNSET
        if isinstance(node.value, str) and is_id(node.value) and node.value not in FORBIDDEN:
            return node.value
        named = shown(node.value) if isinstance(node.value, str) else "This"
        fields.notes.error(
            "bad_id",
            f"{named} cannot be the name of a loop variable.",
            below(fields.path, entry.name),
            node,
            hint="Use a plain name, for example 'item'.",
        )
        return UNSET


class FormFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a form: a list of them, or a mapping of name → field."""

    table: Table

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node, path = fields.node_of(entry.name), below(fields.path, entry.name)
        if node is None:
            return UNSET
        if isinstance(node.value, list):
            entries: list[tuple[str | None, DocumentNode, str]] = [
                (None, item, below(path, index)) for index, item in enumerate(node.value)
            ]
        elif isinstance(node.value, dict) and _is_schema(node.value):
            fields.notes.error(
                "wrong_type",
                "The fields of a form are no JSON Schema.",
                path,
                node,
                hint="Write a list of fields, as [{name: email, label: Email, type: email, required: true}].",
            )
            return UNSET
        elif isinstance(node.value, dict):
            entries = [(name, item, below(path, name)) for name, item in node.value.items()]
            fields.notes.repeats(path, node)
        else:
            fields.notes.wrong_type(path, node, "A list of fields")
            return UNSET
        found: dict[str, Field] = {}
        for name, item, at in entries:
            field = _form_field(name, item, at, (fields.notes, self.table))
            if field is not None and field.name in found:
                fields.notes.error(
                    "duplicate_field",
                    f"Two fields of the form have the name {shown(field.name)}.",
                    at,
                    item,
                    hint="Labels may be equal, names may not.",
                )
            elif field is not None:
                found[field.name] = field
        return tuple(found.values())

    def written(self, value: Any, flow: Flow) -> Json:
        return [self.table.written(field) for field in value]

    def schema(self, entry: Entry) -> JsonObject:
        field = {"$ref": "#/$defs/field"}
        listed = {"allOf": [field], "required": ["name"]}
        named = {"type": "object", "additionalProperties": {"anyOf": [field, {"type": "null"}]}}
        return {"anyOf": [{"type": "array", "items": listed}, named]}


def _is_schema(members: dict[str, DocumentNode]) -> bool:
    """A person who has just written the inputs of the plan writes those of a form alike."""
    kind, properties = members.get("type"), members.get("properties")
    return kind is not None and kind.value == "object" and properties is not None and isinstance(properties.value, dict)


def _form_field(name: str | None, node: DocumentNode, path: str, way: tuple[Notes, Table]) -> Field | None:
    notes, table = way
    if name is not None and node.value is None:
        return Field(name=name)
    fields = Fields.of(node, path, notes, "Write {name: email, label: Email, type: email}.")
    if fields is None:
        return None
    if name is None:
        named = fields.require("name")
        name = fields.text_in(named, below(path, "name")) if named is not None else None
    given = table.values(fields)
    table.finish(fields)
    return Field(**given | {"name": name}) if name else None


class OptionList(msgspec.Struct, frozen=True, kw_only=True):
    """A list of what can be chosen."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        found = fields.json(entry.name)
        if isinstance(found, list):
            return tuple(found)
        if found is not None:
            fields.notes.wrong_type(below(fields.path, entry.name), fields.members[entry.name], "A list of options")
        return UNSET

    def written(self, value: Any, flow: Flow) -> Json:
        return list(value)

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "array"}


class StepId(Text, frozen=True, kw_only=True):
    """The id of a step; who reads the steps chooses it, since ids of a plan are unique."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return UNSET


class Parameters(AsIs, frozen=True, kw_only=True):
    """Inputs that a plan is given: the JSON Schema of an object, or a list of parameters."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        node = fields.node_of(entry.name, *entry.aliases)
        return UNSET if node is None else read_inputs(node, below(fields.path, entry.name), fields.notes)

    def schema(self, entry: Entry) -> JsonObject:
        return {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a result, each `name` or `name: type`: a list, an object, or a text with commas."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return _columns(fields.json(entry.name))

    def written(self, value: Any, flow: Flow) -> Json:
        return list(value)

    def schema(self, entry: Entry) -> JsonObject:
        return {}


def _columns(written: Json) -> tuple[str, ...]:
    match written:
        case str():
            return tuple(part.strip() for part in written.replace("\uff0c", ",").split(","))
        case dict():
            return tuple(f"{name}: {kind}" for name, kind in written.items())
        case list():
            return tuple(one for part in written for one in ([part] if isinstance(part, str) else _columns(part)))
        case _:
            return () if written is None else (str(written),)
