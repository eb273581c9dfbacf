"""`toolpath templates`."""
