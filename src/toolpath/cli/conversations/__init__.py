"""`toolpath chat` and `toolpath conversations`.

`talk.py` is a talk at the terminal.
"""
