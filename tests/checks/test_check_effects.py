"""Effects, bounds, tools and nested plans."""

from __future__ import annotations

import msgspec
import pytest
from check_cases import TOOLS, catalog_of, findings_of, make_tool, plan_of, told

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import Finding
from toolpath.model.plan import Block, Call, Loop, Parallel, Plan, Source
from toolpath.model.tool import Tool

ECHO = "tool: text.echo, inputs: {text: x}"
CASES = {
    "a retried write": (
        "steps: [{id: a, tool: files.send, inputs: {text: x}, retry: {max_retries: 2}}]",
        ["warning effect_retried /steps/0/retry"],
    ),
    "a retried write that is idempotent": (
        "steps: [{id: a, tool: files.save, inputs: {text: x}, retry: {max_retries: 2}}]",
        [],
    ),
    "a retried read": ("steps: [{id: a, tool: web.search, inputs: {query: x}, retry: {max_retries: 2}}]", []),
    "a write that its tool retries": (
        "steps: [{id: a, tool: mail.retried, inputs: {to: x}}]",
        ["warning effect_retried /steps/0/tool"],
    ),
    "a write that is not retried after all": (
        "steps: [{id: a, tool: mail.retried, inputs: {to: x}, retry: {max_retries: 0}}]",
        [],
    ),
    "a fallback that writes and is retried": (
        """
        steps:
          - {id: a, tool: web.search, inputs: {query: x}, retry: {max_retries: 1},
             fallback: {tool: files.send, inputs: {text: x}}}
        """,
        ["warning effect_retried /steps/0/retry"],
    ),
    "a cached write": (
        "steps: [{id: a, tool: files.send, inputs: {text: x}, cache: {ttl: 5}}]",
        ["warning cached_write /steps/0/cache"],
    ),
    "a write that its tool caches": (
        "steps: [{id: a, tool: mail.kept, inputs: {to: x}}]",
        ["warning cached_write /steps/0/tool"],
    ),
    "an unknown tool": ("steps: [{id: a, tool: web.serch}]", ["error unknown_tool /steps/0/tool"]),
    "an ambiguous tool": ("steps: [{id: a, tool: open, inputs: {x: y}}]", ["error ambiguous_tool /steps/0/tool"]),
    "a tool by its bare name": ("steps: [{id: a, tool: search, inputs: {query: x}}]", []),
    "an agent": (
        "steps: [{id: a, agent: {requirement: find it, tools: [web.search, web.serch]}}]",
        ["error unknown_tool /steps/0/agent/tools/1"],
    ),
    "a retry on a block": (
        f"steps: [{{id: a, parallel: [{{id: p, {ECHO}}}], retry: {{max_retries: 1}}}}]",
        ["warning misplaced /steps/0/retry"],
    ),
    "a loop over text": (
        f"steps: [{{id: a, loop: {{over: items, steps: [{{id: p, {ECHO}}}]}}}}]",
        ["error not_a_list /steps/0/loop/over"],
    ),
    "a loop over an object": (
        f"steps: [{{id: a, loop: {{over: {{x: 1}}, steps: [{{id: p, {ECHO}}}]}}}}]",
        ["error not_a_list /steps/0/loop/over"],
    ),
    "a loop over what is no list": (
        f"""
        steps:
          - {{id: s, tool: web.search, inputs: {{query: x}}}}
          - {{id: a, loop: {{over: "{{{{ s.total }}}}", steps: [{{id: p, {ECHO}}}]}}}}
        """,
        ["error never_fits /steps/1/loop/over"],
    ),
    "a loop over a list, with what each item holds": (
        """
        steps:
          - {id: s, tool: web.search, inputs: {query: x}}
          - id: each
            loop:
              over: "{{ s.items }}"
              as: found
              steps: [{id: p, tool: text.echo, inputs: {text: "{{ found.id }} {{ found.nothing }}"}}]
              collect: "{{ last.p.text }}"
          - {id: use, tool: any.thing, inputs: {x: "{{ each }}"}}
          - {id: sum, tool: math.add, inputs: {a: "{{ each }}", b: 1}}
        """,
        ["error outside_schema /steps/1/loop/steps/0/inputs/text", "error never_fits /steps/3/inputs/a"],
    ),
    "the output of branches": (
        f"""
        steps:
          - id: both
            parallel: [{{id: p, {ECHO}}}, {{id: q, flow: chain, steps: [{{id: i, {ECHO}}}]}}]
          - {{id: x, tool: text.echo, inputs: {{text: '{{{{ both.p.text }}}} {{{{ both.q.text }}}}'}}}}
          - {{id: y, tool: text.echo, inputs: {{text: '{{{{ both.r.text }}}}'}}}}
        """,
        ["error outside_schema /steps/2/inputs/text"],
    ),
    "the output of the winner": (
        f"""
        steps:
          - id: both
            wait_for: first_success
            parallel: [{{id: p, {ECHO}}}, {{id: q, {ECHO}}}]
          - {{id: x, tool: text.echo, inputs: {{text: '{{{{ both.winner }}}} {{{{ both.output.text }}}}'}}}}
        """,
        [],
    ),
    "the answers of a person": (
        """
        steps:
          - {id: form, ask: {title: Which?, inputs: [{name: n, type: number}, {name: t, type: text, required: false}]}}
          - {id: sum, tool: math.add, inputs: {a: "{{ form.n }}", b: "{{ form.t }}"}}
        """,
        ["warning may_not_fit /steps/1/inputs/b"],
    ),
    "a budget of calls that cannot hold": (
        f"{{budget: {{calls: 2}}, steps: [{{id: a, {ECHO}}}, {{id: b, {ECHO}}}, {{id: c, {ECHO}}}]}}",
        ["error budget_too_small /budget/calls"],
    ),
    "a budget of calls that may hold": (
        f"{{budget: {{calls: 1}}, steps: [{{id: a, {ECHO}}}, {{id: b, {ECHO}, when: '{{{{ run.id }}}}'}}]}}",
        [],
    ),
    "a budget of calls that a loop exceeds": (
        f"{{budget: {{calls: 2}}, steps: [{{id: a, loop: {{over: [1, 2, 3], steps: [{{id: b, {ECHO}}}]}}}}]}}",
        ["error budget_too_small /budget/calls"],
    ),
    "a budget of money that cannot hold": (
        "{budget: {cost: 0.6}, steps: [{id: a, tool: files.send, inputs: {text: x}}, "
        "{id: b, tool: files.send, inputs: {text: x}}]}",
        ["error budget_too_small /budget/cost"],
    ),
    "a limit of steps that cannot hold": (
        f"{{limits: {{steps: 1}}, steps: [{{id: a, {ECHO}}}, {{id: b, {ECHO}}}]}}",
        ["error budget_too_small /limits/steps"],
    ),
}


