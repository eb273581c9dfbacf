"""`toolpath mcp-servers`."""
