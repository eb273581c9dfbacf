"""Notations of plans and tools: YAML and JSON text → records, and back. Pure; executes nothing.

`plan.py` reads a plan, `steps.py` its steps, by `tables.py`; `step_types.py` and `attempt_types.py` have the types of
fields, `plan_schema.py` makes the JSON Schema of them, `quotes.py` finds the quote that spoils a text. `tree.py`
makes a tree of any source, `printing.py` prints a plan.
"""
