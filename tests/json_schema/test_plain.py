"""The plainest form of a schema: what it says of values that are there is the same."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath.json_schema.plain import plain_schema

TEXT, NULL = {"type": "string"}, {"type": "null"}


@pytest.mark.parametrize(
    ("schema", "plain"),
    [
        ({"anyOf": [TEXT, NULL], "default": None, "title": "A"}, {"type": "string", "title": "A"}),
        ({"oneOf": [NULL, {"type": "integer", "minimum": 1}]}, {"type": "integer", "minimum": 1}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        ({"type": ["string", "integer", "null"]}, {"type": ["string", "integer"]}),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
        ({"anyOf": [TEXT, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        ({"type": "array", "items": {"anyOf": [TEXT, NULL]}}, {"type": "array", "items": TEXT}),
        ({"allOf": [TEXT], "description": "D"}, {"type": "string", "description": "D"}),
    ],
)
def test_null_is_aside_and_one_choice_is_itself(schema: dict[str, Any], plain: dict[str, Any]) -> None:
    assert plain_schema(schema) == plain


def test_a_reference_stands_in_place_with_what_is_said_beside_it() -> None:
    schema = {
        "properties": {"level": {"$ref": "#/$defs/Level", "description": "How bright"}},
        "$defs": {"Level": {"enum": ["low", "high"], "description": "A level"}},
    }
    plain = plain_schema(schema)
    assert plain["properties"] == {"level": {"enum": ["low", "high"], "description": "How bright"}}


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object", "properties": {"a": TEXT}}, {"type": "array", "items": TEXT}]
)
def test_what_is_plain_is_given_back(schema: dict[str, Any]) -> None:
    assert plain_schema(schema) is schema


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/nowhere"},
        {"$ref": 3, "anyOf": 4, "allOf": {}, "type": 5, "enum": 6, "properties": [], "items": True},
        {"properties": {str(number): {"$ref": "#"} for number in range(50)}},
    ],
)
def test_what_leads_nowhere_or_round_ends(schema: dict[str, Any]) -> None:
    assert isinstance(plain_schema(schema), dict)
