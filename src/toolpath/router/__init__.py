"""Tools for one request: which of the connected ones are meant, with which arguments, and what becomes of it."""
