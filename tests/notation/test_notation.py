import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.errors import ReadError
from toolpath.model.plan import (
    Agent,
    Ask,
    Block,
    Cache,
    Call,
    Fallback,
    Field,
    Loop,
    OnFailure,
    OnSuccess,
    Parallel,
    Retry,
)
from toolpath.notation.plan import read_plan

CONTRACT = """
name: publish_post
description: Create an author and a first post
version: 1.10
inputs:
  type: object
  properties: {author: {type: string}, email: {type: string, format: email}}
  required: [author, email]
flow: graph
steps:
  - id: writer
    tool: blog.createAuthor
    inputs: {name: "{{ inputs.author }}", email: "{{ inputs.email }}"}
  - id: post
    tool: blog.createBlog
    inputs: {authorId: "{{ writer._id }}", title: Hello, content: "By {{ writer.name }}"}
outputs: {post_id: "{{ post._id }}"}
failure_mode: stop            # stop | isolate | continue
concurrency: 5
timeout: 10m                  # time parked for people does not count
budget: {calls: 100, cost: 1.00, tokens: 200000}
limits: {step_visits: 100, steps: 1000000, depth: 10}
on_unresolved: error          # error | keep | null | skip
origin: {request: r, reasoning: why, confidence: 0.9, questions: [q], estimates: {duration: 1, cost: 0}}
"""


def step_of(text, **around):
    """The one step that the text describes, which must have no fault."""
    plan = read_plan({"steps": [text], **around}) if isinstance(text, dict) else read_plan(f"steps:\n  - {text}\n")
    assert plan.source.findings == ()
    return plan.steps[0]


def faults(source):
    """Code and place of every finding."""
    return [(finding.code, finding.path) for finding in read_plan(source).source.findings]


def test_the_plan_of_the_contract_reads_without_a_finding():
    plan = read_plan(CONTRACT)
    assert plan.source.findings == ()
    assert plan.version == "1.10"
    assert plan.timeout == 600
    assert plan.budget.tokens == 200_000
    assert plan.confidence == 0.9
    assert plan.questions == ("q",)
    assert plan.steps[1] == Call(
        id="post",
        tool="blog.createBlog",
        inputs={"authorId": "{{ writer._id }}", "title": "Hello", "content": "By {{ writer.name }}"},
    )


def test_each_part_of_the_canonical_form_has_its_place():
    source = read_plan(CONTRACT, file="post.plan.yaml").source
    assert source.file == "post.plan.yaml"
    assert source.position("/steps/1/inputs/authorId") == (16, 24)
    assert source.position("/steps/1/inputs/nothing") == (16, 5)
    assert source.position("/outputs/post_id") == (17, 20)
    assert source.position("/inputs/properties/email") == (7, 40)


@pytest.mark.parametrize("alias", ["parameters", "arguments", "args", "with"])
def test_inputs_are_read_under_each_of_their_names(alias):
    plan = read_plan(f"steps:\n  - tool: t\n    {alias}:\n      a: 1\n")
    assert plan.steps[0] == Call(id="t", derived_id=True, tool="t", inputs={"a": 1})
    assert plan.source.position("/steps/0/inputs/a") == (4, 10)


@pytest.mark.parametrize("alias", ["depends_on", "dependsOn", "dependencies", "needs"])
@pytest.mark.parametrize(("value", "ids"), [("a", ("a",)), (["a", "b", "a"], ("a", "b")), (None, ()), ([], ())])
def test_dependencies_are_read_under_each_of_their_names(alias, value, ids):
    assert step_of({"tool": "t", alias: value}).depends_on == ids


def test_two_names_of_one_field_are_an_error():
    assert faults({"steps": [{"tool": "t", "inputs": {}, "args": {}}]}) == [("alias_twice", "/steps/0/inputs")]
    both = {"steps": [{"tool": "t", "exclusive": True, "executionMode": "parallel"}]}
    assert faults(both) == [("alias_twice", "/steps/0/exclusive")]


def test_execution_mode_is_read_as_exclusive():
    assert step_of({"tool": "t", "executionMode": "sequential"}).exclusive
    assert not step_of({"tool": "t", "executionMode": "parallel"}).exclusive


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("30s", 30), ("2m", 120), ("1h30m", 5400), ("1h 30m", 5400), (5, 5), (0.5, 0.5), ("500ms", 0.5), ("1d", 86400),
     ("1.5h", 5400), ("10", 10)],
)  # fmt: skip
def test_durations_are_seconds(written, seconds):
    assert step_of({"tool": "t", "timeout": written}).timeout == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["soon", "-1s", -1, 0, "0s", "1y", "", "s", True, [1], 1e300, 10**400, "9" * 1000])
def test_what_is_no_duration_is_said(written):
    assert faults({"steps": [{"tool": "t", "timeout": written}]}) == [("bad_duration", "/steps/0/timeout")]


