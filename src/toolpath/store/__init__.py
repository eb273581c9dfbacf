"""Stores of runs: in memory, in SQLite, in PostgreSQL."""
