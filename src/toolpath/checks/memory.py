"""Questions about schemas that a plan asks again and again, answered once each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from toolpath.errors import OutputInvalid, SchemaError
from toolpath.json_schema.branches import Unclear, alternatives
from toolpath.json_schema.document import Document
from toolpath.json_schema.fits import Fit, fits
from toolpath.json_schema.locate import Key, Located, locate
from toolpath.json_schema.validate import Validator
from toolpath.values import Json, JsonObject, encode

#: Schemas, and hundreds of characters of the literals in them, that are kept for the next check.
MOST_KEPT = 20_000


class Memory:
    """What was found of the schemas of one check, or of several in turn. Equal schemas are one.

    Keeps them, so that no two ever share an identity. May be asked by several threads at once.
    """

    __slots__ = ("_fits", "_flats", "_kept", "_made", "_places", "_twins", "_validators", "children", "items", "weight")

    def __init__(self) -> None:
        self._kept: dict[int, JsonObject] = {}
        self._places: dict[tuple[int, tuple[Key, ...]], Located] = {}
        self._flats: dict[int, list[JsonObject] | None] = {}
        self._fits: dict[tuple[int, int], Fit] = {}
        self._twins: dict[int, JsonObject] = {}
        """By identity: the one schema that stands for all that equal it."""
        self._made: dict[Hashable, JsonObject] = {}
        self._validators: dict[tuple[int, bool], Validator | SchemaError] = {}
        self.children: dict[tuple[int, str | int], JsonObject | None] = {}
        """Types at the keys of types."""
        self.items: dict[int, JsonObject | None] = {}
        """Types of the elements of types."""
        self.weight = 0
        """How much of it was made for plans and their literals."""

    @property
    def is_full(self) -> bool:
        """It holds more than is to be kept for the next check."""
        return self.weight + len(self._kept) > MOST_KEPT

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
        return self.made((type(value), value), (), lambda: {"const": value})

    def validator(self, schema: JsonObject, *, formats: bool) -> Validator | SchemaError:
        """What tries values on the schema, or why it cannot be used."""
        one = self.one(schema)
        known = self._validators.get((id(one), formats))
        if known is None:
            try:
                known = Validator(one, formats=formats)
            except SchemaError as error:
                known = error
            self._validators[id(one), formats] = known
        return known

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
                found = alternatives(Document(schema), schema)
            except (Unclear, RecursionError, TypeError, ValueError, AttributeError):
                found = None
            self._flats.setdefault(key, found)
        return self._flats[key]

    def fits(self, output: JsonObject, wanted: Located) -> Fit:
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
