"""Schemas and values made to cost a validator as much as can be: recursive, with alternatives in alternatives."""

from __future__ import annotations

from random import Random
from typing import Any

DEFS = ("a", "b", "c", "d")
PATTERNS = (r"(.*)(.*)(.*)\1\2\3z", r"^(?=(a+)+$)b", r"(?=a)(a|a)*b", "^a", r"(a?){30}(?=b)a{30}")


def hostile_schema(random: Random) -> dict[str, Any]:
    """A schema whose definitions refer to one another."""
    size = random.choice((2, 3, 6, 12, 24))
    names = [f"{name}{number}" for number in range(size) for name in DEFS[: random.randint(1, 4)]]
    forward = random.random() < 0.4
    defs = {}
    for index, name in enumerate(names):
        known = names[index + 1 :] if forward else names
        defs[name] = _part(random, known, random.randint(1, 3))
    return {"$ref": f"#/$defs/{names[0]}", "$defs": defs}


def _part(random: Random, names: list[str], depth: int) -> Any:
    if depth == 0 or random.random() < 0.2:
        return _leaf(random, names)
    inner = [_part(random, names, depth - 1) for _ in range(random.randint(2, 4))]
    match random.randrange(9):
        case 0 | 1:
            return {random.choice(("anyOf", "oneOf", "allOf")): inner}
        case 2:
            return {"properties": {"x": inner[0]}, "patternProperties": {"x": inner[1]}}
        case 3:
            return {"items": inner[0], "contains": inner[1], "type": ["array", "object"]}
        case 4:
            return {"not": inner[0]}
        case 5:
            return {"if": inner[0], "then": inner[1], "else": inner[-1]}
        case 6:
            return {"anyOf": inner, "unevaluatedProperties": inner[0], "required": ["y"]}
        case 7:
            return {"type": "object", "properties": {"x": inner[0]}, "required": ["x"], "additionalProperties": False}
        case _:
            return {"items": {"anyOf": inner}, "uniqueItems": True, "properties": {"x": {"oneOf": inner}}}


def _leaf(random: Random, names: list[str]) -> Any:
    if names and random.random() < 0.7:
        return {"$ref": f"#/$defs/{random.choice(names)}"}
    return random.choice(
        (
            {"type": "integer"},
            {"type": "string", "pattern": random.choice(PATTERNS)},
            {"enum": [{"k": number} for number in range(random.choice((3, 300)))]},
            {"enum": list(range(random.choice((3, 3_000))))},
            {"const": "right"},
            {"multipleOf": 0.0001},
            {"minProperties": 5},
        )
    )


def hostile_value(random: Random) -> Any:
    """A deep value, a wide one, or both."""
    value: Any = random.choice(("wrong", 7, 1e300, 10**4000, "a" * 60, None))
    shape = random.randrange(3)
    if shape:
        value = [value if random.random() < 0.9 else {"x": number} for number in range(random.choice((10, 3_000)))]
    if shape != 1:
        for _ in range(random.choice((5, 18, 40, 90))):
            value = {"x": value} if random.random() < 0.6 else [value]
    return value
