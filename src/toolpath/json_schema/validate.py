"""Validation of a value by its schema: whether it fits, what is wrong, and the value as a call may use it."""

from __future__ import annotations

import functools
from typing import Final

import jsonschema_rs
import msgspec

from toolpath.errors import OutputInvalid, SchemaError
from toolpath.json_schema.coerce import coerce_in
from toolpath.json_schema.descent import Descent, TooMuchWork
from toolpath.json_schema.document import DRAFT_ADDRESSES, PATTERNS, SchemaDocument, draft_of
from toolpath.json_schema.faults import Fault, SchemaFault, fault_of, foreign, shown
from toolpath.json_schema.load import HEAVIEST, SchemaLoad, excess, load_of, size
from toolpath.json_schema.references import lost_references, tangle
from toolpath.values import Json, JsonObject, decode, encode, pointer

_MOST_FAULTS: Final = 20
_MOST_SCHEMA_FAULTS: Final = 20
#: Parts of a schema; preparing this many takes a tenth of a second.
_LARGEST_SCHEMA: Final = 200_000
#: Bytes of a schema's text up to which its faults are remembered.
_LONGEST_KNOWN: Final = 64_000
#: Bytes of a schema's text up to which it is kept made ready, and how many are.
_SHORT: Final = 4_000
_MOST_READY: Final = 256


class Validator:
    """A schema made ready once, for any number of values.

    Values are JSON as `values.plain` or `values.decode` give them. Formats are asserted only where `formats` says so.
    Raises `SchemaError` for a schema that is none; its `faults` point into the schema.
    """

    __slots__ = ("_compiled", "_document", "_formats", "_is_valid", "_load", "is_valid_json")

    def __init__(self, schema: JsonObject | bool, *, formats: bool = False) -> None:
        made = _compiled(schema, formats=formats)
        if isinstance(made, tuple):
            raise SchemaError(_summary("The schema is no usable JSON Schema", made), faults=made)
        self._document = SchemaDocument(schema)
        self._formats = formats
        self._compiled = made.validator.is_valid
        self._load = made.load
        self._is_valid = self._compiled if self._load.light else self._is_valid_in_time
        #: `is_valid` for values that are known to be JSON: mostly the compiled check itself, nothing around it.
        self.is_valid_json = self._is_valid

    def is_valid(self, value: Json) -> bool:
        """Whether the value fits as it is; false where the schema looks at a part that is no JSON."""
        try:
            return self._is_valid(value)
        except (ValueError, TypeError):
            return False

    def _is_valid_in_time(self, value: Json) -> bool:
        """Whether the value fits; false where it is too large to be compared with so many schemas."""
        return excess(value, self._load) is None and self._compiled(value)

    def faults(self, value: Json, limit: int = _MOST_FAULTS) -> tuple[Fault, ...]:
        """Pairs of JSON pointer into the value and what is wrong there, at most `limit`; empty for a valid value."""
        if self.is_valid(value):
            return ()
        return self._told(value, limit, foreign(value))

    def _told(self, value: Json, limit: int, strange: Fault | None) -> tuple[Fault, ...]:
        """The faults of a value that does not fit."""
        if strange is not None:
            return (strange,)
        if not self._load.light and (reason := excess(value, self._load)) is not None:
            return (("", reason),)
        try:
            found = Descent(self._document, formats=self._formats).faults(value)
        except TooMuchWork:
            found = ()
        if not found:
            # As with `unevaluatedProperties`, or a search for a pattern that was given up.
            return (("", f"does not fit its schema, got {shown(value)}"),)
        return tuple((at, message) for at, message, _ in found[:limit])

    def accept(self, value: Json) -> Json:
        """The value itself where it is valid, else its losslessly coerced copy where that is.

        Raises `SchemaError` otherwise, with the faults that are left.
        """
        try:
            if self._is_valid(value):
                return value
        except (ValueError, TypeError):
            pass
        strange = foreign(value)
        changed = value if strange else coerce_in(self._document, value)
        if changed is not value and self.is_valid(changed):
            return changed
        faults = self._told(changed, _MOST_FAULTS, strange)
        raise SchemaError(_summary("The value does not fit its schema", faults), faults=faults)


def null_over_default(schema: JsonObject) -> frozenset[str]:
    """The properties of an object's schema that have a default, and may be null all the same."""
    named = _with_defaults(schema)
    if not named:
        return frozenset()
    text = _short_text(schema)
    return _nullable(schema, named) if text is None else _known_nullable(text)


@functools.lru_cache(_MOST_READY)
def _known_nullable(text: bytes) -> frozenset[str]:
    schema = decode(text)
    return _nullable(schema, _with_defaults(schema))


