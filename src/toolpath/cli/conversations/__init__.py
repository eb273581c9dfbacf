"""`toolpath chat` and `toolpath conversations`."""
