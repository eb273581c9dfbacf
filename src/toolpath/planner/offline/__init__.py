"""The planner that needs no model: rules, a search index and schemas.

By words of tools: `rank.py` a tool for a part of a request, `slots.py` and `outputs.py` its parameters and outputs as
the planner sees them, `match.py` a mention for a parameter, `assigned_mentions.py` all of them together,
`unmentioned.py` values that are said without being mentioned, `linked_outputs.py` what other steps give, `conjoined.py`
several calls of one tool. Words: `terms.py` known by heart, `proper_names.py`. `answered.py` has questions that one
reading tool alone answers. Of a request: `tool_parts.py` cuts it, `carried_values.py` carries values from one part to
another, `loose_values.py` binds a word by its place alone, `repeated.py` reads rows, `told_apart.py` tells options
apart, `mention.py` is the record of one mention. Of plans: `lookup.py` finds tools, `plain_command.py` knows a request
in a tool's own words, `backward.py` finds further tools, `same_tool_again.py` the same tool again with what came of it,
`second_plan.py` makes a second plan.
"""
