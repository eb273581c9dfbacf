"""What is found in expressions: what may not be there, operands of the wrong kind, and what a guard makes sure of."""

from __future__ import annotations

from typing import Any

import pytest
from check_cases import catalog_of, findings_of, make_tool

from toolpath.notation.plan import read_plan

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
ROW = {"type": "object", "properties": {"k": TEXT, "v": INTEGER}, "required": ["k"]}
RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": INTEGER,
        "req": TEXT,
        "opt": TEXT,
        "nul": {"type": ["string", "null"]},
        "no": {"type": ["object", "null"], "properties": {"k": TEXT}, "required": ["k"]},
        "lst": {"type": "array", "items": INTEGER},
        "some": {"type": "array", "items": INTEGER, "minItems": 1},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        "pair": {"type": "array", "prefixItems": [TEXT, INTEGER], "items": False, "minItems": 2},
        "any": {},
    },
    "required": ["n", "req", "nul", "no", "lst", "some", "rows", "pair", "any"],
    "additionalProperties": False,
    "$defs": {"row": ROW},
}
KIND: dict[str, Any] = {"$defs": {"kind": {"enum": ["a", "b"]}}}
TOOLS = catalog_of(
    make_tool("make.a", {}, RECORD),
    make_tool("take.any", {"type": "object", "properties": {"value": {}}}, {"type": "object"}),
    make_tool(
        "may.kind", {"type": "object", "properties": {"value": {"$ref": "#/$defs/kind"}}, **KIND}, {"type": "object"}
    ),
    make_tool("may.text", {"type": "object", "properties": {"value": TEXT}}, {"type": "object"}),
    make_tool(
        "take.text", {"type": "object", "properties": {"value": TEXT}, "required": ["value"]}, {"type": "object"}
    ),
)
INPUTS = {
    "type": "object",
    "properties": {"i": INTEGER, "maybe": TEXT, "wide": {"type": ["number", "null"]}},
    "required": ["i"],
}


def codes(expression: str, tool: str = "take.any", **step: Any) -> list[str]:
    """Codes of the errors and warnings of a plan that gives this to a tool."""
    call = {"id": "b", "tool": tool, "inputs": {"value": f"{{{{ {expression} }}}}"}, **step}
    plan = read_plan({"inputs": INPUTS, "steps": [{"id": "a", "tool": "make.a"}, call]})
    return [finding.code for finding in findings_of(plan, TOOLS) if finding.severity != "information"]


@pytest.mark.parametrize(
    "expression",
    [
        "a.opt",
        "a.no.k",
        "a.opt is none",
        "a.opt if a is defined else ''",
        "a.lst | first",
        "a.lst | last",
        "a.lst | min",
        "a.lst | max",
        "a.lst[0]",
        "a.some[1]",
        "a.some[inputs.i]",
        "a.pair[inputs.i]",
        "a.rows | map(attribute='v')",
        "a.rows | sort(attribute='v')",
        "a.rows | sum(attribute='v')",
        "a.rows | groupby('v')",
        "a.rows | map(lambda x: x.v + 1)",
        "(a.rows | first).v",
        "a.req[0]",
        "a.opt ~ '!'",
        "a.opt or 'x'",
        "a.rows | filter(lambda x: x.v > 1)",
        "[a.opt]",
        "a.nul if a.opt else ''",
        "[{'k': [1]}] | min(attribute='got.0')",
        "[{'k': [1]}] | map(attribute='got.0')",
        "[{'k': [1]}] | sort(attribute='got.0')",
        "[{'k': [1]}] | sum(attribute='got.0')",
        "[{'k': [1]}] | unique(attribute='got.0')",
        "[{'k': [1]}] | groupby('got.0')",
        "[{'k': [1]}] | map(lambda x: x.got[0])",
        "a.rows | map(attribute='got.0')",
    ],
)
def test_what_may_not_be_there_is_told(expression: str) -> None:
    assert "maybe_missing" in codes(expression)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("a.req + 1", "never_fits"),
        ("a.n ~ a.n - 'x'", "never_fits"),
        ("none | length", "never_fits"),
        ("none + 1", "never_fits"),
        ("a.nul | upper", "may_not_fit"),
        ("a.nul + 'x'", "may_not_fit"),
        ("a.nul < 'x'", "may_not_fit"),
        ("inputs.wide > 1", "may_not_fit"),
        ("inputs.maybe | trim", "may_not_fit"),
        ("a.n < a.req", "never_fits"),
        ("1 / a.n", "may_not_fit"),
        ("a.n % 0", "never_fits"),
        ("a.n | join", "never_fits"),
        ("a.n in a.n", "never_fits"),
        ("a.n in a.req", "never_fits"),
        ("a.rows | sort", "may_not_fit"),
        ("a.pair | sort", "may_not_fit"),
        ("a.rows | map('upper')", "may_not_fit"),
        ("a.lst | join(a.n)", "never_fits"),
        ("a.no | items", "may_not_fit"),
        ("a.any | upper", "unknown_type"),
        ("a.any + 1", "unknown_type"),
        ("{a.n: 1}", "never_fits"),
        ("a.req[a.nul]", "may_not_fit"),
        ("-a.req", "never_fits"),
        ("a.req is even", "never_fits"),
        ("a.lst[:a.req]", "never_fits"),
        ("a.n | batch(2)", "never_fits"),
        ("a.lst | batch(a.n)", "may_not_fit"),
    ],
)
def test_what_an_operation_cannot_take_is_told(expression: str, code: str) -> None:
    assert code in codes(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "a.opt | default('')",
        "a.opt if a.opt is defined else ''",
        "a.opt | upper if a.opt is defined else ''",
        "a.opt is defined and a.opt | upper == 'X'",
        "a.opt is undefined or a.opt == 'x'",
        "a.no.k if a.no is not none else ''",
        "a.no.k if a.no else ''",
        "a.no is none or a.no.k == 'x'",
        "a.no and a.no.k | upper",
        "(a.nul or '') | upper",
        "a.nul | default('', true) | upper",
        "a.nul | upper if a.nul is string else ''",
        "a.nul | upper if a.nul == 'x' else ''",
        "inputs.maybe | default('x') | upper",
        "inputs.wide + 1 if inputs.wide is number else 0",
        "a.lst | first | default(0)",
        "a.lst | first if a.lst else 0",
        "a.lst[0] if a.lst | length > 0 else 0",
        "a.lst | max if a.lst | length >= 1 else 0",
        "a.some | first + a.some[0] + (a.some | max)",
        "a.pair[0] | upper",
        "a.pair[1] + 1",
        "1 / a.n if a.n else 0",
        "1 / a.n if a.n > 0 else 0",
        "1 / (a.some | length)",
        "(a.lst | sum) / (a.lst | length) if a.lst else 0",
        "a.rows | map(attribute='v', default=0) | sum",
        "a.rows | map(lambda x: x.v | default(0)) | sum",
        "a.rows | filter(lambda x: x.v is defined) | map(attribute='v') | sum",
        "a.rows | selectattr('v') | map(attribute='v') | max | default(0)",
        "a.rows | map(attribute='k') | map('upper') | join(', ')",
        "a.rows | sort(attribute='k') | groupby('k') | map(lambda g: g.list | length) | sum",
        "a.no == none",
        "a.no is none",
        "a.any == 1",
        "a.any | string",
        "a.any ~ 'x'",
        "a.nul == 'x'",
        "a.n == 'x'",
        "a.req in ['a', 'b']",
        "'k' in a.no if a.no else false",
        "a.req[:2] + '…'",
        "(a.lst + [1])[0:1] | reverse",
        "{'n': a.n + 1, 'r': a.req | upper}",
        "steps.a.error.message if steps.a.error else ''",
        "'x' * a.n",
    ],
)
def test_what_is_guarded_or_fits_is_no_finding(expression: str) -> None:
    assert codes(expression) == []


