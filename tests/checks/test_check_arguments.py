"""What tools are given: known, complete, and of a type that fits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from check_cases import (
    INTEGER,
    TEXT,
    TOOLS,
    catalog_of,
    findings_of,
    make_tool,
    object_schema,
    plan_of,
    told,
)

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool


def step(tool: str, inputs: str) -> str:
    """A plan of a search, an author, and one more step."""
    return f"""
        inputs:
          type: object
          properties: {{n: {{type: integer}}, maybe: {{type: string}}, free: {{}}, on: {{type: boolean}}}}
          required: [n, free, on]
        steps:
          - {{id: s, tool: web.search, inputs: {{query: x}}}}
          - {{id: loose, tool: web.loose, inputs: {{query: x}}}}
          - {{id: raw, tool: web.raw, inputs: {{query: x}}}}
          - {{id: author, tool: blog.createAuthor, inputs: {{name: A, email: e}}}}
          - {{id: x, tool: {tool}, inputs: {inputs}}}
        """


IN = "/steps/4/inputs"
LITERALS = {
    "a literal that fits": ("math.add", "{a: 1, b: 2.5}", []),
    "numeric text is a number": ("math.add", "{a: '1', b: '2.5'}", []),
    "a number is text": ("text.echo", "{text: 5}", []),
    "text is no number": ("math.add", "{a: one, b: 2}", [f"error wrong_literal {IN}/a"]),
    "two wrong literals": (
        "math.add",
        "{a: one, b: [2]}",
        [f"error wrong_literal {IN}/a", f"error wrong_literal {IN}/b"],
    ),
    "null is not what is required": ("math.add", "{a: null, b: 2}", [f"error wrong_literal {IN}/a"]),
    "null for what is optional is left out": ("web.search", "{query: x, limit: null}", []),
    "a missing input": ("math.add", "{a: 1}", [f"error missing_input {IN}"]),
    "a surplus input of a closed schema": ("math.add", "{a: 1, b: 2, c: 3}", [f"error unknown_input {IN}/c"]),
    "a surplus input of an open schema": ("web.search", "{query: x, limt: 3}", [f"warning unknown_input {IN}/limt"]),
    "any input of a schema that declares none": ("any.thing", "{what: 1, ever: [2]}", []),
    "no input of a tool without a schema": ("files.wipe", "{}", []),
}
TEMPLATES = {
    "text into text": ("text.echo", "{text: '{{ author.name }}'}", []),
    "an integer into text": ("text.echo", "{text: '{{ author.age }}'}", []),
    "an integer into a number": ("math.add", "{a: '{{ author.age }}', b: '{{ inputs.n }}'}", []),
    "text inside text is text": ("text.echo", "{text: 'by {{ author.age }} and {{ s.items }}'}", []),
    "text that may be a number": ("math.add", "{a: '{{ author.name }}', b: 1}", [f"warning may_not_fit {IN}/a"]),
    "a list is never a number": ("math.add", "{a: '{{ s.items }}', b: 1}", [f"error never_fits {IN}/a"]),
    "a list that is only said to be one": (
        "math.add",
        "{a: '{{ loose.items }}', b: 1}",
        [f"warning may_not_fit {IN}/a"],
    ),
    "a truth value is no number": ("math.add", "{a: '{{ inputs.on }}', b: 1}", [f"error never_fits {IN}/a"]),
    "a comparison is no number": ("math.add", "{a: '{{ author.age > 3 }}', b: 1}", [f"error never_fits {IN}/a"]),
    "a product of what is read": ("math.add", "{a: '{{ author.age * inputs.n }}', b: 1}", []),
    "arithmetic is a number": ("math.add", "{a: '{{ author.age * 2 - 1 }}', b: 1}", []),
    "a path outside of a held schema": (
        "text.echo",
        "{text: '{{ author.nmae }}'}",
        [f"error outside_schema {IN}/text"],
    ),
    "a path outside of a loose schema": (
        "text.echo",
        "{text: '{{ loose.itmes }}'}",
        [f"warning may_not_fit {IN}/text"],
    ),
    "a path into a list": ("text.echo", "{text: '{{ s.items.id }}'}", [f"error outside_schema {IN}/text"]),
    "an item that may not be there": (
        "text.echo",
        "{text: '{{ s.items[0].id }}'}",
        [f"warning maybe_missing {IN}/text"],
    ),
    "an item with a default": ("text.echo", "{text: \"{{ s.items[0].id | default('none') }}\"}", []),
    "a key that may not be there": ("text.echo", "{text: '{{ author.bio }}'}", [f"warning maybe_missing {IN}/text"]),
    "a key that is asked for first": ("text.echo", "{text: \"{{ author.bio if author.bio is defined else '' }}\"}", []),
    "an output that nobody describes": ("text.echo", "{text: '{{ raw.answer }}'}", [f"warning unknown_type {IN}/text"]),
    "an input that nobody describes": ("math.add", "{a: '{{ inputs.free }}', b: 1}", [f"warning unknown_type {IN}/a"]),
    "an optional input may be null": ("text.echo", "{text: '{{ inputs.maybe }}'}", [f"warning may_not_fit {IN}/text"]),
    "an optional input for an optional one": (
        "blog.createAuthor",
        "{name: x, email: y, bio: '{{ inputs.maybe }}'}",
        [],
    ),
    "text in a list where text is wanted": (
        "text.echo",
        "{text: ['{{ author.name }}']}",
        [f"error never_fits {IN}/text"],
    ),
    "anything into a tool that takes anything": ("any.thing", "{what: '{{ s.items }}'}", []),
}
CASES = LITERALS | TEMPLATES


@pytest.mark.parametrize(("tool", "inputs", "expected"), CASES.values(), ids=CASES)
def test_inputs_are_compared_with_what_the_tool_accepts(tool: str, inputs: str, expected: list[str]) -> None:
    assert told(step(tool, inputs)) == expected


def test_a_finding_tells_both_types() -> None:
    (finding,) = findings_of(step("math.add", "{a: '{{ s.items }}', b: 1}"))
    assert finding.message == (
        "'a' of 'math.add' is given 's.items' (array of objects): array of objects, but number is expected."
    )


def test_what_is_there_instead_is_told() -> None:
    (finding,) = findings_of(step("text.echo", "{text: '{{ author.nmae }}'}"))
    assert finding.suggestions == ("name",)
    assert "_id: string" in finding.hint


def test_an_input_without_a_type_is_told_where_to_give_it_one() -> None:
    (finding,) = findings_of(
        """
        inputs: {type: object, properties: {free: {}}}
        steps: [{id: a, tool: text.echo, inputs: {text: "{{ inputs.free }}"}}]
        """
    )
    assert finding.code == "unknown_type"
    assert finding.message == "Nothing says the type of 'inputs.free', so it cannot be checked."
    assert "the plan's inputs" in finding.hint


def test_one_finding_tells_of_all_that_is_read_of_an_undescribed_output() -> None:
    (finding,) = findings_of(
        """
        steps:
          - {id: raw, tool: web.raw, inputs: {query: x}}
          - {id: a, tool: text.echo, inputs: {text: "{{ raw.one }}"}}
          - {id: b, tool: text.echo, inputs: {text: "{{ raw.two }}"}}
          - {id: c, tool: text.echo, inputs: {text: "{{ raw.one }}"}}
        """
    )
    assert finding.code == "unknown_type"
    assert finding.message == "The output of 'web.raw' is not described, so 'raw.one' and 'raw.two' cannot be checked."


NESTED = make_tool(
    "nest.take",
    {
        "type": "object",
        "properties": {
            "filter": object_schema("field:string limit:integer", closed=True),
            "ids": {"type": "array", "items": TEXT, "minItems": 1},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["filter"],
    },
    object_schema("n:integer"),
)
NESTED_CASES = {
    "fits": ("{filter: {field: '{{ n.n }}', limit: '{{ n.n }}'}, ids: ['{{ n.n }}', x], kind: a}", []),
    "lacks a key": ("{filter: {field: '{{ n.n }}'}}", ["error never_fits /steps/1/inputs/filter"]),
    "has a surplus key": (
        "{filter: {field: '{{ n.n }}', limit: 1, of: 2}}",
        ["error never_fits /steps/1/inputs/filter"],
    ),
    "has a wrong literal": ("{filter: {field: '{{ n.n }}', limit: x}}", ["error never_fits /steps/1/inputs/filter"]),
    "wholly literal and wrong": (
        "{filter: {field: f, limit: x}}",
        ["error wrong_literal /steps/1/inputs/filter/limit"],
    ),
    "is none of the values": ("{filter: {field: f, limit: 1}, kind: c}", ["error wrong_literal /steps/1/inputs/kind"]),
}


@pytest.mark.parametrize(("inputs", "expected"), NESTED_CASES.values(), ids=NESTED_CASES)
def test_templates_are_compared_at_any_depth(inputs: str, expected: list[str]) -> None:
    plan = f"""
        steps:
          - {{id: n, tool: nest.take, inputs: {{filter: {{field: a, limit: 1}}}}}}
          - {{id: m, tool: nest.take, inputs: {inputs}}}
        """
    assert told(plan, catalog_of(NESTED)) == expected


def test_a_fallback_gets_inputs_that_fit_it() -> None:
    plan = """
        steps:
          - id: a
            tool: web.search
            inputs: {query: x, limit: 3}
            fallback: [{tool: text.echo}, {tool: math.add, inputs: {a: 1, b: two}}, {tool: web.serch}]
        """
    assert told(plan) == [
        "error unknown_input /steps/0/inputs/query",
        "error unknown_input /steps/0/inputs/limit",
        "error missing_input /steps/0/fallback/0/tool",
        "error wrong_literal /steps/0/fallback/1/inputs/b",
        "error unknown_tool /steps/0/fallback/2/tool",
    ]


def test_an_output_is_of_the_tool_or_of_its_fallback() -> None:
    plan = """
        steps:
          - {id: a, tool: one.open, inputs: {x: "1"}, fallback: {tool: math.add, inputs: {a: 1, b: 2}}}
          - {id: b, tool: text.echo, inputs: {text: "{{ a.x }}"}}
        """
    assert told(plan) == ["warning maybe_missing /steps/1/inputs/text"]


def test_formats_are_asserted_only_where_the_tool_is_strict() -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}, "required": ["to"]}
    plan = plan_of("steps: [{id: a, tool: mail.send, inputs: {to: nobody}}]")
    assert told(plan, catalog_of(make_tool("mail.send", schema))) == []
    assert told(plan, catalog_of(make_tool("mail.send", schema, strict_formats=True))) == [
        "error wrong_literal /steps/0/inputs/to"
    ]


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ({"type": "array", "uniqueItems": True}, "{{ [1, 1] }}"),
        ({"type": "array", "contains": {"const": 3}}, "{{ [1, 2] }}"),
        ({"type": "object", "propertyNames": {"pattern": "^b"}}, "{{ {'a': 'x'} }}"),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, "{{ {'a': 'x'} }}"),
        ({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}, "{{ {'a': 'x'} }}"),
        (
            {"allOf": [{"properties": {"b": {}}, "additionalProperties": TEXT}, {"properties": {"a": INTEGER}}]},
            "{{ {'a': 1} }}",
        ),
        ({"type": "string", "not": {"const": "x"}}, "{{ author.name }}"),
    ],
    ids=["uniqueItems", "contains", "propertyNames", "dependentRequired", "if", "allOf", "not"],
)
def test_what_an_input_asks_for_beyond_types_is_a_warning_that_says_so(part: dict[str, Any], given: str) -> None:
    taker = make_tool("x.taker", {"type": "object", "properties": {"v": part}, "required": ["v"]})
    author = make_tool("x.author", {"type": "object"}, object_schema("name:string"))
    steps = [{"id": "author", "tool": "x.author"}, {"id": "t", "tool": "x.taker", "inputs": {"v": given}}]
    found = findings_of(json.dumps({"steps": steps}), catalog_of(taker, author))
    assert [(one.code, one.severity, one.path) for one in found] == [("may_not_fit", "warning", "/steps/1/inputs/v")]
    assert "not described" not in found[0].message


def test_a_schema_that_is_none_is_a_warning() -> None:
    broken = make_tool("x.broken", {"type": "object", "properties": {"a": {"type": "no such type"}}})
    assert told("steps: [{id: a, tool: x.broken, inputs: {a: 1}}]", catalog_of(broken)) == [
        "warning bad_schema /steps/0/inputs"
    ]


def test_references_inside_schemas_are_followed() -> None:
    person = {"type": "object", "properties": {"name": TEXT, "boss": {"$ref": "#/$defs/person"}}, "required": ["name"]}
    output = {"$defs": {"person": person}, "$ref": "#/$defs/person"}
    takes = {"type": "object", "properties": {"n": {"$ref": "#/$defs/number"}}, "$defs": {"number": INTEGER}}
    tools = catalog_of(make_tool("hr.find", {"type": "object"}, output), make_tool("hr.count", takes))
    plan = """
        steps:
          - {id: one, tool: hr.find, inputs: {}}
          - {id: bad, tool: hr.count, inputs: {n: "{{ one.boss.boss }}"}}
          - id: both
            parallel: [{id: p, tool: hr.find, inputs: {}}, {id: q, tool: hr.find, inputs: {}}]
          - {id: worse, tool: hr.count, inputs: {n: "{{ both.p.boss }}"}}
          - {id: fine, tool: hr.find, inputs: {x: "{{ both.q.name }}"}}
        """
    found = told(plan, tools)
    assert "error never_fits /steps/1/inputs/n" in found
    assert "error never_fits /steps/3/inputs/n" in found
    assert not [line for line in found if "/steps/4" in line]


BODY = """
    name: inner
    inputs: {type: object, properties: {n: {type: integer}, note: {type: string, default: none}}, required: [n, note]}
    steps: [{id: s, tool: math.add, inputs: {a: "{{ inputs.n }}", b: 1}}]
    outputs: {total: "{{ s.sum }}", fixed: text}
    """


def nested(body: str | Plan) -> Catalog:
    """The common tools, and one whose body is this plan."""
    plan = plan_of(body) if isinstance(body, str) else body
    tool = Tool(group="plans", name="inner", input_schema=plan.inputs, body=plan, effect="read")
    return Catalog({**TOOLS.tools, tool.key: tool})


def test_a_nested_plan_takes_its_inputs_and_fills_its_defaults() -> None:
    assert told("steps: [{id: a, tool: plans.inner, inputs: {n: 1}}]", nested(BODY)) == []
    assert told("steps: [{id: a, tool: plans.inner, inputs: {n: x}}]", nested(BODY)) == [
        "error wrong_literal /steps/0/inputs/n"
    ]
    assert told("steps: [{id: a, tool: plans.inner}]", nested(BODY)) == ["error missing_input /steps/0/inputs"]


def test_the_type_of_a_nested_plan_comes_from_its_outputs() -> None:
    plan = """
        steps:
          - {id: a, tool: plans.inner, inputs: {n: 1}}
          - {id: ok, tool: math.add, inputs: {a: "{{ a.total }}", b: 1}}
          - {id: bad, tool: math.add, inputs: {a: "{{ a.nothing }}", b: "{{ a.fixed }}"}}
        """
    assert told(plan, nested(BODY)) == [
        "error outside_schema /steps/2/inputs/a",
        "error never_fits /steps/2/inputs/b",
    ]
