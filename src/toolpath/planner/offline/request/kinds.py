"""Kinds of values: whether one may be meant for a parameter. Pure."""

from __future__ import annotations

from toolpath.catalog.words import stem
from toolpath.checks.request.concepts import listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.toolbox import Toolbox, ToolField, concepts_in, is_other_code
from toolpath.values import Json


def is_of_kind(value: Json, field: ToolField, box: Toolbox) -> bool:
    """Whether a value may be meant for a parameter; of what an earlier step gives nothing is known."""
    if not isinstance(value, str) or "{{" in value:
        return True
    match field.kind:
        case "phone":
            return sum(letter.isdigit() for letter in value) > 4
        case "email":
            return "@" in value
        case "day" | "moment" | "time":
            # A word for a day is none where nothing says which it is: `Friday`.
            return any(letter.isdigit() for letter in value)
        case "id":
            prefix = box.prefix_of(field)
            is_own = not prefix or value.casefold().startswith(prefix.casefold())
            return is_own or is_other_code(value, field, box)
        case "enum":
            return value in field.options or field.is_list
        case "text" | "place" | "person" | "company":
            # `die Tabelle`: the parameter's own name is no value of it.
            return not (
                concepts_in(value)
                and concepts_in(value) - {stem(folded(value))} <= field.concepts - {stem(folded(value))}
                and listed_concepts(value) & field.concepts
            )
        case _:
            return True
