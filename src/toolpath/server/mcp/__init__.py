"""The MCP server: every published tool, and plans instead of many calls. Nothing of the engine.

`client.py` is the client behind one request.
"""
