"""`toolpath mcp-servers …`: MCP servers that the store keeps, with their secrets sealed."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="MCP servers of the store, whose tools are there without a restart.",
)

_Name = Annotated[str, typer.Argument(metavar="SERVER", help="Its name or id.")]
_Url = Annotated[str, typer.Option(metavar="URL", help="Where it is asked: a public host, or one of http_allow.")]
_Command = Annotated[str, typer.Option(metavar="PROGRAM", help="The program that is run, without its arguments.")]
_Args = Annotated[list[str] | None, typer.Option("--arg", metavar="ARG", help="An argument of the program.")]
_Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VARIABLE", help="A variable of the program, its value from one here."),
]
_Headers = Annotated[
    list[str] | None, typer.Option("--header", metavar="NAME=VARIABLE", help="A header, its value from a variable.")
]
_Timeout = Annotated[float | None, typer.Option(help="Seconds for its start and for listing its tools.  [30]")]
_Trust = Annotated[
    bool | None,
    typer.Option("--trust/--no-trust", help="Whether what it says of its tools' effects is believed.  [trust]"),
]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """All servers."""
    from toolpath.cli.mcp_servers.server_verbs import list_servers

    raise typer.Exit(list_servers(ctx.obj))


@app.command()
def show(ctx: typer.Context, server: _Name) -> None:
    """One server, its secrets masked."""
    from toolpath.cli.mcp_servers.server_verbs import show_server

    raise typer.Exit(show_server(ctx.obj, server))


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The group of its tools.")],
    *,
    url: _Url = "",
    command: _Command = "",
    arg: _Args = None,
    env: _Env = None,
    header: _Headers = None,
    timeout: _Timeout = None,
    trust: _Trust = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Its tools are not there yet.")] = False,
) -> None:
    """Keep a server: a program or an address."""
    from toolpath.cli.mcp_servers.server_verbs import TypedServer, add_server

    typed = TypedServer(url, command, tuple(arg or ()), tuple(env or ()), tuple(header or ()), timeout, trust)
    raise typer.Exit(add_server(ctx.obj, name, typed, enabled=not disabled))


@app.command()
def change(
    ctx: typer.Context,
    server: _Name,
    *,
    url: _Url = "",
    command: _Command = "",
    arg: _Args = None,
    env: _Env = None,
    header: _Headers = None,
    timeout: _Timeout = None,
    trust: _Trust = None,
) -> None:
    """Change what is given of a server. With another host or program its secrets have to be given anew."""
    from toolpath.cli.mcp_servers.server_verbs import TypedServer, change_server

    typed = TypedServer(url, command, tuple(arg or ()), tuple(env or ()), tuple(header or ()), timeout, trust)
    raise typer.Exit(change_server(ctx.obj, server, typed))


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="An mcpServers document; '-': stdin.")],
) -> None:
    """Keep all servers of a document, or none."""
    from toolpath.cli.mcp_servers.server_verbs import import_servers

    raise typer.Exit(import_servers(ctx.obj, file))


@app.command()
def enable(ctx: typer.Context, server: _Name) -> None:
    """Have its tools be there for runs that begin from now on."""
    from toolpath.cli.mcp_servers.server_verbs import switch_server

    raise typer.Exit(switch_server(ctx.obj, server, enabled=True))


@app.command()
def disable(ctx: typer.Context, server: _Name) -> None:
    """Have its tools no longer be there; runs that have begun keep them."""
    from toolpath.cli.mcp_servers.server_verbs import switch_server

    raise typer.Exit(switch_server(ctx.obj, server, enabled=False))


@app.command()
def tools(ctx: typer.Context, server: _Name) -> None:
    """The tools that it has, or why it has none; it is asked now. 1 where it cannot be."""
    from toolpath.cli.mcp_servers.server_verbs import tools_of_server

    raise typer.Exit(tools_of_server(ctx.obj, server))


@app.command()
def remove(ctx: typer.Context, server: _Name) -> None:
    """Forget a server, with its secrets. Runs that have begun keep its tools until they end."""
    from toolpath.cli.mcp_servers.server_verbs import remove_server

    raise typer.Exit(remove_server(ctx.obj, server))
