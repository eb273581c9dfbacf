"""Text that models wrote → tool calls or a plan. Pure.

`readers.py` lists the forms. What reads one: `native.py` messages of interfaces, `router.py` the router's answers,
`own.py` our plans, `planner.py` and `order.py` other planners' plans, `react.py`, `tags.py`, `markup.py`,
`labelled.py`, `numbered.py`, `code_blocks.py`. Beneath: `page.py` the text with its places, `tolerant.py` JSON as it
is damaged. Above: `answer.py` makes one of the pieces, `references.py` and `plans.py` make a plan of calls.
`model_text.py` has the public readers; `blocks.py` finds JSON in a text, `thoughts.py` what is only thought,
`found.py` has the records, `python_literals.py` calls as Python writes them, `recipients.py` answers that name whom
they are for, `placeholders.py` values that stand for a value.
"""
