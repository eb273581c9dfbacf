"""The language inside `{{ }}`: scan, parse, compile, evaluate, list references. Pure.

`compile.py` is the door. A text is scanned (`scan.py`), its pieces are leaves (`leaf.py`) within a JSON value
(`structure.py`). `names.py` says what a bare name means, `resolve.py` which reference a path makes, `filter_calls.py`
which filters are called how; `look.py` tells what is missing after a look-up failed, `extent.py` how large a value is
written out. `budget.py` counts its work; `guards.py` has what a condition makes sure of, `templates.py` the
expressions of a plan's texts, `quoted.py` braces that are data.
"""
