"""`toolpath plan`, `validate` and `explain`.

`planning.py` is `plan`.
"""