def _with_defaults(schema: JsonObject) -> list[str]:
    declared = schema.get("properties", {})
    return [name for name, part in declared.items() if isinstance(part, dict) and part.get("default") is not None]


def _nullable(schema: JsonObject, named: list[str]) -> frozenset[str]:
    try:
        whole = Validator({**schema, "required": []})
    except SchemaError:
        return frozenset()
    return frozenset(name for name in named if not any(at == pointer(name) for at, _ in whole.faults({name: None})))


def schema_faults(schema: Json) -> tuple[Fault, ...]:
    """Pairs of JSON pointer into the schema and what is wrong there; empty for a usable JSON Schema.

    A `$ref` that leads out of the document is a fault: nothing is ever fetched.
    """
    text = _text(schema)
    return _faults(schema) if text is None else _known_faults(text)


def _text(schema: Json) -> bytes | None:
    """The schema as text to remember it by; None for one that is no JSON, or too long."""
    if foreign(schema) is not None:
        return None
    try:
        text = encode(schema)
    except OutputInvalid:
        return None
    return text if len(text) <= _LONGEST_KNOWN else None


@functools.lru_cache(500)
def _known_faults(text: bytes) -> tuple[Fault, ...]:
    """The faults of a schema that is met again and again: with each listing of a server, in each door of a process."""
    return _faults(decode(text))


def _faults(schema: Json) -> tuple[Fault, ...]:
    compiled = _compiled(schema, formats=False)
    return compiled if isinstance(compiled, tuple) else ()


class _Compiled(msgspec.Struct, frozen=True):
    """A schema made ready."""

    load: SchemaLoad
    validator: jsonschema_rs.Validator


def _compiled(schema: Json, *, formats: bool) -> _Compiled | tuple[Fault, ...]:
    """The validator of the schema, or what is wrong with it. Plans declare the same few inputs over and over."""
    if not isinstance(schema, dict | bool):
        return (("", f"a schema is an object, true or false, got {shown(schema)}"),)
    strange = foreign(schema)
    if strange is not None:
        return (strange,)
    text = _short_text(schema)
    return _made_ready(schema, formats=formats) if text is None else _known_ready(text, formats)


def _short_text(schema: JsonObject | bool) -> bytes | None:
    """The schema as text to know its equals by; None for one that is no JSON, or too long to be remembered."""
    try:
        text = encode(schema)
    except OutputInvalid:
        return None
    return text if len(text) <= _SHORT else None


@functools.lru_cache(_MOST_READY)
def _known_ready(text: bytes, formats: bool) -> _Compiled | tuple[Fault, ...]:
    return _made_ready(decode(text), formats=formats)


def _made_ready(schema: JsonObject | bool, *, formats: bool) -> _Compiled | tuple[Fault, ...]:
    if size(schema, _LARGEST_SCHEMA) > _LARGEST_SCHEMA:
        return (("", f"a schema of more than {_LARGEST_SCHEMA:,} parts is too large"),)
    document = SchemaDocument(schema)
    tangled = tangle(document)
    if tangled is not None:
        return (tangled,)
    load = load_of(document)
    if load.part > HEAVIEST:
        return (("", "its alternatives and references branch too often to be followed"),)
    try:
        validator = draft_of(schema)(schema, validate_formats=formats, offline=True, pattern_options=PATTERNS)
    except Exception as error:  # noqa: BLE001  # whatever the library says of a foreign schema, it is no schema
        return _faults_of_schema(schema, error)
    return _Compiled(load, validator)


def _faults_of_schema(schema: JsonObject | bool, error: Exception) -> tuple[Fault, ...]:
    found: dict[Fault, None] = {}
    if isinstance(schema, dict):
        for inner in _meta_validator(DRAFT_ADDRESSES[draft_of(schema)]).iter_errors(schema):
            found.update(dict.fromkeys(map(_told, fault_of(inner, False))))
            if len(found) >= _MOST_SCHEMA_FAULTS:
                break
        found.update(dict.fromkeys(lost_references(schema)))
    if not found and isinstance(error, jsonschema_rs.ValidationError):
        # A pattern that does not compile is told of by the format of the draft's own schema only.
        found.update(dict.fromkeys(map(_told, fault_of(error, False))))
    return tuple(found)[:_MOST_SCHEMA_FAULTS] or (("", str(error).partition("\n")[0]),)


def _told(found: SchemaFault) -> Fault:
    return found.at, found.message


@functools.cache
def _meta_validator(address: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({"$schema": address, "$ref": address}, offline=True)


def _summary(what: str, faults: tuple[Fault, ...]) -> str:
    if not faults:
        return f"{what}."
    at, message = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{what}: {at + ': ' if at else ''}{message}{more}."
