"""Decisions over the state of a run: what may start, what follows an end. Pure; writes events and commands.

`control.py` follows what an event sets free, one decision after the other; `loops.py` begins the items of loops.
"""
