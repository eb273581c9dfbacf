"""Order: cycles, jumps, what can be reached, who writes a variable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from check_cases import findings_of, plan_of, told

ECHO = "tool: text.echo, inputs: {text: x}"
GRAPHS = {
    "a cycle by depends_on": (
        f"""
        steps:
          - {{id: a, {ECHO}, depends_on: [b]}}
          - {{id: b, {ECHO}, depends_on: [a]}}
        """,
        ["error cycle /steps/0"],
    ),
    "a cycle by what is read": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ c.text }}"}}
          - {id: b, tool: text.echo, inputs: {text: "{{ a.text }}"}}
          - {id: c, tool: text.echo, inputs: {text: "{{ b.text }}"}}
        """,
        ["error cycle /steps/0"],
    ),
    "two cycles": (
        f"""
        steps:
          - {{id: a, {ECHO}, depends_on: [b]}}
          - {{id: b, {ECHO}, depends_on: [a]}}
          - {{id: c, {ECHO}, depends_on: [d]}}
          - {{id: d, {ECHO}, depends_on: [c]}}
        """,
        ["error cycle /steps/0", "error cycle /steps/2"],
    ),
    "a cycle through a block": (
        f"""
        steps:
          - {{id: a, {ECHO}, depends_on: [both]}}
          - id: both
            parallel: [{{id: p, tool: text.echo, inputs: {{text: "{{{{ a.text }}}}"}}}}]
        """,
        ["error cycle /steps/0"],
    ),
    "a step that depends on itself": (
        f"steps: [{{id: a, {ECHO}, depends_on: [a]}}]",
        ["error self_dependency /steps/0/depends_on/0"],
    ),
    "a step that reads itself": (
        "steps: [{id: a, tool: text.echo, inputs: {text: '{{ a.text }}'}}]",
        ["error self_dependency /steps/0/inputs/text"],
    ),
    "a body that reads its own loop": (
        """
        steps:
          - id: each
            loop: {over: [1], steps: [{id: s, tool: any.thing, inputs: {x: "{{ each }}"}}]}
        """,
        ["error self_dependency /steps/0/loop/steps/0/inputs/x"],
    ),
    "a dependency that is not there": (
        f"steps: [{{id: alpha, {ECHO}}}, {{id: b, {ECHO}, depends_on: [alhpa]}}]",
        ["error unknown_dependency /steps/1/depends_on/0"],
    ),
    "a dependency by the name of a tool": (
        f"steps: [{{id: a, {ECHO}}}, {{id: b, tool: files.wipe, depends_on: [echo]}}]",
        [],
    ),
    "a dependency that could be two steps": (
        f"steps: [{{id: a, {ECHO}}}, {{id: b, {ECHO}}}, {{id: c, tool: files.wipe, depends_on: [echo]}}]",
        ["error ambiguous_dependency /steps/2/depends_on/0"],
    ),
    "a jump": (
        f"flow: graph\nsteps: [{{id: a, {ECHO}, on_success: {{next: b}}}}, {{id: b, {ECHO}}}]",
        ["error jump_in_graph /steps/0/on_success/next"],
    ),
    "two writers that do not wait for one another": (
        f"""
        steps:
          - {{id: a, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
          - {{id: b, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
        """,
        ["error unordered_writers /steps/1"],
    ),
    "two writers in order": (
        f"""
        steps:
          - {{id: a, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
          - {{id: m, {ECHO}, depends_on: a}}
          - {{id: b, {ECHO}, depends_on: m, on_success: {{map_outputs: {{text: v}}}}}}
          - {{id: c, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
        """,
        [],
    ),
    "a variable of the engine": (
        f"steps: [{{id: a, {ECHO}, on_success: {{map_outputs: {{text: chain_id}}, transform: {{started_at: '1'}}}}}}]",
        [
            "error reserved_variable /steps/0/on_success/map_outputs/text",
            "error reserved_variable /steps/0/on_success/transform/started_at",
        ],
    ),
    "a mapping of a field that is not there": (
        f"steps: [{{id: a, {ECHO}, on_success: {{map_outputs: {{txt: v}}}}}}]",
        ["error outside_schema /steps/0/on_success/map_outputs/txt"],
    ),
}
CHAINS = {
    "in its order": (
        """
        flow: chain
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}}
          - {id: b, tool: text.echo, inputs: {text: "{{ a.text }}"}}
        """,
        [],
    ),
    "a step that comes later": (
        """
        flow: chain
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ b.text }}"}}
          - {id: b, tool: text.echo, inputs: {text: x}}
        """,
        ["error not_upstream /steps/0/inputs/text"],
    ),
    "a dependency on a step that comes later": (
        f"""
        flow: chain
        steps: [{{id: a, {ECHO}, depends_on: b}}, {{id: b, {ECHO}}}]
        """,
        ["error not_upstream /steps/0/depends_on/0"],
    ),
    "a step that comes later, after a jump back": (
        f"""
        flow: chain
        steps:
          - {{id: a, tool: any.thing, inputs: {{x: "{{{{ b.text | default('') }}}}"}}}}
          - {{id: b, {ECHO}, on_failure: {{next: end}}, on_success: {{next: a}}}}
        """,
        [],
    ),
    "a jump to nowhere": (
        f"""
        flow: chain
        steps: [{{id: first, {ECHO}, on_success: {{next: lsat}}}}, {{id: last_one, {ECHO}}}]
        """,
        ["error unknown_jump /steps/0/on_success/next"],
    ),
    "a jump out of the chain": (
        f"""
        flow: chain
        steps:
          - id: both
            parallel: [{{id: p, flow: chain, steps: [{{id: inner, {ECHO}, on_success: {{next: out}}}}]}}]
          - {{id: out, {ECHO}}}
        """,
        ["error unknown_jump /steps/0/parallel/0/steps/0/on_success/next"],
    ),
    "jumps by a tool's name that three steps share": (
        """
        flow: chain
        steps:
          - {tool: text.echo, inputs: {text: x}, on_success: {next: echo}}
          - {tool: text.echo, inputs: {text: x}, on_success: {next: echo}}
          - {tool: text.echo, inputs: {text: x}, on_success: {next: end}}
        """,
        ["error ambiguous_jump /steps/0/on_success/next", "error ambiguous_jump /steps/1/on_success/next"],
    ),
    "a circle of jumps": (
        f"""
        flow: chain
        steps: [{{id: a, {ECHO}, on_success: {{next: b}}}}, {{id: b, {ECHO}, on_success: {{next: a}}}}]
        """,
        ["error endless_jump /steps/0"],
    ),
    "a step that jumps to itself": (
        f"""
        flow: chain
        steps: [{{id: a, {ECHO}, on_success: {{next: a}}}}]
        """,
        ["error endless_jump /steps/0"],
    ),
    "a circle with a way out": (
        f"""
        flow: chain
        steps:
          - {{id: a, {ECHO}}}
          - {{id: b, {ECHO}, on_success: {{next: a}}, when: "{{{{ a.text == 'again' }}}}"}}
        """,
        [],
    ),
    "a step that nothing gets to": (
        f"""
        flow: chain
        steps: [{{id: a, {ECHO}, on_success: {{next: end}}}}, {{id: b, {ECHO}}}, {{id: c, {ECHO}}}]
        """,
        ["warning unreachable /steps/1"],
    ),
    "a branch that runs into the other": (
        f"""
        flow: chain
        steps:
          - {{id: validate, {ECHO}, on_success: {{next: good}}, on_failure: {{next: bad}}}}
          - {{id: good, {ECHO}}}
          - {{id: bad, {ECHO}}}
        """,
        ["warning fall_through /steps/1"],
    ),
    "a retry, then a branch that follows": (
        f"""
        flow: chain
        steps:
          - id: charge
            tool: text.echo
            inputs: {{text: x}}
            on_failure: {{action: retry, max_retries: 2, continue_on_max_retries: true, next: backup}}
          - {{id: backup, {ECHO}}}
        """,
        ["warning fall_through /steps/0"],
    ),
    "a failure that is continued at a step that follows": (
        f"""
        flow: chain
        steps:
          - {{id: charge, {ECHO}, on_failure: {{action: continue, next: backup}}}}
          - {{id: receipt, {ECHO}}}
          - {{id: backup, {ECHO}}}
        """,
        ["warning fall_through /steps/1"],
    ),
    "branches that meet": (
        f"""
        flow: chain
        steps:
          - {{id: primary, {ECHO}, on_success: {{next: process}}, on_failure: {{next: backup}}}}
          - {{id: backup, {ECHO}}}
          - {{id: process, {ECHO}}}
        """,
        [],
    ),
    "branches that end": (
        f"""
        flow: chain
        steps:
          - {{id: validate, {ECHO}, on_success: {{next: good}}, on_failure: {{next: bad}}}}
          - {{id: good, {ECHO}, on_success: {{next: end}}}}
          - {{id: bad, {ECHO}}}
        """,
        [],
    ),
    "a variable that not every way sets": (
        f"""
        flow: chain
        steps:
          - {{id: a, {ECHO}, when: "{{{{ run.id == '1' }}}}", on_success: {{map_outputs: {{text: v}}}}}}
          - {{id: b, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
          - {{id: c, tool: text.echo, inputs: {{text: "{{{{ state.v | default('') }}}}"}}}}
        """,
        ["warning maybe_missing /steps/1/inputs/text"],
    ),
    "a variable that is read before it is set": (
        f"""
        flow: chain
        steps:
          - {{id: b, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
          - {{id: a, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
        """,
        ["error not_upstream /steps/0/inputs/text"],
    ),
    "a variable that has a first value": (
        f"""
        flow: chain
        state: {{v: first}}
        steps:
          - {{id: b, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
          - {{id: a, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
        """,
        [],
    ),
    "a variable that every branch sets": (
        f"""
        flow: chain
        steps:
          - id: both
            wait_for: any
            parallel:
              - {{id: p, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
              - {{id: q, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
          - {{id: b, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
        """,
        [],
    ),
    "a variable that the winner may not set": (
        f"""
        flow: chain
        steps:
          - id: both
            wait_for: any
            parallel:
              - {{id: p, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
              - {{id: q, {ECHO}}}
          - {{id: b, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
        """,
        ["warning maybe_missing /steps/1/inputs/text"],
    ),
    "a variable of another branch": (
        f"""
        flow: chain
        steps:
          - id: both
            parallel:
              - {{id: p, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
              - {{id: q, tool: text.echo, inputs: {{text: "{{{{ state.v }}}}"}}}}
        """,
        ["error not_upstream /steps/0/parallel/1/steps/0/inputs/text"],
    ),
    "two branches that write one variable": (
        f"""
        flow: chain
        steps:
          - id: both
            parallel:
              - {{id: p, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
              - {{id: q, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}
        """,
        ["warning two_writers /steps/0"],
    ),
    "items side by side that write one variable": (
        f"""
        flow: chain
        steps:
          - id: each
            loop: {{over: [1, 2], concurrency: 2, steps: [{{id: p, {ECHO}, on_success: {{map_outputs: {{text: v}}}}}}]}}
        """,
        ["warning two_writers /steps/0"],
    ),
    "items one after the other that hand a variable on": (
        """
        flow: chain
        state: {n: 0}
        steps:
          - id: each
            loop:
              over: [1, 2]
              steps:
                - id: p
                  tool: math.add
                  inputs: {a: "{{ state.n }}", b: "{{ item }}"}
                  on_success: {map_outputs: {sum: n}}
        """,
        [],
    ),
    "an error that has surely happened": (
        f"""
        flow: chain
        steps:
          - {{id: a, {ECHO}, on_failure: {{next: handler}}, on_success: {{next: end}}}}
          - {{id: handler, tool: any.thing, inputs: {{m: "{{{{ steps.a.error.message }}}}"}}}}
        """,
        [],
    ),
    "an error that may not have happened": (
        f"""
        flow: chain
        steps:
          - {{id: a, {ECHO}, on_failure: {{action: continue}}}}
          - {{id: handler, tool: any.thing, inputs: {{m: "{{{{ steps.a.error.message }}}}"}}}}
        """,
        ["warning maybe_missing /steps/1/inputs/m"],
    ),
    "an output that a jump passes by": (
        f"""
        flow: chain
        steps:
          - {{id: a, {ECHO}, on_failure: {{next: c}}}}
          - {{id: b, {ECHO}, on_success: {{next: c}}}}
          - {{id: c, tool: text.echo, inputs: {{text: "{{{{ b.text }}}}"}}}}
        """,
        ["warning maybe_missing /steps/2/inputs/text"],
    ),
}
SKIPS = {
    "needs what may be skipped": ("{{ b.text }}", ", when: '{{ a.text == \"y\" }}'", "", True),
    "has a default": ("{{ b.text | default('') }}", ", when: '{{ a.text == \"y\" }}'", "", False),
    "runs under the same condition": (
        "{{ b.text }}",
        ", when: '{{ a.text == \"y\" }}'",
        ", when: '{{ a.text == \"y\" }}'",
        False,
    ),
    "runs under another condition": (
        "{{ b.text }}",
        ", when: '{{ a.text == \"y\" }}'",
        ", when: '{{ a.text == \"z\" }}'",
        True,
    ),
    "needs what is continued after failure": ("{{ b.text }}", ", on_failure: {action: continue}", "", True),
    "only asks for the status": ("{{ steps.b.status }}", ", on_failure: {action: continue}", "", False),
    "needs what is not critical": ("{{ b.text }}", ", critical: false", "", False),
}


