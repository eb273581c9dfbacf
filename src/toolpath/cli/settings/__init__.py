"""`toolpath settings`."""
