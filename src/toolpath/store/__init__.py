"""Stores of runs: in memory, in SQLite, in PostgreSQL.

`sharing.py` makes a read once that several ask for.
"""
