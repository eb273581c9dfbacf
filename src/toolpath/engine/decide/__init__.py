"""Decisions over the state of a run: what may start, what follows an end. Pure; writes events and commands.

`control.py` follows what an event sets free, one decision after the other; `loops.py` begins the items of loops.
`ready_queue.py` holds what may start, `step_values.py` resolves what a step needs, `follow_ups.py` are the decisions
that are due at once.
"""
