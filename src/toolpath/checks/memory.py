"""Questions about schemas that a plan asks again and again, answered once each. Pure."""

from __future__ import annotations

from toolpath.language.schema.fits import Fit, fits
from toolpath.language.schema.locate import Key, Located, locate
from toolpath.values import JsonObject


class Memory:
    """What was found of the schemas of one check. Keeps them, so that no two ever share an identity."""

    __slots__ = ("_fits", "_kept", "_places")

    def __init__(self) -> None:
        self._kept: dict[int, JsonObject] = {}
        self._places: dict[tuple[int, tuple[Key, ...]], Located] = {}
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
