"""What templates give: types, text, names, what is missing, defaults, lenient and public evaluation."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath.errors import ExpressionError, OverBudget, Unresolved
from toolpath.expressions.compile import compile_condition, compile_value
from toolpath.expressions.names import Frame, Names, block_names, plan_names
from toolpath.model.plan import Block, Call, Loop, OnSuccess, Plan

GRAPH = Names(
    flow="graph",
    ids={"writer": "writer", "posts": "posts", "gone": "gone", "my-step": "my-step", "blog.create": "writer"},
    shared={"echo": ("echo_1", "echo_2")},
)
CHAIN = Names(
    flow="chain", ids={"fetch": "fetch"}, shared={}, in_chain=True, variables=frozenset({"x", "total", "my-var"})
)
WRITER = {"_id": "a1", "name": "Ann", "age": 41, "tags": ["x", "y"], "items": [1, 2], "address": {"my key": "here"}}


def frame(**extra: Any) -> Frame:
    return Frame(
        inputs={"author": "Ann", "limit": 0},
        run={"id": "run_1", "started_at": "2026-01-01T00:00:00Z"},
        outputs={"writer": WRITER, "posts": [{"v": 10, "t": "a"}, {"v": 90, "t": "b"}], "gone": None, "my-step": 7},
        state={"x": {"y": [1, {"z": False}]}, "my-var": 5},
        secrets={"KEY": "s3cret"},
        step_record=lambda key: {"output": None, "status": "skipped", "error": None, "duration": 0.5},
        void=lambda key: key == "gone",
        **extra,
    )


def value(source: Any, names: Names = GRAPH, **extra: Any) -> Any:
    return compile_value(source, names, **extra).evaluate(frame())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ writer._id }}", "a1"),
        ("{{writer['name']}}", "Ann"),
        ("{{ writer.items }}", [1, 2]),
        ("{{ writer.items[-1] }}", 2),
        ('{{ writer.address["my key"] }}', "here"),
        ("{{ inputs.limit }}", 0),
        ("{{ run.id }}", "run_1"),
        ("{{ steps['my-step'].output }}", 7),
        ("{{ steps.gone.status }}", "skipped"),
        ("{{ blog.create.name }}", "Ann"),
        ("By {{ writer.name }} ({{ writer.age }}, {{ writer.tags }})", 'By Ann (41, ["x","y"])'),
        (" {{ writer.age }}", " 41"),
        ("{{ posts[0] }} {{ none }} {{ true }}", '{"v":10,"t":"a"} null true'),
        ("{{ '{{' }}", "{{"),
        ("{% if x %} {# note #} \r\n", "{% if x %} {# note #} \r\n"),
        ('{"a":{"b":{{ writer.age }}}}', '{"a":{"b":41}}'),
        ("{{ [writer.name, {'k': writer.age}] }}", ["Ann", {"k": 41}]),
        ("{{ posts | filter(lambda x: x.v > 50) }}", [{"v": 90, "t": "b"}]),
        ("{{ posts | map(lambda p: writer.tags | map(lambda t: p.t ~ t)) }}", [["ax", "ay"], ["bx", "by"]]),
        ("{{ posts[writer.items[0]].t }}", "b"),
        ("{{ writer.name[1:] ~ 1 }}", "nn1"),
        ("{{ 'yes' if writer.age >= 18 else 'no' }}", "yes"),
        ("{{ 1 < 2 <= 2 < 3 }}", True),
        ("{{ 'a' not in writer.tags and 'x' in writer.tags }}", True),
        ("{{ -1 | abs }}", 1),
        ("{{ 2 ** 3 + 7 // 2 % 2 }}", 9),
        ("{{ 4 / 2 }}", 2.0),
        ("{{ null }}", None),
        ("{{ true == 1 }}", False),
        ("{{ inputs.limit == false }}", False),
        ("{{ [1, 0] == [1.0, false] }}", False),
        ("{{ writer.tags + ['z'] }}", ["x", "y", "z"]),
    ],
)
def test_an_expression_gives_its_value(source: str, expected: Any) -> None:
    found = value(source)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("falsy", [0, "", False, None, [], {}, 0.0])
def test_a_whole_template_keeps_value_and_type_of_what_is_falsy(falsy: Any) -> None:
    at = frame()
    at.outputs["writer"] = {"v": falsy}
    found = compile_value({"a": ["{{ writer.v }}"]}, GRAPH).evaluate(at)
    assert found["a"][0] is falsy


def test_values_are_shared_never_copied_and_constants_are_not_made_anew() -> None:
    source = {"fixed": {"deep": [1, 2]}, "read": "{{ writer }}", "list": ["{{ writer.tags }}", {"k": 1}]}
    compiled, at = compile_value(source, GRAPH), frame()
    one, two = compiled.evaluate(at), compiled.evaluate(at)
    assert one["read"] is WRITER
    assert one["list"][0] is WRITER["tags"]
    assert one["fixed"] is two["fixed"] is source["fixed"]
    assert one is not two


def test_keys_of_objects_are_literal() -> None:
    assert value({"{{ writer.name }}": "{{ writer.name }}"}) == {"{{ writer.name }}": "Ann"}


def test_template_text_that_a_tool_returned_is_data() -> None:
    at = frame()
    at.outputs["writer"] = {"v": "{{ secrets.KEY }} {{ 1 + 1 }}"}
    assert compile_value("{{ writer.v }}|{{ writer.v }}", GRAPH).evaluate(at) == (
        "{{ secrets.KEY }} {{ 1 + 1 }}|{{ secrets.KEY }} {{ 1 + 1 }}"
    )
    assert compile_value("{{ writer.v | json }}", GRAPH).evaluate(at) == '"{{ secrets.KEY }} {{ 1 + 1 }}"'


def test_a_chain_reads_variables_bare_and_by_state() -> None:
    assert value("{{ x.y[1].z }} {{ state.x.y[0] }} {{ state['my-var'] }}", CHAIN) == "false 1 5"


def test_a_missing_variable_is_named_as_documented() -> None:
    compiled = compile_value("{{ state.total }}", CHAIN)
    with pytest.raises(Unresolved) as raised:
        compiled.evaluate(frame())
    assert raised.value.message == "Variable not found in chain state: total"
    with pytest.raises(Unresolved, match="Variable not found in chain state: nothing"):
        compile_value("{{ nothing }}", CHAIN)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("{{ writer.nme }}", ["writer.nme", "name (string)", "age (integer)", "Did you mean 'name'"]),
        ("{{ writer.tags.x }}", ["writer.tags.x", "a list of 2", "map(attribute='x')"]),
        ("{{ writer.tags[5] }}", ["writer.tags[5]", "2 elements"]),
        ("{{ writer.name.first }}", ["writer.name", "string"]),
        ("{{ inputs.autor }}", ["inputs.autor", "Did you mean 'author'"]),
        ("{{ posts | map(lambda x: x.w) }}", ["x.w", "v (integer)"]),
        ("{{ writer[inputs.author] }}", ["writer.Ann"]),
        ("{{ [] | first }}", ["empty", "default"]),
    ],
)
def test_what_is_missing_is_said_with_what_is_there(source: str, parts: list[str]) -> None:
    with pytest.raises(Unresolved) as raised:
        value(source)
    for part in parts:
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ gone }}", None),
        ("{{ gone.a.b[0] }}", None),
        ("{{ gone.a[inputs.author].b }}", None),
        ("{{ gone.a[1:] }}", None),
        ("{{ gone.a is none }}", True),
        ("{{ gone is defined }}", False),
        ("{{ gone.a | default('d') }}", "d"),
        ("{{ gone | default('d') }}", "d"),
        ("{{ steps.gone.output.x | d('d') }}", "d"),
        ("{{ writer.nope.deep | default }}", ""),
        ("{{ writer.name | default('d') }}", "Ann"),
        ("{{ inputs.limit | default(5) }}", 0),
        ("{{ inputs.limit | default(5, true) }}", 5),
        ("{{ (posts | first).w | default(1) }}", 1),
        ("{{ [] | first | default(2) }}", 2),
        ("{{ (1 if inputs.limit) | default(3) }}", 3),
        ("{{ 1 if inputs.limit }}", None),
        ("{{ posts | map(lambda x: x.w | default(x.v)) }}", [10, 90]),
        ("{{ writer.nope is defined or writer.nope is undefined }}", True),
        ("{{ gone.a | default(writer.nope | default('last')) }}", "last"),
    ],
)
def test_void_outputs_are_null_and_defaults_replace_them(source: str, expected: Any) -> None:
    assert value(source) == expected


def test_a_null_that_is_there_is_kept_by_default() -> None:
    at = frame()
    at.outputs["writer"] = {"v": None}
    assert compile_value("{{ writer.v | default('d') }}", GRAPH).evaluate(at) is None
    assert compile_value("{{ writer.v | default('d', true) }}", GRAPH).evaluate(at) == "d"
    assert compile_value("{{ writer.v is defined }}", GRAPH).evaluate(at) is True
    with pytest.raises(Unresolved, match="null"):
        compile_value("{{ writer.v.x }}", GRAPH).evaluate(at)


def test_default_stands_in_for_a_variable_that_nothing_sets() -> None:
    compiled = compile_value("{{ state.extra | default('d') }} {{ other | default('e') }}", CHAIN)
    assert compiled.evaluate(frame()) == "d e"
    at = frame()
    at.state["extra"] = "given"
    assert compiled.evaluate(at) == "given e"


def test_names_of_blocks_around_are_read_from_their_frames() -> None:
    body = Block(steps=(Call(id="b", tool="t"),))
    plan = Plan(steps=(Call(id="a", tool="x"), Loop(id="l", over="{{ a.list }}", item="row", body=body)))
    inner = block_names(body, plan_names(plan), "row")
    outer = Frame(inputs={}, run={}, outputs={"a": {"n": 1}, "v": None}, void=lambda key: key == "v")
    at = Frame(inputs={}, run={}, up=outer, item={"k": "item"}, outputs={"b": "inner"})
    at.last = ["last"]
    compiled = compile_value("{{ row.k }} {{ a.n }} {{ b }} {{ last[0] }}", inner.collecting())
    assert compiled.evaluate(at) == "item 1 inner last"
    assert [reference.root.up for reference in compiled.references] == [0, 1, 0, 0]


def test_a_written_variable_of_a_graph_is_read_as_state() -> None:
    plan = Plan(steps=(Call(id="a", tool="x", on_success=OnSuccess(map_outputs={"id": "made"})),))
    at = frame()
    at.state["made"] = 3
    assert compile_value("{{ state.made }}", plan_names(plan)).evaluate(at) == 3


@pytest.mark.parametrize(
    ("source", "kept", "nulled"),
    [
        ("{{ writer.nope }}", "{{ writer.nope }}", None),
        ("{{ writer.name }} {{ writer.nope }}!", "Ann {{ writer.nope }}!", None),
        (
            {"a": "{{ writer.nope }}", "b": ["{{ writer.age }}"]},
            {"a": "{{ writer.nope }}", "b": [41]},
            {"a": None, "b": [41]},
        ),
    ],
)
def test_lenient_evaluation_keeps_or_nulls_what_does_not_resolve(source: Any, kept: Any, nulled: Any) -> None:
    compiled = compile_value(source, GRAPH)
    found, missing = compiled.evaluate_lenient(frame(), "keep")
    assert found == kept
    assert ["writer.nope" in error.message for error in missing] == [True]
    found, missing = compiled.evaluate_lenient(frame(), "null")
    assert found == nulled
    assert len(missing) == 1


def test_lenient_evaluation_of_what_resolves_misses_nothing() -> None:
    assert compile_value("{{ writer.age }}", GRAPH).evaluate_lenient(frame(), "keep") == (41, ())


def test_lenient_evaluation_does_not_hide_other_errors() -> None:
    with pytest.raises(ExpressionError, match="cannot be computed"):
        compile_value("{{ writer.age + writer.name }}", GRAPH).evaluate_lenient(frame(), "keep")


def test_secrets_are_in_the_value_and_as_written_in_public() -> None:
    compiled = compile_value(
        {"h": "Bearer {{ secrets.KEY }}", "k": "{{ secrets.KEY }}", "n": "{{ writer.name }}"},
        GRAPH,
        allow_secrets=True,
    )
    assert compiled.uses_secrets
    assert compiled.evaluate(frame()) == {"h": "Bearer s3cret", "k": "s3cret", "n": "Ann"}
    assert compiled.public(frame()) == {"h": "Bearer {{ secrets.KEY }}", "k": "{{ secrets.KEY }}", "n": "Ann"}


def test_a_secret_that_is_not_set_is_unresolved() -> None:
    with pytest.raises(Unresolved, match="No secret is called NOPE"):
        value("{{ secrets.NOPE }}", allow_secrets=True)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (True, True),
        (False, False),
        ("writer.age > 18", True),
        ("{{ writer.age > 50 }}", False),
        (" {{ inputs.limit }} \n", False),
        ("posts", True),
        ("gone.a", False),
        ("'}}' == writer.name", False),
    ],
)
def test_a_condition_is_true_or_false_bare_or_in_braces(source: str | bool, expected: bool) -> None:
    compiled = compile_condition(source, GRAPH)
    assert compiled.evaluate(frame()) is expected
    assert compiled.schema == {"type": "boolean"}


def test_a_condition_that_does_not_resolve_is_false_where_it_may_be() -> None:
    found, missing = compile_condition("writer.nope", GRAPH).evaluate_lenient(frame(), "keep")
    assert found is False
    assert len(missing) == 1


def test_a_condition_of_two_templates_is_refused() -> None:
    with pytest.raises(ExpressionError, match="one expression"):
        compile_condition("{{ writer.age }} == {{ inputs.limit }}", GRAPH)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 1 / 0 }}",
        "{{ 1 % 0 }}",
        "{{ 1 + 'a' }}",
        "{{ '%d' % 1 }}",
        "{{ writer.age < 'x' }}",
        "{{ {} < {} }}",
        "{{ 10.0 ** 400 }}",
        "{{ (-1) ** 0.5 }}",
        "{{ 1 in 2 }}",
        "{{ writer[1.5] }}",
        "{{ {1: 2} }}",
        "{{ 5 | upper }}",
        "{{ writer.name[::0] }}",
        "{{ [1, 'a'] | sort }}",
        "{{ [{}] | sort }}",
        "{{ -writer.name }}",
    ],
)
def test_values_that_do_not_fit_the_operation_are_a_type_error(source: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        value(source)
    assert raised.value.code == "expression_type"


def test_feedback_that_doubles_a_value_ends() -> None:
    compiled = compile_value({"a": "{{ state.x }}", "b": "{{ state.x }}"}, CHAIN)
    at = frame()

    def feed_back() -> None:
        for _ in range(100):
            at.state["x"] = compiled.evaluate(at)

    with pytest.raises(OverBudget):
        feed_back()
