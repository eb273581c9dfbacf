"""`toolpath models`."""
