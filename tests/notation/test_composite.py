import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.errors import ReadError
from toolpath.model.plan import Call, Loop, OnFailure, Parallel, Plan, Retry
from toolpath.model.tool import Example, Rate, Requires, Tool
from toolpath.model_output.documents import read_document
from toolpath.notation.composite import read_composite
from toolpath.notation.composite_printing import composite_to_dict
from toolpath.notation.plan import read_plan
from toolpath.notation.printing import print_plan

PIPELINE = """
name: gmail_to_drive_pipeline
description: "Search Gmail and upload messages to Drive"
category: "google_workspace"
version: 1.0
tags: [mail]
parameters:
  - name: search_query
    type: string
    required: true
    description: "Gmail search query"
    min_length: 1
    max_length: 500
    pattern: ".+"
    examples: ["is:unread"]
  - name: max_results
    type: integer
    default: 10
    min_value: 1
    max_value: 500
    multiple_of: 1
  - {name: ratio, type: float, allow_null: true}
  - {name: labels, type: array, items: {type: string}, min_length: 1}
  - {name: folder, type: object, properties: {id: {type: string, required: true}, depth: {type: integer}}}
implementation:
  type: composite
  composite:
    steps:
      - tool: gmail_search_messages
        inputs:
          query: "{{ state.search_query }}"
          max_results: "{{ state.max_results }}"
        on_success:
          map_outputs: {messages: found_messages, message_count: total_found}
          next: drive_upload_file
        on_failure: {action: stop}
      - tool: drive_upload_file
        inputs: {content: "{{ state.found_messages }}"}
        on_success: {map_outputs: {file_id: drive_file_id}}
        on_failure: {action: retry, max_retries: 3}
business_rules:
  enabled: true
  requires_auth: true
  required_permissions: [gmail.read, drive.write]
  timeout_seconds: 120
  rate_limit_per_minute: 30
  visibility: internal
  requires_casefile: true
session_policies: {requires_active_session: true, allow_new_session: false, session_event_type: request}
casefile_policies: {allowed_casefile_states: [active], audit_casefile_changes: true}
audit_events: {success_event: tool_success, redact_fields: [content]}
examples:
  - description: archive
    context: {session: {user_id: u1, session_id: s1, casefile_id: c1}, permissions: [gmail.read]}
    input: {search_query: "is:unread"}
    expected_output: {total_found: 2}
error_scenarios: [{description: empty query, input: {search_query: ""}, expected_error: search_query}]
documentation: {summary: "Archives.", changelog: [{version: 1.0.0, date: 2025-10-03, notes: First}]}
returns:
  type: object
  properties: {total_found: {type: integer}, drive_file_id: {type: string}}
  required: [total_found]
"""


def body_of(implementation, **around):
    """The body of a composite that must have no error."""
    tool = read_composite({"name": "t", "implementation": implementation, **around})
    assert isinstance(tool.body, Plan)
    assert [str(finding) for finding in tool.body.source.findings if finding.severity == "error"] == []
    return tool.body


def faults(source):
    return [(finding.code, finding.path) for finding in read_composite(source).body.source.findings]


def test_everything_that_a_composite_may_say_is_read():
    tool = read_composite(PIPELINE)
    assert tool.body.source.findings == ()
    assert (tool.key, tool.title, tool.category) == (
        "gmail_to_drive_pipeline", "Gmail To Drive Pipeline", "google_workspace",
    )  # fmt: skip
    assert tool.version == "1.0"
    assert tool.requires == Requires(
        auth=True, permissions=("gmail.read", "drive.write"), case=True, case_states=("active",), session=True
    )
    assert tool.timeout == tool.body.timeout == 120
    assert tool.rate == Rate(calls=30)
    assert tool.effect == "write"
    assert tool.examples == (
        Example(query="archive", parameters={"search_query": "is:unread"}, expected_result={"total_found": 2}),
    )
    assert tool.metadata["visibility"] == "internal"
    assert tool.metadata["documentation"]["changelog"][0]["date"] == "2025-10-03"
    assert tool.metadata["audit_events"]["redact_fields"] == ["content"]
    assert tool.body.composite
    assert tool.body.flow == "chain"
    assert [step.id for step in tool.body.steps] == ["gmail_search_messages", "drive_upload_file"]
    assert tool.body.steps[1].retry == Retry(max_retries=3)
    assert tool.body.steps[1].on_failure == OnFailure(action="stop")


