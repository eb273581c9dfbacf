"""Tools of a program with those found late: a running tool may call one that no step names. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.engine.compile.selection import Tools
from toolpath.errors import ToolNotFound, ToolUnavailable
from toolpath.model.language_model import KnownModels
from toolpath.model.tool import Tool


class LateTools:
    """The tools that a program began with, then those that were found later: what it has is never changed."""

    def __init__(self, first: Tools, later: Tools) -> None:
        self._first: Tools = first._first if isinstance(first, LateTools) else first
        self._later = later

    def find(self, name: str) -> Tool:
        """The tool of that key, alias or unambiguous name."""
        try:
            return self._first.find(name)
        except (ToolNotFound, ToolUnavailable):
            return self._later.find(name)

    def selectable(self) -> Iterable[Tool]:
        """Every tool that an agent may be given."""
        return self._first.selectable()

    @property
    def models(self) -> KnownModels:
        """The models that an agent may ask."""
        return self._first.models
