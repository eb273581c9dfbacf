"""The life of a run around the engine: prepare, start, drive, steer, fork, retry, read.

`drives.py` puts it together around `held.py`, the runs that this process drives; `replay_program.py` has a run's
program as its journal froze it. `weighted_cache.py` bounds what is kept of plans by weight.
"""
