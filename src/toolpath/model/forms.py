"""Fields of forms: their types, and what each takes. Pure."""

from __future__ import annotations

from typing import Any, Final

#: Kinds of fields.
FIELD_TYPES: Final = (
    "text",
    "number",
    "integer",
    "email",
    "password",
    "textarea",
    "date",
    "select",
    "checkbox",
    "radio",
)


def takes_several(field: dict[str, Any]) -> bool:
    """Whether any number of the field's options may be chosen; else one."""
    return bool(field.get("options")) and bool(field.get("multiple") or field.get("type") == "checkbox")
