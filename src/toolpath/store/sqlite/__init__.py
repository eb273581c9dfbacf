"""The store in one SQLite file.

`file.py` is the open file, `sql.py` has its statements, `records.py` records and the audit trail. `results.py` has
results of the cache and statistics, `damage.py` finds a damaged text.
"""
