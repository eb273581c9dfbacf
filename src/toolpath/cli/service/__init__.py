"""`toolpath serve`, `worker` and `mcp`: processes that serve others.

`pauses.py` keeps the garbage collector's pauses short.
"""
