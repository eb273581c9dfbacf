"""Fit of an output schema to an input schema, sound in both directions: `fits` means every value, `never` none."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.errors import SchemaError
from toolpath.json_schema.branches import Alternatives, Unclear
from toolpath.json_schema.coerce import coerce_in, literals_of, types_of
from toolpath.json_schema.containers import Schema, array_fit, object_fit
from toolpath.json_schema.describe import type_text
from toolpath.json_schema.document import ANNOTATIONS, SchemaDocument, SchemaNode
from toolpath.json_schema.faults import shown
from toolpath.json_schema.leaves import scalar_fit
from toolpath.json_schema.verdicts import (
    COERCED,
    FITS,
    PairVerdict,
    Word,
    for_each,
    may,
    never,
    under_all,
    under_any,
    under_one,
    unknown,
)
from toolpath.values import Json, JsonObject, type_name

_MOST_STEPS: Final = 5_000
_MOST_LITERALS: Final = 300
_DEEPEST: Final = 40
_KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
_SCALARS: Final = frozenset({"null", "boolean", "integer", "number", "string"})
#: Keywords of an input that only narrow it and are not judged, by the type they are about.
_NOT_JUDGED: Final = {
    "": frozenset({"not", "if", "$dynamicRef", "$recursiveRef"}),
    "array": frozenset({"uniqueItems", "contains", "unevaluatedItems"}),
    "object": frozenset(
        {"propertyNames", "unevaluatedProperties", "dependentSchemas", "dependentRequired", "dependencies"}
    ),
}
_COMPOUND: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_IMPLIES: Final = {
    "object": frozenset({"properties", "required", "additionalProperties", "patternProperties"}),
    "array": frozenset({"items", "prefixItems"}),
}


class SchemaFit(msgspec.Struct, frozen=True):
    """Whether an output fits an input, and why not where it may not."""

    verdict: Word
    reason: str = ""
    by_input: bool = False
    """Unknown because of what the input asks for: the output is described."""


def fits(
    output: JsonObject | None,
    input: JsonObject | None,
    *,
    output_root: JsonObject | None = None,
    input_root: JsonObject | None = None,
) -> SchemaFit:
    """Whether every value of `output` is accepted by `input`, after the lossless coercion that a call does.

    `fits`: all are; `never`: none is; `may`: some are, or it is likely; `unknown`: the schemas do not say. The roots
    are what `$ref` refers to, where the schemas are parts of larger ones. Schemas are not checked first.
    """
    if output is None or input is None:
        return SchemaFit("unknown", "there is no schema of the " + ("output" if output is None else "input"))
    try:
        verdict = _Judge(SchemaDocument(output_root or output), *_entry(input, input_root)).judge(output, None, "")
    except (SchemaError, RecursionError, TypeError, ValueError, AttributeError) as error:
        return SchemaFit("unknown", f"a schema cannot be used: {str(error).partition(chr(10))[0]}")
    return SchemaFit(verdict.word, verdict.reason, verdict.by_input)


def _entry(schema: JsonObject, root: JsonObject | None) -> tuple[SchemaDocument, SchemaNode]:
    """A document and the place of the schema in it."""
    if root is None or root is schema:
        return SchemaDocument(schema), SchemaNode(schema)
    # Kept at an address of its own, so that values can be tried on it.
    key = "definitions" if SchemaDocument(root).replaces_siblings else "$defs"
    named = root.get(key)
    document = SchemaDocument({**root, key: {**(named if isinstance(named, dict) else {}), "the input": schema}})
    return document, SchemaNode(schema, f"/{key}/the input")


class _Judge:
    """One question, with what it has seen on the way and its budget."""

    __slots__ = ("active", "alternatives", "entry", "level", "steps", "wanted")

    def __init__(self, given: SchemaDocument, wanted: SchemaDocument, entry: SchemaNode) -> None:
        self.alternatives = Alternatives(given)
        self.wanted = wanted
        self.entry = entry
        self.steps = 0
        self.level = 0
        """How deep in the value this is: pairs met again further in are true by induction."""
        self.active: dict[tuple[int, int], int] = {}

    def judge(self, output: Schema, place: SchemaNode | None, at: str) -> PairVerdict:
        """Verdict on all values of a schema at one place of the input."""
        node = self.entry if place is None else place
        if _accepts_all(node.schema):
            return FITS
        mark = (id(output), id(node.schema))
        if mark in self.active:
            return COERCED if self.level > self.active[mark] else unknown("the schemas lead back to themselves")
        self.steps += 1
        if self.steps > _MOST_STEPS or self.level > _DEEPEST:
            return unknown("the schemas are too large to compare")
        self.active[mark] = self.level
        try:
            flats = self.alternatives.of(output)
            return for_each([self._flat(flat, node, at) for flat in flats]) if flats else FITS
        except Unclear as unclear:
            return unknown(f"{_place(at)}{unclear}")
        finally:
            del self.active[mark]

    def _flat(self, flat: JsonObject, node: SchemaNode, at: str) -> PairVerdict:
        """Verdict on one alternative of the output: one type, or a list of values, or nothing said."""
        if isinstance(node.schema, bool):
            return FITS if node.schema else never(f"{_place(at)}nothing is accepted here", firm=True)
        literals = literals_of(flat)
        if literals is not None and len(literals) <= _MOST_LITERALS:
            return for_each([self._literal(literal, node, at) for literal in literals])
        if literals is not None:
            return unknown(f"{_place(at)}there are too many values to compare")
        types = types_of(flat)
        return self._typed(flat, types[0], node, at) if types else self._untyped(flat, node, at)

    def _literal(self, literal: Json, node: SchemaNode, at: str) -> PairVerdict:
        if self.wanted.accepts(node, literal):
            return FITS
        changed = coerce_in(self.wanted, literal, node)
        if changed is not literal and self.wanted.accepts(node, changed):
            return COERCED
        return never(f"{_place(at)}{shown(literal)}, but {self._wanted_text(node)} is expected")

    def _untyped(self, flat: JsonObject, node: SchemaNode, at: str) -> PairVerdict:
        verdicts = [self._typed({**flat, "type": kind}, kind, node, at) for kind in _KINDS]
        verdict = for_each(verdicts)
        if verdict.word in ("fits", "never"):
            return verdict
        for kind, keywords in _IMPLIES.items():
            if flat.keys() & keywords:
                implied = verdicts[_KINDS.index(kind)]
                if implied.word in ("may", "never"):
                    return may(implied.reason)
        return unknown(f"{_place(at)}the output has no type, but {self._wanted_text(node)} is expected")

    def _typed(self, flat: JsonObject, kind: str, node: SchemaNode, at: str) -> PairVerdict:
        """Verdict on values of one type under all that holds at the place."""
        schema = node.schema
        if not isinstance(schema, dict):
            return self._flat(flat, node, at)
        mark = (id(flat), id(schema))
        self.steps += 1
        if mark in self.active or self.steps > _MOST_STEPS:
            return unknown("the schemas lead back to themselves or are too large to compare")
        self.active[mark] = self.level
        try:
            return self._all_rules(flat, kind, node, schema, at)
        finally:
            del self.active[mark]

    def _all_rules(self, flat: JsonObject, kind: str, node: SchemaNode, schema: JsonObject, at: str) -> PairVerdict:
        found: list[PairVerdict] = []
        if "$ref" in schema:
            target = self.wanted.target(schema["$ref"])
            if target is None:
                return unknown(f"{_place(at)}the reference {schema['$ref']!r} of the input leads nowhere")
            found.append(self._typed(flat, kind, target, at))
            if self.wanted.replaces_siblings:
                return found[0]
        found += [self._typed(flat, kind, part, at) for part in node.list("allOf")]
        if branches := node.list("anyOf"):
            found.append(self._any(flat, kind, branches, at))
        if branches := node.list("oneOf"):
            found.append(self._one(flat, kind, branches, at))
        if not found or schema.keys() - ANNOTATIONS - _COMPOUND:
            found.append(self._own_rules(flat, kind, node, schema, at))
        return under_all(found)

    def _any(self, flat: JsonObject, kind: str, branches: tuple[SchemaNode, ...], at: str) -> PairVerdict:
        verdicts = [self._typed(flat, kind, branch, at) for branch in branches]
        return self._named(under_any(verdicts, is_scalar=kind in _SCALARS), flat, branches, at)

    def _one(self, flat: JsonObject, kind: str, branches: tuple[SchemaNode, ...], at: str) -> PairVerdict:
        if self._are_apart(branches):
            return self._any(flat, kind, branches, at)
        verdicts = [self._typed(flat, kind, branch, at) for branch in branches]
        return self._named(under_one(verdicts), flat, branches, at)

    def _named(self, verdict: PairVerdict, flat: JsonObject, branches: tuple[SchemaNode, ...], at: str) -> PairVerdict:
        """The verdict with a reason that tells of all alternatives, where none of them fits."""
        if verdict.word != "never":
            return verdict
        wanted = " or ".join(dict.fromkeys(self._wanted_text(branch) for branch in branches[:6]))
        return never(f"{_place(at)}{type_text(flat)}, but {wanted} is expected", firm=verdict.firm)

    def _are_apart(self, branches: tuple[SchemaNode, ...]) -> bool:
        """Whether no value can be of two branches, by their types alone."""
        seen: set[str] = set()
        for branch in branches:
            resolved = self.wanted.resolve(branch)
            kinds = _kinds_of(resolved.schema) if resolved is not None else None
            if not kinds or kinds & seen:
                return False
            seen |= kinds
        return True

    def _own_rules(self, flat: JsonObject, kind: str, node: SchemaNode, schema: JsonObject, at: str) -> PairVerdict:
        types = types_of(schema)
        if kind in ("array", "object") and types and kind not in types:
            verdict = never(f"{type_text(flat)}, but {type_text(schema)} is expected", firm=True)
        elif kind in ("array", "object"):
            verdict = self._container(flat, kind, node, schema, at)
        else:
            verdict = scalar_fit(kind, flat, schema)
        if verdict.reason and not verdict.reason.startswith("at "):
            verdict = msgspec.structs.replace(verdict, reason=_place(at) + verdict.reason)
        unjudged = schema.keys() & (_NOT_JUDGED[""] | _NOT_JUDGED.get(kind, frozenset()))
        if verdict.word == "fits" and unjudged:
            keywords = ", ".join(sorted(unjudged))
            return unknown(f"{_place(at)}the input has {keywords}, which is not compared", by_input=True)
        return verdict

    def _container(self, flat: JsonObject, kind: str, node: SchemaNode, schema: JsonObject, at: str) -> PairVerdict:
        literals = literals_of(schema)
        if literals is not None:
            contrast = f"{type_text(flat)}, but {type_text(schema)} is expected"
            return may(contrast) if any(type_name(item) == kind for item in literals) else never(contrast, firm=True)

        def inner(output: Schema, place: SchemaNode, key: str) -> PairVerdict:
            self.level += 1
            try:
                return self.judge(output, place, at + key)
            finally:
                self.level -= 1

        if kind == "array":
            return array_fit(flat, node, schema, inner)
        return object_fit(flat, node, schema, inner, self.wanted)

    def _wanted_text(self, node: SchemaNode) -> str:
        resolved = self.wanted.resolve(node) or node
        return type_text(resolved.schema)


def _accepts_all(schema: Schema) -> bool:
    return schema is True or (isinstance(schema, dict) and not (schema.keys() - ANNOTATIONS))


def _kinds_of(schema: Schema) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    literals = literals_of(schema)
    kinds = {type_name(literal) for literal in literals} if literals is not None else set(types_of(schema))
    return {"number" if kind == "integer" else kind for kind in kinds}


def _place(at: str) -> str:
    return f"at {at}: " if at else ""


__all__ = ["SchemaFit", "fits", "type_text"]
