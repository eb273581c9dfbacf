"""Documents of plan templates: where parameters may stand, and what becomes of them."""

from __future__ import annotations

import time
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath import Toolpath
from toolpath.errors import PlanInvalid, ReadError
from toolpath.model.plan import Agent, Call, Common, Step
from toolpath.notation.template import TextPlace, escaped, read_template
from toolpath.values import JsonObject

STEP: JsonObject = {"id": "s", "tool": "t"}


def plan_of(document: JsonObject, values: JsonObject | None = None) -> Any:
    return read_template(document).plan(values)


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({**STEP, "inputs": {"a": [{"b": "<<x>>"}]}}, "/steps/0/inputs/a/0/b"),
        ({**STEP, "parameters": {"id": "<<x>>", "tool": "<<x>>"}}, "/steps/0/parameters/id"),
        ({**STEP, "when": "<<x>>"}, "/steps/0/when"),
        ({**STEP, "requires_approval": "<<x>>"}, "/steps/0/requires_approval"),
        ({**STEP, "cache": {"key": "<<x>>"}}, "/steps/0/cache/key"),
        ({**STEP, "fallback": {"tool": "u", "inputs": {"a": "<<x>>"}}}, "/steps/0/fallback/inputs/a"),
        ({**STEP, "on_success": {"transform": {"v": "<<x>>"}}}, "/steps/0/on_success/transform/v"),
        ({"id": "l", "loop": {"over": "<<x>>", "steps": [STEP]}}, "/steps/0/loop/over"),
        ({"id": "l", "loop": {"over": [1], "steps": [STEP], "collect": "<<x>>"}}, "/steps/0/loop/collect"),
        ({"id": "p", "parallel": [{**STEP, "inputs": {"a": "<<x>>"}}]}, "/steps/0/parallel/0/inputs/a"),
        ({"id": "s", "agent": {"requirement": "<<x>>"}}, "/steps/0/agent/requirement"),
        ({"id": "s", "ask": {"title": "<<x>>", "inputs": [{"name": "n"}]}}, "/steps/0/ask/title"),
        (
            {"id": "s", "ask": {"title": "t", "inputs": [{"name": "n", "label": "<<x>>"}]}},
            "/steps/0/ask/inputs/0/label",
        ),
    ],
)
def test_a_parameter_that_stands_where_a_template_may_becomes_a_reference_to_an_input(
    step: JsonObject, path: str
) -> None:
    document = read_template({"steps": [step]})
    assert [use.path for use in document.uses][:1] == [path]
    assert document.fixed == ()
    plan = document.plan()
    assert [finding for finding in plan.source.findings if finding.severity == "error"] == []
    assert plan.inputs["required"] == ["x"]
    assert "inputs.x" in repr(plan.steps)
    assert "<<" not in repr(plan.steps)


def test_a_reference_stands_inside_the_braces_that_are_there_and_has_its_own_elsewhere() -> None:
    step = {**STEP, "inputs": {"a": "{{ <<n>> + 1 }} of <<all>>", "b": " << n >> "}, "when": "<<n>> > 2 and <<m>>"}
    (made,) = plan_of({"steps": [step], "outputs": {"<<n>>": "<<n>>"}}).steps
    assert made.inputs == {"a": "{{ inputs.n + 1 }} of {{ inputs.all }}", "b": "{{ inputs.n }}"}
    assert made.when == "inputs.n > 2 and inputs.m"


@pytest.mark.parametrize(
    ("written", "given", "found"),
    [
        ("{{ '<<mode>>' == 'live' }}", "live", True),
        ("{{ '<<mode>>' == 'live' }}", "test", False),
        ('{{ "a <<mode>>!" }}', "b", "a b!"),
        ("{{ '<<mode>>' }}", 7, "7"),
        ("{{ <<mode>> + 1 }}", 7, 8),
        ("{{ <<mode>>[0] }}", ["x"], "x"),
        ("{{ <<mode>>.b }}", {"b": 1}, 1),
        ("{{ {'<<mode>>': 1}['k'] }}", "k", 1),
        ("{{ 'it\\'s <<mode>>' }}", "x", "it's x"),
        ("{{ '<<mode>>' }} and <<mode>>", "' ~ secrets.X ~ '", "' ~ secrets.X ~ ' and ' ~ secrets.X ~ '"),
    ],
)
async def test_a_parameter_in_an_expression_is_its_value_and_in_a_string_of_it_a_part_of_the_text(
    written: str, given: object, found: object
) -> None:
    async with Toolpath() as tp:
        result = await tp.run(plan_of({"steps": [], "outputs": written}), {"mode": given})
        assert result.outputs == found


