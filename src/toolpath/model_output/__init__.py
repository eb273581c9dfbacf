"""Text that models wrote → tool calls or a plan. Pure.

`readers.py` lists the forms. What reads one: `native.py` messages of interfaces, `router.py` the router's answers,
`own.py` our plans, `planner.py` and `order.py` other planners' plans, `react.py`, `tags.py`, `markup.py`,
`labelled.py`, `numbered.py`, `code_blocks.py`. Beneath: `page.py` the text with its places, `tolerant.py` JSON as it
is damaged. Above: `answer.py` makes one of the pieces, `references.py` and `plans.py` make a plan of calls.
"""
