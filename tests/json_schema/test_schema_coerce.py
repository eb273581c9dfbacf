"""Coercion without loss: what is converted, what is left, and its laws."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.json_schema.coerce import coerce
from toolpath.json_schema.validate import Validator

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def same(left, right):
    return type(left) is type(right) and left == right


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("5", "integer", 5),
        ("-12", "integer", -12),
        ("5.0", "integer", 5),
        ("1e3", "integer", 1000),
        (1.0, "integer", 1),
        ("2.5", "number", 2.5),
        ("7", "number", 7),
        (5, "string", "5"),
        (2.5, "string", "2.5"),
        (3.0, "string", "3"),
        ("true", "boolean", True),
        ("false", "boolean", False),
    ],
)
def test_what_loses_nothing_is_converted(value, kind, expected):
    assert same(coerce(value, {"type": kind}), expected)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1.5", "integer"),
        (1.5, "integer"),
        ("", "integer"),
        ("", "boolean"),
        ("007", "integer"),
        ("+5", "integer"),
        (" 5", "integer"),
        ("1_000", "integer"),
        ("0x10", "integer"),
        ("٣", "integer"),
        ("-0", "integer"),
        ("NaN", "number"),
        ("Infinity", "number"),
        ("1e400", "number"),
        (f"1{'0' * 400}", "number"),
        ("0.1000000000000000000001", "number"),
        ("9007199254740993.0", "integer"),
        (2.0**60, "integer"),
        ("True", "boolean"),
        ("yes", "boolean"),
        (1, "boolean"),
        (True, "integer"),
        (True, "string"),
        (None, "string"),
        ("null", "null"),
        ("[1]", "array"),
        (5, "array"),
        (float("nan"), "string"),
        (float("inf"), "integer"),
    ],
)
def test_what_would_lose_or_guess_is_left_as_it_is(value, kind):
    assert coerce(value, {"type": kind}) is value


def test_parts_are_converted_at_any_depth_and_through_references():
    schema = {
        "properties": {"items": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"$ref": "#/$defs/n"}}},
        "patternProperties": {"^is_": {"type": "boolean"}},
        "additionalProperties": {"allOf": [{"$ref": "#/$defs/n"}]},
        "$defs": {"n": {"type": ["integer", "null"]}},
    }
    value = {"items": [1, "2", None, "x"], "is_new": "true", "count": "3"}
    before = copy.deepcopy(value)
    assert coerce(value, schema) == {"items": ["1", 2, None, "x"], "is_new": True, "count": 3}
    assert value == before


def test_the_tuple_form_of_older_drafts_is_followed():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "integer"}],
        "additionalItems": {"type": "string"},
    }
    assert coerce(["1", 2], schema) == [1, "2"]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ("5", {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, 5),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "number"}]}, 5),
        ("x", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x"),
        ({"a": "1"}, {"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"type": "null"}]}, {"a": 1}),
        ("5", {"enum": [5, 6]}, 5),
        (5, {"const": "5"}, "5"),
        ("5", {"type": ["integer", "null"]}, 5),
        (1.5, {"type": ["integer", "string"]}, "1.5"),
    ],
)
def test_alternatives_convert_only_what_fits_none_as_it_is(value, schema, expected):
    assert same(coerce(value, schema), expected)


def test_a_value_that_two_alternatives_would_convert_differently_is_left():
    one = {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    other = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    value = {"a": "1", "b": 2}
    schema = {"anyOf": [{**one, "required": ["c"]}, {"type": "null"}]}
    assert coerce(value, schema) is value
    mixed = {"a": "x", "b": "y"}
    assert coerce(mixed, {"anyOf": [one, other]}) is mixed
    crossed = {"a": True, "b": "1"}
    assert coerce(crossed, {"anyOf": [other, one]}) is crossed


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"allOf": [{"$ref": "#"}, {"type": "integer"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$ref": "http://example.com/x"},
    ],
)
def test_references_that_lead_nowhere_end(schema):
    value = ["x"]
    assert coerce(value, schema) is value


def test_a_recursive_schema_converts_a_tree():
    schema = {"properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#"}}}}
    assert coerce({"v": "1", "kids": [{"v": "2", "kids": []}]}, schema) == {"v": 1, "kids": [{"v": 2, "kids": []}]}


def test_a_value_nested_too_deeply_is_left_and_nothing_overflows():
    value = "1"
    for _ in range(5_000):
        value = [value]
    assert coerce(value, {"items": {"$ref": "#"}, "type": ["array", "integer"]}) is value


@given(json_values, types)
def test_coercion_never_changes_the_value_given_and_is_done_after_once(value, kind):
    schema = {"type": kind, "items": {"type": kind}, "additionalProperties": {"type": kind}}
    before = copy.deepcopy(value)
    once = coerce(value, schema)
    assert value == before
    assert same(coerce(once, schema), once)


@given(json_values, types)
def test_a_valid_value_stays_valid(value, kind):
    schema = {"type": kind, "items": {"type": kind}, "additionalProperties": {"type": kind}}
    validator = Validator(schema)
    if validator.is_valid(value):
        assert validator.is_valid(coerce(value, schema))


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_from_its_text(number):
    text = coerce(number, {"type": "string"})
    assert isinstance(text, str)
    assert json.loads(text) == number
    assert coerce(text, {"type": "number"}) == number or number == 0
