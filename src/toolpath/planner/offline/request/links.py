"""Links: which value of an output is what a parameter wants. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.checks.request.concepts import concepts_of
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.told_texts import is_told
from toolpath.planner.offline.request.toolbox import Kit, Listed, Toolbox, ToolField

#: Concepts that say nothing of what a thing is.
PALE: Final = frozenset(("id", "name", "number", "path", "such", "new", "show", "title", "call"))

#: Names of values by which things go besides an id.
_GOING_BY: Final = frozenset(("number", "no", "nr", "code", "reference", "ref", "slug"))


def feeds(field: ToolField, output: ToolField, kit: Kit, listed: Listed | None = None) -> bool:
    """Whether a value of an output is what a parameter wants, by its name and by what it is of."""
    if output.is_list or output.kind in ("bool", "other"):
        return False
    if field.is_list:
        # `track_ids` are made of the `track_id` of each, `seats` of a `seat`.
        if field.kind != "id" or not field.name.endswith("s"):
            return False
        field = msgspec.structs.replace(field, name=field.name[:-1], is_list=False)
    if field.name == output.name:
        return field.kind == output.kind or "text" in (field.kind, output.kind)
    things = frozenset[str]().union(*kit.named) if listed is None else concepts_of_path(listed)
    wanted = (field.concepts | field.described) - PALE
    if output.name in ("id", "_id", "key", "uuid") and field.kind == "id":
        return bool(things & wanted)
    if output.name in _GOING_BY and (field.kind == "id" or field.is_name):
        # `lockerNumber` is the `number` of one of the `lockers`.
        return bool(things & wanted) and output.is_whole == field.is_whole
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


def gives(field: ToolField, item: ToolField, kit: Kit, listed: Listed) -> bool:
    """Whether an item of a list gives what a parameter wants: its id, or the only address that it has."""
    if feeds(field, item, kit, listed) or is_of(field, item):
        return True
    addresses = [one for one in listed.fields if one.kind == item.kind]
    return field.kind == item.kind == "email" and not field.is_list and len(addresses) == 1


def is_only_address(field: ToolField, output: ToolField, kit: Kit) -> bool:
    """Whether a tool that reads one thing gives the only address, or number to call, by which that is written to."""
    if kit.is_acting or field.kind != output.kind or field.kind not in ("email", "phone") or field.is_list:
        return False
    return len([one for one in kit.outputs if one.kind == output.kind]) == 1


def calling(field: ToolField, listed: Listed) -> ToolField | None:
    """The name of an item of a list, for a text that says what is meant: the `title` of a recipe for a `dish`."""
    names = [one for one in listed.fields if one.name in CALLED]
    return names[0] if field.kind == "text" and field.required and not is_told(field) and len(names) == 1 else None


#: Names of values that say what a thing is called.
CALLED: Final = frozenset(("name", "title", "label"))


def is_listed(field: ToolField, box: Toolbox) -> bool:
    """Whether some tool that reads lists what the parameter is."""
    return any(
        gives(field, one, kit, listed)
        for kit in box.kits
        if not kit.is_acting
        for listed in kit.lists
        for one in listed.fields
    )


def output_for(field: ToolField, kit: Kit, part: ClausePart) -> ToolField | None:
    """The output of a tool that a parameter wants, where a clause says whose: `owner.email`."""
    found = [one for one in kit.outputs if feeds(field, one, kit) or is_of(field, one)]
    if field.kind == "email" and not found:
        found = [one for one in kit.outputs if one.kind == "email"]
    said = frozenset[str]().union(*(word.concepts for word in part.words)) if part.words else frozenset()
    named = [one for one in found if concepts_of_path(one) & said - PALE]
    found = named or found
    return found[0] if len(found) == 1 else None


def concepts_of_path(held: ToolField | Listed) -> frozenset[str]:
    """Concepts of the names on the way to a value or a list of an output."""
    words = [word for name in held.path for word in name.split("_")]
    return frozenset[str]().union(*map(concepts_of, words)) if words else frozenset()