@pytest.mark.parametrize("tool", ["may.kind", "may.text"])
def test_null_is_left_out_where_an_argument_is_optional(tool: str) -> None:
    assert codes("none", tool) == []
    if tool == "may.text":
        assert codes("a.nul", tool) == []


def test_a_condition_of_the_step_is_a_guard() -> None:
    assert codes("a.opt | upper", when="{{ a.opt is defined }}") == []
    assert codes("a.no.k | upper", when="a.no is not none and a.opt is defined") == []
    assert codes("a.opt | upper", when="{{ a.no is not none }}") == ["maybe_missing"]


def test_what_is_skipped_for_want_of_something_gives_null_to_who_reads_it() -> None:
    plan = read_plan(
        {
            "steps": [
                {"id": "a", "tool": "make.a"},
                {"id": "s", "tool": "make.a", "inputs": {"x": "{{ a.opt }}"}, "on_unresolved": "skip"},
                {"id": "b", "tool": "take.text", "inputs": {"value": "{{ s.req }}"}},
            ]
        }
    )
    assert [finding.code for finding in findings_of(plan, TOOLS)] == ["maybe_missing"]


def test_a_default_stands_in_for_a_skipped_step_but_not_for_what_an_operator_makes_of_it() -> None:
    def found(expression: str) -> list[str]:
        skipped = {"id": "s", "tool": "make.a", "when": "{{ inputs.i == 1 }}"}
        call = {"id": "b", "tool": "take.any", "inputs": {"value": f"{{{{ {expression} }}}}"}}
        plan = read_plan({"inputs": INPUTS, "steps": [skipped, call]})
        return [finding.code for finding in findings_of(plan, TOOLS) if finding.severity != "information"]

    assert found("s.req | default('x') | upper") == []
    assert found("(s.req + 'x') | first | default('z')") == ["may_not_fit"]


def test_a_variable_that_counts_itself_up_is_a_number() -> None:
    plan = read_plan(
        {
            "flow": "chain",
            "state": {"n": 0, "all": "x"},
            "steps": [
                {
                    "id": "a",
                    "tool": "make.a",
                    "on_success": {"transform": {"n": "{{ state.n + 1 }}", "all": "{{ state.all ~ a.req }}"}},
                },
                {"id": "b", "tool": "take.text", "inputs": {"value": "{{ state.n * 2 ~ (state.all | upper) }}"}},
            ],
        }
    )
    assert [finding.code for finding in findings_of(plan, TOOLS)] == []


def test_a_variable_that_a_step_adds_its_own_list_to_is_a_list() -> None:
    search = make_tool("web.search", {}, {"type": "array", "items": {"type": "string"}})
    plan = read_plan(
        {
            "flow": "chain",
            "state": {"found": [], "n": 0},
            "steps": [
                {
                    "id": "look",
                    "tool": "web.search",
                    "on_success": {"transform": {"found": "{{ found + look }}", "n": "{{ n + 1 }}"}},
                },
                {"id": "again", "tool": "web.search", "when": "{{ n < 3 }}", "on_success": {"next": "look"}},
            ],
            "outputs": "{{ found | length }}",
        }
    )
    assert [finding.code for finding in findings_of(plan, catalog_of(search))] == []
