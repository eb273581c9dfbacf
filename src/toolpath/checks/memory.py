"""Questions about schemas that a plan asks again and again, answered once each. Pure."""

from __future__ import annotations

from toolpath.language.schema.branches import Unclear, alternatives
from toolpath.language.schema.document import Document
from toolpath.language.schema.fits import Fit, fits
from toolpath.language.schema.locate import Key, Located, locate
from toolpath.values import JsonObject


class Memory:
    """What was found of the schemas of one check. Keeps them, so that no two ever share an identity."""

    __slots__ = ("_fits", "_flats", "_kept", "_places")

    def __init__(self) -> None:
        self._kept: dict[int, JsonObject] = {}
        self._places: dict[tuple[int, tuple[Key, ...]], Located] = {}
        self._flats: dict[int, list[JsonObject] | None] = {}
        self._fits: dict[tuple[int, int], Fit] = {}

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
        """The schema itself, which lives as long as the check from now on: no other one gets its identity."""
        self._kept[id(schema)] = schema
        return schema

    def flats(self, schema: JsonObject) -> list[JsonObject] | None:
        """The schema as flat alternatives, as the schema package makes them; None where they are too many."""
        key = id(schema)
        if key not in self._flats:
            self._kept[key] = schema
            try:
                self._flats[key] = alternatives(Document(schema), schema)
            except (Unclear, RecursionError, TypeError, ValueError, AttributeError):
                self._flats[key] = None
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
