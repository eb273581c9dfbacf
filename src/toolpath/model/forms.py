"""Forms that people fill in: the types that a field may have, and what each takes. Pure.

This is the one table of them. Who reads plans, checks answers, asks over MCP or at the terminal, or offers forms to
models goes by it; the page draws a field by its type in `ui/src/people/FieldInput.vue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from toolpath.values import JsonObject

#: Name of a field's type, as plans and forms have it.
FieldWord = Literal["text", "number", "integer", "email", "password", "textarea", "date", "select", "checkbox", "radio"]


class FieldType(msgspec.Struct, frozen=True, kw_only=True):
    """Type of a field: what an answer to it is."""

    schema: JsonObject
    """JSON Schema of an answer that is typed, not chosen of options: `{"type": …}` alone."""
    format: Literal["", "date", "email"] = ""
    """JSON Schema's name for the form that a typed text must have; empty: any."""
    chooses_several: bool = False
    """With options, any number of them may be chosen, not one."""
    is_secret: bool = False
    """What is typed is shown to nobody and never chosen of options."""


_STRING: Final[JsonObject] = {"type": "string"}
_TEXT: Final = FieldType(schema=_STRING)
FIELD_TYPES: Final[Mapping[str, FieldType]] = {
    "text": _TEXT,
    "number": FieldType(schema={"type": "number"}),
    "integer": FieldType(schema={"type": "integer"}),
    "email": FieldType(schema=_STRING, format="email"),
    "password": FieldType(schema=_STRING, is_secret=True),
    "textarea": _TEXT,
    "date": FieldType(schema=_STRING, format="date"),
    "select": _TEXT,
    "checkbox": FieldType(schema={"type": "boolean"}, chooses_several=True),
    "radio": _TEXT,
}


def field_type(field: JsonObject) -> FieldType:
    """The type of a field of a form in a journal or at a surface; what nobody knows, as tools may write, is text."""
    name: Any = field.get("type")
    return FIELD_TYPES.get(name, _TEXT) if isinstance(name, str) else _TEXT


def takes_several(field: JsonObject) -> bool:
    """Whether any number of the field's options may be chosen; else one."""
    return bool(field.get("options")) and bool(field.get("multiple") or field_type(field).chooses_several)
