"""Forms that people fill in: the types that a field may have, and what each takes. Pure.

This is the one table of them. Who reads plans, checks answers, asks over MCP or at the terminal, or offers forms to
models goes by it; the page draws a field by its type in `ui/src/people/FieldInput.vue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from toolpath.values import Json, JsonObject

#: Name of a field's type, as plans and forms have it.
FieldWord = Literal[
    "text", "number", "integer", "email", "password", "textarea", "date", "select", "checkbox", "radio", "file"
]


class FormFieldType(msgspec.Struct, frozen=True, kw_only=True):
    """Type of a field: what an answer to it is."""

    schema: JsonObject
    """JSON Schema of an answer that is typed, not chosen of options: `{"type": …}` alone."""
    format: Literal["", "date", "email"] = ""
    """JSON Schema's name for the form that a typed text must have; empty: any."""
    chooses_several: bool = False
    """With options, any number of them may be chosen, not one."""
    is_secret: bool = False
    """What is typed is shown to nobody and never chosen of options."""
    is_file: bool = False
    """A file of an upload is answered, never one of options; the run has it as a file of its folder."""

    @property
    def is_chosen(self) -> bool:
        """Options of the field are what may be answered."""
        return not (self.is_secret or self.is_file)


_STRING: Final[JsonObject] = {"type": "string"}
_TEXT: Final = FormFieldType(schema=_STRING)
#: A file that was answered, as the run has it: `path` in its folder.
_FILE: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "path": _STRING,
        "name": _STRING,
        "size": {"type": "integer"},
        "type": _STRING,
    },
    "required": ["path", "name", "size", "type"],
    "additionalProperties": False,
}
FIELD_TYPES: Final[Mapping[str, FormFieldType]] = {
    "text": _TEXT,
    "number": FormFieldType(schema={"type": "number"}),
    "integer": FormFieldType(schema={"type": "integer"}),
    "email": FormFieldType(schema=_STRING, format="email"),
    "password": FormFieldType(schema=_STRING, is_secret=True),
    "textarea": _TEXT,
    "date": FormFieldType(schema=_STRING, format="date"),
    "select": _TEXT,
    "checkbox": FormFieldType(schema={"type": "boolean"}, chooses_several=True),
    "radio": _TEXT,
    "file": FormFieldType(schema=_FILE, is_file=True),
}


def field_type(field: JsonObject) -> FormFieldType:
    """The type of a field of a form in a journal or at a surface; what nobody knows, as tools may write, is text."""
    name: Any = field.get("type")
    return FIELD_TYPES.get(name, _TEXT) if isinstance(name, str) else _TEXT


def takes_several(field: JsonObject) -> bool:
    """Whether any number of the field's options may be chosen; else one."""
    kind = field_type(field)
    return kind.is_chosen and bool(field.get("options")) and bool(field.get("multiple") or kind.chooses_several)


class ChosenFile(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a field of a file as who answers gives it: a file of an upload."""

    upload_id: str
    name: str = ""
    """Empty: the one that the upload has."""


def chosen_file(value: Json) -> ChosenFile | None:
    """The file that is meant: `{upload_id, name}`, or a text `UPLOAD/NAME` or `UPLOAD`; None: no such answer."""
    match value:
        case str():
            upload_id, _, name = value.partition("/")
            return ChosenFile(upload_id=upload_id, name=name)
        case {"upload_id": str(upload_id), "name": str(name)} if len(value) == 2:
            return ChosenFile(upload_id=upload_id, name=name)
        case {"upload_id": str(upload_id)} if len(value) == 1:
            return ChosenFile(upload_id=upload_id)
        case _:
            return None


def is_kept_file(value: Json) -> bool:
    """Whether the value is a file as the run has it."""
    if not isinstance(value, dict) or set(value) != set(_FILE["properties"]):
        return False
    size = value["size"]
    texts = (value["path"], value["name"], value["type"])
    return isinstance(size, int) and not isinstance(size, bool) and all(isinstance(text, str) for text in texts)
