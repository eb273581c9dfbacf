"""The stored MCP servers of one Toolpath: list, add, change, remove, enable, import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from toolpath.access.trail import Trail
from toolpath.config import Settings
from toolpath.errors import PolicyViolationError, RecordConflict, RecordNotFound, SchemaError, closest
from toolpath.model.language_model import MASK
from toolpath.model.mcp_server import McpServer
from toolpath.providers.builtin.reach import HostRefused, Reach
from toolpath.values import Json
from toolpath.workspace.changes import StoredChanges
from toolpath.workspace.mcp_servers.checking import ServerDraft, check_server, is_masked, read_servers, secrets_of
from toolpath.workspace.mcp_servers.server_records import ServerRecords, ServerSecrets, id_of, taken
from toolpath.workspace.mcp_servers.stored_tools import ServerTools, StoredTools

_FIELDS: Final = ("url", "command", "args", "enabled", "timeout", "trust_annotations")


class McpServers:
    """The MCP servers of one store. They are the house's: their tools are there for every tenant.

    `commands`, in what follows: whether a server may be a program, which is run here.
    """

    def __init__(
        self,
        records: ServerRecords,
        trail: Trail,
        changes: StoredChanges,
        *,
        settings: Callable[[], Settings],
        tools: StoredTools,
    ) -> None:
        self._records = records
        self._trail = trail
        self._changes = changes
        self._settings = settings
        self._tools = tools

    async def list(self) -> list[McpServer]:
        """All of them by name."""
        return [kept.server for kept in await self._records.all()]

    async def get(self, name: str) -> McpServer:
        """The server of that name or id. Raises `RecordNotFound`."""
        found = await self.list()
        for server in found:
            if name in (server.name, server.server_id):
                return server
        near = closest(name[:100], [server.name for server in found])
        raise RecordNotFound(f"There is no MCP server {name[:100]!r}.", suggestions=near)

    async def add(self, draft: ServerDraft, *, user: str = "", commands: bool = True) -> McpServer:
        """Keep a new one; where it is enabled its tools are there for runs that begin from now on.

        Raises `SchemaError` for what it cannot be, `RecordConflict` where the name is taken.
        """
        (made,) = await self._add_all([draft], user=user, commands=commands)
        return made

    async def import_all(self, document: Json, *, user: str = "", commands: bool = True) -> Sequence[McpServer]:
        """Keep the servers of an `mcpServers` document, all or none. Raises as `add`."""
        return await self._add_all(read_servers(document), user=user, commands=commands)

    async def change(
        self,
        server: McpServer,
        draft: ServerDraft,
        *,
        expected: int | None = None,
        user: str = "",
        commands: bool = True,
    ) -> McpServer:
        """Change what is given; the name stays. Runs that have begun keep what they froze. Raises as `add`.

        Secrets stay where they were given: with another host or program they have to be given anew.
        """
        kept = await self._records.get(server.server_id)
        if draft.name not in (None, server.name):
            raise SchemaError("An MCP server keeps its name.", hint="Add one of the other name, and remove this one.")
        renewed = all(
            given is not None and not any(map(is_masked, given.values())) for given in (draft.env, draft.headers)
        )
        # What was sealed with a key that is lost is given anew, whole.
        secrets = ServerSecrets() if renewed else self._records.secrets(kept)
        if draft.command:
            draft = msgspec.structs.replace(draft, url=draft.url or "")
        elif draft.url:
            draft = msgspec.structs.replace(draft, command="", args=draft.args or ())
        made = _filled(kept.server, draft)
        if _target(made) != _target(kept.server):
            if (secrets.env and draft.env is None) or (secrets.headers and draft.headers is None):
                raise SchemaError(
                    "The secrets belong to the host or program that they were given with.",
                    hint="Give 'env' and 'headers' of the new one, too.",
                )
            # A masked one would be taken along.
            secrets = ServerSecrets()
        made, sealed = await self._checked(made, secrets, draft, commands=commands)
        await self._recorded("mcp_server.change", made, user)
        revision = kept.server.revision if expected is None else expected
        put = await self._records.put(made, sealed, expected=revision)
        await self._changes.tell()
        return put

    async def enable(
        self, server: McpServer, *, enabled: bool = True, user: str = "", commands: bool = True
    ) -> McpServer:
        """Have its tools be there for runs that begin from now on, or no longer be there."""
        # Leaving off needs no leave: it runs nothing.
        return await self.change(server, ServerDraft(enabled=enabled), user=user, commands=commands or not enabled)

    async def remove(self, server: McpServer, *, user: str = "") -> None:
        """Forget it, with its secrets. Its connections close when no run here uses them any more."""
        await self._recorded("mcp_server.remove", server, user)
        await self._records.delete(server)
        await self._changes.tell()

    async def tools(self, server: McpServer, *, anew: bool = False) -> ServerTools:
        """The tools that it has in this process, which starts it where it has not been, or why it has none.

        `anew`: it is asked again, whatever is known of it. One that is not enabled has none, and is not started.
        """
        return await self._tools.listed(server.name, anew=anew) if server.enabled else ServerTools((), None)

    # Within.

    async def _add_all(self, drafts: Sequence[ServerDraft], *, user: str, commands: bool) -> Sequence[McpServer]:
        known = {server.name for server in await self.list()} | set(self._tools.own)
        now = self._trail.clock.time()
        ready = []
        for draft in drafts:
            name = draft.name or ""
            made = _filled(McpServer(server_id=id_of(name), name=name, created_at=now), draft)
            ready.append(await self._checked(made, ServerSecrets(), draft, commands=commands))
            if name in known:
                raise taken(name)
            known.add(name)
        put = []
        try:
            for made, secrets in ready:
                await self._recorded("mcp_server.add", made, user)
                put.append(await self._records.put(made, secrets, expected=0))
        except (RecordConflict, SchemaError):
            # Somebody else was faster with one of the names.
            for server in put:
                await self._records.delete(server)
            raise
        await self._changes.tell()
        return put

    async def _checked(
        self, made: McpServer, secrets: ServerSecrets, draft: ServerDraft, *, commands: bool
    ) -> tuple[McpServer, ServerSecrets]:
        """The server with its secrets, masked and in clear. Raises `SchemaError` and `PolicyViolationError`."""
        check_server(made)
        env = secrets_of(draft.env, secrets.env, field="env")
        headers = secrets_of(draft.headers, secrets.headers, field="headers")
        if made.command and not commands:
            raise PolicyViolationError(
                f"The MCP server {made.name!r} is a program, and programs are not run for who asks here.",
                missing=("mcp_commands",),
                hint="Who runs this may switch that on with the setting mcp_commands, or keep it in Python.",
            )
        if made.command and headers:
            raise SchemaError("'headers' are for a 'url'; this server is a command.", hint="A command has 'env'.")
        if made.url and env:
            raise SchemaError("'env' is for a command; this server has a 'url'.", hint="A URL has 'headers'.")
        await self._check_host(made)
        masked = {"env": dict.fromkeys(env, MASK), "headers": dict.fromkeys(headers, MASK)}
        transport: Any = "stdio" if made.command else "http"
        return msgspec.structs.replace(made, transport=transport, **masked), ServerSecrets(env, headers)

    async def _check_host(self, server: McpServer) -> None:
        if not server.url:
            return
        try:
            await Reach(allow=self._settings().http_allow).check(server.url)
        except HostRefused as error:
            raise SchemaError(error.message, hint=error.hint) from None

    async def _recorded(self, action: str, server: McpServer, user: str) -> None:
        said: dict[str, Any] = {
            "name": server.name,
            "url": server.url,
            "command": server.command,
            "enabled": server.enabled,
        }
        await self._trail.record(action, server.server_id, user=user, **said)


def _filled(server: McpServer, draft: ServerDraft) -> McpServer:
    given: dict[str, Any] = {name: value for name in _FIELDS if (value := getattr(draft, name)) is not None}
    for name in ("url", "command"):
        if name in given:
            given[name] = given[name].strip()
    return msgspec.structs.replace(server, **given)


def _target(server: McpServer) -> tuple[Any, ...]:
    """The command or address that is given the secrets."""
    if server.command:
        return (server.command, *server.args)
    try:
        split = urlsplit(server.url)
        return split.scheme, split.hostname, split.port
    except ValueError:
        return (server.url,)
