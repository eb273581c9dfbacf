"""Records of one reference, or of one value that is given. Records only."""

from __future__ import annotations

import msgspec

from toolpath.checks.shapes import Type, standalone
from toolpath.json_schema.locate import Located
from toolpath.values import JsonObject


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Value that a reference gives, as far as it is known."""

    root: Type
    """The type of what the name stands for."""
    place: Located
    """What the schema of the root says of the path."""
    held: bool
    """Values are held to that schema: what it does not have is not there."""

    @property
    def type(self) -> Type:
        """The schema of the value, for itself; None where it is not known."""
        if self.place.found != "found" or not self.place.schema:
            return None
        return standalone(self.place.schema, self.place.root)


class InputSlot(msgspec.Struct, frozen=True):
    """One input of a tool."""

    place: Located
    """Where the tool's schema describes it."""
    drops_null: bool
    """Null for it is left out of the call, or accepted."""


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """Value that is given to something, as far as it is known."""

    schema: JsonObject
    sure: Type
    """What it surely is, whether or not tools do what they say; None: that is not known."""
    text: str
    """As messages call it, e.g. `'writer._id' (string)`."""
    reads: str = ""
    """What kind of thing one plain reference reads, e.g. `inputs`; empty for anything else."""
