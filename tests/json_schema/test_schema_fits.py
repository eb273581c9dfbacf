"""Does an output fit an input: verdicts and their reasons."""

import pytest

from toolpath.json_schema.fits import fits, type_text

ANYTHING: dict = {}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
NULL = {"type": "null"}


def record(required=(), closed=False, **properties):
    schema = {"type": "object", "properties": properties}
    if required is not None:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False} if closed else schema


def array(items, **more):
    return {"type": "array", "items": items, **more}


@pytest.mark.parametrize(
    ("output", "wanted", "verdict"),
    [
        (TEXT, TEXT, "fits"),
        (INTEGER, NUMBER, "fits"),
        (INTEGER, TEXT, "fits"),
        (NUMBER, INTEGER, "may"),
        (NUMBER, {"type": ["integer", "string"]}, "fits"),
        (TEXT, NUMBER, "may"),
        (TEXT, FLAG, "may"),
        (FLAG, TEXT, "never"),
        (NULL, TEXT, "never"),
        ({"type": "object"}, TEXT, "never"),
        (TEXT, array(TEXT), "never"),
        ({"type": ["string", "null"]}, TEXT, "may"),
        (TEXT, {"type": ["string", "null"]}, "fits"),
        (ANYTHING, TEXT, "unknown"),
        (ANYTHING, ANYTHING, "fits"),
        (TEXT, ANYTHING, "fits"),
        (ANYTHING, {"type": ["null", "boolean", "number", "string", "array", "object"]}, "fits"),
        ({"properties": {"a": TEXT}}, TEXT, "may"),
    ],
)
def test_types_are_compared(output, wanted, verdict):
    assert fits(output, wanted).verdict == verdict


@pytest.mark.parametrize(
    ("output", "wanted", "verdict"),
    [
        ({"enum": ["1", "2"]}, INTEGER, "fits"),
        ({"enum": ["1", "x"]}, INTEGER, "may"),
        ({"enum": ["x", "y"]}, INTEGER, "never"),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, "fits"),
        ({"enum": ["c"]}, {"enum": ["a", "b"]}, "never"),
        (TEXT, {"enum": ["a"]}, "may"),
        (FLAG, {"enum": [True, False]}, "fits"),
        ({"type": "integer", "minimum": 10}, {"enum": [1, 2]}, "never"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, {"type": "integer", "minimum": 0, "maximum": 10}, "fits"),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 10}, "may"),
        ({"type": "integer", "minimum": 11}, {"type": "integer", "maximum": 10}, "never"),
        ({"type": "number", "exclusiveMinimum": 0}, {"type": "number", "minimum": 0}, "fits"),
        ({"type": "number", "minimum": 0}, {"type": "number", "exclusiveMinimum": 0}, "may"),
        ({"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 2}, "fits"),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 9}, "fits"),
        (TEXT, {"type": "string", "maxLength": 9}, "may"),
        ({"type": "string", "minLength": 10}, {"type": "string", "maxLength": 9}, "never"),
        (TEXT, {"type": "string", "pattern": "^a"}, "may"),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}, "fits"),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}, "may"),
        (TEXT, {"type": "string", "format": "date-time"}, "fits"),
    ],
)
def test_values_bounds_lengths_and_formats_are_compared(output, wanted, verdict):
    assert fits(output, wanted).verdict == verdict


@pytest.mark.parametrize(
    ("output", "wanted", "verdict"),
    [
        (record(["a"], a=TEXT), record(["a"], a=TEXT), "fits"),
        (record(["a"], a=INTEGER), record(["a"], a=TEXT), "fits"),
        (record([], a=TEXT), record(["a"], a=TEXT), "may"),
        (record(None, a=TEXT), record(["a"], a=TEXT), "unknown"),
        (record(["a"], a=TEXT), record(["b"], b=TEXT), "may"),
        (record(["a"], closed=True, a=TEXT), record(["b"], b=TEXT), "never"),
        (record(["a"], a=FLAG), record(a=TEXT), "never"),
        (record(a=FLAG), record(a=TEXT), "may"),
        (record(["a"], closed=True, a=TEXT), record(closed=True, a=TEXT), "fits"),
        (record(["a", "b"], closed=True, a=TEXT, b=TEXT), record(closed=True, a=TEXT), "never"),
        (record(["a"], a=TEXT), record(closed=True, a=TEXT), "unknown"),
        (array(TEXT), array(TEXT), "fits"),
        (array(FLAG), array(TEXT), "may"),
        (array(FLAG, minItems=1), array(TEXT), "never"),
        (array(FLAG), array(TEXT, minItems=1), "never"),
        (array(TEXT, maxItems=1), array(TEXT, minItems=2), "never"),
        ({"type": "array"}, array(TEXT), "unknown"),
        (array(TEXT), {"type": "array", "prefixItems": [TEXT, INTEGER]}, "may"),
        (array(TEXT), {"type": "array", "uniqueItems": True}, "unknown"),
    ],
)
def test_objects_and_arrays_are_compared(output, wanted, verdict):
    assert fits(output, wanted).verdict == verdict


