"""What a schema says about a path: found, missing or not known, and what is there instead."""

import pytest

from toolpath.json_schema.locate import locate, path_text

TEXT = {"type": "string"}
USER = {"type": "object", "properties": {"id": TEXT, "age": {"type": "integer"}}, "required": ["id"]}
PAGE = {
    "type": "object",
    "properties": {
        "owner": {"anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}]},
        "users": {"type": "array", "items": {"$ref": "#/$defs/user"}},
        "pair": {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "items": False},
        "scores": {"type": "object", "additionalProperties": {"type": "number"}},
        "extra": {"type": "object"},
        "any": {},
        "both": {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}, "required": ["b"]}]},
        "kind": {"oneOf": [{"properties": {"cat": TEXT}}, {"properties": {"dog": {"type": "integer"}}}]},
        "x-by": {"type": "object", "patternProperties": {"^n": {"type": "boolean"}}, "additionalProperties": False},
    },
    "required": ["users", "pair"],
    "$defs": {"user": USER},
}


@pytest.mark.parametrize(
    ("path", "schema", "optional"),
    [
        ((), PAGE, False),
        (("users", 0, "id"), TEXT, False),
        (("users", 0, "age"), {"type": "integer"}, True),
        (("users", None, "id"), TEXT, False),
        (("users", -1, "id"), TEXT, False),
        (("owner", "id"), TEXT, True),
        (("pair", 1), {"type": "integer"}, False),
        (("scores", "ada"), {"type": "number"}, True),
        (("scores", None), {"type": "number"}, True),
        (("any",), {}, True),
        (("both", "a"), TEXT, True),
        (("kind", "dog"), {"type": "integer"}, True),
        (("x-by", "new"), {"type": "boolean"}, True),
    ],
)
def test_a_place_is_found_with_its_schema(path, schema, optional):
    located = locate(PAGE, path)
    assert (located.found, located.schema, located.optional) == ("found", schema, optional)
    assert located.root is PAGE


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (("nobody",), "the value is an object without .nobody"),
        (("users", "id"), ".users is an array of user: take one item, e.g. [0].id"),
        (("users", 0, "name"), ".users[0] is an object without .name"),
        (("users", 0, "id", "x"), ".users[0].id is a string without .x"),
        (("pair", 2), ".pair is an array without [2]"),
        (("x-by", "old"), "['x-by'] is an object without .old"),
        ((0,), "the value is an object without [0]"),
        (("kind", "cow"), None),
    ],
)
def test_a_place_that_is_not_there_is_missing_with_the_reason(path, reason):
    located = locate(PAGE, path)
    assert located.found == "missing"
    assert located.schema is None
    assert reason is None or located.reason == reason


def test_what_is_there_instead_is_listed_with_types():
    assert locate(PAGE, ("owner", "name")).available == ("id: string", "age: integer")
    assert "users: array of user" in locate(PAGE, ("nobody",)).available


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (None, ("a",)),
        ({}, ("a",)),
        (PAGE, ("extra", "a")),
        (PAGE, ("any", "a")),
        (PAGE, ("any", 0)),
        ({"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}, ("b",)),
        ({"$ref": "#"}, ("a",)),
        ({"$ref": "http://example.com/x"}, ("a",)),
        ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, ("a",)),
        ({"type": "array"}, (0,)),
    ],
)
def test_what_the_schema_does_not_say_is_unknown_with_a_reason(schema, path):
    located = locate(schema, path)
    assert located.found == "unknown"
    assert located.reason


def test_a_recursive_schema_is_followed_as_far_as_the_path_goes():
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}, "v": TEXT}}
    assert locate(tree, ("kids", 0) * 50 + ("v",)).schema == TEXT


def test_a_path_is_written_as_expressions_write_it():
    assert path_text(("a", "b-c", 0, None)) == ".a['b-c'][0][…]"
