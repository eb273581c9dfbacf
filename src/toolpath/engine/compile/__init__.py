"""A checked plan → a program of indexed records. Pure.

`links.py` reads what a node depends on, `own_tools.py` and `model_calls.py` are tools of the engine's own,
`remaining.py` says which tools a run may still call.
"""
