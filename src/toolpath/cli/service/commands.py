"""`toolpath serve`: the engine over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 is any free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer requests.")] = 1,
) -> None:
    """Serve REST, GraphQL, MCP and live events until told to stop."""
    from toolpath.errors import needs_extra

    with needs_extra("server", "`toolpath serve`"):
        from toolpath.cli.service.serving import serve as serve_on

    raise typer.Exit(serve_on(ctx.obj, host, port, workers))
