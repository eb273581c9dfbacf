"""The tools as a run began with them: bodies that were plans then stay those plans."""

from __future__ import annotations

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ToolpathError
from toolpath.model.plan import thaw
from toolpath.model.tool import Body, Tool
from toolpath.values import Json, JsonObject


class FrozenBodies:
    """A catalogue in which the bodies that a run was started with take the place of today's."""

    def __init__(self, catalog: Catalog, bodies: dict[str, JsonObject], *, to_end: bool) -> None:
        self._catalog = catalog
        self._bodies = {key: thaw(body) for key, body in bodies.items()}
        self._to_end = to_end

    def find(self, name: str) -> Tool:
        """The tool of that key, alias or unambiguous name."""
        body = self._bodies.get(name)
        if body is None:
            return self._found(name)
        known = self._catalog.get(name)
        if known is not None:
            return msgspec.structs.replace(known, body=body)
        group, _, bare = name.rpartition(".")
        return Tool(name=bare, group=group, description=body.description, input_schema=body.inputs, body=body)

    def _found(self, name: str) -> Tool:
        try:
            return self._catalog.find(name)
        except ToolpathError as error:
            if not self._to_end:
                raise
            return _gone(name, error)


def _gone(name: str, error: ToolpathError) -> Tool:
    """What stands for a tool that is not there any more, in a run that is only taken up to be ended."""

    def invoke(inputs: JsonObject, context: object) -> Json:
        raise error

    group, _, bare = name.rpartition(".")
    return Tool(name=bare, group=group, input_schema={"type": "object"}, body=Body(invoke=invoke))
