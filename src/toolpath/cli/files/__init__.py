"""`toolpath files`."""
