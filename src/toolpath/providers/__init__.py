"""Where tools come from: Python functions, MCP servers, folders of files."""