async def test_an_approval_that_hangs_on_a_parameter_is_asked_for() -> None:
    step = {**STEP, "inputs": {}, "requires_approval": "'<<mode>>' == 'live'"}
    async with Toolpath() as tp:
        tp.add(lambda: "done", name="t", effect="write")
        plan = plan_of({"steps": [step]})
        assert (await tp.run(plan, {"mode": "live"})).status == "waiting"
        assert (await tp.run(plan, {"mode": "test"})).status == "completed"


@pytest.mark.parametrize("text", ["<<" + " " * 50_000, "{{" * 8_000 + "<<a>>", "<<a" * 50_000, "{{ '" + "<<" * 20_000])
def test_a_long_text_without_a_parameter_takes_a_moment(text: str) -> None:
    before = time.process_time()
    plan_of({"steps": [], "outputs": text})
    assert time.process_time() - before < 5


def test_a_default_stands_in_every_place_and_a_schema_without_required_is_one() -> None:
    inputs = {"type": "object", "properties": {"t": {"type": "integer", "default": 5}}, "required": None}
    document = read_template({"inputs": inputs, "steps": [{**STEP, "timeout": "<<t>>", "inputs": {"a": "<<b>>"}}]})
    assert document.plan_for({"b": 1}).steps[0].timeout == 5.0
    assert document.plan().inputs["required"] == ["b"]


@pytest.mark.parametrize("name", ["user name", "Thema", "\u4e3b\u9898", "it's", 'say "so"', "a\\b", "x-y", "1st"])
async def test_a_parameter_may_have_any_name(name: str) -> None:
    async with Toolpath() as tp:
        plan = plan_of({"steps": [], "outputs": {"a": f"<<{name}>>", "b": f"is <<{name}>>"}})
        result = await tp.run(plan, {name: "it"})
        assert result.outputs == {"a": "it", "b": "is it"}


def test_what_stands_alone_may_be_of_any_type_and_what_stands_in_a_text_is_one() -> None:
    document = {"steps": [{**STEP, "inputs": {"a": "<<a>>", "b": "as <<b>>", "c": "<<c>>, <<c>>"}}], "outputs": "<<c>>"}
    properties = plan_of(document).inputs["properties"]
    assert properties == {
        "a": {"description": "Parameter: a"},
        "b": {"type": "string", "description": "Parameter: b"},
        "c": {"description": "Parameter: c"},
    }


def test_a_declared_parameter_is_as_it_is_declared() -> None:
    inputs = {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}, "required": []}
    plan = plan_of({"inputs": inputs, "steps": [{**STEP, "inputs": {"a": "<<n>>", "b": "<<m>>"}}]})
    assert plan.inputs["properties"]["n"] == {"type": "integer", "default": 3}
    assert plan.inputs["required"] == ["m"]


def test_elsewhere_the_value_is_put_into_the_plan_when_a_run_starts() -> None:
    document = read_template({"name": "as <<who>>", "steps": [{**STEP, "tool": "<<tool>>", "timeout": "<<t>>"}]})
    assert [use.name for use in document.fixed] == ["who", "tool", "t"]
    plan = document.plan({"who": "A", "tool": "b.c", "t": 7})
    step = plan.steps[0]
    assert isinstance(step, Call)
    assert (plan.name, step.tool, step.timeout) == ("as A", "b.c", 7.0)
    codes = {finding.code for finding in document.plan().source.findings}
    assert "filled_at_start" in codes


def test_a_value_that_becomes_part_of_the_plan_holds_no_template() -> None:
    document = read_template({"name": "<<x>>", "steps": [STEP]})
    with pytest.raises(PlanInvalid) as caught:
        document.plan({"x": "{{ secrets.KEY }}"})
    assert [finding.code for finding in caught.value.findings] == ["template_in_value"]


def test_the_values_of_parameters_are_not_looked_through_for_parameters() -> None:
    plan = read_template({"name": "<<x>>", "steps": [STEP]}).plan({"x": "<<y>>", "y": "no"})
    assert plan.name == "<<y>>"


@given(st.text(max_size=40), st.sampled_from(("a", "no", "<<x>>", "{{ 1 }}", "<<", ">>")))
async def test_whatever_a_parameter_is_given_arrives_as_it_is(value: str, around: str) -> None:
    document = {"steps": [], "outputs": {"whole": "<<x>>", "within": f"{around} and <<x>>"}}
    async with Toolpath() as tp:
        result = await tp.run(plan_of(document), {"x": value})
    shown = {"<<x>>": value, "{{ 1 }}": "1"}.get(around, around)
    assert result.outputs == {"whole": value, "within": f"{shown} and {value}"}


