"""No schema makes a value cost more than a moment, whatever is wrong with it: neither the verdict nor its telling."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest
from tests.json_schema.hostile_schemas import hostile_schema, hostile_value
from tests.soak import scaled

from toolpath.errors import SchemaError
from toolpath.json_schema.fits import fits
from toolpath.json_schema.validate import Validator

#: Seconds of processor time that one value may take. What these cases took before doubled with each level of a value.
A_MOMENT = 1.5
FILTER: dict[str, Any] = {
    "$ref": "#/$defs/any",
    "$defs": {
        "any": {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in ("and", "or", "not", "leaf")]},
        "and": {
            "type": "object",
            "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/any"}}},
            "required": ["and"],
        },
        "or": {
            "type": "object",
            "properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/any"}}},
            "required": ["or"],
        },
        "not": {"type": "object", "properties": {"not": {"$ref": "#/$defs/any"}}, "required": ["not"]},
        "leaf": {
            "type": "object",
            "properties": {"field": {"type": "string"}, "value": {"type": "integer"}},
            "required": ["field", "value"],
        },
    },
}


def told(schema: Any, value: Any) -> tuple[float, str]:
    """Processor time of the answer, and its text."""
    began = time.process_time()
    try:
        Validator(schema).accept(value)
        text = ""
    except SchemaError as error:
        text = str(error) + str(error.faults)
    return time.process_time() - began, text


def nested(depth: int) -> Any:
    value: Any = {"field": "age", "value": "old"}
    for level in range(depth):
        value = ({"and": [value]}, {"or": [value]}, {"not": value})[level % 3]
    return value


@pytest.mark.parametrize("depth", [0, 1, 5, 18, 60])
def test_the_fault_of_a_filter_is_found_however_deep_it_lies(depth: int) -> None:
    seconds, text = told(FILTER, nested(depth))
    assert seconds < A_MOMENT
    assert "value: expected integer, got string 'old'" in text
    assert len(text) < 3_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"not": {"pattern": r"(.*)(.*)(.*)\1\2\3z"}}}, ["x" * 60] * 1_000),
        ({"items": {"enum": [{"a": number} for number in range(5_000)]}}, [{"a": -1}] * 3_000),
        ({"items": {"enum": list(range(20_000))}}, [-1] * 3_000),
        ({"items": {"anyOf": [{"const": number} for number in range(2_000)]}}, [-1] * 2_000),
        ({"contains": {"anyOf": [{"const": number} for number in range(2_000)]}}, [-1] * 2_000),
        ({"items": {"properties": {"a": {"type": "integer"}}}}, [{"a": "5"}] * 300_000),
        ({"required": [f"a{n}" for n in range(3_000)]}, {f"b{n}": 1 for n in range(3_000)}),
        ({"items": {"multipleOf": 0.0001}}, [1e300] * 100_000),
        ({"properties": {f"a{n}": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]} for n in range(2_000)}}, {"a1": "1"}),
        ({"enum": ["a" * 50_000]}, "b" * 5_000_000),
        ({"items": {"not": {"anyOf": [{"exclusiveMaximum": -number} for number in range(200)]}}}, [10**4_000] * 100),
        ({"items": {"not": {"enum": list(range(3_000))}}}, [1.5] * 3_000),
        ({"items": {"not": {"enum": [number + 0.5 for number in range(3_000)]}}}, [1] * 3_000),
        ({"items": {"not": {"enum": [{"a": number} for number in range(300)]}}}, [{"a": 1.5}] * 9_000),
        ({"uniqueItems": True}, [2**63 + number for number in range(6_000)]),
        ({"uniqueItems": True}, [{"a": [-(2**70) - number]} for number in range(6_000)]),
    ],
    ids=[
        *("pattern", "objects", "enum", "anyOf", "contains", "coercion", "required", "division", "branches", "texts"),
        *("digits", "fractions", "options", "members", "unique", "unique members"),
    ],
)
def test_what_is_large_on_both_sides_is_not_their_product(schema: Any, value: Any) -> None:
    seconds, text = told(schema, value)
    assert seconds < A_MOMENT
    assert len(text) < 10_000


def test_a_pattern_that_has_to_try_again_too_often_is_a_fault_of_the_value() -> None:
    seconds, text = told({"properties": {"x": {"pattern": r"(.*)(.*)(.*)\1\2\3z"}}}, {"x": "x" * 60})
    assert seconds < A_MOMENT
    assert "/x: it takes too long to compare this text with its pattern" in text


def test_numbers_as_users_send_them_are_compared() -> None:
    ids = Validator({"items": {"enum": list(range(20_000))}, "uniqueItems": True})
    assert ids.is_valid(list(range(20_000)))
    assert Validator({"items": {"enum": [0.5, 1, 2.5]}}).is_valid([0.5, 2.5] * 5_000)
    assert Validator({"items": {"enum": [1, 2, 3]}}).is_valid([1.0, 2.0] * 5_000)
    assert Validator({"uniqueItems": True}).is_valid([2**64 + number for number in range(500)])
    assert Validator({"items": {"type": "number"}, "uniqueItems": True}).is_valid([n / 7 for n in range(50_000)])


def test_references_that_double_with_each_level_of_the_value_are_refused() -> None:
    defs: dict[str, Any] = {
        f"d{n}": {
            "properties": {"a": {"$ref": f"#/$defs/d{n + 1}"}},
            "patternProperties": {"a": {"$ref": f"#/$defs/d{n + 1}"}},
        }
        for n in range(40)
    }
    with pytest.raises(SchemaError, match="branch too often"):
        Validator({"$ref": "#/$defs/d0", "$defs": {**defs, "d40": {}}})


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 80), (1_509, 1), pytest.param(80, scaled(20_000), marks=[pytest.mark.soak, pytest.mark.timeout(3_600)])],
)
def test_hostile_schemas_and_values_are_answered_in_a_moment(first: int, count: int) -> None:
    for seed in range(first, first + count):
        random = Random(seed)
        schema, value = hostile_schema(random), hostile_value(random)
        seconds, text = told(schema, value)
        assert seconds < A_MOMENT, f"seed {seed}"
        assert len(text) < 50_000, f"seed {seed}"


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 80), (1_509, 1), pytest.param(80, scaled(20_000), marks=[pytest.mark.soak, pytest.mark.timeout(3_600)])],
)
def test_whoever_is_refused_is_told_a_fault_and_whoever_is_not_is_told_none(first: int, count: int) -> None:
    for seed in range(first, first + count):
        random = Random(seed)
        try:
            validator = Validator(hostile_schema(random))
        except SchemaError:
            continue
        value = hostile_value(random)
        assert bool(validator.faults(value)) is not validator.is_valid(value), f"seed {seed}"


LISTS: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/a"}}


@pytest.mark.parametrize(
    "schema",
    [
        {**LISTS, "allOf": [LISTS]},
        {"allOf": [LISTS, LISTS, LISTS]},
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "allOf": [{"$ref": "#/$defs/b"}]},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/a"}, "allOf": [{"$ref": "#/$defs/c"}]},
        {"allOf": [{"enum": [{"n": n} for n in range(300)]}] * 30},
    ],
    ids=["items", "parts", "properties", "more", "values"],
)
@pytest.mark.parametrize("into", ["itself", "lists"])
def test_whether_a_schema_that_doubles_with_each_level_fits_is_answered_in_a_moment(schema: Any, into: str) -> None:
    more = {
        "b": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}},
        "c": {"type": "object", "additionalProperties": {"$ref": "#/$defs/a"}},
    }
    whole = {"$ref": "#/$defs/a", "$defs": {"a": schema, **more}}
    wanted = whole if into == "itself" else {"$ref": "#/$defs/a", "$defs": {"a": LISTS}}
    began = time.process_time()
    fits(whole, wanted)
    assert time.process_time() - began < A_MOMENT
