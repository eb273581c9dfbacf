# ruff: noqa: E501 - plans are shown as they are written
"""What people get wrong when they write a plan, and the one fix that they are told, where it stands."""

from __future__ import annotations

import io

import pytest
from check_cases import TOOLS
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from toolpath.checks.check import check
from toolpath.errors import ReadError
from toolpath.model.plan import Plan
from toolpath.model_output.documents import read_document


def in_text(written: str) -> str:
    """A plan in which this is the text that a step is given."""
    inputs = "inputs: {type: object, properties: {q: {type: string}}, required: [q]}"
    first = "  - {id: a, tool: web.search, inputs: {query: tea}}"
    return f"{inputs}\nsteps:\n{first}\n  - id: b\n    tool: text.echo\n    inputs:\n      text: {written}"


#: What was meant → the plan as it was written, and what a finding has to say of a way out.
SLIPS: dict[str, tuple[str, str]] = {
    "one brace end": (in_text('"{{ inputs.q }"'), "End it with `}}`."),
    "unquoted braces": (in_text("{{ inputs.q }}"), "Put templates in quotes"),
    "&&": (in_text('"{{ a.total > 1 && a.total < 3 }}"'), "Write `and`."),
    "||": (in_text("\"{{ inputs.q || 'x' }}\""), "Write `or`"),
    "!": (in_text('"{{ !inputs.q }}"'), "Write `not`."),
    "===": (in_text("\"{{ inputs.q === 'x' }}\""), "Write `==` or `!=`."),
    "!==": (in_text("\"{{ inputs.q !== 'x' }}\""), "Write `==` or `!=`."),
    "=": (in_text("\"{{ inputs.q = 'x' }}\""), "Write `==` to compare."),
    "ternary js": (in_text("\"{{ inputs.q ? 'a' : 'b' }}\""), "a if condition else b"),
    "??": (in_text("\"{{ inputs.q ?? 'b' }}\""), "x | default(y)"),
    "?.": (in_text('"{{ a?.total }}"'), "| default(…)"),
    ".length": (in_text('"{{ a.items.length }}"'), "Write `| length`."),
    "len()": (in_text('"{{ len(a.items) }}"'), "value | length"),
    ".map()": (in_text('"{{ a.items.map(x => x.id) }}"'), "lambda x"),
    ".upper()": (in_text('"{{ inputs.q.upper() }}"'), "value | upper"),
    "str()": (in_text('"{{ str(a.total) }}"'), "value | string"),
    "toUpperCase": (in_text('"{{ inputs.q.toUpperCase() }}"'), "value | upper"),
    "arrow": (in_text('"{{ a.items | map(x => x.id) }}"'), "lambda x"),
    "null ==": (in_text('"{{ a == undefined }}"'), "is defined"),
    "backtick": (in_text('"{{ `x` }}"'), "quotes: 'text'"),
    "template literal": (in_text('"{{ inputs.q }} and {{ }}"'), "between the braces"),
    "dollar brace": (in_text("${inputs.q}"), "Write {{ inputs.q }}."),
    "dollar step": (in_text("at ${a}"), "Write {{ a }}."),
    "one brace": (in_text('"of {a.total} tea"'), "Write {{ a.total }}."),
    "two braces and a dollar": (in_text('"${{ inputs.q }}"'), "without the dollar"),
    "blocks": (in_text('"{% if inputs.q %}x{% endif %}"'), "a if condition else b"),
    "approval": (in_text("x\n    approval: true"), "Write requires_approval: true."),
    "params of a plan": (f"params: {{}}\n{in_text('x')}", "Write inputs: {type: object"),
    "empty": (in_text('"{{ }}"'), "between the braces"),
    "quote in quote": (
        "steps:\n  - id: a\n    tool: text.echo\n    inputs:\n      text: '{{ a | default('x') }}'\n  - {id: c, tool: web.search}\n",
        "A quote ends the text",
    ),
    "dquote in dquote": (
        'steps:\n  - id: a\n    tool: text.echo\n    inputs:\n      text: "{{ inputs["q"] }}"\n',
        "A quote ends the text",
    ),
    "flow dquote": (
        'steps:\n  - {id: a, tool: text.echo, inputs: {text: "{{ inputs["q"] }}"}}\n',
        "A quote ends the text",
    ),
    "tab": ("steps:\n\t- id: a\n\t  tool: web.search\n", "Use spaces."),
    "tab2": ("steps:\n  - id: a\n\ttool: web.search\n", "Use spaces."),
    "bad indent": ("steps:\n  - id: a\n    tool: web.search\n   inputs: {query: x}\n", "begin in the same column"),
    "missing colon": ("steps:\n  - id: a\n    tool web.search\n    inputs: {query: x}\n", "name: value"),
    "no space colon": ("steps:\n  - id:a\n    tool:web.search\n", "Write - tool: name."),
    "colon in text": ("steps:\n  - id: a\n    tool: web.search\n    inputs: {query: what: now}\n", "in quotes"),
    "colon in text block": (
        "steps:\n  - id: a\n    tool: web.search\n    inputs:\n      query: Re: hello\n",
        "in quotes",
    ),
    "at": ("steps:\n  - id: a\n    tool: web.search\n    inputs:\n      query: @ada\n", "in quotes"),
    "percent start": ("steps:\n  - id: a\n    tool: web.search\n    inputs:\n      query: %20x\n", "in quotes"),
    "unclosed bracket": (
        "steps:\n  - {id: a, tool: web.search, inputs: {query: tea}\n  - {id: b, tool: text.echo, inputs: {text: x}}\n",
        "Close the bracket",
    ),
    "unclosed quote": (
        'steps:\n  - id: a\n    tool: web.search\n    inputs: {query: "tea}\n  - {id: b, tool: text.echo}\n',
        "Close the quote",
    ),
    "dup key": ("steps:\n  - id: a\n    tool: web.search\n    tool: text.echo\n", "Remove one of them."),
    "steps mapping": (
        "steps:\n  a:\n    tool: web.search\n    inputs: {query: tea}\n  b:\n    tool: text.echo\n    inputs: {text: x}\n",
        "- id: a",
    ),
    "steps text": ("steps: web.search\n", "- id: a"),
    "steps single": ("steps:\n  id: a\n  tool: web.search\n  inputs: {query: x}\n", "- id: a"),
    "steps none": ("steps:\n", "Add a list of steps"),
    "step text": ("steps: [web.search]\n", "- tool: name"),
    "Steps": ("Steps:\n  - {id: a, tool: web.search}\n", "Write 'steps'"),
    "list at top": (
        "- {id: a, tool: web.search, inputs: {query: x}}\n- {id: b, tool: text.echo, inputs: {text: x}}\n",
        "under the key 'steps'",
    ),
    "step missing tool": ("steps:\n  - {id: a, inputs: {query: x}}\n", "tool: group.name"),
    "two actions": (
        "steps:\n  - {id: a, tool: web.search, inputs: {query: x}, loop: {over: [1], steps: []}}\n",
        "Split it",
    ),
    "inputs list": ("steps:\n  - {id: a, tool: web.search, inputs: [query]}\n", "{name: value}"),
    "inputs text": ("steps:\n  - {id: a, tool: web.search, inputs: tea}\n", "{name: value}"),
    "inputs at step level": ("steps:\n  - {id: a, tool: web.search, query: tea}\n", "under 'inputs'"),
    "toolName": ("steps:\n  - {id: a, toolName: web.search, inputs: {query: x}}\n", "Write tool: NAME."),
    "name for id": (
        'steps:\n  - {name: a, tool: web.search, inputs: {query: x}}\n  - {tool: text.echo, inputs: {text: "{{ a.total }}"}}\n',
        "Write id: NAME",
    ),
    "if": ('steps:\n  - {id: a, if: "{{ true }}", tool: web.search, inputs: {query: x}}\n', "Write when"),
    "condition": ('steps:\n  - {id: a, condition: "{{ true }}", tool: web.search, inputs: {query: x}}\n', "Write when"),
    "foreach": ("steps:\n  - {id: a, foreach: [1], tool: web.search, inputs: {query: x}}\n", "Write loop"),
    "retries": ("steps:\n  - {id: a, retries: 3, tool: web.search, inputs: {query: x}}\n", "max_retries: 3"),
    "retry int": ("steps:\n  - {id: a, retry: 3, tool: web.search, inputs: {query: x}}\n", "max_retries: 3"),
    "timeout words": (
        "steps:\n  - {id: a, timeout: five seconds, tool: web.search, inputs: {query: x}}\n",
        "Write 30s",
    ),
    "next in step": (
        "flow: chain\nsteps:\n  - {id: a, next: b, tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: x}}\n",
        "on_success or on_failure",
    ),
    "on_error": (
        "steps:\n  - {id: a, on_error: continue, tool: web.search, inputs: {query: x}}\n",
        "on_failure: {action: continue}",
    ),
    "on_failure text": (
        "steps:\n  - {id: a, on_failure: continue, tool: web.search, inputs: {query: x}}\n",
        "on_failure: {action: continue}",
    ),
    "on_success list": (
        "flow: chain\nsteps:\n  - {id: a, on_success: [b], tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: x}}\n",
        "on_success: {next: ID}",
    ),
    "dash id": (
        'steps:\n  - {id: my-step, tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: "{{ my-step.total }}"}}\n',
        "steps['my-step'].output",
    ),
    "dash id idx": (
        "steps:\n  - {id: my-step, tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: \"{{ my-step['items'][0].id }}\"}}\n",
        "steps['my-step'].output",
    ),
    "dash id bare": (
        'steps:\n  - {id: my-step, tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: "{{ my-step[0] }}"}}\n',
        "steps['my-step'].output",
    ),
    "dash steps": (
        'steps:\n  - {id: my-step, tool: web.search, inputs: {query: x}}\n  - {id: b, tool: text.echo, inputs: {text: "{{ steps.my-step.output.total }}"}}\n',
        "steps['my-step'].output",
    ),
    "id with space": ("steps:\n  - {id: my step, tool: web.search, inputs: {query: x}}\n", "Use letters"),
    "id digit": ("steps:\n  - {id: 1st, tool: web.search, inputs: {query: x}}\n", "Use letters"),
    "id number": ("steps:\n  - {id: 1, tool: web.search, inputs: {query: x}}\n", "Put it in quotes."),
    "loop var outside": (
        'steps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n  - {id: l, loop: {over: "{{ a.items }}", as: row, steps: [{id: e, tool: text.echo, inputs: {text: "{{ row.id }}"}}]}}\n  - {id: z, tool: text.echo, inputs: {text: "{{ row.id }}"}}\n',
        "loop variable of 'l'",
    ),
    "inner step outside": (
        'steps:\n  - {id: l, loop: {over: [1], as: row, steps: [{id: e, tool: text.echo, inputs: {text: x}}]}}\n  - {id: z, tool: text.echo, inputs: {text: "{{ e.text }}"}}\n',
        "inside 'l'",
    ),
    "item": (
        'steps:\n  - {id: l, loop: {over: [1], as: row, steps: [{id: e, tool: text.echo, inputs: {text: "{{ loop.item }}"}}]}}\n',
        "'row'",
    ),
    "loop over bare": (
        "steps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n  - {id: l, loop: {over: a.items, as: row, steps: [{id: e, tool: text.echo, inputs: {text: x}}]}}\n",
        "{{ a.items }}",
    ),
    "loop items key": (
        "steps:\n  - {id: l, loop: {items: [1], as: row, steps: [{id: e, tool: text.echo, inputs: {text: x}}]}}\n",
        "over:",
    ),
    "loop steps outside": (
        "steps:\n  - {id: l, loop: {over: [1], as: row}, steps: [{id: e, tool: text.echo, inputs: {text: x}}]}\n",
        "under loop",
    ),
    "self ref": ('steps:\n  - {id: a, tool: text.echo, inputs: {text: "{{ a.text }}"}}\n', "Read another step"),
    "last outside": ('steps:\n  - {id: a, tool: text.echo, inputs: {text: "{{ last }}"}}\n', "'collect' alone"),
    "input bare": (in_text('"{{ q }}"'), "inputs.q"),
    "input singular": (in_text('"{{ input.q }}"'), "inputs.NAME"),
    "params": (in_text('"{{ params.q }}"'), "inputs.NAME"),
    "parameters": (in_text('"{{ parameters.q }}"'), "inputs.NAME"),
    "state in graph": (in_text('"{{ state.q }}"'), "inputs.q"),
    "step no output": (in_text('"{{ steps.a.total }}"'), "steps.a.output"),
    "step.a": (in_text('"{{ step.a.output }}"'), "by its id"),
    "a.output.total": (in_text('"{{ a.output.total }}"'), "write 'a.total'"),
    "a.result": (in_text('"{{ a.result.total }}"'), "write 'a.total'"),
    "outputs.a": (in_text('"{{ outputs.a.total }}"'), "by its id"),
    "env": (in_text('"{{ env.KEY }}"'), "secrets.NAME"),
    "secrets in when": (
        "steps:\n  - {id: a, when: \"{{ secrets.K == 'x' }}\", tool: web.search, inputs: {query: x}}\n",
        "secrets.NAME",
    ),
    "typo tool": ("steps:\n  - {id: a, tool: web.serch, inputs: {query: x}}\n", "web.search"),
    "typo input": ("steps:\n  - {id: a, tool: text.echo, inputs: {txt: x}}\n", "text"),
    "typo field": (in_text('"{{ a.totl }}"'), "total"),
    "typo filter": (in_text('"{{ inputs.q | uper }}"'), "upper"),
    "flow parallel": ("flow: parallel\nsteps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n", "graph, chain"),
    "flow sequential": (
        "flow: sequential\nsteps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n",
        "graph, chain",
    ),
    "failure_mode typo": (
        "failure_mode: ignore\nsteps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n",
        "isolate",
    ),
    "inputs plan short": (
        'inputs: {q: string}\nsteps:\n  - {id: a, tool: web.search, inputs: {query: "{{ inputs.q }}"}}\n',
        "properties",
    ),
    "parallel mapping": (
        "steps:\n  - {id: p, parallel: {x: {tool: web.search, inputs: {query: x}}}}\n",
        "- {id: a, tool: …}",
    ),
    "ask text": ("steps:\n  - {id: p, ask: What now?}\n", "title"),
    "cycle": (
        'steps:\n  - {id: a, tool: text.echo, inputs: {text: "{{ b.text }}"}}\n  - {id: b, tool: text.echo, inputs: {text: "{{ a.text }}"}}\n',
        "Take one of these out",
    ),
    "wrong bracket": (in_text('"{{ a.items[0) }}"'), "]"),
    "paren": (in_text('"{{ (a.total + 1 }}"'), "Close it with `)`."),
    "concat +": (in_text('"{{ inputs.q + a.total }}"'), "Join texts with ~"),
    "nested": (in_text('"{{ {{ inputs.q }} }}"'), "One pair of braces"),
    "uppercase": (in_text('"{{ inputs.q | uppercase }}"'), "Write `| upper`."),
    "downcase": (in_text('"{{ inputs.q | downcase }}"'), "Write `| lower`."),
    "append": (in_text("\"{{ inputs.q | append('x') }}\""), "Join texts with `~`"),
    "plus": (in_text('"{{ a.total | plus(1) }}"'), "Write `a + b`."),
    "AND": (in_text('"{{ a.total > 1 AND a.total < 3 }}"'), "`and`, `or`, `not` in small letters"),
    "liquid argument": (in_text('"{{ inputs.q | truncate: 5 }}"'), "in round brackets"),
    "handlebars": (in_text('"{{#if inputs.q}}x{{/if}}"'), "There are no blocks"),
    "comprehension": (in_text('"{{ [i.id for i in a.items] }}"'), "map(lambda x: x.id)"),
    "go": (in_text('"{{ .inputs.q }}"'), "Leave the first dot out."),
    "loop variable in a list": (
        "steps:\n  - {loop: {over: [1], as: [row], steps: [{tool: web.search, inputs: {query: x}}]}}\n",
        "This cannot be the name of a loop variable.",
    ),
    "call in a loop": ("steps:\n  - {loop: {over: [1], tool: web.search}}\n", "as a step of the loop"),
    "safe": (in_text('"{{ inputs.q | safe }}"'), "nothing is escaped here"),
    "f-string": (in_text("\"{{ f'of {inputs.q}' }}\""), "Join texts with `~`"),
    "format()": (in_text("\"{{ 'of {}'.format(inputs.q) }}\""), "Join texts with `~`"),
    "| format": (in_text("\"{{ 'of %s' | format(inputs.q) }}\""), "Join texts with `~`"),
    "foreach alone": (
        "steps:\n  - id: l\n    foreach: [1]\n    steps: [{tool: web.search}]\n",
        "Instead of 'foreach': write loop",
    ),
    "uses alone": ("steps:\n  - {id: l, uses: web.search, with: {query: x}}\n", "Instead of 'uses': write tool: NAME."),
    "tol": ("steps:\n  - {id: l, tol: web.search, inputs: {query: x}}\n", "Write 'tool' instead of 'tol'."),
    "with alone": ("steps:\n  - {id: l, with: {query: x}}\n", "what stands under 'with': tool: group.name"),
    "approval yes": (
        "steps:\n  - {id: a, requires_approval: 'yes', tool: web.search, inputs: {query: x}}\n",
        "Write true",
    ),
    "when off": ("steps:\n  - {id: a, when: off, tool: web.search, inputs: {query: x}}\n", "Write false"),
    "exclusive yes": (
        "steps:\n  - {id: a, exclusive: yes, tool: web.search, inputs: {query: x}}\n",
        "Write exclusive: true",
    ),
    "number as text": (
        "concurrency: '5'\nsteps:\n  - {tool: web.search, inputs: {query: x}}\n",
        "Write concurrency: 5",
    ),
    "optional input": (
        "inputs: {type: object, properties: {q: {type: string}}}\nsteps:\n  - {tool: web.search, inputs: {query: '{{ inputs.q }}'}}\n",
        "Put the input under 'required', give it a default",
    ),
    "list for text": (in_text('"{{ a.items }}"'), "`| json`"),
    "object for list": (
        "steps:\n  - {id: a, tool: web.search, inputs: {query: x}}\n  - {loop: {over: '{{ a }}', steps: [{tool: text.echo, inputs: {text: x}}]}}\n",
        "Name the list in it: 'items'.",
    ),
    "name without colon": ("name p\nsteps:\n  - {tool: web.search, inputs: {query: x}}\n", "A colon is missing"),
    "inputs without colon": ("steps:\n  - tool: web.search\n    inputs\n      query: x\n", "A colon is missing"),
    "too far in": ("steps:\n  - id: a\n    tool: web.search\n      inputs: {query: x}\n", "begin in the same column"),
    "dash at each line": (
        "steps:\n  - id: a\n  - tool: web.search\n  - inputs: {query: x}\n",
        "A dash begins a new step",
    ),
    "wait_for typo": (
        "steps:\n  - {id: p, wait_for: first, parallel: [{tool: web.search, inputs: {query: x}}]}\n",
        "all, any, first_success",
    ),
}
ECHO = '"steps": [{"id": "a", "tool": "text.echo", "inputs": {"text": "x"}}]'
SLIPS |= {
    "three braces": (in_text('"{{{ inputs.q }}}"'), "Write two braces on each side"),
    "typeof": (in_text('"{{ typeof inputs.q }}"'), "x is string"),
    "typeof()": (in_text('"{{ typeof(inputs.q) }}"'), "x is string"),
    "instanceof": (in_text('"{{ inputs.q instanceof String }}"'), "x is string"),
    "new Date": (in_text('"{{ new Date() }}"'), "run.started_at"),
    "Date.now": (in_text('"{{ Date.now() }}"'), "run.started_at"),
    "new": (in_text('"{{ new Thing() }}"'), "leave `new` out"),
    "await": (in_text('"{{ await a }}"'), "has ended"),
    "JSONPath in braces": (in_text('"{{ $.a.total }}"'), "Leave the `$.` out."),
    "at in braces": (in_text('"{{ @a.total }}"'), "Leave the `@` out."),
    "angles in braces": (in_text('"{{ <a.total> }}"'), "Leave the `<` and `>` out."),
    "JSONPath": (in_text('"$.a.total"'), "Write {{ a.total }}."),
    "JSONPath of steps": (in_text('"$.steps.a.output.total"'), "Write {{ steps.a.output.total }}."),
    "JSONPath within": (in_text('"of $.a.items[0].id here"'), "Write {{ a.items[0].id }}."),
    "dollar name": (in_text('"$inputs.q"'), "Write {{ inputs.q }}."),
    "dollar bracket": (in_text('"$(a.total)"'), "Write {{ a.total }}."),
    "square brackets": (in_text('"[[ a.total ]]"'), "Write {{ a.total }}."),
    "angles": (in_text('"of <a.total>"'), "Write {{ a.total }}."),
    "two angles": (in_text('"<<inputs.q>>"'), "Write {{ inputs.q }}."),
    "embedded": (in_text('"<%= a.total %>"'), "Write {{ a.total }}."),
    "percent": (in_text('"%a.total%"'), "Write {{ a.total }}."),
    "at": (in_text('"@a.total"'), "Write {{ a.total }}."),
    "at input": (in_text('"of @inputs.q now"'), "Write {{ inputs.q }}."),
    "at brace": (in_text('"of @{a.total}"'), "'@{a.total}' stays"),
    "number sign": (in_text('"of #{a.total}"'), "'#{a.total}' stays"),
    "str": (
        "inputs: {type: object, properties: {q: {type: str}}}\nsteps: [{tool: web.search, inputs: {query: x}}]\n",
        "'str' is no type of a JSON Schema.  string",
    ),
    "int in a list": (
        "inputs: {type: object, properties: {q: {type: [int, 'null']}}}\nsteps: [{tool: web.search, inputs: {query: x}}]\n",
        "'int' is no type of a JSON Schema.  integer",
    ),
    "List": (
        "inputs: {properties: {q: {items: {type: dict}}}}\nsteps: [{tool: web.search, inputs: {query: x}}]\n",
        "'dict' is no type of a JSON Schema.  object",
    ),
    "comment in JSON": (f"{{\n  // first\n  {ECHO}\n}}\n", "A comment stands here, which JSON does not have."),
    "comment after JSON": (f"{{\n  {ECHO} // last\n}}\n", "A comment stands here, which JSON does not have."),
    "block comment in JSON": (f"{{\n  /* first */\n  {ECHO}\n}}\n", "A comment stands here, which JSON does not have."),
    "apostrophe": ("steps:\n  - tool: text.echo\n    inputs:\n      text: 'it's here'\n", "Write '' for an apostrophe"),
    "apostrophe in a flow": (
        "steps:\n  - tool: text.echo\n    inputs: {text: 'it's here'}\n",
        "Write '' for an apostrophe",
    ),
    "quote in quotes": (
        'steps:\n  - tool: text.echo\n    inputs:\n      text: "say "hi" now"\n',
        'Write \\" for a quote',
    ),
    "unclosed before another quote": (
        'steps:\n  - id: a\n    tool: text.echo\n    inputs:\n      text: "tea\n  - id: b\n    tool: text.echo\n    inputs:\n      text: "x"\n',
        "Close the quote that opens here.",
    ),
    "unclosed single quote": (
        "steps:\n  - id: a\n    tool: text.echo\n    inputs:\n      text: 'tea\n  - id: b\n    tool: text.echo\n    inputs: {text: 'x'}\n",
        "Close the quote that opens here.",
    ),
    "unclosed quote after a block": (
        "steps:\n  - id: a\n    tool: text.echo\n    inputs:\n      text: |\n        it's \"here\n  - id: b\n    tool: text.echo\n    inputs:\n      text: 'tea\n",
        "Close the quote that opens here.",
    ),
    "unclosed quote in JSON": (
        '{\n "steps": [\n  {"id": "a", "tool": "text.echo,\n   "inputs": {"text": "x"}}]\n}\n',
        "Close the quote that opens here.",
    ),
}
#: Where in the text of the expression the fault is told, as line and column.
PLACES = {
    "comment in JSON": (2, 3),
    "comment after JSON": (2, 72),
    "apostrophe": (4, 16),
    "apostrophe in a flow": (3, 23),
    "unclosed before another quote": (5, 13),
    "unclosed single quote": (5, 13),
    "unclosed quote after a block": (10, 13),
    "unclosed quote in JSON": (3, 23),
    "str": (1, 47),
    "three braces": (7, 27),
    "name without colon": (1, 1),
    "inputs without colon": (3, 5),
    "too far in": (4, 7),
    "f-string": (7, 18),
    "one brace end": (7, 26),
    "&&": (7, 29),
    "paren": (7, 17),
    "dash id": (3, 49),
    "typo filter": (7, 28),
}


