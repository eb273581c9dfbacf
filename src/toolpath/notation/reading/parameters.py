"""Parameters of a plan or tool: a list of `parameters`, or a JSON Schema of an object → JSON Schema."""

from __future__ import annotations

from toolpath.json_schema.members import with_members
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import Notes, alike, below, shown
from toolpath.values import Json, JsonObject

#: The notation's types and the words that people use for them → JSON Schema's.
TYPES = {
    "string": "string",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "null": "null",
    "str": "string",
    "text": "string",
    "int": "integer",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "map": "object",
    "any": "",
}
_PREFERRED = ("string", "integer", "float", "boolean", "array", "object")
_CONSTRAINTS = {
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_value": "minimum",
    "max_value": "maximum",
    "multiple_of": "multipleOf",
    "min_items": "minItems",
    "max_items": "maxItems",
    "options": "enum",
    "choices": "enum",
}
#: Keywords of JSON Schema that pass as they are.
_KEYWORDS = (
    "title",
    "description",
    "default",
    "examples",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "contentMediaType",
    "readOnly",
    "writeOnly",
    "deprecated",
    "$ref",
    "$defs",
    "patternProperties",
    "propertyNames",
)
PARAMETER_FIELDS = ("name", "type", "required", "allow_null", "items", "properties", *_CONSTRAINTS, *_KEYWORDS)
_SCHEMA_WORDS = frozenset(
    {
        "type",
        "properties",
        "required",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "$schema",
        "$defs",
        "additionalProperties",
        "patternProperties",
        "description",
        "title",
        "examples",
        "$id",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "if",
        "not",
    }
)


def read_inputs(node: DocumentNode, path: str, notes: Notes, given_path: str = "") -> JsonObject:
    """The schema of a plan's inputs: a JSON Schema of an object as it is, a list of parameters turned into one."""
    if isinstance(node.value, list):
        return read_parameters(node, given_path or path, notes, canonical=path)
    if not isinstance(node.value, dict):
        notes.wrong_type(path, node, "A JSON Schema of an object, or a list of parameters")
        return {}
    if node.value and _SCHEMA_WORDS.isdisjoint(node.value):
        notes.error(
            "not_a_schema",
            "This is no JSON Schema: it has neither 'type' nor 'properties'.",
            path,
            node,
            hint="Put the inputs under 'properties', and say 'type: object'.",
        )
        return {}
    schema: JsonObject = notes.value(path, node)
    return _usable(schema, node, path, notes)


def _usable(schema: JsonObject, node: DocumentNode, path: str, notes: Notes) -> JsonObject:
    """The schema without those parts of another type that would trip every reader of it."""
    kept = dict(schema)
    if schema.get("type", "object") not in ("object", ["object"]):
        notes.error("wrong_type", "The inputs are an object: 'type: object'.", below(path, "type"), node.value["type"])
        kept["type"] = "object"
    if "properties" in schema and not isinstance(schema["properties"], dict):
        notes.wrong_type(below(path, "properties"), node.value["properties"], "A mapping of name to schema")
        del kept["properties"]
    for name, part in kept.get("properties", {}).items():
        if not isinstance(part, dict | bool):
            member = node.value["properties"].value[name]
            at = below(below(path, "properties"), name)
            notes.wrong_type(at, member, "A schema", "Write {type: string}.")
            kept["properties"] = {**kept["properties"], name: {}}
    required = schema.get("required")
    if required is not None and not (isinstance(required, list) and all(isinstance(name, str) for name in required)):
        hint = "In a JSON Schema, 'required' lists names beside 'properties'."
        notes.wrong_type(below(path, "required"), node.value["required"], "A list of names", hint)
        del kept["required"]
    return with_members(kept)


def read_parameters(node: DocumentNode, path: str, notes: Notes, *, canonical: str = "/inputs") -> JsonObject:
    """The JSON Schema of an object with these parameters: a list of them, or a mapping of name → parameter."""
    notes.place(path, node)
    properties: JsonObject = {}
    required: list[str] = []
    if isinstance(node.value, list):
        entries = [(None, item, below(path, index)) for index, item in enumerate(node.value)]
    elif isinstance(node.value, dict):
        entries = [(name, item, below(path, name)) for name, item in node.value.items()]
        notes.repeats(path, node)
    else:
        notes.wrong_type(path, node, "A list of parameters")
        return {"type": "object", "properties": {}}
    for name, item, at in entries:
        fields = Fields.of(item, at, notes, "Write - {name: query, type: string, required: true}.")
        if fields is None:
            continue
        known = name if name is not None else _name(fields)
        if not known:
            continue
        if known in properties:
            notes.error("duplicate_parameter", f"The parameter {shown(known)} is declared twice.", at, item)
            continue
        notes.place(f"{canonical}{below('/properties', known)}", item)
        if fields.flag("required", False):
            required.append(known)
        properties[known] = _schema(fields)
    schema: JsonObject = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _name(fields: Fields) -> str | None:
    named = fields.require("name")
    return fields.text_in(named, below(fields.path, "name")) if named is not None else None


