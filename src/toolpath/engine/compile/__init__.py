"""A checked plan → a program of indexed records. Pure."""
