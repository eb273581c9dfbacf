"""Learning from requests that went well: patterns, kept plans, lessons.

`lessons.py` has which tools together did which kind of request. `reliability.py` has another tool stand in for one
that fails often.
"""
