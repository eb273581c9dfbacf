"""Inputs of a call that is made for each item of a list: what the item gives, and the list was asked for with. Pure."""

from __future__ import annotations

from toolpath.planner.offline.request.fitting import Fitted
from toolpath.planner.offline.request.links import CALLED, gives
from toolpath.planner.offline.request.toolbox import Listed, ToolField
from toolpath.values import Json, JsonObject


def of_list(fitted: Fitted, inputs: JsonObject, lister: tuple[Fitted, Listed, ToolField]) -> JsonObject:
    """Further inputs of a call made for an item: of it, and of what its list was asked for with."""
    read, listed, item_of = lister
    found: JsonObject = {
        one.name: "{{ " + ".".join(("item", *one.path)) + " }}"
        for one in listed.fields
        if one.name in inputs and len(one.path) == 1 and read.calls[0].get(one.name) == inputs[one.name]
    }
    for field in fitted.missing:
        # What a thing is set to is not what it already is.
        if field.name in inputs or (fitted.kit.is_acting and field.kind in ("enum", "bool")):
            continue
        item = next((one for one in listed.fields if gives(field, one, read.kit, listed)), None)
        if item is not None:
            found[field.name] = "{{ " + ".".join(("item", *item.path)) + " }}"
        elif field.name in read.calls[0]:
            found |= literals({field.name: read.calls[0][field.name]})
    if item_of.name in CALLED:
        # What is put somewhere by its name goes there with all that is known of it: an ingredient with its amount.
        names = {one.name: one for one in listed.fields}
        found |= {
            field.name: "{{ item." + field.name + " }}"
            for field in fitted.kit.fields
            if field.name not in {*inputs, *found} and not field.required and field.kind not in ("id", "enum", "bool")
            if field.name in names and _are_alike(field, names[field.name]) and len(names[field.name].path) == 1
        }
    return found


def _are_alike(field: ToolField, output: ToolField) -> bool:
    """Whether a parameter takes the kind of values that an output gives."""
    return field.kind == output.kind or {field.kind, output.kind} <= {"number", "money"}


def literals(inputs: JsonObject) -> JsonObject:
    """The inputs as a plan's: what looks like a template is none."""
    return {name: _literal(value) for name, value in inputs.items()}


def _literal(value: Json) -> Json:
    match value:
        case str():
            return value.replace("{{", "{{ '{{' }}") if "{{" in value else value
        case list():
            return [_literal(one) for one in value]
        case _:
            return value