def told(text: str) -> list[tuple[str, int | None, int | None]]:
    """All errors and warnings: what to do about each, and where."""
    try:
        document = read_document(text)
        plan = document if isinstance(document, Plan) else document.body
        assert isinstance(plan, Plan)
        findings = check(plan, TOOLS)
    except ReadError as error:
        if not error.findings:
            return [(f"{error.message} {error.hint}", None, None)]
        findings = error.findings
    return [(f"{f.message} {f.hint} {' '.join(f.suggestions)}", f.line, f.column) for f in findings]


@pytest.mark.parametrize("slip", SLIPS)
def test_who_slips_is_told_the_way_out(slip: str) -> None:
    text, fix = SLIPS[slip]
    found = told(text)
    assert any(fix in what for what, _, _ in found), found


@pytest.mark.parametrize("slip", PLACES)
def test_a_fault_in_an_expression_is_told_at_its_character(slip: str) -> None:
    assert PLACES[slip] in [(line, column) for _, line, column in told(SLIPS[slip][0])]


def test_nobody_is_offered_the_very_name_that_means_nothing() -> None:
    plan = """
    flow: chain
    steps:
      - {id: a, tool: text.echo, inputs: {text: x}, on_success: {map_outputs: {text: last}}}
      - {id: b, tool: text.echo, inputs: {text: "{{ last }}"}}
    """
    found = check(read_document(plan), TOOLS)  # type: ignore[arg-type]
    (unknown,) = [finding for finding in found if finding.path == "/steps/1/inputs/text"]
    assert "last" not in unknown.suggestions
    assert "state.last" in unknown.hint


