"""Expressions that would do harm or go on for ever: each ends at once with a clear error, or does nothing special."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolpath.errors import ExpressionError, OverBudget, ToolpathError, Unresolved
from toolpath.expressions.compile import compile_value, inspect_value
from toolpath.expressions.names import Frame, Names

NAMES = Names(flow="graph", ids={"x": "x", "big": "big"}, shared={})


def frame() -> Frame:
    outputs: dict[str, Any] = {"x": {"s": "text", "l": [1, 2], "n": 3, "o": {}}, "big": [[i] * 20 for i in range(500)]}
    return Frame(inputs={}, run={}, outputs=outputs)


def run(source: Any) -> Any:
    return compile_value(source, NAMES).evaluate(frame())


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.__class__ }}",
        "{{ x['__class__'] }}",
        "{{ x.s.__class__.__mro__ }}",
        "{{ ''['__class__'] }}",
        "{{ [].append }}",
        "{{ x.l.append }}",
        "{{ x.o.items }}",
        "{{ x.n.real }}",
        "{{ x.l | map(attribute='__class__') }}",
        "{{ x.l | sort(attribute='__len__') }}",
        "{{ (x.l | first).numerator }}",
        "{{ x.s.format }}",
        "{{ x.l | map(lambda v: v.__class__) }}",
    ],
)
def test_attributes_of_python_objects_are_keys_that_are_not_there(source: str) -> None:
    with pytest.raises(Unresolved):
        run(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ __import__('os') }}",
        "{{ f.up }}",
        "{{ b }}",
        "{{ c0 }}",
        "{{ v0 }}",
        "{{ x | map(lambda v: v0) }}",
        "{{ self }}",
        "{{ loop.index }}",
        "{{ range(10) }}",
        "{{ cycler }}",
        "{{ namespace() }}",
        "{{ __builtins__ }}",
    ],
)
def test_names_of_python_of_jinja_and_of_the_generated_code_mean_nothing(source: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_value(source, NAMES)
    assert raised.value.code in ("unresolved", "forbidden_expression")


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.s.format(x) }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ '%s' | format(x) }}",
        "{{ x | attr('__class__') }}",
        "{{ x | xmlattr }}",
        "{{ (lambda: x)() }}",
        "{{ (lambda y: y)(x) }}",
        "{{ x.l | map(lambda y: (lambda z: z)) }}",
        "{{ x.l | map(x.lambda) }}",
        "{{ {'a': lambda q: q} }}",
        "{{ lambda }}",
        "{{ x.l | map('map', lambda y: y) }}",
        "{{ x.l | select(lambda y: y, lambda y: y) }}",
        "{{ x if lambda y: y else 1 }}",
        "{{ caller() }}",
        "{{ x is callable }}",
    ],
)
def test_calls_formats_and_forged_lambdas_are_refused(source: str) -> None:
    inspection = inspect_value(source, NAMES)
    assert inspection.faults
    assert all(
        fault.code in ("forbidden_expression", "expression_syntax", "unknown_filter") for _, fault in inspection.faults
    )


def test_words_of_the_language_are_ordinary_keys() -> None:
    at = Frame(inputs={}, run={}, outputs={"x": {"lambda": 1, "not": 2, "items": 3, "if": {"in": 4}}})
    source = "{{ x.lambda }}{{ x.not }}{{ x.items }}{{ x.if.in }}"
    assert compile_value(source, NAMES).evaluate(at) == "1234"


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'a' * 10**9 }}",
        "{{ 10**9 * 'a' }}",
        "{{ [x] * 10**8 }}",
        "{{ 2 ** 10000 }}",
        "{{ 10 ** 99 ** 99 }}",
        "{{ 'a' | center(10**8) }}",
        "{{ 'a\nb' | indent(10**9) }}",
        "{{ ('ab' * 10**6) | replace('a', 'b' * 10**3) }}",
        "{{ ('a' * 10**6) | replace('', 'b' * 100) }}",
        "{{ 1 | round(10**9) }}",
        "{{ x.l | batch(1, 1) | map(lambda v: v * 10**6) }}",
        "{{ x.l | slice(10**9) }}",
        "{{ ['a' * 10**4] * 10**4 | join('b' * 10**4) }}",
        "{{ ('a' * 10**6) | list | map(lambda v: 'b' * 10**6) }}",
        "{{ ('a' * 10**6) | wordwrap(1) }}",
        "{{ (('a ' * 10**6) ~ '.') | split | map(lambda v: v ~ v) | join | split('a') }}",
        "{{ big | map(lambda a: big | map(lambda b: big | map(lambda c: c))) }}",
        "{{ big | map(lambda a: big | tojson) | map(lambda a: big | tojson) }}",
        "{{ big | map(lambda a: big | filter(lambda b: big | map(lambda c: 1) == big)) }}",
        "{{ x.l" + " | map(lambda v: [v, v])" * 40 + " }}",
        "{{ x.l" + " | map(lambda v: {'a': v, 'b': v})" * 30 + " | json }}",
        "{{ 'a'" + " | replace('a', 'aaaaaaaaaa')" * 30 + " }}",
        "{{ [x.l]" + " | map(lambda v: v + v)" * 40 + " }}",
        "{{ ['a']" + " | map(lambda v: v ~ v)" * 40 + " }}",
    ],
)
def test_work_without_bounds_is_stopped_soon(source: str) -> None:
    begun = time.process_time()
    with pytest.raises(ToolpathError) as raised:
        run(source)
    assert raised.value.code in ("expression_budget", "expression_too_large", "expression_type")
    # Far above what it takes, far below what it would take.
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    "use", ["{0} == {1}", "{1} in [{0}]", "{0} | json", "[{0}, {1}] | unique", "{0} ~ ''", "[{0}]"]
)
def test_values_that_share_their_parts_are_weighed_before_they_are_walked(use: str) -> None:
    double = "([x]" + " | map(lambda v: [v, v])" * 35 + ")"
    with pytest.raises(OverBudget):
        run("{{ " + use.format(double, double) + " }}")


def test_shared_parts_in_tool_output_are_weighed_in_text() -> None:
    value: Any = "leaf"
    for _ in range(60):
        value = [value, value]
    at = Frame(inputs={}, run={}, outputs={"x": value})
    with pytest.raises(OverBudget):
        compile_value("text {{ x }}", NAMES).evaluate(at)
    assert compile_value("{{ x }}", NAMES).evaluate(at) is value


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.l" + " | list" * 900 + " }}",
        "{{ x.l" + "|d" * 3000 + " }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ " + "(" * 200 + "1" + ")" * 200 + " }}",
        "{{ " + "[" * 100 + "]" * 100 + " }}",
        "{{ " + "{'a':" * 100 + "1" + "}" * 100 + " }}",
        "{{ " + "not " * 990 + "1 }}",
        "{{ " + "- " * 990 + "1 }}",
        "{{ " + "1 + " * 400 + "1 }}",
        "{{ " + "1 if 1 else " * 200 + "1 }}",
        "{{ x" + ".a" * 400 + " }}",
        "{{ x" + "[0]" * 300 + " }}",
        "{{ " + "9" * 5000 + " }}",
        "{{ 0x" + "f" * 9000 + " }}",
        "{{ " + "a " * 6000 + "}}",
        "{{ '" + "a" * 20000 + "' }}",
        "{{ 1 }}" * 1001,
        "{{ x.l | map(" + "lambda v: [v] | map(" * 30 + "1" + ")" * 31 + " }}",
    ],
)
def test_expressions_too_large_are_refused_before_they_are_run(source: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_value(source, NAMES)
    assert raised.value.code == "expression_too_large"


def test_a_long_integer_is_bounded_in_bits() -> None:
    with pytest.raises(OverBudget):
        run("{{ 2 ** 1000 * 2 ** 1000 }}")


def test_values_nested_too_deeply_are_refused() -> None:
    value: Any = "{{ x }}"
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ExpressionError) as raised:
        compile_value(value, NAMES)
    assert raised.value.code == "expression_too_large"
    # Taken apart by hand, since Python would do it by recursion.
    while isinstance(value, list):
        value = value.pop()


def test_a_caller_that_is_deep_already_gets_an_error_and_no_crash() -> None:
    def deeper(left: int) -> Any:
        return deeper(left - 1) if left else run({"a": ["{{ ((((((((x.l)))))))) | map(lambda v: [[v]]) }}"]})

    outcomes = set()
    for depth in range(700, 980, 20):
        try:
            outcomes.add(str(deeper(depth)))
        except (ToolpathError, RecursionError) as error:
            outcomes.add(type(error).__name__)
    assert outcomes <= {"{'a': [[[[1]], [[2]]]]}", "ExpressionError", "OverBudget", "RecursionError"}


def test_many_unclosed_braces_take_linear_time() -> None:
    begun = time.process_time()
    for source in ("{{" * 50_000, "{{ '" * 20_000, "{{ [" * 20_000, "{ {" * 100_000):
        inspect_value(source, NAMES)
    assert time.process_time() - begun < 5


def test_half_surrogates_do_not_crash() -> None:
    at = Frame(inputs={}, run={}, outputs={"x": {"s": "\ud800", "o": {"k": "\ud800"}}})
    assert compile_value("a{{ x.s }}", NAMES).evaluate(at) == "a\ud800"
    with pytest.raises(ExpressionError):
        compile_value("a{{ x.o }}", NAMES).evaluate(at)
    with pytest.raises(ExpressionError):
        compile_value("{{ \ud800 }}", NAMES)
    with pytest.raises(ExpressionError):
        compile_value("{{ '\ud800' }}", NAMES)


def test_text_with_a_thousand_templates_of_large_texts_is_bounded() -> None:
    at = Frame(inputs={}, run={}, outputs={"x": "a" * 1_000_000})
    with pytest.raises(OverBudget):
        compile_value("{{ x }}" * 1000, NAMES).evaluate(at)


def test_nothing_that_is_read_is_changed() -> None:
    at = frame()
    before = repr(at.outputs)
    for source in (
        "{{ big | sort(reverse=true) | map(lambda v: v + [1]) | first }}",
        "{{ big | batch(3, 0) | last }}",
        "{{ x.l + x.l | unique | reverse }}",
        "{{ x.o | items }}",
        "{{ x.l | sum(start=5) }}",
        "{{ [x.l, x.l] | sum(start=[]) }}",
    ):
        compile_value(source, NAMES).evaluate(at)
    assert repr(at.outputs) == before


def test_messages_name_keys_and_types_but_no_values() -> None:
    at = Frame(inputs={}, run={}, outputs={"x": {"token": "hidden-value", "n": 77_777}})
    for source in ("{{ x.nope }}", "{{ x.token.y }}", "{{ x.token + 1 }}", "{{ x.n | upper }}", "{{ x.token < 1 }}"):
        with pytest.raises(ExpressionError) as raised:
            compile_value(source, NAMES).evaluate(at)
        assert "hidden-value" not in str(raised.value)
        assert "77777" not in str(raised.value)
