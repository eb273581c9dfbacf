"""Shorter schemas for prompts that still mean the same."""

import json

from hypothesis import given
from hypothesis import strategies as st

from toolpath.json_schema.shorten import shorten
from toolpath.json_schema.validate import Validator, schema_faults

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Order",
    "description": "An order. " + "It has a long story. " * 40,
    "type": "object",
    "properties": {
        "title": {"type": "string", "title": "Title", "description": "The name of it. " * 10, "examples": ["a"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "note": {"anyOf": [{"type": "string", "maxLength": 100}, {"type": "null"}], "default": None},
    },
    "required": ["title"],
    "$defs": {
        "line": {
            "type": "object",
            "title": "Line",
            "properties": {"item": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}}},
            "required": ["item"],
        },
        "part": {"type": "object", "properties": {"weight": {"type": "number", "description": "In grams"}}},
    },
}


def size(schema):
    return len(json.dumps(schema, separators=(",", ":")))


def test_noise_goes_first_and_properties_named_like_keywords_stay():
    short = shorten(SCHEMA, 10_000)
    assert "title" not in short
    assert short["properties"]["title"]["type"] == "string"
    assert "description" in short["properties"]["title"]
    assert "examples" not in short["properties"]["title"]


def test_a_tighter_limit_cuts_descriptions_then_depth():
    sizes = [size(shorten(SCHEMA, limit)) for limit in (10_000, 1_000, 500, 300, 0)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) >= 4
    assert size(shorten(SCHEMA, 700)) <= 700


def test_the_shortest_form_keeps_the_top_level_and_what_it_requires():
    short = shorten(SCHEMA, 0)
    assert list(short["properties"]) == ["title", "lines", "note"]
    assert short["required"] == ["title"]
    assert short["properties"]["lines"]["type"] == "array"


def test_definitions_that_nothing_refers_to_go():
    schema = {**SCHEMA, "$defs": {**SCHEMA["$defs"], "unused": {"type": "string"}}}
    assert "unused" not in shorten(schema, 10_000)["$defs"]


@given(st.integers(0, 1500))
def test_what_the_schema_accepts_its_short_form_accepts(limit):
    short = shorten(SCHEMA, limit)
    assert schema_faults(short) == ()
    order = {"title": "a", "lines": [{"item": "x", "parts": [{"weight": 1.5}]}], "note": None}
    assert Validator(short).is_valid(order)
    assert not Validator(short).is_valid({"lines": []})


def test_the_schema_given_is_not_changed_and_depth_is_bounded():
    before = json.dumps(SCHEMA)
    shorten(SCHEMA, 0)
    assert json.dumps(SCHEMA) == before
    deep = {"type": "string"}
    for _ in range(10_000):
        deep = {"type": "array", "items": deep}
    assert size(shorten(deep, 200)) <= 200