def test_retries_are_counted_after_the_first_attempt():
    assert step_of({"tool": "t", "retry": {"max_retries": 2}}).retry == Retry(max_retries=2)
    assert step_of({"tool": "t", "retry": {"max_attempts": 1}}).retry == Retry(max_retries=0)
    full = {"max_retries": 1, "backoff": "fixed", "initial_delay": "2s", "factor": 3, "max_delay": "1m", "jitter": True,
            "retry_on": "timeout"}  # fmt: skip
    assert step_of({"tool": "t", "retry": full}).retry == Retry(
        max_retries=1, backoff="fixed", initial_delay=2, factor=3, max_delay=60, jitter=True, retry_on=("timeout",)
    )
    both = {"steps": [{"tool": "t", "retry": {"max_retries": 1, "max_attempts": 2}}]}
    assert faults(both) == [("alias_twice", "/steps/0/retry/max_retries")]


def test_fallbacks_are_one_or_several():
    one = step_of({"tool": "t", "fallback": {"tool": "b", "parameters": {"x": 1}, "condition": "on_low_confidence"}})
    assert one.fallback == (Fallback(tool="b", inputs={"x": 1}, condition="on_low_confidence"),)
    several = step_of({"tool": "t", "fallback": [{"tool": "b"}, {"tool": "c", "threshold": 0.9}]})
    assert several.fallback == (Fallback(tool="b"), Fallback(tool="c", threshold=0.9))


def test_a_cache_is_a_flag_or_a_time():
    assert step_of({"tool": "t", "cache": True}).cache == Cache()
    assert step_of({"tool": "t", "cache": False}).cache == Cache(ttl=0)
    assert step_of({"tool": "t", "cache": {"ttl": "5m", "key": "{{ x }}"}}).cache == Cache(ttl=300, key="{{ x }}")


@pytest.mark.parametrize(
    ("written", "policy", "retry"),
    [
        ({"action": "stop"}, OnFailure(action="stop"), None),
        ({"action": "continue"}, OnFailure(action="continue"), None),
        ({"action": "continue", "next": "b"}, OnFailure(action="continue", next="b"), None),
        ({"next": "b"}, OnFailure(next="b"), None),
        ({"action": "retry"}, OnFailure(action="stop"), Retry()),
        ({"action": "retry", "max_retries": 2}, OnFailure(action="stop"), Retry(max_retries=2)),
        (
            {"action": "retry", "max_retries": 3, "continue_on_max_retries": True, "next": "b"},
            OnFailure(action="continue", next="b"),
            Retry(max_retries=3),
        ),
        (
            {"action": "retry", "continue_on_max_retries": False},
            OnFailure(action="stop"),
            Retry(),
        ),
    ],
)
def test_each_form_of_on_failure(written, policy, retry):
    step = step_of({"tool": "t", "on_failure": written})
    assert (step.on_failure, step.retry) == (policy, retry)


def test_what_follows_a_failure_is_said_once():
    twice = {"steps": [{"tool": "t", "retry": {"max_retries": 1}, "on_failure": {"action": "retry"}}]}
    assert faults(twice) == [("retry_twice", "/steps/0/retry")]
    idle = read_plan({"steps": [{"tool": "t", "on_failure": {"action": "retry", "next": "b"}}]})
    assert [(finding.code, finding.severity) for finding in idle.source.findings] == [("unused_field", "warning")]
    unknown = read_plan({"steps": [{"tool": "t", "on_failure": {"action": "retyr"}}]}).source.findings[0]
    assert unknown.message == "Unknown failure action: retyr"
    assert unknown.suggestions == ("retry",)


def test_what_follows_a_success():
    written = {"map_outputs": {"data": "x"}, "transform": {"y": "{{ state.x }}"}, "next": "end"}
    assert step_of({"tool": "t", "on_success": written}).on_success == OnSuccess(
        map_outputs={"data": "x"}, transform={"y": "{{ state.x }}"}, next="end"
    )


def test_branches_are_steps_or_blocks():
    step = step_of(
        "{id: fetch, wait_for: any, parallel: [ {tool: a}, {id: b, flow: chain, steps: [{tool: a}]}, {steps: []} ]}"
    )
    assert step == Parallel(
        id="fetch",
        wait_for="any",
        branches=(
            Block(id="a", steps=(Call(id="a", derived_id=True, tool="a"),)),
            Block(id="b", flow="chain", steps=(Call(id="a_2", derived_id=True, tool="a"),)),
            Block(id="branch_1", steps=()),
        ),
    )


