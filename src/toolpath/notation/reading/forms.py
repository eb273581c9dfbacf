"""The form of an `ask` step: title, description and the fields a person fills in."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from toolpath.model.plan import Field
from toolpath.notation.nodes import Node
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below, shown

FIELD_FIELDS = ("name", "label", "type", "required", "options", "placeholder", "default")
FIELD_TYPES: tuple[str, ...] = get_args(get_type_hints(Field)["type"])


def read_ask_fields(fields: Fields) -> tuple[str, str, tuple[Field, ...]]:
    """Title, description and fields of a form; `inputs` is a list of fields or a mapping of name → field."""
    title = fields.text("title")
    description = fields.text("description")
    node = fields.node_of("inputs")
    return title, description, _fields_of(node, below(fields.path, "inputs"), fields) if node is not None else ()


def _fields_of(node: Node, path: str, around: Fields) -> tuple[Field, ...]:
    found: dict[str, Field] = {}
    if isinstance(node.value, list):
        entries = [(None, item, below(path, index)) for index, item in enumerate(node.value)]
    elif isinstance(node.value, dict):
        entries = [(name, item, below(path, name)) for name, item in node.value.items()]
        around.notes.repeats(path, node)
    else:
        around.notes.wrong_type(path, node, "A list of fields")
        return ()
    for name, item, at in entries:
        field = _field(name, item, at, around)
        if field is None:
            continue
        if field.name in found:
            around.notes.error(
                "duplicate_field",
                f"Two fields of the form have the name {shown(field.name)}.",
                at,
                item,
                hint="Labels may be equal, names may not.",
            )
            continue
        found[field.name] = field
    return tuple(found.values())


def _field(name: str | None, node: Node, path: str, around: Fields) -> Field | None:
    if name is not None and node.value is None:
        return Field(name=name)
    fields = Fields.of(node, path, around.notes, "Write {name: email, label: Email, type: email}.")
    if fields is None:
        return None
    if name is None:
        named = fields.require("name")
        name = fields.text_in(named, below(path, "name")) if named is not None else None
    kind: Any = fields.choice("type", FIELD_TYPES) or "text"
    options = fields.json("options")
    if options is not None and not isinstance(options, list):
        around.notes.wrong_type(below(path, "options"), fields.members["options"], "A list of options")
        options = None
    field = Field(
        name=name or "",
        label=fields.text("label"),
        type=kind,
        required=fields.flag("required", True),
        options=tuple(options or ()),
        placeholder=fields.text("placeholder"),
        default=fields.json("default"),
    )
    fields.finish("A field of a form", FIELD_FIELDS)
    return field if field.name else None
