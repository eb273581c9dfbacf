"""Sources of tools: Python functions, MCP servers, folders of files."""
