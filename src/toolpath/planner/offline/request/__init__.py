"""A request of a person as clauses, entities and structure, and the calls that these make.

`toolbox.py` has the tools as a request is read for them, `parts.py` the clauses with their values. `span.py` is a
value with its kind and place, `rows.py` reads rows of them, `named.py` names that a thing is found by, `apposed.py`
words beside an id that say it again; `asking.py` tells parameters in questions.
"""
