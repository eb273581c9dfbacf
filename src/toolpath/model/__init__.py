"""The records that everything else speaks of: plans, tools, runs and their events. Pure data.

Besides: `chat.py` requests to models, `record.py` what a store keeps besides runs, `plan_record.py` what the plan
execution service tells of a run. Kept things: `stored.py` a plan, `template.py` a template, `language_model.py` a
model. `traceparent.py` is the trace that a run belongs to.
"""
