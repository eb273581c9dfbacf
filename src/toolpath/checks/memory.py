"""Questions about schemas that a plan asks again and again, answered once each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from toolpath.checks.readings import InputSlot, Reading
from toolpath.checks.shapes import HELD
from toolpath.errors import OutputInvalid, SchemaError
from toolpath.json_schema.branches import Alternatives, Unclear
from toolpath.json_schema.document import SchemaDocument
from toolpath.json_schema.fits import SchemaFit, fits
from toolpath.json_schema.locate import Key, Located, locate
from toolpath.json_schema.nulls import drops_null
from toolpath.json_schema.validate import Validator
from toolpath.values import Json, JsonObject, encode

#: Schemas, and hundreds of characters of the literals in them, that are kept for the next check.
MOST_KEPT = 20_000
#: Keywords of an object's schema that look at each property for itself, and the one that does not.
_APART = frozenset({"$schema", "title", "description", "type", "properties", "additionalProperties", "required"})


class SchemaMemory:
    """Memory of the schemas of one check, or of several in turn. Equal schemas are one.

    Keeps them, so that no two ever share an identity. May be asked by several threads at once.
    """

    __slots__ = (
        "_fits",
        "_flats",
        "_in_part",
        "_kept",
        "_made",
        "_places",
        "_readings",
        "_slots",
        "_twins",
        "_validators",
        "children",
        "items",
        "not_null",
        "paths",
        "results",
        "ways_out",
        "weight",
    )

    def __init__(self) -> None:
        self._kept: dict[int, JsonObject] = {}
        self._places: dict[tuple[int, tuple[Key, ...]], Located] = {}
        self._flats: dict[int, list[JsonObject] | None] = {}
        self._fits: dict[tuple[int, int], SchemaFit] = {}
        self._twins: dict[int, JsonObject] = {}
        """By identity: the one schema that stands for all that equal it."""
        self._made: dict[Hashable, JsonObject] = {}
        self._validators: dict[tuple[int, bool], Validator | SchemaError] = {}
        self._in_part: dict[tuple[int, bool], Validator | None] = {}
        self._readings: dict[tuple[int, tuple[Key, ...]], Reading] = {}
        self._slots: dict[tuple[int, str], InputSlot] = {}
        self.children: dict[tuple[int, str | int], JsonObject | None] = {}
        """Types at the keys of types."""
        self.items: dict[int, JsonObject | None] = {}
        """Types of the elements of types."""
        self.not_null: dict[int, JsonObject | None] = {}
        """Types without null."""
        self.paths: dict[Hashable, Any] = {}
        """Judgements on expressions that are one path and nothing else, and all is well with it."""
        self.results: dict[tuple[int, bool], JsonObject | None] = {}
        """Types of what tools give by their schemas, held to them or not."""
        self.ways_out: dict[tuple[int, int, str], str] = {}
        """What to do about a type that does not fit another one."""
        self.weight = 0
        """How much of it was made for plans and their literals."""

    @property
    def is_full(self) -> bool:
        """Whether it holds more than is to be kept for the next check."""
        return self.weight + len(self._kept) > MOST_KEPT

    def knows(self, schema: JsonObject) -> bool:
        """Whether it has met this schema, so that asking of it again costs next to nothing."""
        return id(schema) in self._twins

    def one(self, schema: JsonObject) -> JsonObject:
        """The schema that stands for all that equal this one."""
        known = self._twins.get(id(schema))
        if known is not None:
            return known
        try:
            text = encode(schema)
        except OutputInvalid:
            return self.kept(schema)
        self.weight += 1 + len(text) // 100
        one = self._made.setdefault(text, schema)
        self._twins[id(self.kept(one))] = one
        self._twins[id(self.kept(schema))] = one
        return one

    def made(self, key: Hashable, parts: Iterable[JsonObject | None], make: Callable[[], JsonObject]) -> JsonObject:
        """The schema that is made of these parts. `key`: their identities, and whatever else makes a difference."""
        known = self._made.get(key)
        if known is None:
            for part in parts:
                if part is not None:
                    self._kept[id(part)] = part
            self.weight += 1
            known = self._made.setdefault(key, make())
            self._twins[id(self.kept(known))] = known
        return known

    def literal(self, value: Json) -> JsonObject:
        """The schema of one value."""
        if type(value) is str:
            self.weight += len(value) // 100
        elif type(value) not in (int, bool, type(None)):
            return {"const": value}
        key = (type(value), value)
        return self._made.get(key) or self.made(key, (), lambda: {"const": value})

    def validator(self, schema: JsonObject, *, formats: bool) -> Validator | SchemaError:
        """The validator of values for the schema, or the error for which the schema cannot be used."""
        one = self.one(schema)
        known = self._validators.get((id(one), formats))
        if known is None:
            try:
                known = Validator(one, formats=formats)
            except SchemaError as error:
                known = error
            self._validators[id(one), formats] = known
        return known

    def validator_in_part(self, schema: JsonObject, *, formats: bool) -> Validator | None:
        """The validator of some of an object's properties, though others are required; None where it cannot be had.

        A value that it finds valid has no fault by the whole schema, but that something is missing.
        """
        one = self.one(schema)
        key = (id(one), formats)
        if key not in self._in_part:
            known = None
            if one.keys() <= _APART and isinstance(one.get("required", []), list):
                found = self.validator(
                    {name: part for name, part in one.items() if name != "required"}, formats=formats
                )
                known = found if isinstance(found, Validator) else None
            self._in_part[key] = known
        return self._in_part[key]

    def slot(self, schema: JsonObject, name: str) -> InputSlot:
        """The input of that name of a tool whose inputs have the schema."""
        one = self.one(schema)
        key = (id(one), name)
        known = self._slots.get(key)
        if known is None:
            known = self._slots[key] = InputSlot(self.locate(one, (name,)), drops_null(one, name))
        return known

    def reading(self, schema: JsonObject | None, path: tuple[Key, ...]) -> Reading:
        """The reading of the value at a path below one of the type."""
        key = (id(schema), path)
        known = self._readings.get(key)
        if known is None:
            place = self.locate(schema, path)
            held = schema is not None and self._held_at(schema, path)
            known = self._readings[key] = Reading(root=schema, place=place, held=held)
        return known

    def _held_at(self, schema: JsonObject, path: tuple[Key, ...]) -> bool:
        """Whether the results that the path goes into are held to their schema, at the place where it leaves it."""
        # What no tool has made, the engine has.
        held = True
        for length in range(len(path) + 1):
            place = self.locate(schema, path[:length])
            if place.found != "found" or place.schema is None:
                break
            held = bool(place.schema.get(HELD, held))
        return held

    def locate(self, schema: JsonObject | None, path: tuple[Key, ...]) -> Located:
        """As `locate` of the schema package."""
        if schema is None:
            return locate(None, path)
        key = (id(schema), path)
        known = self._places.get(key)
        if known is None:
            self._kept[id(schema)] = schema
            known = self._places[key] = locate(schema, path)
        return known

    def kept(self, schema: JsonObject) -> JsonObject:
        """The schema itself, which lives as long as this from now on: no other one gets its identity."""
        self._kept[id(schema)] = schema
        return schema

    def flats(self, schema: JsonObject) -> list[JsonObject] | None:
        """The schema as flat alternatives, as the schema package makes them; None where they are too many."""
        key = id(schema)
        if key not in self._flats:
            self._kept[key] = schema
            try:
                found = Alternatives(SchemaDocument(schema)).of(schema)
            except (Unclear, RecursionError, TypeError, ValueError, AttributeError):
                found = None
            self._flats.setdefault(key, found)
        return self._flats[key]

    def fits(self, output: JsonObject, wanted: Located) -> SchemaFit:
        """As `fits` of the schema package, for an input whose place was found."""
        if wanted.schema is None:
            return fits(output, None)
        key = (id(output), id(wanted.schema))
        known = self._fits.get(key)
        if known is None:
            self._kept[id(output)] = output
            self._kept[id(wanted.schema)] = wanted.schema
            known = self._fits[key] = fits(output, wanted.schema, input_root=wanted.root)
        return known
