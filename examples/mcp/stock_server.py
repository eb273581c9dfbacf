"""A stock-keeper as an MCP server over stdio."""

from typing import TypedDict

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("stock")
SHELF = {"tea": 12, "cake": 2}


class Item(TypedDict):
    name: str
    left: int


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def look(name: str) -> Item:
    """How many of an item are left."""
    return Item(name=name, left=SHELF.get(name, 0))


@server.tool()
def take(name: str, count: int) -> Item:
    """Take some of an item."""
    if SHELF.get(name, 0) < count:
        raise ToolError(f"There are only {SHELF.get(name, 0)} {name}.")
    SHELF[name] -= count
    return Item(name=name, left=SHELF[name])


if __name__ == "__main__":
    server.run()