@pytest.mark.parametrize(("plan", "expected"), CASES.values(), ids=CASES)
def test_effects_bounds_and_tools(plan: str, expected: list[str]) -> None:
    assert told(plan) == expected


def test_a_tool_that_verifies_writes_must_be_there() -> None:
    tools = catalog_of(make_tool("x.pay", {"type": "object"}, {}, effect="write", verify="x.paid"))
    assert told("steps: [{id: a, tool: x.pay}]", tools) == ["warning unknown_verify /steps/0/tool"]


def test_what_is_kept_for_later_is_told_once() -> None:
    tools = catalog_of(make_tool("x.pay", {"type": "object"}, {}, undo="x.unpay"))
    plan = plan_of("steps: [{id: a, tool: x.pay}, {id: b, tool: x.pay}]")
    assert told(plan, tools) == ["information reserved_field /steps/0/tool"]
    kept = msgspec.structs.replace(plan, policy={"deny": [], "requires": {"case": True}})
    assert told(kept, tools)[0] == "information reserved_field /policy/deny"
    assert len(told(kept, tools)) == 2


def test_a_plan_made_in_python_is_held_to_the_rules_of_ids() -> None:
    steps = (Call(id="a", tool="files.wipe"), Call(id="a", tool="files.wipe"), Call(id="steps", tool="files.wipe"))
    assert told(Plan(steps=steps)) == ["error duplicate_id /steps/1/id", "error reserved_id /steps/2/id"]


def test_blocks_without_steps() -> None:
    steps = (Parallel(id="a"), Parallel(id="b", wait_for="any"), Loop(id="c", over=[1], body=Block()))
    assert told(Plan(steps=steps)) == [
        "warning empty_block /steps/0/parallel",
        "error empty_block /steps/1/parallel",
        "error empty_block /steps/2/loop",
    ]


def test_blocks_that_nest_too_deep_are_an_error_and_no_overflow() -> None:
    step: Call | Parallel = Call(id="x", tool="files.wipe")
    for number in range(400):
        step = Parallel(id=f"p{number}", branches=(Block(id="b", steps=(step,)),))
    assert told(Plan(steps=(step,)))[0].startswith("error too_deep /steps/0/parallel/0")


def test_the_findings_of_the_reader_are_among_those_of_the_check() -> None:
    plan = plan_of("steps: [{id: a, tool: files.wipe, colour: red}]")
    assert plan.source.findings
    assert set(findings_of(plan)) == set(plan.source.findings)


