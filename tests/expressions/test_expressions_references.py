"""What is known of a value with templates before it is run: references, faults, types."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath.errors import ExpressionError, Unresolved
from toolpath.expressions.compile import compile_value, inspect_value
from toolpath.expressions.names import Ambiguous, Names, Root

GRAPH = Names(flow="graph", ids={"a": "a", "b": "b", "my-step": "my-step"}, shared={"echo": ("echo_1", "echo_2")})
A, B, DASHED = Root("output", "a"), Root("output", "b"), Root("output", "my-step")
CHAIN = Names(flow="chain", ids={"a": "a"}, shared={}, in_chain=True, variables=frozenset({"x"}))


def seen(source: Any, names: Names = GRAPH, **extra: Any) -> list[tuple[Any, ...]]:
    return [
        (found.name, found.root, found.aspect, found.path) for found in inspect_value(source, names, **extra).references
    ]


@pytest.mark.parametrize(
    ("source", "names", "expected"),
    [
        ("{{ a.x[0]['k'] }}", GRAPH, [("a", A, "output", ("x", 0, "k"))]),
        ("{{ a[b.i].z }}", GRAPH, [("a", A, "output", (None, "z")), ("b", B, "output", ("i",))]),
        ("{{ a.x[1:2] }}", GRAPH, [("a", A, "output", ("x",))]),
        ("{{ inputs.q.r }}", GRAPH, [("inputs.q", Root("inputs", "q"), "output", ("r",))]),
        ("{{ run.id }}", GRAPH, [("run", Root("run"), "output", ("id",))]),
        ("{{ steps.a.status }}", GRAPH, [("steps.a.status", Root("steps", "a"), "status", ())]),
        ("{{ steps['my-step'].output.k }}", GRAPH, [("steps['my-step'].output", DASHED, "output", ("k",))]),
        ("{{ steps.nope.error }}", GRAPH, [("steps.nope.error", None, "error", ())]),
        ("{{ nope.k }}", GRAPH, [("nope", None, "output", ("k",))]),
        ("{{ echo.k }}", GRAPH, [("echo", Ambiguous(("echo_1", "echo_2")), "output", ("k",))]),
        ("{{ x.k }}", CHAIN, [("x", Root("state", "x"), "output", ("k",))]),
        ("{{ state.x.k }}", CHAIN, [("state.x", Root("state", "x"), "output", ("k",))]),
        ("{{ state.nope.k }}", CHAIN, [("state.nope", None, "output", ("k",))]),
        ("{{ a.l | map(lambda p: p.q ~ b.r) }}", GRAPH, [("a", A, "output", ("l",)), ("b", B, "output", ("r",))]),
        ("{{ a.l | selectattr('v', 'gt', b.min) }}", GRAPH, [("a", A, "output", ("l",)), ("b", B, "output", ("min",))]),
    ],
)  # fmt: skip
def test_references_are_listed_with_what_they_mean(source: str, names: Names, expected: list[Any]) -> None:
    assert seen(source, names) == expected


def test_references_say_where_they_stand() -> None:
    found = inspect_value({"k/y": ["z", "ab {{ a.x }} {{ b }}"]}, GRAPH).references
    assert [(r.pointer, r.offset) for r in found] == [("/k~1y/1", 6), ("/k~1y/1", 16)]


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        ("{{ a.x }}", [False]),
        ("{{ a.x | default(b.y) }}", [True, False]),
        ("{{ (a.x | upper) | default('') }}", [True]),
        ("{{ a.x is defined }}", [True]),
        ("{{ a.x is not none }}", [True]),
        ("{{ a.x.y if a is defined else b.y }}", [True, True, False]),
        ("{{ b.y if a is none else a.x }}", [True, False, True]),
        ("{{ a is defined and a.x > 1 }}", [True, True]),
        ("{{ a is none or a.x > 1 }}", [True, True]),
        ("{{ a is none and a.x > 1 }}", [True, False]),
        ("{{ a.x.z if a.x else '' }}", [False, True]),
        ("{{ a.x if steps.a.status == 'succeeded' else 1 }}", [False, True]),
        ("{{ a.y if a.x is defined else 1 }}", [True, False]),
    ],
)
def test_a_reference_is_guarded_where_its_absence_is_covered(source: str, guarded: list[bool]) -> None:
    assert [reference.guarded for reference in inspect_value(source, GRAPH).references] == guarded


def test_all_faults_are_found_at_once_with_their_places() -> None:
    value = {
        "a": "{{ a. }}",
        "b": ["ok", "{{ a | uper }} and {{ b is sting }}"],
        "c": "{{ secrets.K }}",
        "d": "{{ nope }}",
        "e": "{{ a.get('x') }}",
        "f": "{{",
    }
    inspection = inspect_value(value, GRAPH)
    assert [(pointer, fault.code) for pointer, fault in inspection.faults] == [
        ("/a", "expression_syntax"),
        ("/b/1", "unknown_filter"),
        ("/b/1", "unknown_test"),
        ("/c", "secret_here"),
        ("/e", "forbidden_expression"),
        ("/f", "expression_syntax"),
    ]
    assert inspection.compiled is None
    assert inspection.faults[1][1].suggestions[0] == "upper"
    assert inspection.faults[1][1].offset == 7
    assert inspection.faults[2][1].offset == 24


def test_unknown_and_ambiguous_names_are_references_and_no_faults() -> None:
    for source in ("{{ nope }}", "{{ echo }}"):
        inspection = inspect_value(source, GRAPH)
        assert inspection.faults == ()
        assert inspection.compiled is None
    with pytest.raises(Unresolved):
        compile_value("{{ nope }}", GRAPH)
    with pytest.raises(ExpressionError) as raised:
        compile_value("{{ echo }}", GRAPH)
    assert raised.value.code == "ambiguous_name"
    assert raised.value.suggestions == ("echo_1", "echo_2")


def test_a_dash_in_an_id_is_explained() -> None:
    with pytest.raises(Unresolved) as raised:
        compile_value("{{ my-step.x }}", GRAPH)
    assert "steps['my-step'].output" in raised.value.hint


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("{{ a b }}", "expression_syntax"),
        ("{{ a, b }}", "expression_syntax"),
        ("{{ }}", "expression_syntax"),
        ("{{ a ; }}", "expression_syntax"),
        ("{{ 'a }}", "expression_syntax"),
        ("{{{a}}}", "expression_syntax"),
        ("{{ a | upper(1) }}", "expression_syntax"),
        ("{{ a | replace('x') }}", "expression_syntax"),
        ("{{ a | map(lambda x, y: x) }}", "expression_syntax"),
        ("{{ a | map(lambda x, x: x) }}", "expression_syntax"),
        ("{{ a | map(lambda true: 1) }}", "expression_syntax"),
        ("{{ a | map }}", "expression_syntax"),
        ("{{ '\\ud800' }}", "expression_syntax"),
        ("{{ lambda x: x }}", "forbidden_expression"),
        ("{{ a | upper(lambda x: x) }}", "expression_syntax"),
        ("{{ a | replace(lambda x: x, 'b') }}", "forbidden_expression"),
        ("{{ a() }}", "forbidden_expression"),
        ("{{ a.upper() }}", "forbidden_expression"),
        ("{{ a | attr('x') }}", "forbidden_expression"),
        ("{{ a | format(1) }}", "forbidden_expression"),
        ("{{ a is sameas b }}", "forbidden_expression"),
        ("{{ a | join(*b) }}", "forbidden_expression"),
        ("{{ a | join(**b) }}", "forbidden_expression"),
        ("{{-1}}", "forbidden_expression"),
        ("{{+ a }}", "forbidden_expression"),
        ("{{ a -}}", "expression_syntax"),
        ("{{ steps }}", "forbidden_expression"),
        ("{{ steps[b].output }}", "forbidden_expression"),
        ("{{ steps.a }}", "unknown_name"),
        ("{{ steps.a.sttus }}", "unknown_name"),
        ("{{ 1e999 }}", "expression_too_large"),
    ],
)
def test_what_is_not_of_the_language_is_refused_with_its_code(source: str, code: str) -> None:
    inspection = inspect_value(source, GRAPH)
    assert [fault.code for _, fault in inspection.faults] == [code]
    with pytest.raises(ExpressionError) as raised:
        compile_value(source, GRAPH)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "source",
    [
        "{{ secrets.K | upper }}",
        "{{ secrets.K ~ 'x' }}",
        "{{ [secrets.K] }}",
        "{{ secrets }}",
        "{{ secrets.K.x }}",
        "{{ secrets[a] }}",
        "{{ secrets.K == 'x' }}",
        "{{ a | map(lambda x: secrets.K) }}",
        "{{ secrets.K[0] }}",
    ],
)
def test_a_secret_stands_alone_so_that_nothing_can_disguise_it(source: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_value(source, GRAPH, allow_secrets=True)
    assert raised.value.code == "secret_here"


def test_secrets_are_refused_in_conditions() -> None:
    faults = inspect_value("secrets.K", GRAPH, condition=True, allow_secrets=True).faults
    assert [fault.code for _, fault in faults] == ["secret_here"]


@pytest.mark.parametrize(
    ("source", "schema"),
    [
        ("{{ a.x }}", None),
        ("text {{ a.x }}", {"type": "string"}),
        ("{{ a.x > 1 }}", {"type": "boolean"}),
        ("{{ a.x is defined }}", {"type": "boolean"}),
        ("{{ a.x * 2 - 1 }}", {"type": "number"}),
        ("{{ a.x + 'b' }}", {"type": "string"}),
        ("{{ a.x + b.x }}", None),
        ("{{ a.x ~ 1 }}", {"type": "string"}),
        ("{{ a.x | length }}", {"type": "integer"}),
        ("{{ a.x | int(default='none') }}", None),
        ("{{ a.x | map(lambda x: x) }}", {"type": "array"}),
        ("{{ 5 }}", {"type": "integer", "const": 5}),
        ("{{ 'a' if a.x else 'b' }}", {"type": "string"}),
        ("{{ 'a' if a.x else 1 }}", {"type": ["integer", "string"]}),
        ("{{ 'a' if a.x }}", None),
        (7, {"type": "integer", "const": 7}),
    ],
)
def test_what_is_known_of_the_type_is_said(source: Any, schema: Any) -> None:
    assert compile_value(source, GRAPH).schema == schema


def test_the_type_of_an_object_is_made_of_those_of_its_fields() -> None:
    found = compile_value({"n": "{{ a.x | length }}", "u": "{{ a }}"}, GRAPH).schema
    assert found is not None
    assert found["properties"] == {"n": {"type": "integer"}, "u": {}}


def test_a_plain_path_is_told_as_such() -> None:
    path = compile_value("{{ a.x[0] }}", GRAPH).path
    assert path is not None
    assert path.path == ("x", 0)
    for source in ("{{ a.x | upper }}", "x{{ a.x }}", {"k": "{{ a.x }}"}, "{{ a[b] }}", 5):
        assert compile_value(source, GRAPH).path is None
