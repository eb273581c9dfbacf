"""`/api/mcp`: stored MCP servers as that service's clients know them. Changes are answered with a text."""

from __future__ import annotations

from typing import Final

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import PlainTextResponse, Response

from toolpath.errors import ReadError
from toolpath.model.mcp_server import McpServer
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.plan_service.answers import ServiceRoute, body_of
from toolpath.server.rest.described import answer
from toolpath.server.rest.mcp_servers import imported, of_the_house, shown_to, switched
from toolpath.values import Json, JsonObject
from toolpath.workspace.mcp_servers.checking import ServerDraft, check_transport

router = APIRouter(prefix="/api/mcp", route_class=ServiceRoute, include_in_schema=False)

_CAN_READ = [Depends(Needs("read"))]
_CAN_KEEP = [Depends(Needs("admin"))]
_TYPES: Final = {"stdio": "STUDIO", "http": "STREAMING"}


class ServerConfig(msgspec.Struct, frozen=True, rename="camel"):
    """A server as that service has it; with an id, the one that is changed."""

    id: int | str | None = None
    mcp_server_name: str | None = None
    connection_type: str | None = None
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    env: dict[str, str] | None = None
    headers: dict[str, str] | None = None
    status: str | None = None


class ServersConfig(msgspec.Struct, frozen=True, rename="camel"):
    """Servers in `mcpServers` JSON, as a text or as it is."""

    config_json: str | None = None
    mcp_servers: JsonObject | None = None


@router.get("/list", dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """All servers."""
    return answer([_shown(shown_to(caller, server)) for server in await tp.mcp_servers.list()])


@router.post("/batch-import", dependencies=_CAN_KEEP)
async def batch_import(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep all of them, or none."""
    of_the_house(caller)
    body: ServersConfig = await body_of(request, ServersConfig)
    document: Json = body.config_json if body.config_json is not None else {"mcpServers": body.mcp_servers}
    made = await imported(tp, caller, document)
    return PlainTextResponse(f"Successfully imported {len(made)} MCP servers")


@router.post("/server", dependencies=_CAN_KEEP)
async def save(request: Request, tp: Door, caller: Asker) -> Response:
    """Keep a server, or change the one of this id."""
    of_the_house(caller)
    body: ServerConfig = await body_of(request, ServerConfig)
    draft = _draft(body)
    commands = tp.settings.mcp_commands
    if body.id is None or body.id == "":
        await tp.mcp_servers.add(draft, user=caller.user, commands=commands)
        return PlainTextResponse("MCP server added successfully")
    known = await tp.mcp_servers.get(str(body.id))
    await tp.mcp_servers.change(known, draft, user=caller.user, commands=commands)
    return PlainTextResponse("MCP server updated successfully")


@router.get("/remove", dependencies=_CAN_KEEP)
@router.post("/remove", dependencies=_CAN_KEEP)
async def remove_by_id(tp: Door, caller: Asker, server_id: str = Query(alias="id", max_length=200)) -> Response:
    """Forget the server of this id."""
    return await remove(server_id, tp, caller)


@router.post("/remove/{name}", dependencies=_CAN_KEEP)
async def remove(name: str, tp: Door, caller: Asker) -> Response:
    """Forget the server of this name."""
    of_the_house(caller)
    await tp.mcp_servers.remove(await tp.mcp_servers.get(name), user=caller.user)
    return PlainTextResponse("MCP server removed successfully")


@router.post("/enable/{server_id}", dependencies=_CAN_KEEP)
async def enable(server_id: str, tp: Door, caller: Asker) -> Response:
    """Have its tools be there."""
    await switched(tp, caller, server_id, enabled=True)
    return PlainTextResponse("MCP server enabled successfully")


@router.post("/disable/{server_id}", dependencies=_CAN_KEEP)
async def disable(server_id: str, tp: Door, caller: Asker) -> Response:
    """Have its tools no longer be there."""
    await switched(tp, caller, server_id, enabled=False)
    return PlainTextResponse("MCP server disabled successfully")


def _draft(body: ServerConfig) -> ServerDraft:
    name = body.mcp_server_name
    if body.connection_type:
        check_transport(body.connection_type, name or "")
    if body.status not in (None, "", "ENABLE", "DISABLE"):
        raise ReadError(f"status is {str(body.status)[:50]!r}; it is ENABLE or DISABLE.")
    return ServerDraft(
        name=name,
        url=body.url or None,
        command=body.command or None,
        args=body.args,
        env=body.env,
        headers=body.headers,
        enabled=None if not body.status else body.status == "ENABLE",
    )


def _shown(server: McpServer) -> JsonObject:
    kind = _TYPES[server.transport]
    said: JsonObject = {"command": server.command, "args": list(server.args), "env": server.env}
    if server.transport == "http":
        said = {"url": server.url, "headers": server.headers}
    return {
        "id": server.server_id,
        "mcpServerName": server.name,
        "connectionType": kind,
        "connectionConfig": msgspec.json.encode(said).decode(),
        **said,
        "status": "ENABLE" if server.enabled else "DISABLE",
    }
