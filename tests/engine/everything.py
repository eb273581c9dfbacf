"""One plan with everything in it that a journal has to bring back, and its tools, which only read."""

from __future__ import annotations

from typing import Any

from engine_cases import after, identity

from toolpath import Tool, ToolRetry
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

EVERYTHING = """
    inputs: {type: object, properties: {rows: {type: array}}, required: [rows]}
    failure_mode: isolate
    steps:
      - {id: first, tool: t, inputs: {v: "{{ inputs.rows | length }}"}}
      - id: each
        loop:
          over: "{{ inputs.rows }}"
          as: row
          concurrency: 2
          collect: "{{ y.v }}"
          flow: chain
          steps:
            - {id: x, tool: t, inputs: {v: "{{ row }}"}, on_success: {map_outputs: {v: seen}}}
            - {id: y, tool: t, inputs: {v: "{{ state.seen * 10 + first.v }}"}}
      - id: both
        depends_on: first
        parallel:
          - {id: left, tool: t, inputs: {v: "{{ first.v + 1 }}"}}
          - id: right
            flow: chain
            steps:
              - id: r1
                tool: flaky
                inputs: {v: 5}
                retry: {max_retries: 2, initial_delay: 3}
                on_success: {map_outputs: {v: kept}}
              - {id: r2, tool: t, when: "state.kept > 100"}
              - {id: r3, tool: t, inputs: {v: "{{ state.kept }}"}, on_success: {next: r5}}
              - {id: r4, tool: t}
              - {id: r5, tool: t, inputs: {v: "{{ steps.r3.output.v + 1 }}"}}
      - id: quick
        wait_for: first_success
        parallel:
          - {id: slow, tool: slow}
          - {id: fast, tool: t, inputs: {v: 7}}
      - {id: nested, tool: double, inputs: {n: "{{ first.v }}"}}
      - {id: alt, tool: bad, fallback: {tool: t}, inputs: {v: 3}}
      - {id: cont, tool: bad, on_failure: {action: continue}}
      - {id: after, tool: t, inputs: {c: "{{ cont }}", a: "{{ alt.v }}"}}
      - {id: sink, tool: t, inputs: {how: "{{ steps.soft.status }}"}}
      - {id: soft, tool: bad, critical: false}
    outputs:
      {each: "{{ each }}", both: "{{ both }}", quick: "{{ quick }}",
       nested: "{{ nested }}", after: "{{ after }}", sink: "{{ sink }}"}
    """
ROWS = {"rows": [1, 2, 3]}
EXPECTED = {
    "each": [13, 23, 33],
    "both": {"left": {"v": 4}, "right": {"v": 6}},
    "quick": {"winner": "fast", "output": {"v": 7}},
    "nested": {"n": 6},
    "after": {"c": None, "a": 3},
    "sink": {"how": "failed"},
}


def everything(clock: FakeClock) -> list[Any]:
    """Tools that only read and answer by their inputs alone: asked again they say the same."""
    attempts: dict[str, int] = {}

    def flaky(inputs: dict[str, Any]) -> Any:
        attempts["n"] = attempts.get("n", 0) + 1
        return ToolRetry("again") if attempts["n"] < 2 else inputs

    double = read_plan(
        {
            "name": "double",
            "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "flow": "chain",
            "steps": [
                {
                    "id": "d1",
                    "tool": "t",
                    "inputs": {"v": "{{ inputs.n * 2 }}"},
                    "on_success": {"map_outputs": {"v": "twice"}},
                },
                {"id": "d2", "tool": "t", "inputs": {"v": "{{ state.twice }}"}},
            ],
            "outputs": {"n": "{{ d2.v }}"},
        }
    )
    return [
        identity("t"),
        scripted("flaky", then=flaky),
        scripted("slow", then=lambda _: after(clock, 20, {})),
        scripted("bad", then=ValueError("no")),
        Tool(name="double", body=double, input_schema=double.inputs, effect="read"),
    ]
