"""The store in PostgreSQL, for many processes on many machines.

`ground.py` is the open database, `sql.py` has its statements, `records.py` records and the audit trail. `results.py`
has results of the cache and statistics.
"""
