"""`toolpath mcp`: the tools over MCP, for a client that starts this command."""

from __future__ import annotations

import typer


def mcp(ctx: typer.Context) -> None:
    """Serve tools, composites and plans over MCP on standard input and output."""
    from toolpath.cli.service.mcp_serving import serve_mcp

    raise typer.Exit(serve_mcp(ctx.obj))
