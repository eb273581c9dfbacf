"""`toolpath eval`: planners and the router on data sets.

`evaluation.py` goes through the lines of `data_sets.py`, `examiner.py` has each planned and scored. `groups.py`
prints by category and language.
"""
