"""Driving a run: journal first, then act. Dispatch, attempts, timers, inbox, commits.

`services.py` has what all runs of a process share, `context.py` is the context that a tool is given, `threads.py` has
`def` tools run.
"""
