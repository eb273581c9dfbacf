"""Tools of the stored MCP servers: providers that come into the catalogue and go as records change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from toolpath.catalog.registry import Registry
from toolpath.config import Settings
from toolpath.errors import ConfigError, ToolpathError
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Tool
from toolpath.ports import Provider
from toolpath.providers.builtin.reach import Reach
from toolpath.providers.mcp.provider import McpProvider
from toolpath.values import JsonObject
from toolpath.workspace.mcp_servers.server_records import KeptServer, ServerRecords

#: Seconds between two looks whether runs still use a server that was removed.
_APART: Final = 0.2


class ServerTools(NamedTuple):
    """Tools of a server, and why it has none."""

    tools: tuple[Tool, ...]
    problem: ToolpathError | None


class StoredTools:
    """Keeper of one provider for each server that is enabled. `live`: ids of the runs that this process drives."""

    def __init__(
        self,
        registry: Registry,
        records: ServerRecords,
        *,
        settings: Callable[[], Settings],
        redactor: Redactor,
        live: Callable[[], Collection[str]],
    ) -> None:
        self._registry = registry
        self._records = records
        self._settings = settings
        self._redactor = redactor
        self._live = live
        self._taken: dict[str, tuple[int, Provider]] = {}
        """Name → the revision that its provider is made of."""
        self._taking = asyncio.Lock()
        """Of two that take at once, the one that read earlier must not have the last word."""
        self._is_over = asyncio.Event()
        self._retired: dict[Provider, asyncio.Task[None]] = {}

    @property
    def own(self) -> list[str]:
        """Names of the providers that this process has without the store."""
        return [name for name in self._registry.providers if name not in self._taken]

    async def take(self) -> None:
        """Have the catalogue be as the records are now. Raises `StoreError`."""
        async with self._taking:
            await self._take()

    async def _take(self) -> None:
        wanted = {kept.server.name: kept for kept in await self._records.all() if kept.server.enabled}
        for name, (revision, provider) in list(self._taken.items()):
            if name not in wanted or wanted[name].server.revision != revision:
                del self._taken[name]
                self._registry.remove_provider(name)
                self._retire(provider)
        for name, kept in wanted.items():
            # What a program names itself goes before what is stored.
            if name not in self._taken and name not in self._registry.providers:
                provider = self._provider(kept)
                self._registry.add_provider(provider)
                self._taken[name] = (kept.server.revision, provider)

    async def listed(self, name: str, *, anew: bool) -> ServerTools:
        """The tools that the enabled server has, which starts it where it has not been; `anew`: it is asked again."""
        await self.take()
        if name in self._taken:
            await self._registry.load([f"{name}.*"], refresh=anew)
        elif name in self._registry.providers:
            hint = "Give the stored one another name, or take that one out of the configuration."
            return ServerTools((), ConfigError(f"The program has tools of its own under the name {name!r}.", hint=hint))
        tools = self._registry.snapshot().tools.values() if name in self._taken else ()
        return ServerTools(tuple(tool for tool in tools if tool.group == name), self._registry.problems.get(name))

    async def close(self) -> None:
        """Close what was removed and is still open; the catalogue closes the others. Raises nothing."""
        retired, self._retired = self._retired, {}
        self._is_over.set()
        # None is cut off: a server that is being closed would be left behind.
        await asyncio.gather(*retired.values(), return_exceptions=True)
        await asyncio.gather(*(provider.close() for provider in retired), return_exceptions=True)

    def _provider(self, kept: KeptServer) -> Provider:
        server = kept.server
        try:
            secrets = self._records.secrets(kept)
            self._redactor.add([value for value in (*secrets.env.values(), *secrets.headers.values()) if value])
            return McpProvider(
                server.name,
                command=server.command or None,
                args=server.args,
                env=secrets.env,
                url=server.url or None,
                headers=secrets.headers,
                timeout=server.timeout,
                trust_annotations=server.trust_annotations,
                addresses=lambda host, port: Reach(allow=self._settings().http_allow).addresses(host, port),
                is_stored=True,
            )
        except ToolpathError as error:
            return _Broken(server.name, error)

    def _retire(self, provider: Provider) -> None:
        """Close it as soon as the runs that go on now, which may have frozen its tools, have ended or parked."""
        self._retired[provider] = asyncio.get_running_loop().create_task(self._close_unused(provider))

    async def _close_unused(self, provider: Provider) -> None:
        users = set(self._live())
        while users and not self._is_over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), _APART)
            users.intersection_update(self._live())
        # It stays known: who was about to begin when it was removed may start it once more.
        await provider.close()


class _Broken:
    """Provider in the place of a server whose record cannot be used: it says why."""

    def __init__(self, name: str, error: ToolpathError) -> None:
        self.name = name
        self._error = error

    async def list_tools(self) -> Sequence[Tool]:
        """Raises why there are none."""
        raise self._error

    async def close(self) -> None:
        """Nothing is open."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Nothing changes."""

    def describe(self) -> JsonObject:
        """Nothing: other processes have it from the store."""
        return {}
