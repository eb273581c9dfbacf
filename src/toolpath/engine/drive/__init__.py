"""Driving a run: journal first, then act. Dispatch, attempts, timers, inbox, commits.

`services.py` has what all runs of a process share, `context.py` is the context that a tool is given, `threads.py` has
`def` tools run. `attempt.py` is the record of a call under way, `calls.py` makes one, cached or not; `slots.py`
counts those at work, `tenant_bytes.py` what the runs of a tenant hold in memory.
"""
