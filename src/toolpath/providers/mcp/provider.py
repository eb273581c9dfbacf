"""A server as a provider of tools: started when first needed, started anew when it died."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from toolpath.catalog.overrides import overridden, read_overrides
from toolpath.errors import ConfigError, Finding, ToolChanged, ToolUnavailable
from toolpath.model.tool import Body, Tool
from toolpath.providers.mcp.launch import Addresses, Launch, public_url
from toolpath.providers.mcp.tools import tools_of
from toolpath.providers.secret_values import EnvironmentSecrets
from toolpath.values import Json, JsonObject, digest, plain

if TYPE_CHECKING:
    from mcp_types import Tool as McpTool

    from toolpath.providers.mcp.connection import Connection
from typing import TYPE_CHECKING

from toolpath.errors import ToolFailed
from toolpath.values import decode

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_MOST_FINDINGS = 50
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class McpProvider:
    """The tools of one MCP server, as the group of its name."""

    kind = "mcp"

    def __init__(  # noqa: PLR0913 - two ways to reach a server, each with its words
        self,
        name: str,
        *,
        command: str | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        trust_annotations: bool = True,
        max_concurrency: int | None = None,
        overrides: Mapping[str, Mapping[str, Any]] | None = None,
        addresses: Addresses | None = None,
        is_stored: bool = False,
        secrets: Mapping[str, str] = EnvironmentSecrets(),
    ) -> None:
        """Name a server by its `command` (stdio) or its `url` (streamable HTTP).

        `${VAR}` in any of them is filled in from the environment when the server starts. `timeout` is for the start and
        for listing tools, in seconds. Without `trust_annotations` every tool writes. `overrides`: a tool's name, or a
        pattern of names → fields that win over what the server says. `addresses` says where a host may be reached.
        `is_stored`: it comes from a store, so that nothing is filled in. `secrets`: where `{{ secrets.NAME }}` in
        headers and `env` is found. Raises `ConfigError`.
        """
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"A server cannot be called {name[:100]!r}.", hint="Use up to 64 letters, digits, '_' and '-', no dots."
            )
        if bool(command) == bool(url):
            raise ConfigError(f"Server {name!r} needs a command or a url, one of the two.")
        if url and not re.match(r"https?://|\$\{", url):
            raise ConfigError(f"Server {name!r}: {public_url(url)!r} is no http or https URL.")
        self.name = name
        self.timeout = timeout
        self._trusts_annotations = trust_annotations
        self._overrides = read_overrides(overrides or {}, where=f"overrides of the server {name!r}")
        self._written_overrides, self._addresses, self._secrets = dict(overrides or {}), addresses, secrets
        if max_concurrency is not None and (type(max_concurrency) is not int or max_concurrency < 1):
            raise ConfigError(f"Server {name!r}: max_concurrency is a whole number from 1, not {max_concurrency!r}.")
        self.max_concurrency = max_concurrency
        """The most calls of its tools at once, over all runs of a process; None: as many as the runs make."""
        self._launch = Launch(
            command=command or "",
            args=tuple(args),
            env=dict(env or {}),
            cwd=None if cwd is None else str(cwd),
            url=url or "",
            headers=dict(headers or {}),
            is_literal=is_stored,
        )
        self._connection: Connection | None = None
        self._listed: dict[str, str] = {}
        """Tool → digest of what the server says of it now."""
        self._is_stale = False
        """The server may have changed its tools since they were listed."""
        self._askers: dict[str, bool] = {}
        """Tool → whether its calls were seen to ask a person something."""
        self._watchers: list[Callable[[], None]] = []

    async def list_tools(self) -> list[Tool]:
        """All tools of the server, which is started if need be. Raises `ToolUnavailable` or `ConfigError`."""
        connection = await self._connected()
        found = await self._listing(connection)
        tools = tools_of(
            found,
            server=self.name,
            identity=f"{connection.identity} {self._launch.identity}",
            trusts_annotations=self._trusts_annotations,
            body=self._body,
        )
        return [overridden(tool, tool.name, self._overrides) for tool in tools]

    async def _listing(self, connection: Connection) -> list[McpTool]:
        self._is_stale = False
        connection.malformed.clear()
        found = await connection.list_tools()
        self._listed = {item.name: _told(item) for item in found}
        return found

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A warning for each tool of the server that is malformed; the others are there all the same."""
        malformed = self._connection.malformed if self._connection is not None else {}
        return tuple(
            Finding(
                code="provider_problem",
                severity="warning",
                message=f"{self.name}: its tool {name!r} is malformed and left out: {fault}",
                hint="Have the server mended.",
            )
            for name, fault in list(malformed.items())[:_MOST_FINDINGS]
        )

    def watch(self, changed: Callable[[], None]) -> None:
        """Have `changed` called in the loop when the server says that its tools have changed."""
        self._watchers.append(changed)

    def describe(self) -> JsonObject:
        """How another process can have the same server: `{"mcp": name, "command": …}`, without secrets.

        `hidden` names the values that were left out; `config.providers_again` reads it back.
        """
        if self._launch.is_literal:
            return {}
        most = {} if self.max_concurrency is None else {"max_concurrency": self.max_concurrency}
        over = {"overrides": self._written_overrides} if self._written_overrides else {}
        return {
            "mcp": self.name,
            **self._launch.described(),
            "trust_annotations": self._trusts_annotations,
            **most,
            **over,
        }

    async def close(self) -> None:
        """End the server, within seconds. A later call would start it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _body(self, name: str) -> Body:
        known = self._listed.get(name)

        async def invoke(inputs: JsonObject, context: Any) -> Json:
            return await self._call(name, known, inputs, context)

        return Body(invoke=invoke, runs="loop", wants_context=True)

    async def _call(self, name: str, known: str | None, inputs: JsonObject, context: Any) -> Json:
        for attempt in (1, 2):
            connection = await self._connected()
            try:
                if self._is_stale:
                    await self._listing(connection)
                if self._listed.get(name) != known:
                    raise ToolChanged(
                        f"{self.name}.{name} is not the tool that it was when the run began; it was not called.",
                        hint="Retry the run, and accept the tool as it is now.",
                    )
                return output_of(await connection.call(name, inputs, context))
            except ToolUnavailable as error:
                # The server had died or forgotten us unnoticed and has seen nothing of this call: start it and repeat.
                if error.reached or connection.is_open or attempt == 2:
                    raise
        raise AssertionError

    async def _connected(self) -> Connection:
        """A connection that is up; callers that come while it starts share it."""
        connection = self._connection
        if connection is None or not connection.is_open or connection.loop is not asyncio.get_running_loop():
            connection = await self._started()
        # A caller that gives up must not take the start away from the others.
        await asyncio.shield(connection.ready)
        return connection

    async def _started(self) -> Connection:
        # Takes a second, once, and not in the loop's thread: mcp is imported when a server is needed, not before.
        module = await asyncio.to_thread(importlib.import_module, "toolpath.providers.mcp.connection")
        connection = self._connection
        if connection is not None and connection.loop is not asyncio.get_running_loop():
            # It belongs to a loop that is over.
            await connection.close()
        if connection is None or not connection.is_open:
            is_first = connection is None
            connection = module.Connection(
                self.name,
                self._launch,
                self._changed,
                seconds=self.timeout,
                secrets=self._secrets,
                askers=self._askers,
                addresses=self._addresses,
            )
            self._connection = connection
            if not is_first:
                # A server that is started anew may have other tools.
                self._changed()
        return connection

    def _changed(self) -> None:
        self._is_stale = True
        for watcher in self._watchers:
            watcher()


def _told(tool: McpTool) -> str:
    """Digest of all that the server says of the tool."""
    return digest(plain(tool.model_dump(mode="json", by_alias=True, exclude_none=True))[0])


def output_of(result: CallToolResult) -> Json:
    """`structuredContent`; else one text, parsed if it is wholly a JSON object or array; else the content blocks.

    Raises `ToolFailed` with the server's text when it says that the call is an error.
    """
    if result.is_error:
        raise _failure(result)
    # A structured null is an answer; one that is absent is not.
    if result.structured_content is not None or "structured_content" in result.model_fields_set:
        return result.structured_content
    blocks = result.content
    if len(blocks) == 1 and blocks[0].type == "text":
        return _text(blocks[0].text)
    return _blocks(result)


def _blocks(result: CallToolResult) -> list[Json]:
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


def _text(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def _failure(result: CallToolResult) -> ToolFailed:
    texts = [block.text for block in result.content if block.type == "text"]
    message = "\n".join(texts).strip() or "The server says that the call failed, and not why."
    details = result.structured_content
    if details is None and len(texts) != len(result.content):
        details = _blocks(result)
    return ToolFailed(message, details=details)
