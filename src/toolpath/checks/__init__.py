"""The checker: every rule, all findings at once. Pure.

Rules by what they are about, besides inputs and arguments: `references.py` names, `reads.py` what is read and has to
have happened by then, `nested.py` plans inside plans, `tools.py` the tools that are named, `blocks.py`, `flow.py`,
`jumps.py`, `variables.py`, `effects.py`, `spending.py`, `agents.py`. What they ask: `context.py` has all that one
check knows of a plan, `views.py` walks it, `dependencies.py` says what depends on what, `history.py` what may have
ended by then, `judged_templates.py` the types of its templates, `memory.py` what was judged before. `start.py` checks
the inputs of a run. `ids.py` is about ids, `budgets.py` about budgets. What a template gives is made in
`template_types.py`, asked by `type_source.py`; `readings.py` has the records of what is read.
"""