def test_parameters_become_a_json_schema():
    assert read_composite(PIPELINE).input_schema == {
        "type": "object",
        "properties": {
            "search_query": {
                "type": "string", "description": "Gmail search query", "examples": ["is:unread"], "pattern": ".+",
                "minLength": 1, "maxLength": 500,
            },
            "max_results": {"type": "integer", "default": 10, "minimum": 1, "maximum": 500, "multipleOf": 1},
            "ratio": {"type": ["number", "null"]},
            "labels": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "folder": {
                "type": "object", "properties": {"id": {"type": "string"}, "depth": {"type": "integer"}},
                "required": ["id"],
            },
        },
        "required": ["search_query"],
    }  # fmt: skip


def test_returns_name_the_variables_that_the_composite_gives():
    tool = read_composite(PIPELINE)
    assert tool.output_schema["required"] == ["total_found"]
    assert tool.body.outputs == {
        "total_found": "{{ state['total_found'] }}",
        "drive_file_id": "{{ state['drive_file_id'] | default(none) }}",
    }


def test_returns_of_other_names_leave_the_whole_state_as_output():
    tool = read_composite(PIPELINE.replace("total_found: {type: integer}", "status: {type: string}"))
    assert tool.body.outputs is None


def test_a_printed_composite_reads_as_an_equal_tool():
    tool = read_composite(PIPELINE)
    assert read_composite(composite_to_dict(tool)) == tool


def test_the_body_of_a_composite_prints_as_a_plan():
    body = read_composite(PIPELINE).body
    assert read_plan(print_plan(body)) == body


def test_only_tools_with_a_plan_are_printed():
    with pytest.raises(ValueError, match="no composite"):
        composite_to_dict(Tool(name="t"))


def test_places_are_those_of_the_file():
    source = read_composite(PIPELINE, file="pipeline.yaml").body.source
    assert source.file == "pipeline.yaml"
    assert source.position("/steps/1/inputs/content") == (38, 27)


def test_what_no_step_writes_and_nobody_declares_is_a_required_input():
    tool = read_composite(
        {
            "name": "resilient",
            "implementation": {"type": "composite", "composite": {"initial_state": {"seeded": 1}, "steps": [
                {"tool": "a", "inputs": {"query": "find {{ state.search_term }}", "x": "'{{' state.text"},
                 "on_success": {"map_outputs": {"results": "data"}}},
                {"tool": "b", "when": "state['flag'] and 'state.quoted'", "inputs": {"d": "{{ state.data }}"}},
                {"loop": {"over": "{{ state.list.of[0] }}", "steps": [{"tool": "c", "inputs": {
                    "i": ["{{ item.state.no }}", "{{ state.seeded }}", "{{ state.chain_id }}"]}}]}},
            ]}},
        }
    )  # fmt: skip
    assert tool.input_schema == {
        "type": "object",
        "properties": {"search_term": {}, "flag": {}, "list": {}},
        "required": ["search_term", "flag", "list"],
    }
    found = {(finding.code, finding.severity, finding.path) for finding in tool.body.source.findings}
    assert found == {
        ("undeclared_input", "warning", "/steps/0/inputs/query"),
        ("undeclared_input", "warning", "/steps/1/when"),
        ("undeclared_input", "warning", "/steps/2/loop/over"),
    }


def test_a_simple_implementation_is_one_call_with_the_same_inputs():
    body = body_of({"type": "simple", "simple": {"function": "math.add"}}, parameters=[{"name": "a"}, {"name": "my-b"}])
    assert body.steps == (
        Call(
            id="step",
            derived_id=True,
            tool="math.add",
            inputs={"a": "{{ inputs.a }}", "my-b": "{{ inputs['my-b'] }}"},
        ),
    )
    assert body.outputs == "{{ steps.step.output }}"


def test_source_code_is_refused_and_the_way_out_is_named():
    for implementation in (
        {"type": "simple", "simple": {"logic": "return 1"}},
        {"simple": {"logic": "import os"}},
    ):
        tool = read_composite({"name": "t", "implementation": implementation})
        (finding,) = tool.body.source.findings
        assert (finding.code, finding.path) == ("source_code", "/implementation/simple/logic")
        assert "simple: {function: group.name}" in finding.hint
    client = {"type": "api_call", "api_call": {"client_class": "GmailClient", "url": "https://x"}}
    assert faults({"name": "t", "implementation": client}) == [("source_code", "/implementation/api_call/client_class")]


