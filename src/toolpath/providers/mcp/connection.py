"""One connection to a server: the task that owns it from start to end, and the door through which calls go.

The `mcp` library's scopes must be entered and left in the same task, so one task does only that; calls run in the tasks
of their callers, side by side. This module is imported when the first server starts, since `mcp` takes a second.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, MutableMapping
from importlib.metadata import version
from typing import Any

from mcp import Client, ClientSession, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import CallToolResult, ElicitResult, Implementation, PaginatedRequestParams
from mcp_types import Tool as McpTool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolpath.errors import ToolpathError, ToolUnavailable
from toolpath.model.redaction import Redactor
from toolpath.providers.mcp.asking_calls import AskingCalls
from toolpath.providers.mcp.call import make_call
from toolpath.providers.mcp.faults import Ending, call_fault, is_end, is_forgotten, start_fault
from toolpath.providers.mcp.flight import Flight, current_flight
from toolpath.providers.mcp.http import HttpFault, http_streams, noted_fault
from toolpath.providers.mcp.launch import Addresses, Launch
from toolpath.providers.mcp.sifting import Sifting
from toolpath.providers.mcp.stdio import StdioTransport
from toolpath.values import JsonObject

#: Bounds on what a server may make us read.
_MOST_PAGES = 200
_MOST_TOOLS = 10_000
#: Seconds that closing may take before the rest is dropped.
_CLOSING = 8.0
#: Seconds to find out how a server ended.
_INQUEST = 4.0


class Connection:
    """A started server. Made in a running loop, which it belongs to; starts at once."""

    def __init__(
        self,
        name: str,
        launch: Launch,
        changed: Callable[[], None],
        *,
        seconds: float,
        secrets: Mapping[str, str] | None = None,
        askers: MutableMapping[str, bool] | None = None,
        addresses: Addresses | None = None,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.is_open = True
        """Calls may be sent. False for good once it has ended."""
        self.ready: asyncio.Future[None] = self.loop.create_future()
        """Done when calls may be sent; raises `ToolUnavailable` or `ConfigError` when they never may."""
        self.identity = ""
        """The server's own name and version."""
        self.malformed: dict[str, str] = {}
        """Name of each entry in the server's lists that is no tool → what is wrong with it."""
        self._name = name
        self._launch = launch
        self._secrets = secrets or {}
        self._changed = changed
        self._seconds = seconds
        self._addresses = addresses
        self._redactor = Redactor()
        self._reason = ""
        self._stop = asyncio.Event()
        self._flights: dict[Flight, None] = {}
        self._asking = AskingCalls({} if askers is None else askers)
        self._fault = HttpFault()
        self._pipe: StdioTransport | None = None
        self._client: Client | None = None
        # Nobody may be waiting when the start fails; that is no news for the loop's log.
        self.ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._owner = self.loop.create_task(self._own(), name=f"mcp {name}")

    async def close(self) -> None:
        """End the server, within seconds whatever it does."""
        self._end("")
        if self.loop is not asyncio.get_running_loop():
            # Its loop is over, and with it every hope of a farewell.
            if self._pipe is not None:
                self._pipe.kill()
            return
        _, pending = await asyncio.wait({self._owner}, timeout=_CLOSING)
        for task in pending:
            task.cancel()

    async def list_tools(self) -> list[McpTool]:
        """All tools that the server has now. Raises `ToolUnavailable`, `ToolRetry` or `ToolFailed`."""
        session, fault = self._session(), HttpFault()
        token = noted_fault.set(fault)
        try:
            async with asyncio.timeout(self._seconds):
                return await _all_tools(session)
        except TimeoutError:
            text = f"Server {self._name!r} did not list its tools within {self._seconds:g} s."
            raise ToolUnavailable(text, reached=False) from None
        except Exception as error:  # noqa: BLE001 - whatever it was, it is told as one of ours
            raise await self._told(error, fault) from None
        finally:
            noted_fault.reset(token)

    async def call(self, name: str, inputs: JsonObject, context: Any) -> CallToolResult:
        """Call a tool by the server's own name for it; questions and progress go to `context`, if there is one.

        Raises `ToolUnavailable`, `ToolRetry`, `ToolTimeout` or `ToolFailed`. When the caller is cancelled, so is the
        request at the server.
        """
        flight = Flight(self._name, context)
        has_ended = False
        if self._asks_anywhere:
            await self._asking.enter(flight, name)
        request = None
        try:
            request = self.loop.create_task(make_call(self._session(), flight, name, inputs))
            self._flights[flight] = None
            result = await flight.follow(request)
            has_ended = True
            return result
        except Exception as error:  # noqa: BLE001 - whatever it was, it is told as one of ours
            raise await self._told(error, flight.fault) from None
        finally:
            self._flights.pop(flight, None)
            flight.end()
            if request is not None and not request.done():
                request.cancel()
                await asyncio.wait({request})
            self._asking.leave(flight, has_ended=has_ended)

    @property
    def _asks_anywhere(self) -> bool:
        """Whether questions of the server come without the call that they are about: on a pipe, and by older rules."""
        client = self._client
        return self._pipe is not None and client is not None and client.protocol_version not in MODERN_PROTOCOL_VERSIONS

    def _session(self) -> ClientSession:
        if self._client is None or not self.is_open:
            raise ToolUnavailable(f"Server {self._name!r} has ended.", reached=False)
        return self._client.session

    async def _told(self, error: Exception, fault: HttpFault) -> ToolpathError:
        if is_end(error):
            # How it ended is known only when its owner is through with it.
            self._end("")
            await asyncio.wait({self._owner}, timeout=_INQUEST)
        elif is_forgotten(error):
            self._end("it has forgotten the session")
        return self._redacted(call_fault(self._name, error, fault, self._ending()))

    async def _own(self) -> None:
        """Start the server, keep it until it is to end, end it."""
        error: BaseException | None = None
        noted_fault.set(self._fault)
        try:
            async with asyncio.timeout(self._seconds) as limit, self._make_client() as client:
                limit.reschedule(None)
                await self._serve(client)
        except Exception as caught:  # noqa: BLE001 - told to those who wait for the start
            error = caught
        finally:
            self.is_open = False
            self._client = None
            for flight in tuple(self._flights):
                flight.end()
            if not self.ready.done():
                fault = start_fault(
                    self._name, error, self._fault, self._ending(), seconds=self._seconds, program=self._program()
                )
                self.ready.set_exception(self._redacted(fault))

    def _make_client(self) -> Client:
        launch = self._launch.filled(os.environ, self._secrets)
        self._redactor = Redactor(launch.secrets)
        transport: Any
        if launch.url:
            transport = http_streams(launch, seconds=self._seconds, addresses=self._addresses)
        else:
            transport = self._pipe = StdioTransport(launch, os.environ, self._end)
        return Client(
            Sifting(transport, self._dropped),
            mode="auto",
            cache=None,
            client_info=Implementation(name="toolpath", version=version("toolpath")),
            elicitation_callback=self._asked,
            message_handler=self._told_by_server,
        )

    def _dropped(self, tool: str, fault: str) -> None:
        self.malformed[tool] = self._redactor.text(fault)

    async def _serve(self, client: Client) -> None:
        self._client = client
        info = client.server_info
        self.identity = f"{info.name} {info.version}".strip() if info is not None else ""
        if self.is_open:
            self.ready.set_result(None)
        listener = self.loop.create_task(self._listen(client)) if _announces_changes(client) else None
        try:
            await self._stop.wait()
        finally:
            self.is_open = False
            if listener is not None:
                listener.cancel()
                await asyncio.wait({listener})

    def _end(self, reason: str) -> None:
        self.is_open = False
        self._reason = self._reason or reason
        self._stop.set()

    def _ending(self) -> Ending:
        pipe = self._pipe
        return (
            Ending(self._reason)
            if pipe is None
            else Ending(self._reason, pipe.exit_code, self._redactor.text(pipe.stderr))
        )

    def _program(self) -> str:
        command = self._launch.command
        return (shutil.which(command) or command) if command else ""

    def _redacted(self, error: ToolpathError) -> ToolpathError:
        text = self._redactor.text(error.message)
        error.message, error.args = text, (text,)
        return error

    async def _told_by_server(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._changed()

    async def _listen(self, client: Client) -> None:
        """Hear of changes from a server of the newer generation, as long as it lets us."""
        delay = 1.0
        while self.is_open:
            try:
                async with client.listen(tools_list_changed=True) as subscription:
                    async for _ in subscription:
                        delay = 1.0
                        self._changed()
                return
            except SubscriptionLost:
                await asyncio.sleep(delay)
                delay = min(delay * 2, 60.0)
            except (MCPError, RuntimeError, TimeoutError):
                return

    async def _asked(self, context: Any, params: Any) -> ElicitResult:
        """The answer to a question of a server of the older generation, from the person behind the call."""
        flight = current_flight.get()
        if flight is not None:
            answer = await flight.ask(_wire(params))
        elif (flight := await self._asking.owner()) is None:
            # The call is over; nobody is left to be asked for it.
            answer = {"action": "cancel"}
        else:
            self._asking.asks(flight)
            answer = await flight.ask(_wire(params))
            await self._asking.goes_on(flight)
        return ElicitResult.model_validate(answer)


def _wire(params: Any) -> JsonObject:
    found: JsonObject = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


async def _all_tools(session: ClientSession) -> list[McpTool]:
    tools: list[McpTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _MOST_TOOLS:
            break
    return tools[:_MOST_TOOLS]


def _announces_changes(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and bool(tools.list_changed)
