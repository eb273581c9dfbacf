"""A schema in its plainest form, to be read for what it means: references in place, null aside, one choice as itself.

`str | None` of Python is `{anyOf: [{type: string}, {type: null}]}`, an `Enum` is a reference to a definition: who reads
which words a value may be wants `{type: string}` and `{enum: […]}`. Values are validated with the schema as it is.
"""

from __future__ import annotations

from typing import Final

from toolpath.json_schema.document import SchemaDocument
from toolpath.values import Json, JsonObject

#: Schemas that are made plain; what lies further in, or comes later, stays as it is.
_MOST: Final = 2_000
_DEEPEST: Final = 6
_CHOICES: Final = ("anyOf", "oneOf")
_NULL: Final = "null"
_OPTIONS: Final = "enum"


def plain_schema(schema: JsonObject) -> JsonObject:
    """The schema in its plainest form; the same object where it has that already."""
    return _PlainReading(schema).plain(schema, 0)


class _PlainReading:
    """One reading of one document."""

    def __init__(self, schema: JsonObject) -> None:
        self._document = SchemaDocument(schema)
        self._left = _MOST

    def plain(self, schema: JsonObject, depth: int) -> JsonObject:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return schema
        whole = self._followed(_in_one(self._followed(schema, depth)), depth)
        whole = self._chosen(whole, depth)
        whole = _without_null(whole)
        return self._inner(whole, depth)

    def _followed(self, schema: JsonObject, depth: int) -> JsonObject:
        """The schema that the reference names, with what stands beside it."""
        reference = schema.get("$ref")
        if not isinstance(reference, str) or depth > _DEEPEST:
            return schema
        target = self._document.target(reference)
        if target is None or not isinstance(target.schema, dict):
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self._followed({**target.schema, **beside}, depth + 1)

    def _chosen(self, schema: JsonObject, depth: int) -> JsonObject:
        """The only choice besides null as the schema itself, and choices of single values as a list of them."""
        for key in _CHOICES:
            choices = schema.get(key)
            if not isinstance(choices, list) or not choices:
                continue
            parts = [
                self.plain(one, depth + 1) for one in choices if isinstance(one, dict) and one.get("type") != _NULL
            ]
            beside = {name: value for name, value in schema.items() if name != key}
            if len(parts) == 1:
                return {**parts[0], **beside}
            options = [option for part in parts for option in _options_of(part)]
            if options and all(map(_options_of, parts)):
                return {**beside, "type": parts[0].get("type", "string"), _OPTIONS: options}
        return schema

    def _inner(self, schema: JsonObject, depth: int) -> JsonObject:
        """The schema with its members and items made plain."""
        changed: JsonObject = {}
        members = schema.get("properties")
        if isinstance(members, dict):
            plain = {name: self._part(part, depth) for name, part in members.items()}
            if any(plain[name] is not part for name, part in members.items()):
                changed["properties"] = plain
        items = schema.get("items")
        if (part := self._part(items, depth)) is not items:
            changed["items"] = part
        return {**schema, **changed} if changed else schema

    def _part(self, part: Json, depth: int) -> Json:
        return self.plain(part, depth + 1) if isinstance(part, dict) else part


def _in_one(schema: JsonObject) -> JsonObject:
    """The one schema that `allOf` holds, as pydantic writes a reference with a description beside it."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        return schema
    return {**parts[0], **{key: value for key, value in schema.items() if key != "allOf"}}


def _options_of(schema: JsonObject) -> list[Json]:
    options = schema.get(_OPTIONS)
    if isinstance(options, list):
        return options
    return [schema["const"]] if "const" in schema else []


def _without_null(schema: JsonObject) -> JsonObject:
    """The schema of a value that is there: null is none of its types, options and defaults."""
    changed: JsonObject = {}
    kinds, options = schema.get("type"), schema.get(_OPTIONS)
    if isinstance(kinds, list):
        left = [kind for kind in kinds if kind != _NULL]
        changed["type"] = left[0] if len(left) == 1 else left
    if "const" in schema and options is None:
        changed[_OPTIONS] = [schema["const"]]
    elif isinstance(options, list) and None in options:
        changed[_OPTIONS] = [option for option in options if option is not None]
    whole = {**schema, **changed} if changed else schema
    if "default" in whole and whole["default"] is None:
        whole = {key: value for key, value in whole.items() if key != "default"}
    return whole
