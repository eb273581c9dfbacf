"""Links: which value of an output is what a parameter wants. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.checks.request.concepts import concepts_of
from toolpath.planner.offline.request.toolbox import Kit, Listed, ToolField

#: Concepts that say nothing of what a thing is.
PALE: Final = frozenset(("id", "name", "number", "path", "such", "new", "show", "title", "call"))


def feeds(field: ToolField, output: ToolField, kit: Kit, listed: Listed | None = None) -> bool:
    """Whether a value of an output is what a parameter wants, by its name and by what it is of."""
    if field.is_list or output.is_list or output.kind in ("bool", "other"):
        return False
    if field.name == output.name:
        return field.kind == output.kind or "text" in (field.kind, output.kind)
    things = frozenset[str]().union(*kit.named) if listed is None else _concepts_of_path(listed)
    wanted = (field.concepts | field.described) - PALE
    if output.name in ("id", "_id", "key", "uuid") and field.kind == "id":
        return bool(things & wanted)
    if output.name in ("name", "path") and field.kind in ("text", "path") and listed is not None:
        return bool(things & wanted) and (output.kind == "path") == (field.kind == "path")
    if listed is not None and field.kind == output.kind == "moment":
        return output.name == field.name
    return False


def is_of(field: ToolField, output: ToolField) -> bool:
    """Whether an output is of the parameter's kind and of its thing: `customer_email` for an `email`."""
    return (
        field.kind == output.kind
        and field.kind in ("email", "id", "phone")
        and bool(field.concepts & output.concepts - PALE)
    )


def _concepts_of_path(listed: Listed) -> frozenset[str]:
    return (
        frozenset[str]().union(*(concepts_of(word) for name in listed.path for word in name.split("_")))
        if listed.path
        else frozenset()
    )
