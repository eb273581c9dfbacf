"""Sources of tools as a program names them: functions, modules, folders, MCP servers, providers of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

from toolpath.catalog.registry import Registry
from toolpath.errors import ConfigError, closest
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.ports import Provider
from toolpath.providers.functions import ToolFields, bind, tool_from_function
from toolpath.providers.modules import is_file
from toolpath.providers.source_kinds import SOURCE_KINDS, SourceKind
from toolpath.providers.surroundings import Surroundings, UsesSurroundings
from toolpath.values import JsonObject


class ToolSources:
    """Adder of tools to one registry, which keeps where they come from. What the methods mean says `Toolpath`."""

    def __init__(
        self,
        registry: Registry,
        surroundings: Surroundings,
        *,
        limit_server: Callable[[str, int], None],
    ) -> None:
        """Take the registry and what its tools may use. `limit_server` bounds the calls of one provider at once."""
        self._registry = registry
        self._surroundings = surroundings
        self._limit_server = limit_server
        self._described: list[JsonObject] = []

    def described(self) -> JsonObject:
        """Where the tools come from, as another process can have them again."""
        return {"providers": self._described} if self._described else {}

    def add(self, *items: Callable[..., Any] | Tool | Provider, **fields: Unpack[ToolFields]) -> None:
        """Add functions, tools and providers of a program's own."""
        for item in items:
            if isinstance(item, Tool):
                self._registry.add(bind(item) if item.body is not None and not isinstance(item.body, Plan) else item)
            elif isinstance(item, UsesSurroundings):
                self._add_provider(item.within(self._surroundings))
            elif isinstance(item, Provider):
                self._add_provider(item)
            elif callable(item):
                self._registry.add(tool_from_function(item, **fields))
            else:
                raise ConfigError(f"{item!r} is no tool.", hint="Add a function, a Tool or a provider.")

    def add_mcp(self, name: str, **server: Any) -> None:
        """Add an MCP server."""
        from toolpath.providers.mcp.provider import McpProvider  # the MCP library is heavy: only who uses it pays

        self._add_described(McpProvider(name, **server, secrets=self._surroundings.secrets))

    def add_source(self, setting: str, value: Any) -> None:
        """Add the tools of a source of the kind that this setting lists."""
        kind = next((kind for kind in SOURCE_KINDS if kind.setting == setting), None)
        if kind is None:
            raise ConfigError(
                f"No setting {setting!r} lists sources of tools.",
                suggestions=closest(setting, [kind.setting for kind in SOURCE_KINDS]),
                hint=f"Use one of: {', '.join(kind.setting for kind in SOURCE_KINDS)}.",
            )
        self._take(kind, self._load(kind, kind.loader, value), value)

    def add_recorded(self, description: JsonObject) -> None:
        """Add the source that `describe` described, unless it is there."""
        for kind in SOURCE_KINDS:
            # What is switched on says each process for itself: a journal switches nothing on.
            name = description.get(kind.described) if kind.described else None
            if isinstance(name, str) and not self._has(kind.described, name):
                restorer, told = (kind.restorer, description) if kind.restorer else (kind.loader, name)
                self._take(kind, self._load(kind, restorer, told), name)

    def _has(self, key: str, name: str) -> bool:
        return name in self._registry.providers or any(known.get(key) == name for known in self._described)

    def _load(self, kind: SourceKind, loader: str, value: Any) -> Sequence[Tool | Provider]:
        return _named(loader)(value, self._surroundings) if kind.is_surrounded else _named(loader)(value)

    def _take(self, kind: SourceKind, found: Sequence[Tool | Provider], value: Any) -> None:
        for one in found:
            if isinstance(one, Tool):
                self._registry.add(one)
            else:
                self._add_described(one)
        if found and all(isinstance(one, Tool) for one in found):
            # Tools that no provider lists are told by what named them.
            self._described.append({kind.described: str(Path(value).resolve()) if is_file(value) else value})

    def _add_described(self, provider: Provider) -> None:
        self._add_provider(provider)
        if described := provider.describe():
            self._described.append(described)

    def _add_provider(self, provider: Provider) -> None:
        self._registry.add_provider(provider)
        places = getattr(provider, "max_concurrency", None)
        if places is not None:
            self._limit_server(provider.name, places)


def _named(reference: str) -> Callable[..., Sequence[Tool | Provider]]:
    """The function of a `module:function`: libraries of providers are heavy, only who uses them pays."""
    module, _, name = reference.partition(":")
    found: Callable[..., Sequence[Tool | Provider]] = getattr(importlib.import_module(module), name)
    return found
