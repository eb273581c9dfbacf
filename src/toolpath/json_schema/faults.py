"""Faults that jsonschema-rs finds, in our words: a JSON pointer and a short message each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import jsonschema_rs

from toolpath.errors import closest
from toolpath.values import MAX_DEPTH, Json, JsonObject, encode, pointer, type_name

Fault = tuple[str, str]


class SchemaFault(NamedTuple):
    """A fault with what has to be known of it to choose among alternatives."""

    at: str
    message: str
    types: tuple[str, ...] = ()
    """The types that were expected, where the value is of another one."""


_LONGEST_VALUE: Final = 60
_MOST_LISTED: Final = 8
#: Names that are compared to find the one that was meant.
_MOST_NAMES: Final = 500
_MOST_TOLD: Final = 20
#: Parts of a value that are looked at for what JSON does not have: beyond them nobody would find the place by it.
_MOST_PARTS: Final = 50_000
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
    values = values if isinstance(values, list) else list(values)
    texts = [_cut(_json(value)) for value in values[:_MOST_LISTED]]
    return ", ".join(texts) + (f", … ({len(values)} in all)" if len(values) > _MOST_LISTED else "")


def fault_of(error: jsonschema_rs.ValidationError, schema: JsonObject | bool) -> list[SchemaFault]:
    """One error of the validator as faults; `schema` is the one whose keyword failed."""
    at = pointer(*error.instance_path)
    name = error.kind.name
    match name:
        case "additionalProperties" | "unevaluatedProperties":
            declared = _declared(error, schema)
            extras = error.kind.as_dict()["unexpected"]
            return [SchemaFault(at + pointer(extra), surplus(extra, declared)) for extra in extras]
        case "type":
            types: list[str] = error.kind.as_dict()["types"]
            return [SchemaFault(at, f"expected {_or(types)}, got {shown(error.instance)}", tuple(types))]
        case _:
            return [SchemaFault(at, _message(error, name))]


def literal_fault(schema: JsonObject, value: Json) -> SchemaFault:
    """The fault of a value that is none of those that `enum` or `const` lists."""
    if "const" in schema:
        return SchemaFault("", f"expected {listed([schema['const']])}, got {shown(value)}")
    options = schema["enum"]
    return SchemaFault("", f"expected one of {listed(options)}, got {shown(value)}{_meant(value, options)}")


def container_faults(schema: JsonObject, value: list[Json] | JsonObject) -> Iterator[SchemaFault]:
    """The faults of an array or object as a whole. The validator would make a copy of all that is in it."""
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and type_name(value) not in types:
        yield SchemaFault("", f"expected {_or(types)}, got {shown(value)}", tuple(types))
    word, what = ("Items", "items") if isinstance(value, list) else ("Properties", "properties")
    least, most = schema.get(f"min{word}"), schema.get(f"max{word}")
    if least is not None and len(value) < least:
        yield SchemaFault("", f"expected at least {_json(least)} {what}, got {len(value)}")
    if most is not None and len(value) > most:
        yield SchemaFault("", f"expected at most {_json(most)} {what}, got {len(value)}")
    if isinstance(value, dict):
        needed = dict.fromkeys(_needed(schema, value))
        surplus_names = list(itertools.islice((key for key in value if key not in _properties(schema)), _MOST_NAMES))
        for name in itertools.islice(needed, _MOST_TOLD):
            near = closest(name, surplus_names, limit=1)
            told = f"; {near[0]!r} is given" if near else ""
            yield SchemaFault("", f"missing required property {_cut(repr(name))}{told}")


def _needed(schema: JsonObject, value: JsonObject) -> Iterator[str]:
    required = schema.get("required")
    if isinstance(required, list):
        yield from (name for name in required if name not in value)
    for key in ("dependentRequired", "dependencies"):
        for name, names in (schema.get(key) or {}).items():
            if name in value and isinstance(names, list):
                yield from (other for other in names if other not in value)


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def nearest(keyword: str, branches: list[tuple[SchemaFault, ...]], fitting: int, value: Json) -> list[SchemaFault]:
    """The faults that are told where no alternative applies, or too many: those of the one that comes nearest."""
    if fitting:
        return [SchemaFault("", f"fits several alternatives of which only one may apply, got {shown(value)}")]
    deeper = [branch for branch in branches if not any(found.types and not found.at for found in branch)]
    if len(deeper) == 1 or (deeper and keyword == "anyOf"):
        # One with the faults inside comes nearer than one that the value is not even meant to be.
        ranked = [(sum(not f.at for f in branch), len(branch), number) for number, branch in enumerate(deeper)]
        return list(deeper[min(ranked)[2]])
    types = [kind for branch in branches for found in branch if not found.at for kind in found.types]
    if types and not deeper:
        return [SchemaFault("", f"expected {_or(types)}, got {shown(value)}", tuple(types))]
    return [SchemaFault("", f"fits none of the {len(branches)} alternatives, got {shown(value)}")]


def unwanted(value: Json) -> str:
    """The fault where nothing is allowed, in words."""
    return f"nothing is allowed here, got {shown(value)}"


def no_name(schema: JsonObject | bool, value: Json) -> str:
    """The fault of a value that fits what `not` refuses, in words."""
    return f"expected what is not {_cut(_json(schema))}, got {shown(value)}"


def _message(error: jsonschema_rs.ValidationError, name: str) -> str:
    value = error.instance
    detail = error.kind.as_dict()
    if name in _BOUNDS:
        length = len(value) if isinstance(value, str | list | dict) else 0
        return _BOUNDS[name].format(limit=_json(detail["limit"]), value=_cut(_json(value)), length=length)
    match name:
        case "pattern" if "pattern" not in detail:
            return f"it takes too long to compare this text with its pattern, got {shown(value)}"
        case "pattern":
            return f"expected text that matches {_cut(detail['pattern'])}, got {shown(value)}"
        case "format" if detail["format"] == "regex":
            return f"{_cut(repr(value))} is no regular expression that can be used"
        case "format":
            return f"expected text of the format {detail['format']}, got {shown(value)}"
        case "multipleOf":
            return f"expected a multiple of {_json(detail['multiple_of'])}, got {_cut(_json(value))}"
        case _:
            return _cut(error.message.partition("\n")[0], 200)


def _or(types: list[str]) -> str:
    return " or ".join(sorted(dict.fromkeys(types), key=lambda name: name == "null"))


def surplus(name: str, declared: list[str]) -> str:
    """The fault of a property that is not among those declared, in words."""
    near = closest(name, declared[:_MOST_NAMES])
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
    near = closest(value, [option for option in options[:_MOST_NAMES] if isinstance(option, str)], limit=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def foreign(value: Json) -> Fault | None:
    """The first part of the value that JSON does not have, e.g. a date, NaN or a key that is no text.

    Of a very large value only the beginning is looked at.
    """
    waiting: list[tuple[_Way, Json, int]] = [(None, value, 0)]
    left = _MOST_PARTS
    while waiting and left > 0:
        way, part, depth = waiting.pop()
        left -= 1
        if depth > MAX_DEPTH:
            return "", f"nested deeper than {MAX_DEPTH} levels"
        match part:
            case None | bool() | int():
                continue
            case float():
                if not math.isfinite(part):
                    return _at(way), f"{part!r} is no JSON number"
            case str():
                if not _is_unicode(part):
                    return _at(way), "text with a lone surrogate is no JSON"
            case dict():
                for key, item in itertools.islice(part.items(), left):
                    if not isinstance(key, str) or not _is_unicode(key):
                        return _at(way), f"the key {key!r} is no JSON text"
                    waiting.append(((way, key), item, depth + 1))
            case list() | tuple():
                waiting.extend(((way, index), item, depth + 1) for index, item in enumerate(part[:left]))
            case _:
                return _at(way), f"a Python {type(part).__name__} is no JSON value"
    return None


#: How a part is reached: the way to what holds it, and its key or number there.
_Way = tuple["_Way", str | int] | None


def _at(way: _Way) -> str:
    keys: list[str | int] = []
    while way is not None:
        way, key = way
        keys.append(key)
    return pointer(*reversed(keys))


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _json(value: Json) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 1000 else "an integer of hundreds of digits"
    if isinstance(value, str):
        value = value[: 2 * _LONGEST_VALUE]
    elif isinstance(value, list | dict) and len(value) > _LONGEST_VALUE:
        return shown(value)
    try:
        return encode(value).decode()
    except Exception:  # noqa: BLE001  # a message must not fail over the value it shows
        return repr(value)


def _cut(text: str, limit: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