@pytest.mark.parametrize(("plan", "expected"), GRAPHS.values(), ids=GRAPHS)
def test_graphs(plan: str, expected: list[str]) -> None:
    assert told(plan) == expected


@pytest.mark.parametrize(("plan", "expected"), CHAINS.values(), ids=CHAINS)
def test_chains(plan: str, expected: list[str]) -> None:
    assert told(plan) == expected


@pytest.mark.parametrize(("reads", "first", "second", "is_told"), SKIPS.values(), ids=SKIPS)
def test_a_reader_of_what_may_be_skipped(reads: str, first: str, second: str, is_told: bool) -> None:
    plan = f"""
        steps:
          - {{id: a, {ECHO}}}
          - {{id: b, {ECHO}{first}}}
          - {{id: c, tool: text.echo, inputs: {{text: "{reads}"}}{second}}}
        """
    assert told(plan) == (["warning maybe_missing /steps/2/inputs/text"] if is_told else [])


def test_null_is_no_fault_where_there_is_a_use_for_it() -> None:
    plan = f"""
        steps:
          - {{id: a, {ECHO}, when: false}}
          - {{id: b, tool: blog.createAuthor, inputs: {{name: x, email: y, bio: "{{{{ a.text }}}}"}}}}
          - {{id: c, {ECHO}, when: "{{{{ a.text }}}}"}}
        outputs: {{a: "{{{{ a.text }}}}"}}
        """
    assert told(plan) == []