def read_schema(node: DocumentNode, path: str, notes: Notes, *, named: bool = False) -> JsonObject:
    """The JSON Schema of one value in the parameters' notation: `items`, `returns`, a member of `properties`."""
    fields = Fields.of(node, path, notes, "Write {type: string}.")
    if fields is None:
        return {}
    return _schema(fields, nested=not named)


def _schema(fields: Fields, *, nested: bool = False) -> JsonObject:
    schema: JsonObject = {}
    kinds = _types(fields)
    null_admitted = fields.flag("allow_null", False)
    if kinds:
        with_null = [*kinds, "null"] if null_admitted and "null" not in kinds else kinds
        schema["type"] = with_null[0] if len(with_null) == 1 else with_null
    for name in _KEYWORDS:
        if name in fields.members:
            schema[name] = _json(fields, name)
    for name, keyword in _CONSTRAINTS.items():
        node = fields.node_of(name)
        if node is not None:
            value = _constraint(fields, name, node)
            if value is not None:
                schema.setdefault(_for_arrays(keyword, kinds), value)
    _parts(fields, schema)
    if nested and fields.members.get("required") is not None:
        _nested_required(fields, schema)
    if null_admitted and isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    fields.ignore("name")
    fields.finish("A parameter", PARAMETER_FIELDS)
    return schema


def _json(fields: Fields, name: str) -> Json:
    fields.ignore(name)
    return fields.notes.value(below(fields.path, name), fields.members[name])


def _nested_required(fields: Fields, schema: JsonObject) -> None:
    """`required` of a value inside another: names of its own properties."""
    node = fields.members["required"]
    fields.ignore("required")
    if isinstance(node.value, list):
        schema["required"] = list(fields.texts("required"))
    elif not isinstance(node.value, bool):
        fields.notes.wrong_type(below(fields.path, "required"), node, "A list of names")


def _types(fields: Fields) -> list[str]:
    node = fields.node_of("type")
    if node is None:
        return []
    path = below(fields.path, "type")
    found: list[str] = []
    for item in node.value if isinstance(node.value, list) else [node]:
        word = "null" if item.value is None else item.value
        if not isinstance(word, str):
            fields.notes.wrong_type(path, item, "The name of a type")
        elif word not in TYPES:
            fields.notes.error(
                "unknown_value",
                f"{shown(word)} is no type.",
                path,
                item,
                hint=f"Use one of: {', '.join(_PREFERRED)}.",
                suggestions=alike(word, TYPES),
            )
        elif TYPES[word] and TYPES[word] not in found:
            found.append(TYPES[word])
    return found


def _constraint(fields: Fields, name: str, node: DocumentNode) -> Json:
    path = below(fields.path, name)
    value = fields.notes.value(path, node)
    if name in ("options", "choices"):
        expected, fits = "A list of values", isinstance(value, list)
    elif name in ("min_value", "max_value", "multiple_of"):
        expected, fits = "A number", isinstance(value, int | float) and not isinstance(value, bool)
    else:
        expected, fits = "A whole number", isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if fits:
        return value
    fields.notes.wrong_type(path, node, expected)
    return None


def _for_arrays(keyword: str, kinds: list[str]) -> str:
    """The length of a list is its number of items."""
    if kinds == ["array"]:
        return {"minLength": "minItems", "maxLength": "maxItems"}.get(keyword, keyword)
    return keyword


def _parts(fields: Fields, schema: JsonObject) -> None:
    items = fields.node_of("items")
    if items is not None:
        path = below(fields.path, "items")
        if isinstance(items.value, str):
            schema["items"] = {"type": TYPES[items.value]} if TYPES.get(items.value) else {}
        else:
            schema["items"] = read_schema(items, path, fields.notes)
    properties = fields.node_of("properties")
    if properties is None:
        return
    path = below(fields.path, "properties")
    if isinstance(properties.value, list):
        inner = read_parameters(properties, path, fields.notes, canonical=fields.path)
        schema["properties"] = inner["properties"]
        if "required" in inner:
            schema["required"] = inner["required"]
    elif isinstance(properties.value, dict):
        fields.notes.repeats(path, properties)
        schema["properties"], required = {}, []
        for name, part in properties.value.items():
            schema["properties"][name] = read_schema(part, below(path, name), fields.notes)
            if isinstance(part.value, dict) and (flag := part.value.get("required")) and flag.value is True:
                required.append(name)
        if required:
            schema["required"] = required
    else:
        fields.notes.wrong_type(path, properties, "A mapping of name to schema")
