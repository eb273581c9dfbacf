"""The connected tools as entries of the router, and names in their plain form. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool
from toolpath.planner.router.routing_records import ToolEntry

#: Names that are used for a capability besides its own; its own wins where a tool has it.
ALIASES: Final[Mapping[str, str]] = {
    "calendar.find_free_time": "calendar.list_events",
    "web.search": "web_search.search",
}
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OTHER: Final = re.compile(r"[^\w.]+|_+")


def normalise(name: str) -> str:
    """The name in its plain form: lower case, `_` between words, `.` between provider and operation."""
    spaced = _CAMEL.sub("_", name.strip())
    return _OTHER.sub("_", spaced).strip("_").replace("_.", ".").replace("._", ".").lower()


def entry_of(tool: Tool) -> ToolEntry:
    """The tool as an entry. What it does not say of itself is filled in from its name."""
    provider, operation = (tool.group, tool.name) if tool.group else (tool.name, "")
    own = f"{provider}.{operation}" if operation else provider
    described = f"Tool for {provider} with operation {operation}" if operation else f"Tool for {provider}"
    capabilities = dict.fromkeys([*map(normalise, tool.capabilities), normalise(own)])
    return ToolEntry(
        id=tool.key,
        name=tool.title or provider or "Untitled Tool",
        provider=provider,
        operation=operation,
        description=tool.description or described,
        capabilities=tuple(capabilities),
        parameters=tool.input_schema,
    )


def entries_of(catalog: Catalog) -> tuple[ToolEntry, ...]:
    """All tools of the catalogue as entries, in its order."""
    return tuple(entry_of(tool) for tool in catalog.tools.values())


def connected_names(entries: Iterable[ToolEntry]) -> list[str]:
    """The tools as people know them: by provider, or by full name where a provider has several."""
    known = list(entries)
    count = Counter(entry.provider for entry in known)
    return [entry.provider if count[entry.provider] == 1 else entry.call_name for entry in known]
