"""The router: which tools a request means, with which arguments.

`calls.py` makes a plan of what was decided, `routing_records.py` has the records of it. `entries.py` are the tools as
it compares them, `prompt.py` is what a model is told.
"""
