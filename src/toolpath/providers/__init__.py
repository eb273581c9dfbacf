"""Sources of tools: Python functions, MCP servers, folders of files.

`modules.py` finds those in Python modules, `files.py` those in a folder.
"""
