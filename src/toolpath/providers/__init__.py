"""Sources of tools: Python functions, MCP servers, folders of files.

`modules.py` finds those in Python modules, `files.py` those in a folder. `child.py` is the process of `process.py`,
`echoes.py` a provider of echoes.
"""
