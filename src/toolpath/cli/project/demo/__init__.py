"""The demo: a folder with tools, a plan and two MCP servers, offline."""
