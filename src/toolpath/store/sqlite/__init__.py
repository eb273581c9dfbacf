"""The store in one SQLite file.

`file.py` is the open file, `sql.py` has its statements, `records.py` records and the audit trail.
"""