def test_no_step_is_offered_to_itself() -> None:
    unknown = """
    steps:
      - {tool: web.search, inputs: {query: "{{ serach.total }}"}}
      - {tool: text.echo, depends_on: [ecko], inputs: {text: x}}
    """
    findings = check(read_document(unknown), TOOLS)  # type: ignore[arg-type]
    assert [finding.suggestions for finding in findings if finding.code.startswith("unknown_")] == [(), ()]


def test_fields_that_nobody_writes_are_not_offered() -> None:
    with_else = "steps:\n  - {tool: web.search, else: x, inputs: {query: x}}\n"
    assert not any("derived_id" in what for what, _, _ in told(with_else))


def test_what_stands_in_an_expression_is_not_told_of_as_text_too() -> None:
    assert len(told(SLIPS["f-string"][0])) == 1


#: What people write that looks like a mark of another notation and is none; steps are called `a` and `b`.
ORDINARY = (
    "ada@example.org", "ann@a.total", "a@b.items", "<ada@example.org>", "$5", "$5.00", "US$ 20.50", "100%", "5 % of it",
    "**a** and _b_", "[a](https://example.org/a.html)", "[[1]](#note)", "[[a]]", "[[Page.of.a.wiki]]", "<b>bold</b>",
    "<a href='x.html'>", "<a>", "</a>", "<b.c/>", "`$HOME`", "$PATH:/bin", "${HOME}", "$(date)", "$1", "$a", "@a", "@b",
    "@ada", "@ada.lovelace", "@a.total is my handle", "#a", "#1", "{a}", "{name}", "{}", "x < a and b > a", "a.total",
    "if (a < b) { c.x }", "%20", "%s of %d", "%a", "50%a.m.", "f(a.x)", "a->b", "<!-- a -->", "<?xml?>", "C:\\a.txt",
    "it's", "(c) & co", "10:30", "^a.b$", "\\$", "~a~", "| a | b |", "- [ ] a", "$ a.out", "<1.5>", "inputs", "steps",
)  # fmt: skip


@given(st.lists(st.sampled_from(ORDINARY), min_size=1, max_size=6), st.sampled_from((" ", ", ", "\n", ". ")))
def test_ordinary_text_is_left_alone(pieces: list[str], between: str) -> None:
    first = {"id": "a", "tool": "web.search", "inputs": {"query": "tea"}}
    plan = {"steps": [first, {"id": "b", "tool": "text.echo", "inputs": {"text": f"See {between.join(pieces)}"}}]}
    assert check(read_document(plan), TOOLS) == ()  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(ORDINARY), min_size=1, max_size=6))
def test_quotes_of_a_text_that_can_be_read_are_none_of_its_faults(pieces: list[str]) -> None:
    """The fault is told where it is, whatever is quoted before it."""
    quoted = YAML(typ="safe", pure=True)
    written = io.StringIO()
    quoted.dump({"steps": [{"tool": "text.echo", "inputs": {"text": " ".join(pieces)}}]}, written)
    text = written.getvalue() + "  broken: [\n"
    with pytest.raises(ReadError) as caught:
        read_document(text)
    assert "quote" not in str(caught.value)
