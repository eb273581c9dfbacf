"""Names in expressions: what means nothing, or several things."""

from __future__ import annotations

import pytest
from check_cases import catalog_of, findings_of, make_tool, object_schema, plan_of, told

CASES = {
    "a graph that only names what there is": (
        """
        inputs: {type: object, properties: {name: {type: string}}, required: [name]}
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ inputs.name }}"}}
          - {id: b, tool: text.echo, inputs: {text: "{{ a.text }} {{ run.id }} {{ steps.a.status }}"}}
        outputs: {b: "{{ b.text }}"}
        """,
        [],
    ),
    "a step that is not there": (
        """
        steps:
          - {id: writer, tool: text.echo, inputs: {text: hello}}
          - {id: b, tool: text.echo, inputs: {text: "{{ wrter.text }}"}}
        """,
        ["error unknown_reference /steps/1/inputs/text"],
    ),
    "a step that is not there, by steps": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ steps.zzz.output.text }}"}}
          - {id: b, tool: text.echo, inputs: {text: "{{ steps['y-z'].status }}"}}
        """,
        ["error unknown_step /steps/0/inputs/text", "error unknown_step /steps/1/inputs/text"],
    ),
    "a variable that nothing sets": (
        """
        flow: chain
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ state.nothing }}"}}
          - {id: b, tool: text.echo, inputs: {text: "{{ nothing }}"}}
        """,
        ["error unknown_variable /steps/0/inputs/text", "error unknown_variable /steps/1/inputs/text"],
    ),
    "a default does not make an unknown name right": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ nothing | default('x') }}"}}
        """,
        ["warning unknown_reference /steps/0/inputs/text"],
    ),
    "a state where there is none": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ state.x }}"}}
        """,
        ["error unknown_variable /steps/0/inputs/text"],
    ),
    "an input that is not declared": (
        """
        inputs: {type: object, properties: {name: {type: string}}, required: [name]}
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ inputs.nmae }}"}}
        """,
        ["error unknown_input /steps/0/inputs/text"],
    ),
    "an input by its bare name in a graph": (
        """
        inputs: {type: object, properties: {name: {type: string}}, required: [name]}
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ name }}"}}
        """,
        ["error unknown_reference /steps/0/inputs/text"],
    ),
    "an input by its bare name in a chain": (
        """
        flow: chain
        inputs: {type: object, properties: {name: {type: string}}, required: [name]}
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ name }}"}}
        """,
        [],
    ),
    "a run has an id and a start": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ run.name }}"}}
        """,
        ["error unknown_reference /steps/0/inputs/text"],
    ),
    "a tool's name that two steps share": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}}
          - {id: b, tool: text.echo, inputs: {text: y}}
          - {id: c, tool: math.add, inputs: {a: 1, b: 2}, when: "{{ echo.text == 'x' }}"}
        """,
        ["error ambiguous_name /steps/2/when"],
    ),
    "the id that was made for one of several steps of a tool": (
        """
        steps:
          - {tool: text.echo, inputs: {text: x}}
          - {tool: text.echo, inputs: {text: "{{ steps.echo.status }}"}}
          - {tool: files.save, inputs: {text: "{{ steps.echo_2.output.text }}"}}
        """,
        ["error ambiguous_name /steps/1/inputs/text"],
    ),
    "a tool's name that one step uses": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}}
          - {id: c, tool: files.save, inputs: {text: "{{ echo.text }}"}}
        """,
        [],
    ),
    "a variable with the name of a step": (
        """
        flow: chain
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}, on_success: {map_outputs: {text: a}}}
          - {id: b, tool: text.echo, inputs: {text: "{{ a }}"}}
          - {id: c, tool: text.echo, inputs: {text: "{{ state.a }}"}}
        """,
        ["warning ambiguous_name /steps/1/inputs/text"],
    ),
    "an id inside a block is seen only there": (
        """
        steps:
          - id: both
            parallel:
              - {id: left, flow: chain, steps: [{id: inner, tool: text.echo, inputs: {text: x}}]}
          - {id: b, tool: text.echo, inputs: {text: "{{ inner.text }}"}}
        """,
        ["error unknown_reference /steps/1/inputs/text"],
    ),
    "a block sees what is around it": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}}
          - loop:
              over: [1, 2]
              as: n
              steps: [{id: inner, tool: text.echo, inputs: {text: "{{ a.text }} {{ n }}"}}]
              collect: "{{ last.inner.text }}"
            id: each
        """,
        [],
    ),
    "last is for collect alone": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ last }}"}}
        """,
        ["error unknown_reference /steps/0/inputs/text"],
    ),
    "text that is no expression": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: "{{ 1 + }}"}}
        """,
        ["error expression_syntax /steps/0/inputs/text"],
    ),
    "a secret outside of inputs": (
        """
        steps:
          - {id: a, tool: text.echo, inputs: {text: x}, when: "{{ secrets.KEY }}"}
        """,
        ["error secret_here /steps/0/when"],
    ),
}


@pytest.mark.parametrize(("plan", "expected"), CASES.values(), ids=CASES)
def test_names_that_mean_nothing_or_too_much_are_told(plan: str, expected: list[str]) -> None:
    assert told(plan) == expected


def test_what_may_have_been_meant_is_told() -> None:
    (finding,) = findings_of(
        """
        steps:
          - {id: writer, tool: text.echo, inputs: {text: hello}}
          - {id: b, tool: text.echo, inputs: {text: "{{ wrter.text }}"}}
        """
    )
    assert finding.suggestions == ("writer",)
    assert (finding.line, finding.column) == (4, 49)


def test_a_bare_input_is_told_how_to_be_written() -> None:
    (finding,) = findings_of(
        """
        inputs: {type: object, properties: {name: {type: string}}, required: [name]}
        steps: [{id: a, tool: text.echo, inputs: {text: "{{ name }}"}}]
        """
    )
    assert "inputs.name" in finding.hint


def test_a_hidden_step_is_told_where_it_is() -> None:
    (finding,) = findings_of(CASES["an id inside a block is seen only there"][0])
    assert "'both'" in finding.hint


def test_secrets_are_missed_only_where_their_names_are_known() -> None:
    plan = """
        steps: [{id: a, tool: text.echo, inputs: {text: "Bearer {{ secrets.TOKEN }}"}}]
        """
    assert told(plan) == []
    assert told(plan, secrets=["TOKEN"]) == []
    assert told(plan, secrets=["TOKENS"]) == ["error unknown_secret /steps/0/inputs/text"]


def test_every_fault_is_told_at_once_in_the_order_of_the_text() -> None:
    findings = findings_of(
        """
        steps:
          - {id: a, tool: text.ehco, inputs: {text: "{{ b.text }}"}}
          - {id: b, tool: text.echo, inputs: {txt: "{{ c.text }}", text: "{{ 1 + }}"}, depends_on: [d]}
        """
    )
    assert [finding.code for finding in findings if finding.severity == "error"] == [
        "unknown_tool",
        "unknown_input",
        "unknown_reference",
        "expression_syntax",
        "unknown_dependency",
    ]
    assert [(finding.line, finding.column) for finding in findings] == sorted(
        (finding.line, finding.column) for finding in findings
    )


def test_many_faults_cost_little() -> None:
    tools = catalog_of(*[make_tool(f"g.tool_{number}", object_schema("x:string")) for number in range(500)])
    steps = ", ".join(f"{{id: s{n}, tool: tol_{n}, inputs: {{x: '{{{{ nothing_{n}.y }}}}'}}}}" for n in range(500))
    codes = [finding.code for finding in findings_of(plan_of(f"steps: [{steps}]"), tools)]
    assert codes.count("unknown_tool") == codes.count("unknown_reference") == 500
