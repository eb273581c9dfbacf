"""Configuration kept in the store, as data: models, settings, MCP servers; every process has it within a second."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from toolpath.access.trail import Trail
from toolpath.catalog.registry import Registry
from toolpath.engine.drive.services import Services
from toolpath.model.language_model import KnownModels
from toolpath.ports import Chat, ChatObserver
from toolpath.workspace.changes import StoredChanges
from toolpath.workspace.mcp_servers.server_records import ServerRecords
from toolpath.workspace.mcp_servers.stored_tools import StoredTools
from toolpath.workspace.models.chats import ModelChats
from toolpath.workspace.models.model_records import ModelRecords
from toolpath.workspace.settings.stored_settings import StoredSettings

if TYPE_CHECKING:
    from toolpath.workspace.mcp_servers.servers import McpServers
    from toolpath.workspace.models.models import Models


class Configured:
    """Configuration of one store, given to those who run plans. `chat`: the program's own model."""

    def __init__(
        self,
        services: Services,
        trail: Trail,
        registry: Registry,
        chat: Chat | None,
        live: Callable[[], Collection[str]],
    ) -> None:
        self._services = services
        self._trail = trail
        self._changes = StoredChanges(services.store, services.clock)
        self._records = ModelRecords(services.store, services.sealer)
        self._registry = registry
        self._models: Models | None = None
        self._chats = ModelChats(
            self._records,
            services.clock,
            settings=lambda: services.settings,
            redactor=services.redactor,
            given=chat,
            observer=services.observer if isinstance(services.observer, ChatObserver) else None,
        )
        self._changes.follow(self._chats.forget)
        services.given_settings = services.settings
        self.settings = StoredSettings(services, trail, self._changes)
        """Settings that may change while the process runs."""
        self._changes.follow(self.settings.take)
        self._server_records = ServerRecords(services.store, services.sealer)
        self._servers: McpServers | None = None
        self._server_tools = StoredTools(
            registry,
            self._server_records,
            settings=lambda: services.settings,
            redactor=services.redactor,
            live=live,
        )
        self._changes.follow(self._server_tools.take)
        services.chat, services.models = self.chat, self.known_models

    @property
    def models(self) -> Models:
        """The stored models."""
        if self._models is None:
            from toolpath.workspace.models.models import Models  # only who keeps models pays for it

            self._models = Models(
                self._records,
                self._trail,
                self._changes,
                settings=lambda: self._services.settings,
                known=self._chats.known,
            )
        return self._models

    @property
    def mcp_servers(self) -> McpServers:
        """The stored MCP servers."""
        if self._servers is None:
            from toolpath.workspace.mcp_servers.servers import McpServers  # only who keeps servers pays for it

            self._servers = McpServers(
                self._server_records,
                self._trail,
                self._changes,
                settings=lambda: self._services.settings,
                tools=self._server_tools,
            )
        return self._servers

    async def catch_up(self) -> None:
        """Follow what was configured anew, here or elsewhere. Raises `StoreError`."""
        await self._changes.catch_up()
        self._registry.set_models(await self._chats.known(""))

    async def known_models(self, tenant: str) -> KnownModels:
        """The names of models that the tenant's plans may use. Raises `StoreError`."""
        return await self._chats.known(tenant)

    async def chat(self, tenant: str) -> Chat | None:
        """The chat that the tenant's requests to models go to; None where there is no model. Raises `ConfigError`."""
        await self._changes.catch_up()
        return await self._chats.chat(tenant)

    async def close(self) -> None:
        """Close connections."""
        await self._chats.close()
        await self._server_tools.close()
