"""The parts of a plan's notation: each reads one kind of node. Pure.

`fields.py` reads a mapping field by field, `requests.py` the HTTP request of a composite.
"""
