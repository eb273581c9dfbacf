"""What jsonschema-rs finds wrong, in our words: a JSON pointer and a short message each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import jsonschema_rs

from toolpath.errors import closest
from toolpath.values import MAX_DEPTH, Json, JsonObject, encode, pointer, type_name

Fault = tuple[str, str]

_LONGEST_VALUE: Final = 60
_MOST_LISTED: Final = 8
_BOUNDS: Final = {
    "minimum": "expected at least {limit}, got {value}",
    "maximum": "expected at most {limit}, got {value}",
    "exclusiveMinimum": "expected more than {limit}, got {value}",
    "exclusiveMaximum": "expected less than {limit}, got {value}",
    "minLength": "expected at least {limit} characters, got {length}",
    "maxLength": "expected at most {limit} characters, got {length}",
    "minItems": "expected at least {limit} items, got {length}",
    "maxItems": "expected at most {limit} items, got {length}",
    "minProperties": "expected at least {limit} properties, got {length}",
    "maxProperties": "expected at most {limit} properties, got {length}",
}


def shown(value: Json) -> str:
    """The value with its type, shortened, e.g. `string 'abc'` or `array of 3 items`."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean {str(value).lower()}"
        case str():
            return f"string {_cut(repr(value[: _LONGEST_VALUE + 1]))}"
        case int():
            return f"integer {_cut(str(value) if value.bit_length() < 1000 else 'of hundreds of digits')}"
        case list() | tuple():
            return f"array of {_count(len(value), 'item')}"
        case dict():
            keys = ", ".join(str(key) for key in list(value)[:4])
            return f"object {_cut('{' + keys + (', …' if len(value) > 4 else '') + '}')}"
        case _:
            return f"{type_name(value)} {_cut(repr(value))}"


def listed(values: Iterable[Json]) -> str:
    """Several values as JSON, joined by commas and shortened."""
    values = list(values)
    texts = [_cut(_json(value)) for value in values[:_MOST_LISTED]]
    return ", ".join(texts) + (f", … ({len(values)} in all)" if len(values) > _MOST_LISTED else "")


def fault_of(error: jsonschema_rs.ValidationError, root: JsonObject | bool) -> list[Fault]:
    """One error of the validator as faults; an alternative that fits nowhere tells of its nearest branch."""
    at = pointer(*error.instance_path)
    name = error.kind.name
    match name:
        case "anyOf" | "oneOf" if context := getattr(error.kind, "context", None):
            return _of_alternatives(error, context, root)
        case "required":
            return [(at, _missing(error, root))]
        case "additionalProperties" | "unevaluatedProperties":
            return [(at + pointer(extra), _surplus(extra, error, root)) for extra in error.kind.as_dict()["unexpected"]]
        case _:
            return [(at, _message(error, name))]


def _message(error: jsonschema_rs.ValidationError, name: str) -> str:
    value = error.instance
    detail = error.kind.as_dict()
    if name in _BOUNDS:
        length = len(value) if isinstance(value, str | list | dict) else 0
        return _BOUNDS[name].format(limit=_json(detail["limit"]), value=_cut(_json(value)), length=length)
    match name:
        case "type":
            return f"expected {_or(detail['types'])}, got {shown(value)}"
        case "enum":
            return f"expected one of {listed(detail['options'])}, got {shown(value)}{_meant(value, detail['options'])}"
        case "const":
            return f"expected {listed([detail['expected_value']])}, got {shown(value)}"
        case "pattern":
            return f"expected text that matches {_cut(detail['pattern'])}, got {shown(value)}"
        case "format" if detail["format"] == "regex":
            return f"{_cut(repr(value))} is no regular expression that can be used"
        case "format":
            return f"expected text of the format {detail['format']}, got {shown(value)}"
        case "multipleOf":
            return f"expected a multiple of {_json(detail['multiple_of'])}, got {_cut(_json(value))}"
        case "uniqueItems":
            return "expected items that all differ"
        case "oneOf":
            return f"fits several alternatives of which only one may apply, got {shown(value)}"
        case "falseSchema" | "false schema":
            return f"nothing is allowed here, got {shown(value)}"
        case _:
            return _cut(error.message.partition("\n")[0], 200)


