"""An MCP server with one tool, for the page's demonstration."""

from __future__ import annotations

from datetime import UTC, datetime

from mcp.server.mcpserver import MCPServer

server = MCPServer("clock")


@server.tool()
def now() -> str:
    """What time it is, in UTC."""
    return f"{datetime.now(UTC):%H:%M}"


if __name__ == "__main__":
    server.run()
