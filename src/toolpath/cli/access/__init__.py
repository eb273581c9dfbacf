"""`toolpath keys` and `toolpath audit`."""