def _of_alternatives(
    error: jsonschema_rs.ValidationError, context: list[list[jsonschema_rs.ValidationError]], root: JsonObject | bool
) -> list[Fault]:
    here = error.instance_path
    deeper = [branch for branch in context if branch and not _is_other_type(branch, here)]
    if len(deeper) == 1 or (deeper and error.kind.name == "anyOf"):
        nearest = min(deeper, key=len)
        return [fault for inner in nearest for fault in fault_of(inner, root)]
    types = [kind for branch in context for inner in branch if inner.kind.name == "type" for kind in _types(inner)]
    at = pointer(*here)
    if types and not deeper:
        return [(at, f"expected {_or(types)}, got {shown(error.instance)}")]
    return [(at, f"fits none of the {len(context)} alternatives, got {shown(error.instance)}")]


def _is_other_type(branch: list[jsonschema_rs.ValidationError], here: list[str | int]) -> bool:
    return any(inner.kind.name == "type" and inner.instance_path == here for inner in branch)


def _types(error: jsonschema_rs.ValidationError) -> list[str]:
    types: list[str] = error.kind.as_dict()["types"]
    return types


def _or(types: list[str]) -> str:
    return " or ".join(sorted(dict.fromkeys(types), key=lambda name: name == "null"))


def _missing(error: jsonschema_rs.ValidationError, root: JsonObject | bool) -> str:
    name = error.kind.as_dict()["property"]
    given = error.instance if isinstance(error.instance, dict) else {}
    surplus = [key for key in given if key not in _declared(error, root)]
    near = closest(name, surplus, limit=1)
    return f"missing required property {name!r}" + (f"; {near[0]!r} is given" if near else "")


def _surplus(name: str, error: jsonschema_rs.ValidationError, root: JsonObject | bool) -> str:
    declared = _declared(error, root)
    near = closest(name, declared)
    if near:
        return f"unknown property; did you mean {' or '.join(repr(found) for found in near)}?"
    known = f"; there are {listed(declared)}" if declared else ""
    return f"unknown property {_cut(repr(name))}{known}"


def _declared(error: jsonschema_rs.ValidationError, root: JsonObject | bool) -> list[str]:
    """The names of `properties` beside the keyword that failed."""
    schema: Json = root
    for part in error.schema_path[:-1]:
        try:
            schema = schema[part]
        except (LookupError, TypeError):
            return []
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _meant(value: Json, options: list[Json]) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE:
        return ""
    near = closest(value, [option for option in options if isinstance(option, str)], limit=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def foreign(value: Json) -> Fault | None:
    """The first part of the value that JSON does not have, e.g. a date, NaN or a key that is no text."""
    waiting: list[tuple[str, Json, int]] = [("", value, 0)]
    while waiting:
        at, part, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return "", f"nested deeper than {MAX_DEPTH} levels"
        match part:
            case None | bool() | int():
                continue
            case float():
                if not math.isfinite(part):
                    return at, f"{part!r} is no JSON number"
            case str():
                if not _is_unicode(part):
                    return at, "text with a lone surrogate is no JSON"
            case dict():
                for key, item in part.items():
                    if not isinstance(key, str) or not _is_unicode(key):
                        return at, f"the key {key!r} is no JSON text"
                    waiting.append((at + pointer(key), item, depth + 1))
            case list() | tuple():
                waiting.extend((at + pointer(index), item, depth + 1) for index, item in enumerate(part))
            case _:
                return at, f"a Python {type(part).__name__} is no JSON value"
    return None


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _json(value: Json) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 1000 else "an integer of hundreds of digits"
    try:
        return encode(value).decode()
    except Exception:  # noqa: BLE001  # a message must not fail over the value it shows
        return repr(value)


def _cut(text: str, limit: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