def test_a_block_takes_the_flow_of_the_one_around_it():
    branches = [{"tool": "a"}, {"id": "b", "steps": [{"tool": "c"}]}]
    plan = {"flow": "chain", "steps": [{"parallel": branches}, {"loop": {"over": [1], "steps": []}}]}
    first, second = read_plan(plan).steps
    assert [branch.flow for branch in first.branches] == ["chain", "chain"]
    assert second.body.flow == "chain"


def test_a_loop():
    step = step_of(
        'loop: {over: "{{ state.messages }}", as: message, steps: [{tool: a}], concurrency: 2, collect: "{{ last }}"}'
    )
    assert step == Loop(
        id="loop",
        derived_id=True,
        over="{{ state.messages }}",
        item="message",
        body=Block(steps=(Call(id="a", derived_id=True, tool="a"),)),
        concurrency=2,
        collect="{{ last }}",
    )


def test_an_agent():
    step = step_of("agent: {requirement: Summarise, tools: [web.search], model: null, output: [title, url]}")
    assert step == Agent(
        id="agent", derived_id=True, requirement="Summarise", tools=("web.search",), output=("title", "url")
    )


@pytest.mark.parametrize(
    "inputs",
    [
        "[{name: a, label: A, type: email, required: false}, {name: b}]",
        "{a: {label: A, type: email, required: false}, b: }",
    ],
)
def test_a_form_has_a_list_or_a_mapping_of_fields(inputs):
    step = step_of(f"{{id: form, ask: {{title: Who?, inputs: {inputs}, timeout: 300s}}}}")
    assert step == Ask(
        id="form",
        title="Who?",
        timeout=300,
        fields=(Field(name="a", label="A", type="email", required=False), Field(name="b")),
    )


@pytest.mark.parametrize(
    ("written", "meant"), [("null", "null"), ('"null"', "null"), ("keep", "keep"), ("skip", "skip")]
)
def test_null_is_a_word_of_on_unresolved(written, meant):
    plan = read_plan(f"on_unresolved: {written}\nsteps:\n  - {{tool: t, on_unresolved: {written}}}\n")
    assert (plan.on_unresolved, plan.steps[0].on_unresolved) == (meant, meant)
    assert plan.source.findings == ()


def test_ids_are_made_from_bare_names():
    names = ["blog.createAuthor", "createAuthor", "get-x", "a b", "end", "1st", "💥", "x.", "state", "createAuthor"]
    plan = read_plan({"steps": [{"tool": name} for name in names]})
    assert [step.id for step in plan.steps] == [
        "createAuthor", "createAuthor_2", "get-x", "a_b", "end_2", "_1st", "_", "step", "state_2", "createAuthor_3",
    ]  # fmt: skip
    assert all(step.derived_id for step in plan.steps)


def test_a_written_id_keeps_its_name_from_those_that_are_made():
    plan = read_plan({"steps": [{"tool": "a"}, {"parallel": [{"id": "a", "tool": "b"}]}]})
    assert plan.source.findings == ()
    assert plan.steps[0].id == "a_2"
    assert not plan.steps[1].branches[0].steps[0].derived_id


@pytest.mark.parametrize(
    ("written", "code"),
    [("state", "reserved_id"), ("end", "reserved_id"), ("lambda", "reserved_id"), ("a b", "bad_id"), ("1a", "bad_id"),
     ("🎉", "bad_id"), ("", "bad_id"), ("a" * 10_000, "bad_id"), (7, "wrong_type"), (["a"], "wrong_type"),
     ("é", "bad_id"), ("a\n", "bad_id")],
)  # fmt: skip
def test_an_id_that_may_not_be_is_refused_and_replaced(written, code):
    plan = read_plan({"steps": [{"id": written, "tool": "t"}]})
    assert [(finding.code, finding.path) for finding in plan.source.findings] == [(code, "/steps/0/id")]
    assert len(plan.source.findings[0].message) < 200
    assert plan.steps[0].derived_id


def test_an_id_is_unique_in_the_whole_plan():
    plan = {"steps": [{"id": "a", "tool": "t"}, {"loop": {"over": [], "steps": [{"id": "a", "tool": "t"}]}}]}
    assert faults(plan) == [("duplicate_id", "/steps/1/loop/steps/0/id")]


def test_a_step_does_exactly_one_thing():
    assert faults({"steps": [{"id": "a"}]}) == [("no_action", "/steps/0")]
    assert faults({"steps": [{"tool": "t", "loop": {"over": [], "steps": []}}]}) == [("several_actions", "/steps/0")]
    assert "Step must have 'tool' field" in read_plan({"steps": [{"id": "a"}]}).source.findings[0].message


