"""`toolpath serve`, `mcp` and `worker`: the engine over HTTP, over MCP on a pipe, and at the queue."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 is any free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer requests.")] = 1,
    open_page: Annotated[bool, typer.Option("--open", help="Open the web page in this machine's browser.")] = False,
) -> None:
    """Serve REST, GraphQL, MCP and live events until told to stop."""
    from toolpath.errors import needs_extra

    with needs_extra("server", "`toolpath serve`"):
        from toolpath.cli.service.serving import serve as serve_on

    raise typer.Exit(serve_on(ctx.obj, host, port, workers, opens=open_page))


def mcp(ctx: typer.Context) -> None:
    """Serve tools, composites and plans over MCP on standard input and output."""
    from toolpath.cli.service.mcp_serving import serve_mcp

    raise typer.Exit(serve_mcp(ctx.obj))


def worker(
    ctx: typer.Context,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Runs driven at the same time.")] = 10,
    grace: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that calls under way have to end when it is told to stop.")
    ] = 30.0,
) -> None:
    """Drive runs from the queue that the settings name, until told to stop."""
    from toolpath.errors import needs_extra

    with needs_extra("workers", "`toolpath worker`"):
        from toolpath.cli.service.working import work

    raise typer.Exit(work(ctx.obj, concurrency, grace))
