"""The store in PostgreSQL, for many processes on many machines."""