@pytest.mark.parametrize(
    ("output", "wanted", "verdict"),
    [
        (TEXT, {"anyOf": [TEXT, NULL]}, "fits"),
        ({"anyOf": [TEXT, NULL]}, {"anyOf": [NULL, TEXT]}, "fits"),
        (INTEGER, {"anyOf": [TEXT, NULL]}, "fits"),
        (INTEGER, {"oneOf": [TEXT, NULL]}, "fits"),
        (INTEGER, {"oneOf": [INTEGER, NUMBER]}, "may"),
        (INTEGER, {"oneOf": [INTEGER, NULL, array(TEXT)]}, "fits"),
        ({"type": "object"}, {"anyOf": [TEXT, NULL]}, "never"),
        (INTEGER, {"allOf": [INTEGER, {"type": "number"}]}, "fits"),
        (INTEGER, {"allOf": [{"type": "integer", "description": "a count"}]}, "fits"),
        (INTEGER, {"not": TEXT}, "unknown"),
        ({"allOf": [INTEGER, {"minimum": 3}]}, {"type": "integer", "minimum": 1}, "fits"),
        ({"type": ["string", "integer"]}, {"anyOf": [INTEGER, TEXT]}, "fits"),
    ],
)
def test_alternatives_are_compared(output, wanted, verdict):
    assert fits(output, wanted).verdict == verdict


def test_references_are_followed_in_the_roots_given():
    output = {"$defs": {"a": {"enum": ["x"]}}}
    wanted = {"$defs": {"b": {"enum": ["x", "y"]}}}
    fit = fits({"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, output_root=output, input_root=wanted)
    assert fit.verdict == "fits"


def test_recursive_schemas_are_compared_by_induction():
    def tree(value):
        kids = array({"$ref": "#"})
        return record(["v", "kids"], closed=True, v=value, kids=kids)

    assert fits(tree(INTEGER), tree(TEXT)).verdict == "fits"
    assert fits(tree(FLAG), tree(TEXT)).verdict == "never"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"allOf": [{"$ref": "#"}, TEXT]},
        {"$ref": "#/nowhere"},
        {"$ref": "http://example.com/x"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    ],
)
def test_references_that_lead_nowhere_are_unknown_on_either_side(schema):
    assert fits(schema, INTEGER).verdict == "unknown"
    assert fits(INTEGER, schema).verdict == "unknown"


def test_broken_and_huge_schemas_get_an_answer():
    deep = {}
    for _ in range(5_000):
        deep = {"items": deep, "type": "array"}
    assert fits(deep, deep).verdict in ("unknown", "fits")
    many = {"anyOf": [record(**{f"p{index}": TEXT}) for index in range(500)]}
    assert fits(many, many).verdict == "unknown"
    for broken in ({"type": 5}, {"properties": []}, {"enum": "x"}, {"items": 3}, {"required": "a"}, {"anyOf": {}}):
        assert fits(broken, {"type": "integer", "enum": [1]}).reason is not None
        assert fits({"enum": [1]}, broken).reason is not None


def test_no_schema_is_unknown():
    assert fits(None, TEXT).verdict == "unknown"
    assert fits(TEXT, None).verdict == "unknown"


@pytest.mark.parametrize(
    ("output", "wanted", "reason"),
    [
        (TEXT, NUMBER, "string, but number is expected: text fits only where it is a number"),
        ({"type": "object"}, {"anyOf": [TEXT, NULL]}, "object, but string or null is expected"),
        (
            record(["user"], user=record(["tags"], tags=array(FLAG, minItems=1))),
            record(user=record(tags=array(TEXT))),
            "at .user.tags[]: boolean, but string is expected",
        ),
        (record([], a=TEXT), record(["a"]), "'a' is required, but the output need not have it"),
        (
            {"type": "integer", "minimum": 1, "maximum": 14},
            {"type": "integer", "maximum": 7},
            "integer 1 to 14, but integer up to 7 is expected",
        ),
    ],
)
def test_the_reason_names_the_place_and_both_types(output, wanted, reason):
    assert fits(output, wanted).reason == reason


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (None, "anything"),
        ({}, "anything"),
        (False, "nothing"),
        (TEXT, "string"),
        ({"type": "string", "format": "date-time"}, "string (date-time)"),
        ({"type": "integer", "minimum": 1, "maximum": 14}, "integer 1 to 14"),
        ({"type": "number", "exclusiveMinimum": 0}, "number from 0"),
        (array({"type": "object"}), "array of objects"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"anyOf": [INTEGER, NULL]}, "integer or null"),
        ({"enum": ["a", "b"]}, 'one of "a", "b"'),
        ({"const": 5}, "5"),
        ({"$ref": "#/$defs/Author"}, "Author"),
        ({"properties": {}}, "object"),
    ],
)
def test_a_schema_is_told_in_a_few_words(schema, text):
    assert type_text(schema) == text
