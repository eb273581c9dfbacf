"""A request of a person as clauses, entities and structure, and the calls that these make.

`toolbox.py` has the tools as a request is read for them, `parts.py` the clauses with their values.
"""
