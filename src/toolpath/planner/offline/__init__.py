"""The planner that needs no model: rules, a search index and schemas.

By words of tools: `rank.py` a tool for a part of a request, `slots.py` and `outputs.py` its parameters and outputs as
the planner sees them, `match.py` a mention for a parameter, `assign.py` all of them together, `unmentioned.py` values
that are said without being mentioned, `link.py` what other steps give, `conjoined.py` several calls of one tool.
Words: `terms.py` known by heart, `proper_names.py`. `answered.py` has questions that one reading tool alone answers.
"""
