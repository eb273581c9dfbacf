"""The MCP server over one Toolpath: what clients list and call, and how they are told of changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any

from mcp.server import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
)

from toolpath.access.acting import acting, tenant_of
from toolpath.app import Toolpath
from toolpath.server.mcp.calls import call_published
from toolpath.server.mcp.client import Context, McpClient
from toolpath.server.mcp.listing import ToolListing, is_published
from toolpath.server.mcp.meta import MetaTools
from toolpath.server.mcp.meta_schemas import META_TOOLS
from toolpath.server.mcp.templates import McpTemplates

#: Tools on one page of the list.
PAGE = 500
#: Tenants whose tools are kept as clients are told of them.
_LISTINGS = 16

INSTRUCTIONS = """\
Every tool here can be called alone. For work of several steps send one plan instead of many calls: find tools with \
`search_tools`, let `plan` write a plan from a request or write one, look at it with `check_plan`, run it with \
`run_plan`. Steps that do not need one another run side by side; a step reads another's output as {{ step_id.field }}. \
Every call and plan is a run with an id: `get_run` shows it, `answer` answers what it asks a person."""


class _Server(Server[Any]):
    """The library's server, which says on every transport that it announces changes."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class McpService:
    """Tools, composites and plans of a Toolpath as one MCP server; `server` is run by a transport."""

    def __init__(self, tp: Toolpath) -> None:
        self._tp = tp
        self._listings: dict[str, ToolListing] = {}
        """By tenant, the one asked for latest last."""
        self._told = ""
        """Digest of the catalogue that clients were last told of, and the revision of what is published; empty: none
        has asked."""
        self._sessions: dict[int, ServerSession] = {}
        self._bus = InMemorySubscriptionBus()
        self._listeners = ListenHandler(self._bus)
        self._meta = MetaTools(tp, self.listing)
        self._templates = McpTemplates(tp)
        self.is_closing = False
        """The server is ending: requests that are cut off now were not cancelled by their clients."""
        self.server: Server[Any] = _Server(
            "toolpath",
            version=version("toolpath"),
            title="Toolpath",
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            get_tool_input_schema=self._schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listeners,
        )
        self.server.add_notification_handler("notifications/initialized", NotificationParams, self._meet)

    async def listing(self) -> ToolListing:
        """Every published tool as it is now."""
        await self._tp.tools()
        return self._known()

    def _known(self) -> ToolListing:
        """The listing that is known now to the acting caller, without asking providers."""
        tenant, catalog = tenant_of(None), self._tp.known_tools()
        known = self._listings.pop(tenant, None)
        # Where a tool is published, and under which title, is no part of its digest.
        if known is None or known.catalog.tools is not catalog.tools:
            known = ToolListing(catalog, META_TOOLS)
        self._listings[tenant] = known
        if len(self._listings) > _LISTINGS:
            del self._listings[next(iter(self._listings))]
        return known

    def _schema(self, name: str) -> dict[str, Any] | None:
        return self._known().schema(name)

    async def _list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        caller = McpClient(context, leaves=lambda: self.is_closing).caller
        with acting(caller):
            listing = await self.listing()
        self._told = await self._state()
        tools = [*listing.tools, *await self._templates.told(caller.tenant, listing)]
        start = _start_of(params.cursor if params is not None else None, len(tools))
        end = start + PAGE
        return ListToolsResult(tools=tools[start:end], next_cursor=str(end) if end < len(tools) else None)

    async def _state(self) -> str:
        """The state of all that clients of any tenant are told of: it changes when one of these does."""
        catalog = self._tp.known_tools(tenant="")
        told = tuple((tool.key, tool.title) for tool in catalog.tools.values() if is_published(tool))
        return f"{catalog.digest} {hash(told)} {await self._tp.templates.revision()}"

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        client = McpClient(context, leaves=lambda: self.is_closing)
        with acting(client.caller):
            return await self._called(client, params)

    async def _called(self, client: McpClient, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name in self._meta.names:
            return await self._meta.call(client, params)
        # A provider that cannot list its tools must not hold up calls of others.
        listing = self._known()
        if params.name not in listing.published:
            listing = await self.listing()
        published = listing.published.get(params.name)
        if published is None and (found := await self._templates.find(params.name, client.caller.tenant, listing)):
            template, published = found
            runs = partial(self._templates.run_of, template)
            return await call_published(self._tp, published, client, params, runs=runs)
        if published is None:
            near = listing.nearest(params.name)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise MCPError(
                INVALID_PARAMS,
                f"Unknown tool: {params.name[:200]!r}.{hint}",
                {"code": "unknown_tool", "suggestions": list(near)},
            )
        return await call_published(self._tp, published, client, params)

    # Changes.

    @asynccontextmanager
    async def _lifespan(self, server: Server[Any]) -> AsyncIterator[None]:
        """While a transport runs: changes of the catalogue are announced."""
        changed = asyncio.Event()
        forget = self._tp.registry.on_change(changed.set)
        announcing = asyncio.create_task(self._announce(changed))
        try:
            yield
        finally:
            forget()
            announcing.cancel()
            self._listeners.close()
            with suppress(asyncio.CancelledError):
                await announcing

    async def _announce(self, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            changed.clear()
            if not self._told:
                continue
            await self._tp.tools(tenant="")
            state = await self._state()
            if state == self._told:
                continue
            self._told = state
            for session in list(self._sessions.values()):
                await session.send_tool_list_changed()
            await self._bus.publish(ToolsListChanged())

    async def _meet(self, context: Context, params: NotificationParams) -> None:
        """Remember a client of the older generation for as long as it is connected."""
        session = context.session
        connection = session._connection  # the library has no public way to the connection from here
        self._sessions[id(connection)] = session
        connection.exit_stack.callback(self._sessions.pop, id(connection), None)


def _start_of(cursor: str | None, length: int) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9 or int(cursor) > length:
        raise MCPError(INVALID_PARAMS, f"No page begins at {cursor[:50]!r}.")
    return int(cursor)
