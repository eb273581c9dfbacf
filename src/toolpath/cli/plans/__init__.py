"""`toolpath plan`, `validate` and `explain`.

`planning.py` is `plan`. `plannings.py` is `--last` and `--trace`.
"""
