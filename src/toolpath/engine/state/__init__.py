"""The state of a run: its records, and what each event changes in them. Pure.

`fold.py` applies events; `resolve.py` resolves what stands in templates, by `on_unresolved`. `results.py` makes an
output, or the record of a failure.
"""
