"""A schema document: its draft, its references, and validators of the places inside it.

Nothing here knows what a value should become or whether two schemas fit.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterator
from typing import Final

import jsonschema_rs
import msgspec

from toolpath.errors import SchemaError
from toolpath.values import Json, JsonObject, pointer

Draft = type[jsonschema_rs.Validator]

#: Keywords that say nothing about which values are valid.
ANNOTATIONS: Final = frozenset(
    [
        "$schema",
        "$id",
        "id",
        "$comment",
        "$anchor",
        "$dynamicAnchor",
        "$vocabulary",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    ]
)
#: Nesting at which every walk over a schema ends. jsonschema-rs itself ends at about 250.
MAX_NESTING: Final = 120

_DRAFTS: Final[tuple[tuple[str, Draft], ...]] = (
    ("draft-04", jsonschema_rs.Draft4Validator),
    ("draft-06", jsonschema_rs.Draft6Validator),
    ("draft-07", jsonschema_rs.Draft7Validator),
    ("2019-09", jsonschema_rs.Draft201909Validator),
)
#: The address of each draft's own schema.
DRAFT_ADDRESSES: Final[dict[Draft, str]] = {
    jsonschema_rs.Draft4Validator: "http://json-schema.org/draft-04/schema#",
    jsonschema_rs.Draft6Validator: "http://json-schema.org/draft-06/schema#",
    jsonschema_rs.Draft7Validator: "http://json-schema.org/draft-07/schema#",
    jsonschema_rs.Draft201909Validator: "https://json-schema.org/draft/2019-09/schema",
    jsonschema_rs.Draft202012Validator: "https://json-schema.org/draft/2020-12/schema",
}
_NUMBERS: Final[dict[Draft, int]] = {
    jsonschema_rs.Draft4Validator: jsonschema_rs.Draft4,
    jsonschema_rs.Draft6Validator: jsonschema_rs.Draft6,
    jsonschema_rs.Draft7Validator: jsonschema_rs.Draft7,
    jsonschema_rs.Draft201909Validator: jsonschema_rs.Draft201909,
    jsonschema_rs.Draft202012Validator: jsonschema_rs.Draft202012,
}
#: The name of the document in its own registry.
_ADDRESS: Final = "urn:toolpath:schema"
_PLAIN: Final = "/~!$&'()*+,;=:@"
#: Schemas made ready for single places of one document: a fifth of a second, rather less.
_MOST_PREPARED: Final = 60_000
#: A search by a regular expression that has to try again more often ends, unfound.
BACKTRACKS: Final = 5_000
#: Bytes of a compiled regular expression: the engine's time grows with it.
PATTERN_SIZE: Final = 1_000_000
PATTERNS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKS, size_limit=PATTERN_SIZE)
_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def draft_of(schema: JsonObject | bool) -> Draft:
    """The validator class of the draft that `$schema` names; 2020-12 where it names none that is known."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(named, str):
        for mark, draft in _DRAFTS:
            if mark in named:
                return draft
    return jsonschema_rs.Draft202012Validator


class _Unknown:
    pass


_UNKNOWN: Final = _Unknown()


class SchemaNode(msgspec.Struct, frozen=True, eq=False):
    """One place in a document: the schema there and its JSON pointer from the root."""

    schema: JsonObject | bool
    at: str = ""

    def child(self, *parts: str | int) -> SchemaNode | None:
        """The place so many keys further in, or None where no schema is there."""
        schema: Json = self.schema
        for part in parts:
            try:
                schema = schema[part]
            except (LookupError, TypeError):
                return None
        return SchemaNode(schema, self.at + pointer(*parts)) if isinstance(schema, dict | bool) else None

    def get(self, key: str) -> Json:
        """The keyword's value, or None."""
        return self.schema.get(key) if isinstance(self.schema, dict) else None

    def list(self, key: str) -> tuple[SchemaNode, ...]:
        """The places of a keyword that holds a list of schemas, e.g. `anyOf`."""
        schemas = self.get(key)
        if not isinstance(schemas, list):
            return ()
        return tuple(found for index in range(len(schemas)) if (found := self.child(key, index)) is not None)

    def map(self, key: str) -> dict[str, SchemaNode]:
        """The places of a keyword that holds an object of schemas, e.g. `properties`."""
        schemas = self.get(key)
        if not isinstance(schemas, dict):
            return {}
        return {name: found for name in schemas if (found := self.child(key, name)) is not None}


