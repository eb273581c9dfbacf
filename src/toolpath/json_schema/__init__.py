"""JSON Schema: validate, coerce, does this fit that, locate, shorten. Pure.

`document.py` is a schema with its references; `locate.py` looks up what it says of a place, `shorten.py` makes it
smaller for prompts. Whether one fits another: `branches.py` has its alternatives, `containers.py` and `leaves.py`
compare them, `verdicts.py` adds up. Faults of a value: `descent.py` finds where, `faults.py` says so in our words. Of
a schema: `describe.py` says it in a few words, `members.py` has the members of an object that is split,
`references.py` the references that cannot be followed.
"""
