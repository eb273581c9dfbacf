"""Validation: what is usable as a schema, what fits it, and how faults are told."""

import datetime

import pytest

from toolpath.errors import SchemaError
from toolpath.json_schema.validate import Validator, null_over_default, schema_faults

AUTHOR = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string"},
        "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
    },
    "required": ["name", "email"],
    "additionalProperties": False,
    "$defs": {"tag": {"enum": ["red", "green"]}},
}
INTEGER = {"type": "integer"}


def refusal(schema, **options):
    with pytest.raises(SchemaError) as caught:
        Validator(schema, **options)
    return caught.value


def test_a_valid_value_is_given_back_as_the_same_object():
    value = {"name": "Ada", "email": "a@b.c", "age": None, "tags": ["red"]}
    assert Validator(AUTHOR).accept(value) is value


def test_a_value_that_needs_conversion_is_copied_and_the_original_stays():
    value = {"name": 7, "email": "a@b.c", "age": "36"}
    assert Validator(AUTHOR).accept(value) == {"name": "7", "email": "a@b.c", "age": 36}
    assert value == {"name": 7, "email": "a@b.c", "age": "36"}


def test_every_fault_is_told_with_its_place_and_what_was_meant():
    faults = dict(Validator(AUTHOR).faults({"emial": "x", "name": 5, "age": "old", "tags": ["gren", "red"]}))
    assert faults == {
        "/name": "expected string, got integer 5",
        "/age": "expected integer or null, got string 'old'",
        "/tags/0": "expected one of \"red\", \"green\", got string 'gren'; did you mean 'green'?",
        "/emial": "unknown property; did you mean 'email'?",
        "": "missing required property 'email'; 'emial' is given",
    }


def test_an_alternative_of_the_right_type_tells_its_own_fault():
    assert Validator(AUTHOR).faults({"name": "a", "email": "b", "age": -1}) == (
        ("/age", "expected at least 0, got -1"),
    )


def test_refusing_a_value_raises_with_all_faults():
    with pytest.raises(SchemaError, match=r"missing required property 'name'.*and 1 more") as caught:
        Validator(AUTHOR).accept({})
    assert len(caught.value.faults) == 2


def test_faults_end_at_the_limit_and_values_are_shortened():
    faults = Validator({"items": {"type": "integer"}}).faults(["x" * 10_000] * 1000, limit=7)
    assert len(faults) == 7
    assert all(len(message) < 200 for _, message in faults)


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"minimum": 3}, 2, "expected at least 3, got 2"),
        ({"exclusiveMaximum": 3}, 3, "expected less than 3, got 3"),
        ({"maxLength": 2}, "abc", "expected at most 2 characters, got 3"),
        ({"minItems": 2}, [1], "expected at least 2 items, got 1"),
        ({"const": "a"}, "b", "expected \"a\", got string 'b'"),
        ({"pattern": "^a"}, "b", "expected text that matches ^a, got string 'b'"),
        ({"multipleOf": 2}, 3, "expected a multiple of 2, got 3"),
        ({"uniqueItems": True}, [1, 1], "expected items that all differ"),
        ({"type": ["integer", "null"]}, "x", "expected integer or null, got string 'x'"),
        ({"type": "integer"}, True, "expected integer, got boolean true"),
        (False, 1, None),
    ],
)
def test_a_fault_says_what_was_expected_and_what_came(schema, value, message):
    ((at, found),) = Validator(schema).faults(value)
    assert at == ""
    assert message is None or found == message


def test_numbers_are_told_apart_as_json_schema_does():
    integer = Validator({"type": "integer"})
    assert integer.is_valid(1.0)
    assert integer.is_valid(10**400)
    assert not integer.is_valid(True)
    assert not integer.is_valid(1.5)


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ({"a": datetime.date(2020, 1, 1)}, "/a"),
        ({"a": [1, {2}]}, "/a/1"),
        ({1: 2}, ""),
        ({"a": "\ud800"}, "/a"),
        ({"a": float("nan")}, "/a"),
        ({"a": float("inf")}, "/a"),
        ({"a": b"x"}, "/a"),
    ],
)
def test_what_is_no_json_is_refused_and_located(value, at):
    validator = Validator({"type": "object", "additionalProperties": {"type": ["integer", "array"], "items": INTEGER}})
    assert not validator.is_valid(value)
    assert validator.faults(value)[0][0] == at
    with pytest.raises(SchemaError):
        validator.accept(value)


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (None, ""),
        ([], ""),
        ("{}", ""),
        ({"type": "strin"}, "/type"),
        ({"properties": {"a": {"required": True}}}, "/properties/a/required"),
        ({"properties": []}, "/properties"),
        ({"properties": {"a": {"pattern": "("}}}, "/properties/a/pattern"),
        ({"pattern": "(((a{1000}){1000}){1000})"}, "/pattern"),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, "/properties/a/$ref"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "/$ref"),
        ({"$ref": "file:///etc/passwd"}, "/$ref"),
        ({"default": datetime.date(2020, 1, 1)}, "/default"),
        ({"description": "\ud800"}, "/description"),
    ],
)
def test_what_is_no_schema_is_refused_and_located(schema, at):
    assert schema_faults(schema)[0][0] == at
    assert refusal(schema).faults[0][0] == at


