"""Schemas put together from schemas: alternatives, lists, objects, parts that stand for themselves. Pure.

None stands for a value of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolpath.json_schema.locate import Located, locate
from toolpath.model.forms import FIELD_TYPES
from toolpath.model.plan import Field
from toolpath.values import Json, JsonObject, canonical, type_name

Type = JsonObject | None

#: Says of an object or a tool's results inside a larger schema whether values are held to it.
HELD = "x-held"
#: The type of what never comes: a variable that is just being looked at, a branch that is not taken.
NEVER: JsonObject = {"enum": []}
_MOST_ALTERNATIVES = 12
_MOST_PARTS = 20_000
_NULL: JsonObject = {"type": "null"}
_OBJECT: JsonObject = {"type": "object"}
_ARRAY: JsonObject = {"type": "array"}


def standalone(part: JsonObject, root: JsonObject) -> JsonObject:
    """The part of a document as a document of its own, where its references still lead somewhere."""
    if part is root or not _refers(part):
        return part
    kept = {key: root[key] for key in ("$schema",) if key in root}
    return {**kept, **_moved(part, "whole"), "$defs": {"whole": _moved(root, "whole")}}


def embedded(schemas: Mapping[str, JsonObject]) -> tuple[dict[str, JsonObject], JsonObject]:
    """Several documents as parts of one, under the same names, and the definitions that their references need."""
    parts: dict[str, JsonObject] = {}
    definitions: JsonObject = {}
    for name, schema in schemas.items():
        if _is_large(schema):
            parts[name] = {}
        elif _refers(schema):
            mark = f"part_{len(definitions)}"
            definitions[mark] = _moved(schema, mark)
            parts[name] = {"$ref": f"#/$defs/{mark}"}
            if HELD in schema:
                parts[name][HELD] = schema[HELD]
        else:
            parts[name] = schema
    return parts, {"$defs": definitions} if definitions else {}


def object_of(properties: Mapping[str, JsonObject | None]) -> JsonObject:
    """The schema of an object that has these keys and no other."""
    parts, definitions = embedded({name: {} if schema is None else schema for name, schema in properties.items()})
    return {
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "additionalProperties": False,
        HELD: True,
        **definitions,
    }


def list_of(item: JsonObject | None) -> JsonObject:
    """The schema of a list of such items."""
    if item is None:
        return {"type": "array", HELD: True}
    parts, definitions = embedded({"item": item})
    return {"type": "array", "items": parts["item"], HELD: True, **definitions}


def tuple_of(items: Sequence[JsonObject | None]) -> JsonObject:
    """The schema of a list of exactly these items, in this order."""
    parts, definitions = embedded({str(n): {} if item is None else item for n, item in enumerate(items)})
    size = len(items)
    return {
        "type": "array",
        "prefixItems": list(parts.values()),
        "items": False,
        "minItems": size,
        "maxItems": size,
        HELD: True,
        **definitions,
    }


def either(schemas: Iterable[JsonObject | None]) -> JsonObject | None:
    """The schema of a value that is one of these; None where one of them is not known, or there are too many."""
    same: dict[int, JsonObject] = {}
    for schema in schemas:
        if schema is None:
            return None
        same[id(schema)] = schema
    if len(same) > 1:
        same = _merged_literals(same)
    if len(same) > _MOST_ALTERNATIVES * 10 or any(_is_large(schema) for schema in same.values()):
        return None
    different = {canonical(schema): schema for schema in same.values()} if len(same) > 1 else same
    if len(different) > _MOST_ALTERNATIVES:
        return None
    match list(different.values()):
        case []:
            return None
        case [only]:
            return only
        case several:
            parts, definitions = embedded({str(number): schema for number, schema in enumerate(several)})
            return {"anyOf": list(parts.values()), **definitions}


def _merged_literals(schemas: dict[int, JsonObject]) -> dict[int, JsonObject]:
    """The same with all that only list values made one."""
    listing = [schema for schema in schemas.values() if schema.keys() in ({"enum"}, {"const"})]
    if not listing:
        return schemas
    others = {key: schema for key, schema in schemas.items() if not any(schema is one for one in listing)}
    values: dict[bytes, Json] = {}
    for schema in listing:
        for value in schema["enum"] if "enum" in schema else [schema["const"]]:
            values.setdefault(canonical(value), value)
    if not values:
        return others or {id(NEVER): NEVER}
    if len(listing) == 1:
        return {**others, id(listing[0]): listing[0]}
    merged: JsonObject = {"enum": list(values.values())}
    return {**others, id(merged): merged}


def or_null(schema: JsonObject | None) -> JsonObject | None:
    """The schema of a value that is this or null."""
    return either([schema, _NULL])


def of_literal(value: Json, depth: int = 0) -> JsonObject:
    """The schema of what a literal may be replaced by: its type, not its value."""
    match value:
        case dict() if depth < 8 and len(value) <= 100:
            return object_of({name: of_literal(item, depth + 1) for name, item in value.items()})
        case list() if depth < 8 and 0 < len(value) <= 100:
            return list_of(either([of_literal(item, depth + 1) for item in value]))
        case _:
            return {"type": type_name(value)}


def _refers(schema: Json) -> bool:
    """Whether there is a reference in it. What it holds several times is looked at once."""
    waiting, seen = [schema], set[int]()
    while waiting:
        here = waiting.pop()
        if not isinstance(here, dict | list) or id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, dict):
            if "$ref" in here or "$dynamicRef" in here:
                return True
            waiting += here.values()
        else:
            waiting += here
    return False


def _is_large(schema: Json) -> bool:
    """Whether it has more parts than are worth knowing; what it holds several times counts each time."""
    waiting, count = [schema], 0
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
        count += 1
        if count > _MOST_PARTS:
            return True
    return False


def _moved(schema: Json, mark: str) -> Json:
    """The schema with references to `#/…` made to lead to `#/$defs/MARK/…`."""
    match schema:
        case dict():
            return {
                key: f"#/$defs/{mark}{value[1:]}"
                if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/"))
                else _moved(value, mark)
                for key, value in schema.items()
            }
        case list():
            return [_moved(item, mark) for item in schema]
        case _:
            return schema


def ways_to(field: str) -> list[tuple[str | int, ...]]:
    """Where `map_outputs` looks for a field, in turn: a key, a dotted path, and the same inside `data`."""
    dotted = tuple(
        int(part) if part.isdigit() else part for part in field.replace("[", ".").replace("]", "").split(".")
    )
    return [(field,), dotted, ("data", field), ("data", *dotted)]


def field_of(output: Type, field: str) -> Located:
    """Where `map_outputs` finds a field."""
    ways = ways_to(field)
    found = locate(output, ways[0])
    for way in ways[1:]:
        if found.found != "missing":
            break
        other = locate(output, way)
        found = other if other.found == "found" else found
    return found


def shape_of(value: Json) -> Type:
    """The type of a value with templates, whatever they give."""
    match value:
        case dict():
            return _OBJECT
        case list():
            return _ARRAY
        case _:
            return None


def of_field(field: Field) -> JsonObject:
    """The schema of what a person answers in a field of a form."""
    kind = FIELD_TYPES[field.type]
    is_chosen = bool(field.options) and kind.is_chosen
    schema: JsonObject = {"enum": list(field.options)} if is_chosen else kind.schema
    if is_chosen and kind.chooses_several:
        schema = {"type": "array", "items": schema}
    return schema if field.required else or_null(schema) or {}
