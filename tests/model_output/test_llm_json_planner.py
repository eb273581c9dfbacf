"""Plans as planners write them: order, chain, steps, our own; and values that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolpath.errors import Finding, ReadError
from toolpath.model.plan import Call, Fallback, Plan
from toolpath.model_output.documents import read_document
from toolpath.model_output.model_text import read_model_plan, read_model_text, read_tool_calls
from toolpath.model_output.placeholders import is_placeholder

WRITER = {"name": "blog.addWriter", "parameters": {"name": "Ann", "email": "ann@test.org"}}
POST = {
    "name": "blog.addPost",
    "parameters": {"by": "{{blog.addWriter._id}}", "text": "By {{addWriter.name}}"},
    "dependsOn": "blog.addWriter",
}


def ordered(tools: list[Any], order: list[str], **more: Any) -> str:
    return json.dumps({"tools": tools, "executionOrder": order, **more})


def call(plan: Plan, index: int) -> Call:
    step = plan.steps[index]
    assert isinstance(step, Call)
    return step


def codes(plan: Plan) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in plan.source.findings]


def test_tools_and_their_order_become_steps_that_refer_to_one_another() -> None:
    plan = read_model_plan(ordered([POST, WRITER], ["blog.addWriter", "blog.addPost"], plan="First the writer."))
    assert [(step.id, call(plan, index).tool) for index, step in enumerate(plan.steps)] == [
        ("addWriter", "blog.addWriter"),
        ("addPost", "blog.addPost"),
    ]
    assert call(plan, 1).inputs == {"by": "{{addWriter._id}}", "text": "By {{addWriter.name}}"}
    assert call(plan, 1).depends_on == ("addWriter",)
    assert (plan.flow, plan.failure_mode, plan.reasoning) == ("graph", "stop", "First the writer.")
    assert plan.source.findings == ()


def test_the_calls_of_a_plan_keep_what_the_planner_wrote() -> None:
    assert read_tool_calls(ordered([WRITER, POST], ["blog.addWriter", "blog.addPost"])) == [
        ("blog.addWriter", WRITER["parameters"]),
        ("blog.addPost", POST["parameters"]),
    ]


def test_an_order_against_the_dependencies_is_a_warning_and_the_dependencies_decide() -> None:
    plan = read_model_plan(ordered([WRITER, POST], ["blog.addPost", "blog.addWriter"]))
    assert ("warning", "order_contradicts") in codes(plan)
    assert call(plan, 0).depends_on == ("addWriter",)


@pytest.mark.parametrize(
    ("order", "found"),
    [
        (["blog.addWriter"], ("warning", "order_incomplete")),
        (["blog.addWriter", "blog.addPost", "blog.addPsot"], ("error", "unknown_tool_in_order")),
        (["blog.addWriter", "blog.addWriter", "blog.addPost"], ("warning", "unknown_tool_in_order")),
    ],
)
def test_an_order_that_names_too_few_or_too_many_is_remarked_on(order: list[str], found: tuple[str, str]) -> None:
    plan = read_model_plan(ordered([WRITER, POST], order))
    assert found in codes(plan)
    assert len(plan.steps) == 2


def test_a_dependency_on_a_tool_that_two_steps_use_is_ambiguous() -> None:
    other = {"name": "blog.addWriter", "parameters": {"name": "Bob"}}
    plan = read_model_plan(ordered([WRITER, other, POST], ["blog.addWriter", "blog.addWriter", "blog.addPost"]))
    assert [step.id for step in plan.steps] == ["addWriter", "addWriter_2", "addPost"]
    assert ("error", "ambiguous_step") in codes(plan)
    with pytest.raises(ReadError, match="has errors"):
        read_tool_calls(ordered([WRITER, other, POST], ["blog.addWriter"]))


def test_output_mappings_write_variables_that_templates_read() -> None:
    writer = {**WRITER, "outputMapping": {"_id": "writerId", "odd": "{{ x }}"}}
    post = {"name": "blog.addPost", "parameters": json.dumps({"by": "{{ writerId }}"})}
    plan = read_model_plan(ordered([writer, post], ["blog.addWriter", "blog.addPost"]))
    assert call(plan, 0).on_success.map_outputs == {"_id": "writerId"}
    assert call(plan, 1).inputs == {"by": "{{ state.writerId }}"}
    assert codes(plan) == [("warning", "unknown_value")]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"tools": "x", "executionOrder": []}, "invalid tools array"),
        ({"tools": [WRITER], "executionOrder": "x"}, "invalid executionOrder array"),
        ({"tools": [], "executionOrder": []}, "list of tools is empty"),
        ({"tools": [{"parameters": {}}], "executionOrder": []}, "names no tool"),
        ({"toolChain": []}, "must be a list of tools"),
        ({"steps": [{"stepRequirement": "Find it"}]}, "plan template"),
    ],
)
def test_a_planner_s_answer_without_tools_is_an_error(answer: Any, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_model_text(json.dumps(answer))


def test_a_tool_chain_is_as_sure_as_its_least_sure_link() -> None:
    chain = [
        {"subQuery": "near", "tool": "vector-search", "parameters": {"q": "boats"}, "confidence": 0.9},
        {"subQuery": "best", "tool": "rank", "parameters": {"of": "{{vector-search.hits}}"}, "confidence": 0.4},
    ]
    plan = read_model_plan(json.dumps({"reasoning": "Two steps.", "toolChain": chain}))
    assert (plan.confidence, plan.reasoning) == (0.4, "Two steps.")
    assert call(plan, 1).inputs == {"of": "{{steps['vector-search'].output.hits}}"}
    assert plan.metadata["planner_steps"][0] == {"subQuery": "near", "confidence": 0.9}


def test_steps_of_a_planner_count_in_milliseconds() -> None:
    first = {
        "id": "near-1",
        "tool": "vector-search",
        "parameters": {"q": "boats"},
        "dependencies": [],
        "executionMode": "sequential",
        "timeout": 1500,
        "fallback": {"tool": "keyword-search", "condition": "on_low_confidence", "threshold": 0.3},
    }
    second = {"id": "sum", "tool": "sum_up", "parameters": {"of": "{{near-1.hits}}"}, "dependencies": ["near-1"]}
    answer = {"steps": [first, second], "reasoning": "r", "estimatedDuration": 4000, "estimatedCost": 0.02}
    plan = read_model_plan(f"Here it is:\n```json\n{json.dumps(answer)}\n```")
    assert (call(plan, 0).timeout, call(plan, 0).exclusive) == (1.5, True)
    assert call(plan, 0).fallback == (Fallback(tool="keyword-search", condition="on_low_confidence", threshold=0.3),)
    assert call(plan, 1).inputs == {"of": "{{steps['near-1'].output.hits}}"}
    assert plan.origin.estimates == {"duration": 4.0, "cost": 0.02}
    assert plan.source.findings == ()


def test_our_own_plan_is_read_with_findings_at_their_lines() -> None:
    body = '{"name": "p",\n "steps": [{"id": "a", "tool": "x.y", "inputs": {"k": 1}},\n  {"tol": "z"}]}'
    plan = read_model_plan(f"Sure.\n```json\n{body}\n```")
    assert call(plan, 0).inputs == {"k": 1}
    assert {finding.line for finding in plan.source.findings} == {5}


def test_our_own_plan_is_read_from_yaml_in_a_fence_and_alone() -> None:
    body = "name: p\nsteps:\n  - tool: x.y\n    inputs: {k: 1}\n  - tool: z\n    bogus: 1\n"
    plan = read_model_plan(f"Here:\n```yaml\n{body}```\n")
    assert [step.id for step in plan.steps] == ["y", "z"]
    found = [(finding.code, finding.line) for finding in plan.source.findings]
    assert found == [("unknown_field", 8), ("side_by_side", 4)]
    assert read_model_plan(body).steps == plan.steps


def test_a_plan_with_other_steps_than_calls_is_no_list_of_calls() -> None:
    text = json.dumps({"steps": [{"loop": {"over": [1], "as": "n", "steps": [{"tool": "a"}]}}, {"tool": "b"}]})
    assert len(read_model_plan(text).steps) == 2
    with pytest.raises(ReadError, match="no calls"):
        read_tool_calls(text)


def test_two_plans_that_differ_are_an_error() -> None:
    with pytest.raises(ReadError, match="another answer"):
        read_model_plan('{"steps": [{"tool": "a"}]}\n{"steps": [{"tool": "b"}]}')


def test_a_text_without_any_call_is_no_plan() -> None:
    with pytest.raises(ReadError, match="no plan and no call"):
        read_model_plan("I cannot do that.")


@pytest.mark.parametrize(
    "value",
    ["extracted", "Extracted", "extracted@example.com", "<extracted name>", "extracted_from_query", "{extracted}",
     "[to be extracted]", "author_extracted", "placeholder", "<placeholder>", "your_api_key_here"],
)  # fmt: skip
def test_words_for_values_are_no_values(value: str) -> None:
    assert is_placeholder(value)
    plan = read_model_plan(json.dumps({"name": "f", "arguments": {"deep": [{"x": value}]}}))
    (finding,) = plan.source.findings
    assert isinstance(finding, Finding)
    assert (finding.code, finding.severity, finding.path) == ("placeholder_value", "error", "/steps/0/inputs/deep/0/x")


@pytest.mark.parametrize(
    "value",
    ["", "Sum up the facts extracted from the page.",
     "{{ find.extracted }}", "<<extracted>>", "ann@example.com", "extract"],
)  # fmt: skip
def test_values_that_only_sound_like_it_are_values(value: str) -> None:
    assert not is_placeholder(value)


def test_what_no_plan_has_is_named_where_it_is_left_out_beside_steps_and_in_them() -> None:
    entry = {"name": "look", "parameters": {}, "colour": 1}
    said = {"plan": "First this.", "requestId": "req_1", "executionState": "pending"}
    plan = read_document({"tools": [entry], "executionOrder": ["look"], **said, "maxRetries": 2, "owner": "ada"})
    assert isinstance(plan, Plan)
    left_out = sorted(finding.message for finding in plan.source.findings if finding.code == "unknown_field")
    assert left_out == [
        "A plan has no field 'maxRetries'; it is left out.",
        "A plan has no field 'owner'; it is left out.",
        "A step has no field 'colour'; it is left out.",
    ]