def test_all_faults_of_a_schema_are_told_at_once():
    schema = {"type": "strin", "properties": {"a": {"$ref": "#/nowhere"}, "b": {"minLength": -1}}}
    assert {at for at, _ in schema_faults(schema)} == {"/type", "/properties/a/$ref", "/properties/b/minLength"}


def test_a_schema_nested_thousands_deep_is_refused_and_not_followed():
    schema = {}
    for _ in range(10_000):
        schema = {"items": schema}
    assert "deep" in schema_faults(schema)[0][1]


def test_schemas_that_are_almost_equal_have_their_own_faults():
    assert schema_faults({"const": None}) == ()
    assert "nan" in schema_faults({"const": float("nan")})[0][1]
    assert schema_faults({"minLength": 1}) == ()
    assert schema_faults({"minLength": True})[0][0] == "/minLength"
    assert schema_faults({"required": ["1"]}) == ()
    assert schema_faults({"properties": {1: {}}})[0][1] == "the key 1 is no JSON text"


def test_references_that_fan_out_without_end_are_refused():
    names = [f"l{index}" for index in range(60)]
    steps = zip(names, [*names[1:], "end"], strict=True)
    schema = {"$defs": {name: {"anyOf": [{"$ref": f"#/$defs/{after}"}] * 2} for name, after in steps}}
    schema["$defs"]["end"] = {"type": "string"}
    schema["$ref"] = "#/$defs/l0"
    assert "too often" in schema_faults(schema)[0][1]


def test_a_chain_of_references_beyond_reason_is_refused():
    schema = {"$defs": {f"l{index}": {"$ref": f"#/$defs/l{index + 1}"} for index in range(5_000)}}
    schema["$defs"]["l5000"] = {}
    assert "too often" in schema_faults(schema)[0][1]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"type": "array", "items": {"$ref": "#"}},
        {"$ref": "#name", "$defs": {"a": {"$anchor": "name", "type": "array"}}},
    ],
)
def test_a_schema_that_refers_to_itself_is_usable(schema):
    assert schema_faults(schema) == ()
    assert Validator(schema).accept([[]]) == [[]]


def test_a_large_schema_is_usable():
    schema = {"properties": {f"p{index}": {"type": "string", "description": "x" * 200} for index in range(5_000)}}
    assert Validator(schema).faults({"p4999": 1}) == (("/p4999", "expected string, got integer 1"),)


def test_a_pattern_that_would_backtrack_for_ever_is_cut_off():
    validator = Validator({"pattern": r"(?=.*a)(.*a){12}\1x$"})
    assert not validator.is_valid("a" * 3000)


@pytest.mark.parametrize(
    ("draft", "schema", "value", "is_valid"),
    [
        ("http://json-schema.org/draft-04/schema#", {"maximum": 5, "exclusiveMaximum": True}, 5, False),
        ("http://json-schema.org/draft-07/schema#", {"items": [{"type": "string"}]}, [1], False),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "string"}]}, [1], False),
        ("https://example.com/a-dialect-of-our-own", {"type": "string"}, "a", True),
    ],
)
def test_the_draft_that_a_schema_names_is_the_one_used(draft, schema, value, is_valid):
    assert Validator({"$schema": draft, **schema}).is_valid(value) is is_valid


def test_formats_are_asserted_only_where_asked():
    schema = {"type": "string", "format": "email"}
    assert Validator(schema).is_valid("nobody")
    assert Validator(schema, formats=True).faults("nobody") == (
        ("", "expected text of the format email, got string 'nobody'"),
    )


def test_a_schema_that_looks_like_one_seen_before_is_judged_by_itself():
    seen = {"type": "object", "properties": {"1": {"type": "integer"}}}
    assert Validator(seen).is_valid({"1": 1})
    assert "is no JSON text" in refusal({"type": "object", "properties": {1: {"type": "integer"}}}).message
    assert not Validator({"const": 1}).is_valid(True)
    assert not Validator({"const": True}).is_valid(1)
    assert refusal({"type": "strin"}).faults == refusal({"type": "strin"}).faults


def test_a_schema_that_was_used_may_be_changed_by_whoever_made_it():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    before = Validator(schema)
    schema["properties"]["a"] = {"type": "string"}
    assert Validator(schema).is_valid({"a": "x"})
    assert before.is_valid({"a": 1})


def test_a_property_with_a_default_may_be_null_only_where_its_schema_says_so():
    schema = {
        "properties": {"a": {"type": ["string", "null"], "default": "x"}, "b": {"type": "string", "default": "y"}}
    }
    assert null_over_default(schema) == {"a"}
    schema["properties"]["b"]["type"] = ["string", "null"]
    assert null_over_default(schema) == {"a", "b"}
