"""Checks of a plan against its request: it does what the request commands, and no more. Pure.

`concepts.py` has words of four languages that stand for the same, `tools.py` what a tool's name and description tell
of it. Small: `asides.py` (`/s`, `jk`), `taken_back.py` what a command takes back.
"""
