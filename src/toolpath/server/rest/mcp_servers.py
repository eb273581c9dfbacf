"""`/mcp-servers`: MCP servers that are kept, with their secrets sealed. They are the house's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.model.mcp_server import McpServer
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import JsonBody, McpServerImport, McpServerWords
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.operation_views import McpServerTools
from toolpath.server.rest.views import McpServerList, tool_row
from toolpath.values import Json
from toolpath.workspace.mcp_servers.checking import ServerDraft

router = APIRouter(prefix="/mcp-servers", tags=["mcp-servers"])

_Server = Annotated[str, Path(max_length=200, description="The server's id or name.")]
_Body = Annotated[McpServerWords, Depends(JsonBody(McpServerWords))]
_Import = Annotated[McpServerImport, Depends(JsonBody(McpServerImport))]
_CAN_READ = [Depends(Needs("read"))]
#: Their tools are called by all, and their addresses asked from here.
_CAN_KEEP = [Depends(Needs("admin"))]
_SHOWN = shows(McpServer, "The server, its secrets masked.")
_LIST = shows(McpServerList, "Servers.")


@router.post(
    "",
    status_code=201,
    responses={**shows(McpServer, "The server is kept.", status=201), **problems(409, 415)},
    openapi_extra=takes(McpServerWords),
    dependencies=_CAN_KEEP,
)
async def add(tp: Door, caller: Asker, body: _Body) -> Response:
    """Keep a server; its tools are there for runs that begin from now on."""
    of_the_house(caller)
    made = await tp.mcp_servers.add(_draft_of(body), user=caller.user, commands=tp.settings.mcp_commands)
    return answer(made, 201, {"Location": f"/api/v1/mcp-servers/{made.server_id}"})


@router.get("", responses=_LIST, dependencies=_CAN_READ)
async def listed(tp: Door, caller: Asker) -> Response:
    """All servers by name."""
    kept = tuple(shown_to(caller, server) for server in await tp.mcp_servers.list())
    return answer(McpServerList(servers=kept, commands=tp.settings.mcp_commands))


@router.post(
    "/import",
    status_code=201,
    responses={**shows(McpServerList, "All of them are kept.", status=201), **problems(409, 415)},
    openapi_extra=takes(McpServerImport),
    dependencies=_CAN_KEEP,
)
async def import_all(tp: Door, caller: Asker, body: _Import) -> Response:
    """Keep the servers of an `mcpServers` document, all or none."""
    of_the_house(caller)
    return answer(McpServerList(servers=tuple(await imported(tp, caller, {"mcpServers": body.servers}))), 201)


@router.get("/{server}", responses={**_SHOWN, **problems(404)}, dependencies=_CAN_READ)
async def show(server: _Server, tp: Door, caller: Asker) -> Response:
    """One server."""
    return answer(shown_to(caller, await tp.mcp_servers.get(server)))


@router.put(
    "/{server}",
    responses={**_SHOWN, **problems(404, 409, 415)},
    openapi_extra=takes(McpServerWords),
    dependencies=_CAN_KEEP,
)
async def change(server: _Server, tp: Door, caller: Asker, body: _Body) -> Response:
    """Change what is given. Secrets go to no other host or program than they were given for."""
    of_the_house(caller)
    kept = await tp.mcp_servers.get(server)
    made = await tp.mcp_servers.change(
        kept, _draft_of(body), expected=body.expected, user=caller.user, commands=tp.settings.mcp_commands
    )
    return answer(made)


@router.delete(
    "/{server}",
    status_code=204,
    responses={204: {"description": "It is gone, with its secrets."}, **problems(404)},
    dependencies=_CAN_KEEP,
)
async def remove(server: _Server, tp: Door, caller: Asker) -> Response:
    """Forget the server. Runs that have begun keep its tools until they end."""
    of_the_house(caller)
    await tp.mcp_servers.remove(await tp.mcp_servers.get(server), user=caller.user)
    return Response(status_code=204)


@router.post("/{server}/enable", responses={**_SHOWN, **problems(404)}, dependencies=_CAN_KEEP)
async def enable(server: _Server, tp: Door, caller: Asker) -> Response:
    """Have its tools be there for runs that begin from now on."""
    return answer(await switched(tp, caller, server, enabled=True))


@router.post("/{server}/disable", responses={**_SHOWN, **problems(404)}, dependencies=_CAN_KEEP)
async def disable(server: _Server, tp: Door, caller: Asker) -> Response:
    """Have its tools no longer be there; runs that have begun keep them."""
    return answer(await switched(tp, caller, server, enabled=False))


@router.get(
    "/{server}/tools",
    responses={**shows(McpServerTools, "What it has, or why not."), **problems(404)},
    dependencies=_CAN_READ,
)
async def tools(server: _Server, tp: Door, caller: Asker) -> Response:
    """The tools that it has in the process that answers; an enabled one that has not been started is."""
    return answer(await _tools(tp, caller, await tp.mcp_servers.get(server), anew=False))


@router.post(
    "/{server}/reload",
    responses={**shows(McpServerTools, "What it has now, or why not."), **problems(404)},
    dependencies=_CAN_KEEP,
)
async def reload(server: _Server, tp: Door, caller: Asker) -> Response:
    """Ask it for its tools again."""
    of_the_house(caller)
    return answer(await _tools(tp, caller, await tp.mcp_servers.get(server), anew=True))


async def _tools(tp: Toolpath, caller: Caller, server: McpServer, *, anew: bool) -> McpServerTools:
    found = await tp.mcp_servers.tools(server, anew=anew)
    problem, hint = ("", "") if found.problem is None else (found.problem.message, found.problem.hint)
    if problem and caller.tenant:
        # What went wrong may say how it is reached.
        problem, hint = "It did not start, or could not say which tools it has.", ""
    return McpServerTools(
        name=server.name,
        enabled=server.enabled,
        tools=tuple(tool_row(tool, source="mcp") for tool in found.tools),
        problem=tp.redact(problem),
        hint=tp.redact(hint),
    )


async def switched(tp: Toolpath, caller: Caller, server: str, *, enabled: bool) -> McpServer:
    """The server, enabled or not. Raises `RecordNotFound`, `Problem` 403 for a tenant."""
    of_the_house(caller)
    kept = await tp.mcp_servers.get(server)
    return await tp.mcp_servers.enable(kept, enabled=enabled, user=caller.user, commands=tp.settings.mcp_commands)


async def imported(tp: Toolpath, caller: Caller, document: Json) -> Sequence[McpServer]:
    """The servers of the document, kept."""
    return await tp.mcp_servers.import_all(document, user=caller.user, commands=tp.settings.mcp_commands)


def of_the_house(caller: Caller) -> None:
    """Raise `Problem` 403 for a tenant: tools of MCP servers are those of all of them."""
    if caller.tenant:
        raise Problem(403, "scope", "MCP servers are those of all tenants.", hint="Ask the operator of the service.")


def shown_to(caller: Caller, server: McpServer) -> McpServer:
    """The server as the caller may see it: how it is reached is nothing to a tenant."""
    if not caller.tenant:
        return server
    return msgspec.structs.replace(server, url="", command="", args=(), env={}, headers={})


def _draft_of(body: McpServerWords) -> ServerDraft:
    return ServerDraft(**{name: getattr(body, name) for name in ServerDraft.__struct_fields__})