def test_an_api_call_is_one_http_request():
    body = body_of(
        {
            "type": "api_call",
            "api_call": {
                "method": "post", "base_url": "https://api.example/v1/", "path": "/users/{user_id}/notes",
                "headers": {"Authorization": "Bearer {{ secrets.TOKEN }}"}, "query": {"full": True},
                "body": {"kind": "note"}, "request_mapping": {"text": "text", "by": "{{ inputs.user_id }}!"},
                "response_mapping": {"id": "data.id", "code": "status", "raw": "{{ response.body }}"},
                "retry_policy": {"max_attempts": 3, "backoff_seconds": 2},
            },
        },
        parameters=[{"name": "user_id", "required": True}, {"name": "text"}],
    )  # fmt: skip
    assert body.steps == (
        Call(
            id="response",
            tool="http.request",
            retry=Retry(max_retries=2, initial_delay=2),
            inputs={
                "method": "POST",
                "url": "https://api.example/v1/users/{{ inputs.user_id | urlencode | replace('/', '%2F') }}/notes",
                "headers": {"Authorization": "Bearer {{ secrets.TOKEN }}"},
                "query": {"full": True},
                "json": {"kind": "note", "text": "{{ inputs.text }}", "by": "{{ inputs.user_id }}!"},
            },
        ),
    )
    assert body.outputs == {
        "id": "{{ steps.response.output.body.data.id }}",
        "code": "{{ steps.response.output.status }}",
        "raw": "{{ response.body }}",
    }


def test_what_a_get_request_maps_goes_into_its_query():
    body = body_of(
        {"type": "api_call", "api_call": {"url": "https://x", "request_mapping": {"q": "term"}}},
        parameters=[{"name": "term"}],
    )
    assert body.steps[0].inputs == {"url": "https://x", "query": {"q": "{{ inputs.term }}"}}
    assert body.outputs == "{{ steps.response.output.body }}"


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ({}, "http.get"),
        ({"method": "get"}, "http.get"),
        ({"method": "HEAD"}, "http.request"),
        ({"method": "GET", "body": {"query": "x"}}, "http.request"),
        ({"method": "POST"}, "http.request"),
        ({"method": "DELETE"}, "http.request"),
    ],
)
def test_only_a_get_without_a_body_is_a_call_that_reads(said, tool):
    call = body_of({"type": "api_call", "api_call": {"url": "https://x", **said}}).steps[0]
    assert (call.tool, call.inputs.get("method")) == (tool, None if tool == "http.get" else said["method"].upper())


@pytest.mark.parametrize(
    ("part", "outputs"),
    [
        ({"source": "messages"}, "messages"),
        ({"source": "messages", "transform": "| map('id')"}, "{{ (inputs.messages) | map('id') }}"),
        ({"source": "messages.items", "transform": "source | length"}, "{{ (inputs.messages.items) | length }}"),
        (
            {"source": "{{ inputs.messages }}", "transform_logic": "{{ source | filter(lambda m: m.source > 1) }}"},
            "{{ (inputs.messages) | filter(lambda m: m.source > 1) }}",
        ),
        (
            {
                "source": "messages",
                "transform": {"n": "source | length", "word": "{{ 'source' }}: {{ source }}", "k": 1},
            },
            {"n": "{{ (inputs.messages) | length }}", "word": "{{ 'source' }}: {{ (inputs.messages) }}", "k": 1},
        ),
        ({"transform": "inputs.messages[0]"}, "{{ inputs.messages[0] }}"),
    ],
)
def test_a_transformation_is_an_expression_without_calls(part, outputs):
    body = body_of({"type": "data_transform", "data_transform": part}, parameters=[{"name": "messages"}])
    assert body.steps == ()
    assert body.outputs == outputs


def test_what_is_missing_is_said():
    found = [finding.message for finding in read_composite({"description": "x"}).body.source.findings]
    assert found == ["Missing required field: name", "Missing required field: implementation"]


def test_an_unknown_implementation_is_named():
    (finding,) = read_composite({"name": "t", "implementation": {"type": "compsite"}}).body.source.findings
    assert finding.message == "Unsupported implementation type: compsite"
    assert finding.suggestions == ("composite",)


def test_template_is_another_name_of_type():
    assert body_of({"template": "composite", "composite": {"steps": [{"tool": "a"}]}}).steps[0].tool == "a"


