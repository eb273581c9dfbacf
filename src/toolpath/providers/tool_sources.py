"""Sources of tools as a program names them: functions, modules, folders, MCP servers, providers of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

from toolpath.catalog.registry import Registry
from toolpath.errors import ConfigError
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.ports import Provider
from toolpath.providers.files import FolderProvider
from toolpath.providers.functions import ToolFields, bind, marked_in, tool_from_function
from toolpath.providers.modules import is_file, load_module
from toolpath.values import JsonObject


class ToolSources:
    """Adder of tools to one registry, which keeps where they come from. What the methods mean says `Toolpath`."""

    def __init__(
        self,
        registry: Registry,
        secrets: Mapping[str, str],
        *,
        limit_server: Callable[[str, int], None],
    ) -> None:
        self._registry = registry
        self._secrets = secrets
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
            elif hasattr(item, "list_tools"):
                self._add_provider(item)  # type: ignore[arg-type]
            elif callable(item):
                self._registry.add(tool_from_function(item, **fields))
            else:
                raise ConfigError(f"{item!r} is no tool.", hint="Add a function, a Tool or a provider.")

    def add_mcp(self, name: str, **server: Any) -> None:
        """Add an MCP server."""
        from toolpath.providers.mcp.provider import McpProvider  # the MCP library is heavy: only who uses it pays

        provider = McpProvider(name, **server)
        provider.secrets = self._secrets
        self._add_described(provider)

    def add_mcp_config(self, config: str | Path | JsonObject) -> None:
        """Add the servers of an `mcpServers` file."""
        from toolpath.providers.mcp.config import read_mcp_config  # as above

        for provider in read_mcp_config(config):
            provider.secrets = self._secrets
            self._add_described(provider)

    def add_folder(self, folder: str | Path) -> None:
        """Add the composites and plans of a folder."""
        self._add_described(FolderProvider(folder))

    def add_module(self, module: str) -> None:
        """Add every `@tool` function of a module."""
        for function in marked_in(load_module(module)):
            self._registry.add(tool_from_function(function))
        self._described.append({"module": str(Path(module).resolve()) if is_file(module) else module})

    def _add_described(self, provider: Provider) -> None:
        self._add_provider(provider)
        self._described.append(provider.describe())

    def _add_provider(self, provider: Provider) -> None:
        self._registry.add_provider(provider)
        places = getattr(provider, "max_concurrency", None)
        if places is not None:
            self._limit_server(provider.name, places)
