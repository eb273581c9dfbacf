"""MCP servers as data: their records, and the tools of those that are enabled.

`server_records.py` has the records.
"""
