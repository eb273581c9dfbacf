"""Is this value valid, what is wrong with it, and the value as a call may use it."""

from __future__ import annotations

import functools
from typing import Final

import jsonschema_rs

from toolpath.errors import SchemaError
from toolpath.language.schema.coerce import coerce_in
from toolpath.language.schema.document import (
    DRAFT_ADDRESSES,
    Document,
    draft_of,
)
from toolpath.language.schema.faults import Fault, fault_of, foreign, shown
from toolpath.language.schema.references import lost_references, tangle
from toolpath.values import Json, JsonObject

_MOST_SCHEMA_FAULTS: Final = 20


class Validator:
    """A schema made ready once, for any number of values.

    Values are JSON as `values.plain` or `values.decode` give them. Formats are asserted only where `formats` says so.
    Raises `SchemaError` for a schema that is none; its `faults` point into the schema.
    """

    __slots__ = ("_document", "_is_valid", "_validator", "is_valid_json")

    def __init__(self, schema: JsonObject | bool, *, formats: bool = False) -> None:
        compiled = _compiled(schema, formats=formats)
        if isinstance(compiled, tuple):
            raise SchemaError(_summary("The schema is no usable JSON Schema", compiled), faults=compiled)
        self._validator = compiled
        self._is_valid = compiled.is_valid
        #: `is_valid` for values that are known to be JSON: the compiled check itself, nothing around it.
        self.is_valid_json = compiled.is_valid
        self._document = Document(schema)

    def is_valid(self, value: Json) -> bool:
        """Whether the value fits as it is; false where the schema looks at a part that is no JSON."""
        try:
            return self._is_valid(value)
        except (ValueError, TypeError):
            return False

    def faults(self, value: Json, limit: int = 20) -> tuple[Fault, ...]:
        """Pairs of JSON pointer into the value and what is wrong there, at most `limit`; empty for a valid value."""
        if self.is_valid(value):
            return ()
        strange = foreign(value)
        if strange is not None:
            return (strange,)
        found: dict[Fault, None] = {}
        for error in self._validator.iter_errors(value):
            found.update(dict.fromkeys(fault_of(error, self._document.root)))
            if len(found) >= limit:
                break
        return tuple(found)[:limit]

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
        faults = self.faults(changed)
        raise SchemaError(_summary("The value does not fit its schema", faults), faults=faults)


def schema_faults(schema: Json) -> tuple[Fault, ...]:
    """Pairs of JSON pointer into the schema and what is wrong there; empty for a usable JSON Schema.

    A `$ref` that leads out of the document is a fault: nothing is ever fetched.
    """
    compiled = _compiled(schema, formats=False)
    return compiled if isinstance(compiled, tuple) else ()


def _compiled(schema: Json, *, formats: bool) -> jsonschema_rs.Validator | tuple[Fault, ...]:
    """The validator of the schema, or what is wrong with the schema."""
    if not isinstance(schema, dict | bool):
        return (("", f"a schema is an object, true or false, got {shown(schema)}"),)
    strange = foreign(schema)
    if strange is not None:
        return (strange,)
    tangled = tangle(Document(schema))
    if tangled is not None:
        return (tangled,)
    try:
        return draft_of(schema)(schema, validate_formats=formats, offline=True)
    except Exception as error:  # noqa: BLE001  # whatever the library says of a foreign schema, it is no schema
        return _faults_of_schema(schema, error)


def _faults_of_schema(schema: JsonObject | bool, error: Exception) -> tuple[Fault, ...]:
    found: dict[Fault, None] = {}
    if isinstance(schema, dict):
        for inner in _meta_validator(DRAFT_ADDRESSES[draft_of(schema)]).iter_errors(schema):
            found.update(dict.fromkeys(fault_of(inner, False)))
            if len(found) >= _MOST_SCHEMA_FAULTS:
                break
        found.update(dict.fromkeys(lost_references(schema)))
    if not found and isinstance(error, jsonschema_rs.ValidationError):
        # A pattern that does not compile is told of by the format of the draft's own schema only.
        found.update(dict.fromkeys(fault_of(error, False)))
    return tuple(found)[:_MOST_SCHEMA_FAULTS] or (("", str(error).partition("\n")[0]),)


@functools.cache
def _meta_validator(address: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({"$schema": address, "$ref": address}, offline=True)


def _summary(what: str, faults: tuple[Fault, ...]) -> str:
    if not faults:
        return f"{what}."
    at, message = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{what}: {at + ': ' if at else ''}{message}{more}."