def test_faults_in_each_part_are_found_at_once():
    source = {
        "name": "my tool", "colour": 1, "effect": "none",
        "parameters": [{"type": "strng"}, {"name": "a", "min_length": -1}, {"name": "a"},
        "b", {"name": "chain_id"}, {"name": "c", "requird": True}],
        "business_rules": {"requires_auth": "yes", "time": 1}, "session_policies": [], "examples": [1], "undo": "x",
        "implementation": {"type": "composite", "composite": {"steps": [{"tol": "a"}]}, "extra": 1},
    }  # fmt: skip
    assert sorted(faults(source)) == sorted([
        ("bad_id", "/name"), ("unknown_field", "/colour"), ("unknown_value", "/effect"),
        ("missing_field", "/parameters/0/name"), ("wrong_type", "/parameters/1/min_length"),
        ("duplicate_parameter", "/parameters/2"), ("wrong_type", "/parameters/3"),
        ("reserved_name", "/inputs/properties/chain_id"), ("unknown_field", "/parameters/5/requird"),
        ("wrong_type", "/business_rules/requires_auth"), ("unknown_field", "/business_rules/time"),
        ("wrong_type", "/session_policies"), ("wrong_type", "/examples/0"), ("reserved_field", "/undo"),
        ("unknown_field", "/implementation/extra"), ("no_action", "/steps/0"), ("unknown_field", "/steps/0/tol"),
    ])  # fmt: skip


def test_a_name_may_be_the_whole_key():
    tool = read_composite({"name": "mail.archive", "implementation": {"simple": {"tool": "x"}}})
    assert (tool.group, tool.name, tool.key) == ("mail", "archive", "mail.archive")


def test_planned_features_of_chains_read():
    body = body_of(
        {
            "type": "composite",
            "composite": {
                "steps": [
                    {"parallel": [{"tool": "a"}, {"tool": "b"}], "wait_for": "any"},
                    {
                        "loop": {
                            "over": "{{ state.l }}",
                            "as": "m",
                            "steps": [{"tool": "c", "inputs": {"m": "{{ m }}"}}],
                        }
                    },
                    {"tool": "d", "when": "{{ state.balance < 100 }}"},
                    {
                        "tool": "e",
                        "on_success": {"transform": {"f": "{{ state.raw | filter(lambda x: x.value > 50) }}"}},
                    },
                ]
            },
        },
        parameters=[],
    )
    assert isinstance(body.steps[0], Parallel)
    assert isinstance(body.steps[1], Loop)
    assert body.steps[1].body.flow == "chain"


def test_a_document_is_a_plan_or_a_composite():
    assert isinstance(read_document("steps: [{tool: a}]"), Plan)
    assert isinstance(read_document(PIPELINE), Tool)
    assert isinstance(read_document({"name": "a", "parameters": []}), Tool)


@pytest.mark.parametrize(
    ("source", "words"),
    [({"a": 1}, "neither a plan"), ({}, "neither a plan"), ({"tools": [], "executionOrder": []}, "tools is empty"),
     ("tools: []\n", "neither")],
)  # fmt: skip
def test_a_document_that_is_neither_says_so(source, words):
    with pytest.raises(ReadError, match=words):
        read_document(source)


wrong = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
KEYS = re.findall(
    r"\w+",
    """name group parameters returns outputs implementation type composite simple api_call data_transform steps tool
    function inputs source transform url method path response_mapping request_mapping retry_policy max_attempts
    business_rules requires_auth session_policies casefile_policies audit_events examples input description cache
    error_scenarios properties items required enum allow_null min_length default metadata tags
    on_success map_outputs""",
)
trees = st.recursive(
    wrong | st.sampled_from(["composite", "simple", "api_call", "data_transform", "string", "{{ state.x }}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(KEYS), trees, max_size=6))
def test_whatever_the_types_a_mapping_reads_as_a_tool_with_findings(source):
    try:
        tool = read_composite(source)
    except ReadError:
        return
    assert isinstance(tool.body, Plan)
    assert read_plan(print_plan(tool.body)).steps == tool.body.steps


def test_the_shipped_composites_read_without_errors():
    examples = Path(__file__).parents[2] / "examples"
    for path in sorted(examples.rglob("*.y*ml")):
        text = path.read_text(encoding="utf-8")
        if "implementation:" in text:
            findings = read_composite(text, file=str(path)).body.source.findings
            assert [str(finding) for finding in findings if finding.severity == "error"] == []