def test_a_cycle_is_told_as_the_contract_says() -> None:
    (finding,) = findings_of(GRAPHS["a cycle by what is read"][0])
    assert finding.message == "Circular dependency detected between tools: a → c → b → a"
    assert "c.text" in finding.hint


def test_an_ambiguous_jump_names_the_ids() -> None:
    finding = findings_of(CHAINS["jumps by a tool's name that three steps share"][0])[0]
    assert finding.message == "'echo' could be any of the steps 'echo', 'echo_2' and 'echo_3'."


def test_a_long_cycle_is_found_without_recursion() -> None:
    steps = ", ".join(f"{{id: s{n}, {ECHO}, depends_on: s{(n + 1) % 3000}}}" for n in range(3000))
    (finding,) = findings_of(plan_of(f"steps: [{steps}]"))
    assert finding.code == "cycle"
    assert len(finding.message) < 400


_WRITES = {"id": "w", "tool": "text.echo", "inputs": {"text": "x"}, "on_success": {"transform": {"v": "{{ true }}"}}}
_FAILS = {"id": "f", "tool": "text.echo", "inputs": {"text": "x"}}


@pytest.mark.parametrize(
    "step",
    [
        _WRITES,
        {
            "id": "p",
            "parallel": [
                {"id": "left", "steps": [_FAILS, _WRITES]},
                {"id": "o", "tool": "text.echo", "inputs": {"text": "x"}},
            ],
        },
        {"id": "p", "parallel": [{"id": "left", "steps": [_WRITES]}, _FAILS]},
        {"id": "l", "loop": {"over": [1], "steps": [_FAILS, _WRITES]}},
    ],
)
def test_what_a_step_that_need_not_succeed_writes_may_be_missing_at_the_end(step: dict[str, Any]) -> None:
    def codes(critical: bool) -> set[str]:
        plan = plan_of(json.dumps({"steps": [{**step, "critical": critical}], "outputs": "{{ state.v }}"}))
        return {finding.code for finding in findings_of(plan)}

    assert "maybe_missing" in codes(critical=False)
    assert "loop" in step or "maybe_missing" not in codes(critical=True)