class SchemaDocument:
    """A root schema with what is looked up in it more than once. Built for one question or kept by a validator."""

    __slots__ = ("_allowance", "_anchors", "_embeds", "_patterns", "_registry", "_validators", "draft", "root")

    def __init__(self, root: JsonObject | bool) -> None:
        self.root = root
        self.draft = draft_of(root)
        self._registry: jsonschema_rs.Registry | None = None
        self._allowance = _MOST_PREPARED
        self._validators: dict[tuple[str, bool], jsonschema_rs.Validator | None] = {}
        self._patterns: dict[str, jsonschema_rs.Validator] = {}
        self._embeds: bool | None = None
        self._anchors: dict[str, SchemaNode] | None = None

    @property
    def replaces_siblings(self) -> bool:
        """Whether `$ref` makes the keywords beside it mean nothing: up to draft 7."""
        return self.draft in (
            jsonschema_rs.Draft4Validator,
            jsonschema_rs.Draft6Validator,
            jsonschema_rs.Draft7Validator,
        )

    def target(self, reference: Json) -> SchemaNode | None:
        """The place that a `$ref` names, or None where it leads out of the document or nowhere."""
        if not isinstance(reference, str) or not isinstance(self.root, dict) or self._has_embedded():
            return None
        base, _, fragment = reference.partition("#")
        if base and base != str(self.root.get("$id") or self.root.get("id") or "").partition("#")[0]:
            return None
        fragment = urllib.parse.unquote(fragment)
        if not fragment:
            return SchemaNode(self.root)
        return self._at(fragment) if fragment.startswith("/") else self._anchored(fragment)

    def resolve(self, node: SchemaNode) -> SchemaNode | None:
        """The place itself, or the one that a bare `$ref` leads to in the end; None where it leads nowhere."""
        for _ in range(MAX_NESTING):
            reference = node.get("$ref")
            if reference is None or not self._is_bare(node):
                return node
            found = self.target(reference)
            if found is None:
                return None
            node = found
        return None

    def accepts(self, node: SchemaNode, value: Json) -> bool:
        """Whether the value is valid at that place of the document, as it is."""
        validator = self.validator(node)
        return validator is not None and _is_valid(validator, value)

    def validator(self, node: SchemaNode, *, formats: bool = False) -> jsonschema_rs.Validator | None:
        """The compiled check of one place, made when it is first asked for; None where there can be none.

        A map of all places would take time with the square of their number. None too where so many were asked for
        that making them ready has taken long enough.
        """
        known = self._validators.get((node.at, formats), _UNKNOWN)
        if not isinstance(known, _Unknown):
            return known
        if self._registry is None:
            self._registry = self._indexed()
        if self._allowance <= 0:
            return None
        self._allowance -= self._reach(node)
        try:
            validator: jsonschema_rs.Validator | None = self.draft(
                {"$ref": f"{_ADDRESS}#{urllib.parse.quote(node.at, safe=_PLAIN)}"},
                registry=self._registry,
                validate_formats=formats,
                offline=True,
                pattern_options=PATTERNS,
            )
        except (ValueError, TypeError, jsonschema_rs.ReferencingError):
            validator = None
        self._validators[node.at, formats] = validator
        return validator

    def _reach(self, start: SchemaNode) -> int:
        """How many schemas have to be made ready for one place, those behind references too."""
        seen: set[int] = set()
        waiting = [start]
        while waiting and len(seen) < self._allowance:
            for node in subschemas(waiting.pop()):
                if id(node.schema) in seen:
                    continue
                seen.add(id(node.schema))
                reference = node.get("$ref")
                if reference is not None and (target := self.target(reference)) is not None:
                    waiting.append(target)
                if len(seen) >= self._allowance:
                    break
        return len(seen)

    def _indexed(self) -> jsonschema_rs.Registry:
        root = self.root
        if isinstance(root, dict) and "$schema" in root:
            # A dialect of somebody's own would be looked for; the draft was chosen already.
            root = {**root, "$schema": DRAFT_ADDRESSES[self.draft]}
        try:
            # The whole is compiled once: what is no usable schema is refused here, wherever its fault lies.
            self.draft(root, validate_formats=False, offline=True, pattern_options=PATTERNS)
            return jsonschema_rs.Registry([(_ADDRESS, root)], draft=_NUMBERS[self.draft])
        except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
            raise SchemaError("The schema is no usable JSON Schema.", hint=str(error).partition("\n")[0]) from None

    def matches(self, pattern: str, name: str) -> bool:
        """Whether the regular expression of `patternProperties` finds the name; false for one that is none."""
        known = self._patterns.get(pattern)
        if known is None:
            try:
                known = jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=PATTERNS)
            except ValueError:
                known = jsonschema_rs.Draft202012Validator(False)
            self._patterns[pattern] = known
        return _is_valid(known, name)

    def _is_bare(self, node: SchemaNode) -> bool:
        if self.replaces_siblings:
            return True
        return isinstance(node.schema, dict) and not (node.schema.keys() - ANNOTATIONS - {"$ref"})

    def _at(self, fragment: str) -> SchemaNode | None:
        parts: list[str | int] = []
        schema: Json = self.root
        for token in fragment[1:].split("/"):
            part: str | int = token.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list) and _ARRAY_INDEX.fullmatch(token):
                part = int(token)
            parts.append(part)
            try:
                schema = schema[part]
            except (LookupError, TypeError):
                return None
        return SchemaNode(schema, pointer(*parts)) if isinstance(schema, dict | bool) else None

    def _anchored(self, name: str) -> SchemaNode | None:
        if self._anchors is None:
            self._anchors = {}
            for node in subschemas(SchemaNode(self.root)):
                for key in ("$anchor", "$dynamicAnchor", "$id", "id"):
                    anchor = node.get(key)
                    if isinstance(anchor, str) and (key[-1] != "d" or anchor.startswith("#")):
                        self._anchors.setdefault(anchor.removeprefix("#"), node)
        return self._anchors.get(name)

    def _has_embedded(self) -> bool:
        """Whether a part of the document declares an address of its own, so that `#/…` in it means something else."""
        if self._embeds is None:
            self._embeds = any(
                isinstance(identity := node.get("$id"), str) and not identity.startswith("#")
                for node in subschemas(SchemaNode(self.root))
                if node.at
            )
        return self._embeds


_ONE = ("items", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def subschemas(root: SchemaNode) -> Iterator[SchemaNode]:
    """Every schema in the document, the root first, however deep."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node.schema, dict):
            continue
        for key in _ONE:
            if key in node.schema and (found := node.child(key)) is not None:
                waiting.append(found)
        for key in _MANY:
            if key in node.schema:
                waiting.extend(node.list(key))
        for key in _NAMED:
            if key in node.schema:
                waiting.extend(node.map(key).values())


def _is_valid(validator: jsonschema_rs.Validator, value: Json) -> bool:
    try:
        return validator.is_valid(value)
    except (ValueError, TypeError):
        # Not JSON: a date, a set, a lone surrogate, a key that is no text.
        return False
