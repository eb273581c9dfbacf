"""Formats of lines: ReAct, numbered plans with references, transcripts, evidence."""

from __future__ import annotations

import pytest

from toolpath.errors import ReadError
from toolpath.model.plan import Call, Plan
from toolpath.model_output.model_text import read_model_plan, read_model_text, read_tool_calls

PLAN = """Thought: two boats.
1. find(name="Heron")
2. find(name="Otter")
3. compare(left="$1", right="${2}", note="costs $2 or $1.50 {{ x }}", list=["$1"])
4. join()<END_OF_PLAN>"""


def calls_in(plan: Plan) -> list[Call]:
    assert all(isinstance(step, Call) for step in plan.steps)
    return [step for step in plan.steps if isinstance(step, Call)]


def test_one_action_a_turn_counts_and_what_follows_it_is_imagined() -> None:
    action = '{"action": "find", "action_input": {"name": "Heron"}}'
    other = '{"action": "drop", "action_input": "all"}'
    found = read_model_text(
        f"Thought: look.\nAction:\n```\n{action}\n```\nObservation: found\nAction:\n```\n{other}\n```"
    )
    assert [(call.tool, call.inputs) for call in found.calls] == [("find", {"name": "Heron"})]
    assert any("one action of a turn" in repair for repair in found.repaired)


def test_an_action_whose_input_is_a_text_keeps_it() -> None:
    assert read_tool_calls('{"action": "find", "action_input": "Heron"}') == [("find", "Heron")]
    plan = read_model_plan('{"action": "find", "action_input": "Heron"}', input_names={"find": ["name"]})
    assert calls_in(plan)[0].inputs == {"name": "Heron"}


def test_the_final_answer_is_prose() -> None:
    found = read_model_text('{"action": "Final Answer", "action_input": "Two boats."}')
    assert (found.calls, found.prose) == ((), "Two boats.")


def test_an_action_on_two_lines_is_read() -> None:
    text = 'Thought: x\nAction: find\nAction Input: {"name": "Heron"}\nObservation: yes\nAction: drop\nAction Input: {}'
    assert read_tool_calls(text) == [("find", {"name": "Heron"})]
    assert read_tool_calls("Action: find\nAction Input: Heron\n") == [("find", "Heron")]


def test_a_first_action_that_cannot_be_read_is_not_replaced_by_a_later_one() -> None:
    later = '{"action": "drop", "action_input": {}}'
    with pytest.raises(ReadError):
        read_tool_calls(f'{{"action": "find", "acton_input": {{}}}}\n{later}')


def test_a_numbered_plan_tells_what_depends_on_what() -> None:
    found = read_model_text(PLAN)
    assert [(call.id, call.tool, call.depends_on) for call in found.calls] == [
        ("1", "find", ()),
        ("2", "find", ()),
        ("3", "compare", ("1", "2")),
        ("4", "join", ()),
    ]


def test_numbers_become_references_of_ours_and_the_closing_action_no_step() -> None:
    plan = read_model_plan(PLAN)
    assert [step.id for step in plan.steps] == ["step_1", "step_2", "step_3"]
    assert calls_in(plan)[2].inputs == {
        "left": "{{ step_1 }}",
        "right": "{{ step_2 }}",
        "note": "costs {{ step_2 }} or $1.50 {{ '{{' }} x }}",
        "list": ["{{ step_1 }}"],
    }
    assert plan.source.findings == ()


def test_arguments_by_position_need_names_in_a_plan() -> None:
    text = '1. find("Heron")\n2. find(Old Otter)\n'
    assert read_tool_calls(text) == [("find", ["Heron"]), ("find", ["Old Otter"])]
    findings = read_model_plan(text).source.findings
    assert [(finding.code, finding.path, finding.line) for finding in findings] == [
        ("inputs_not_named", "/steps/0/inputs", 1),
        ("inputs_not_named", "/steps/1/inputs", 2),
    ]
    plan = read_model_plan(text, input_names={"find": ["name", "pier"]})
    assert [step.inputs for step in calls_in(plan)] == [{"name": "Heron"}, {"name": "Old Otter"}]


def test_a_bracket_missing_inside_a_plan_is_mended_and_one_at_its_end_is_not() -> None:
    found = read_model_text('1. find("a", ["x"]\n2. find("b")')
    assert found.calls[0].inputs == ["a", ["x"]]
    assert found.repaired
    with pytest.raises(ReadError):
        read_tool_calls('1. find("a")\n2. find("b", ["x"]')


def test_a_plan_that_lacks_a_line_is_an_error() -> None:
    with pytest.raises(ReadError, match="After number 1 of the plan comes 3"):
        read_tool_calls('1. find(name="a")\n2. fin!d(name="b")\n3. find(name="c")')


def test_an_object_alone_in_brackets_names_the_inputs() -> None:
    text = '1. find({"name": "Heron"})'
    assert calls_in(read_model_plan(text, input_names={"find": ["name", "pier"]}))[0].inputs == {"name": "Heron"}
    # Where the tool has no such inputs, it is the first of them.
    assert calls_in(read_model_plan(text, input_names={"find": ["boat"]}))[0].inputs == {"boat": {"name": "Heron"}}


def test_numbered_prose_is_prose() -> None:
    assert read_tool_calls("1. open(file) opens it.\n2. close(file) closes it.\n3) done") == []


def test_evidence_refers_to_evidence() -> None:
    text = "Plan: find it #E1 = Search[who built the Heron]\nPlan: sum up\n#E2 = Write[summary of #E1]"
    plan = read_model_plan(text, input_names={"Search": ["query"], "Write": ["text"]})
    assert [(step.id, step.inputs) for step in calls_in(plan)] == [
        ("E1", {"query": "who built the Heron"}),
        ("E2", {"text": "summary of {{ E1 }}"}),
    ]


def test_labels_become_ids_and_references() -> None:
    text = (
        '[{"name": "find", "label": "$var_1", "arguments": {"name": "Heron"}},'
        ' {"name": "book", "label": "$var_2", "arguments": {"hull": "$var_1.boats[0].hull$", "b": "$var_7.x$"}}]'
    )
    assert read_model_text(text).calls[1].depends_on == ("$var_1",)
    plan = read_model_plan(text)
    assert [step.id for step in plan.steps] == ["var_1", "var_2"]
    assert calls_in(plan)[1].inputs["hull"] == "{{ var_1.boats[0].hull }}"
    assert [(finding.code, finding.path) for finding in plan.source.findings] == [("unknown_step", "/steps/1/inputs")]


def test_a_transcript_gives_its_calls_and_not_its_results() -> None:
    text = (
        '1. Function: find\nParameters: {"name": "Heron"}\nReturns: {"name": "drop", "arguments": {}}\n'
        '2. Function: book\nParameters: {"hull": 7}\nReturns: ok\n3. Final Response: Booked.'
    )
    found = read_model_text(text)
    assert [(call.tool, call.inputs) for call in found.calls] == [("find", {"name": "Heron"}), ("book", {"hull": 7})]
    with pytest.raises(ReadError):
        read_tool_calls('1. Function: find\nParameters: {"name": "He')
