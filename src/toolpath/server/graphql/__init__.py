"""GraphQL at `/graphql`: the operations of the chaining system, people's answers, live events.

`texts.py` has the plans and executions that clients keep as texts. `chains.py` reads the chaining system's tools.
"""
