"""A request with the tools that are offered for it, each read once for all that plan it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Final

import msgspec

from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool
from toolpath.planner.offline.gist_for_tools import bare_request, gist_for, reasons_for, undenied_tools
from toolpath.planner.offline.lookup import Lookup, nearness_of, sought
from toolpath.planner.offline.request.toolbox import Toolbox

MOST_TOOLS: Final = 40
"""Above so many tools, search chooses which are looked at."""


class Offering(msgspec.Struct, frozen=True):
    """What a request is planned with: a catalogue, the names of those that may be used, a search and the day."""

    catalog: Catalog
    tools: Sequence[str] | None = None
    search: Lookup | None = None
    today: date | None = None

    def tools_for(self, text: str) -> list[Tool]:
        """The tools that are looked at for this text."""
        known: Mapping[str, Tool] = self.catalog.tools
        if self.tools:
            named = () if list(self.tools) == ["none"] else map(self.catalog.find, self.tools)
            known = {tool.key: tool for tool in named}
        if len(known) <= MOST_TOOLS:
            return list(known.values())
        index: Lookup | None = self.search if not self.tools else None
        if index is None:
            index = ToolSearch(known.values(), stats=self.catalog.stats)
        return [hit.tool for hit in index.search(sought(text), MOST_TOOLS) if hit.tool.key in known]


class OfferedRequest:
    """A request, and what it is of the tools that are offered for it."""

    def __init__(self, request: str, offer: Offering) -> None:
        self.request = request
        self.offer = offer

    @cached_property
    def tools(self) -> Sequence[Tool]:
        """The tools that are looked at, without those whose act the request says not to do."""
        return undenied_tools(self.request, self.offer.tools_for(bare_request(self.request)))

    @cached_property
    def text(self) -> str:
        """The part of the request that asks for something."""
        return gist_for(self.request, self.tools)

    @cached_property
    def why(self) -> list[str]:
        """The reasons that are given for what is commanded."""
        return reasons_for(self.request, self.tools)

    @cached_property
    def box(self) -> Toolbox:
        """The tools, read."""
        return Toolbox(self.tools, self.offer.today, nearness_of(self.offer.search))