def test_an_unknown_field_says_what_may_have_been_meant():
    plan = read_plan("naem: x\nsteps:\n  - tool: t\n    timout: 3s\n    next: b\n    on_success: {map_output: {}}\n")
    found = {finding.path: finding for finding in plan.source.findings}
    assert {finding.code for finding in plan.source.findings} == {"unknown_field"}
    assert found["/naem"].suggestions == ("name",)
    assert (found["/naem"].line, found["/naem"].column) == (1, 1)
    assert found["/steps/0/timout"].suggestions == ("timeout",)
    assert (found["/steps/0/timout"].line, found["/steps/0/timout"].column) == (4, 5)
    assert "on_success" in found["/steps/0/next"].hint
    assert found["/steps/0/on_success/map_output"].suggestions == ("map_outputs",)


def test_all_faults_are_found_at_once_and_the_rest_is_kept():
    plan = read_plan(
        {
            "name": ["x"], "version": True, "flow": "circle", "concurrency": 0, "timeout": "later",
            "budget": {"calls": -1}, "limits": [], "on_unresolved": "panic", "origin": {"confidence": 7},
            "outputs": {"a": 1}, "inputs": "text",
            "metadata": 3, "failure_mode": None, "steps": [None, "t", {"tool": 5.5, "inputs": [], "critical": "yes"},
            {"id": "good", "tool": "t", "depends_on": {"a": 1}, "when": 3}],
        }
    )  # fmt: skip
    assert sorted({finding.path for finding in plan.source.findings}) == sorted(
        ["/name", "/version", "/flow", "/concurrency", "/timeout", "/budget/calls", "/limits", "/on_unresolved",
         "/origin/confidence", "/inputs", "/metadata", "/steps/0", "/steps/1", "/steps/2/inputs",
         "/steps/2/critical", "/steps/3/depends_on", "/steps/3/when"]
    )  # fmt: skip
    assert plan.outputs == {"a": 1}
    assert [step.id for step in plan.steps][-1] == "good"
    assert len(plan.steps) == 4


@pytest.mark.parametrize("steps", [None, "missing"])
def test_a_plan_without_steps_says_so(steps):
    source = {"name": "x"} | ({"steps": None} if steps is None else {})
    assert faults(source) == [("missing_field", "/steps")]
    assert read_plan(source).source.findings[0].message == "Missing required field: steps"


def test_the_policy_is_kept_and_does_nothing():
    plan = read_plan({"policy": {"a": 1}, "steps": [{"tool": "t"}]})
    assert plan.policy == {"a": 1}
    assert [(finding.code, finding.severity) for finding in plan.source.findings] == [("reserved_field", "information")]


def test_inputs_without_type_and_properties_are_no_schema():
    assert faults({"inputs": {"author": {"type": "string"}}, "steps": []})[0] == ("not_a_schema", "/inputs")


def test_a_list_of_parameters_is_read_as_inputs():
    plan = read_plan({"parameters": [{"name": "a", "type": "float", "required": True}], "steps": [{"tool": "t"}]})
    assert plan.inputs == {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}


def test_a_number_beyond_64_bits_is_refused():
    assert faults("steps: [{tool: t, inputs: {a: 99999999999999999999}}]") == [
        ("number_out_of_range", "/steps/0/inputs/a")
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"tools": [], "executionOrder": []}, "planner"),
        ({"toolChain": []}, "planner"),
        ({"steps": [{"stepRequirement": "do"}]}, "template"),
        ({"mcpServers": {}}, "MCP servers"),
    ],
)
def test_other_notations_are_named(source, words):
    with pytest.raises(ReadError, match=words) as caught:
        read_plan(source)
    assert caught.value.hint


def test_findings_are_bounded():
    plan = read_plan({"steps": [{"tool": "t", **{f"x{number}": 1 for number in range(5000)}}]})
    assert len(plan.source.findings) == 501
    assert plan.source.findings[-1].code == "too_many_findings"


wrong = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
KEYS = re.findall(
    r"\w+",
    """id tool inputs parallel wait_for loop over as steps collect agent requirement ask title fields depends_on when
    exclusive timeout retry max_retries backoff fallback critical cache ttl requires_approval on_success map_outputs
    transform next on_failure action on_unresolved output_validation name version flow outputs budget limits origin
    properties required type parameters metadata concurrency composite derived_id executionMode""",
)
trees = st.recursive(
    wrong,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(KEYS), trees, max_size=6))
def test_whatever_the_types_a_mapping_reads_as_a_plan_with_findings(source):
    try:
        plan = read_plan(source)
    except ReadError:
        return
    assert isinstance(plan.steps, tuple)
    for finding in plan.source.findings:
        assert finding.message
        assert len(str(finding)) < 2000


def test_a_form_written_as_json_schema_is_told_how_fields_are_written() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    finding = read_plan({"steps": [{"id": "ask", "ask": {"title": "Who", "inputs": schema}}]}).source.findings[0]
    assert (finding.code, finding.path) == ("wrong_type", "/steps/0/ask/inputs")
    assert "type: email" in finding.hint