def test_findings_without_a_place_in_a_file_are_in_the_order_of_the_plan() -> None:
    steps = tuple(Call(id=f"s{number}", tool="no.such") for number in range(12))
    assert [finding.path for finding in findings_of(Plan(steps=steps))] == [f"/steps/{n}/tool" for n in range(12)]


def test_findings_of_others_keep_their_place() -> None:
    finding = Finding(code="x", severity="warning", message="m", path="/steps/0", line=7, column=3)
    plan = Plan(steps=(Call(id="a", tool="files.wipe"),), source=Source(findings=(finding,)))
    assert findings_of(plan) == (finding,)


def with_plans(**bodies: str) -> Catalog:
    """The common tools, and tools `plans.NAME` whose bodies are these plans."""
    tools = [
        Tool(group="plans", name=name, input_schema={"type": "object"}, body=plan_of(text), effect="read")
        for name, text in bodies.items()
    ]
    return Catalog({**TOOLS.tools, **{tool.key: tool for tool in tools}})


def test_a_plan_that_calls_itself_is_an_error() -> None:
    tools = with_plans(inner="steps: [{id: a, tool: plans.inner}]")
    (finding,) = findings_of("steps: [{id: x, tool: plans.inner}]", tools)
    assert (finding.code, finding.path) == ("recursive_plan", "/steps/0/tool")
    assert "plans.inner → plans.inner" in finding.message


def test_a_plan_that_calls_itself_through_others_is_an_error() -> None:
    tools = with_plans(
        one="steps: [{id: a, loop: {over: [1], steps: [{id: i, tool: plans.two}]}}]",
        two=f"steps: [{{id: a, {ECHO}, fallback: {{tool: plans.three}}}}]",
        three="steps: [{id: a, tool: plans.one}]",
    )
    found = findings_of("steps: [{id: x, tool: plans.two}]", tools)
    assert [finding.code for finding in found if finding.severity == "error"][:1] == ["recursive_plan"]
    assert "plans.two → plans.three → plans.one → plans.two" in found[0].message


def test_plans_nest_as_deep_as_the_limit_says() -> None:
    bodies = {f"p{n}": f"steps: [{{id: a, tool: plans.p{n + 1}}}]" for n in range(11)}
    tools = with_plans(**bodies, p11=f"steps: [{{id: a, {ECHO}}}]")
    assert told("steps: [{id: x, tool: plans.p2}]", tools) == []
    assert told("steps: [{id: x, tool: plans.p1}]", tools) == ["error too_deep /steps/0/tool"]
    assert told("{limits: {depth: 12}, steps: [{id: x, tool: plans.p0}]}", tools) == []


def test_a_tower_of_plans_is_no_overflow() -> None:
    bodies = {f"p{n}": f"steps: [{{id: a, tool: plans.p{n + 1}}}]" for n in range(300)}
    tools = with_plans(**bodies, p300=f"steps: [{{id: a, {ECHO}}}]")
    assert told("{limits: {depth: 100000}, steps: [{id: x, tool: plans.p0}]}", tools) == [
        "error too_deep /steps/0/tool"
    ]


def test_the_faults_of_a_nested_plan_are_told_once_where_it_is_called() -> None:
    tools = with_plans(inner="steps: [{id: a, tool: text.echo, inputs: {text: '{{ nothing }}'}}]")
    found = findings_of("steps: [{id: x, tool: plans.inner}, {id: y, tool: plans.inner}]", tools)
    assert [(finding.code, finding.path) for finding in found] == [("unknown_reference", "/steps/0/tool")]
    assert found[0].message.startswith("In 'plans.inner' at /steps/0/inputs/text: ")


def test_nested_plans_count_in_the_budget() -> None:
    tools = with_plans(inner=f"steps: [{{id: a, {ECHO}}}, {{id: b, {ECHO}}}]")
    plan = "{budget: {calls: 3}, steps: [{id: x, tool: plans.inner}, {id: y, tool: plans.inner}]}"
    assert told(plan, tools) == ["error budget_too_small /budget/calls"]


def test_a_plan_that_many_call_is_looked_into_once() -> None:
    # Without memory this doubles with every level.
    bodies = {f"p{n}": f"steps: [{{id: a, tool: plans.p{n + 1}}}, {{id: b, tool: plans.p{n + 1}}}]" for n in range(30)}
    tools = with_plans(**bodies, p30=f"steps: [{{id: a, {ECHO}}}]")
    found = findings_of("{limits: {depth: 40}, steps: [{id: x, tool: plans.p0}]}", tools)
    # A thousand million steps are more than a run may take, which is found without taking them.
    assert {finding.code for finding in found} == {"budget_too_small"}
