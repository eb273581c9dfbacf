"""The planner that asks a model: shortlist, prompt, answer, repairs.

While the model writes: `incremental.py` reads the steps that are complete, `streaming.py` hands them on.
"""