CONFIG: JsonObject = {
    "title": "Weekly report",
    "planTemplateId": "planTemplate-1700000000000",
    "serviceGroup": "reports",
    "planType": "dynamic_agent",
    "accessLevel": "editable",
    "steps": [
        {
            "stepRequirement": "[BROWSER_AGENT] Collect news on <<topic>>",
            "agentName": "ConfigurableDynaAgent",
            "modelName": "gpt-4o",
            "terminateColumns": "title\uff0curl, date",
            "selectedToolKeys": ["web.search", "terminate"],
        },
        {"stepRequirement": "Write a report of it", "selectedToolKeys": [], "terminateColumns": None},
    ],
    "toolConfig": {
        "toolDescription": "A report on a topic",
        "enableHttpService": True,
        "inputSchema": [{"name": "topic", "type": "string", "description": "What on", "required": True}],
    },
}


def test_the_plan_execution_service_s_json_is_a_chain_of_agents() -> None:
    plan = plan_of(CONFIG)
    assert (plan.flow, plan.name, plan.description) == ("chain", "Weekly report", "A report on a topic")
    first, second = plan.steps
    assert isinstance(first, Agent)
    assert first.requirement == "Collect news on {{ inputs.topic }}"
    assert (first.model, first.tools) == ("gpt-4o", ("web.search", "terminate"))
    assert first.output == ("title", "url", "date")
    assert isinstance(second, Agent)
    assert (second.tools, second.output, second.model) == ((), (), None)
    assert (first.context, second.context) == (None, [{"step": first.requirement, "result": "{{ step_1 }}"}])
    assert plan.inputs["properties"] == {"topic": {"type": "string", "description": "What on"}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": 7}, "'title' of a plan template must be text"),
        ({"toolConfig": []}, "'toolConfig' of a plan template must be an object"),
        ({"toolConfig": {"inputSchema": {}}}, "'inputSchema' of a plan template must be a list"),
        ({"toolConfig": {"inputSchema": [{"type": "string"}]}}, "has no name"),
        ({"steps": [{"stepRequirement": ["a"]}]}, "'stepRequirement' of a plan template must be text"),
        ({"steps": [{"stepRequirement": "a"}, 7]}, r"'steps\[1\]' of a plan template must be an object"),
    ],
)
def test_what_is_of_another_type_is_named(change: JsonObject, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        plan_of({**CONFIG, **change})


@pytest.mark.parametrize("kind", get_args(Step))
def test_every_template_of_every_kind_of_step_is_one_here(kind: type[Common]) -> None:
    for _, path, _ in kind.shape.templates:
        place = TextPlace().below("steps")
        for key in path.split("/")[1:]:
            place = place.below(key)
        assert place.is_template or place.in_form, f"{kind.__name__}: parameters are not put into {path}"


async def test_braces_make_text_of_what_would_be_a_parameter() -> None:
    document: Any = {
        "name": "{{ '<<' }}n>> of <<m>>",
        "description": 'say {{ "<<" }}n>>',
        "steps": [],
        "outputs": "cat {{ '<<' }}EOF >>file <<m>>",
    }
    read = read_template(document)
    assert [use.name for use in read.uses] == ["m", "m"]
    plan = read.plan_for({"m": "{ '<<' }x>>"})
    assert (plan.name, plan.description) == ("<<n>> of { '<<' }x>>", "say <<n>>")
    async with Toolpath() as tp:
        assert (await tp.run(plan, {"m": "1"})).outputs == "cat <<EOF >>file 1"


def test_a_parameter_inside_another_is_one_and_the_rest_is_text() -> None:
    read = read_template({"steps": [], "outputs": "<<a<<b>>c>> <<<<d>>>>"})
    assert [use.name for use in read.uses] == ["b", "d"]


@pytest.mark.parametrize("document", [{"steps": [], "outputs": {"<<x>>": 1}}, {"steps": [{**STEP, "<<x y>>": 1}]}])
def test_a_parameter_in_the_name_of_a_field_is_a_fault(document: Any) -> None:
    faults = [finding for finding in read_template(document).plan().source.findings if finding.severity == "error"]
    assert "parameter_in_key" in [finding.code for finding in faults]


@given(st.lists(st.sampled_from(("<<", ">>", "<", "{{ '<<' }}", "{{", "}}", "'", " ", "ab")), max_size=8).map("".join))
def test_an_escaped_document_has_no_parameters_and_the_same_text(text: str) -> None:
    read = read_template(cast("dict[str, Any]", escaped({"name": "n", "steps": [], "description": text})))
    assert read.uses == ()
    assert read.plan().description == text


def test_a_document_of_that_service_has_so_many_steps_and_no_more() -> None:
    step = {"stepRequirement": "r" * 5_000}
    plan = plan_of({"title": "T", "steps": [step] * 300})
    last = plan.steps[-1]
    assert [told["result"] for told in last.context] == [f"{{{{ step_{number} }}}}" for number in range(1, 300)]
    # What a step was to do is told in short: else a plan would have megabytes of it.
    assert {len(told["step"]) for told in last.context} == {201}
    assert last.requirement == "r" * 5_000
    with pytest.raises(ReadError, match="has 301 steps; it may have 300"):
        plan_of({"title": "T", "steps": [step] * 301})
