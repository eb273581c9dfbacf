"""Each filter and test: what it gives for values of each kind, and that its arguments are checked."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath.errors import ExpressionError
from toolpath.expressions.compile import compile_value
from toolpath.expressions.names import Frame, Names
from toolpath.expressions.table import FILTERS, TESTS

NAMES = Names(flow="graph", ids={"rows": "rows", "x": "x"}, shared={})
ROWS = [{"n": 2, "s": "b", "a": {"k": 1}}, {"n": 1, "s": "A", "a": {"k": 2}}, {"n": 3, "s": "a", "a": {"k": 1}}]


def value(source: str, x: Any = None) -> Any:
    return compile_value("{{ " + source + " }}", NAMES).evaluate(
        Frame(inputs={}, run={}, outputs={"rows": ROWS, "x": x})
    )


CASES = [
    ("-2.5 | abs", 2.5),
    ("[1, 2] | all", True),
    ("rows | all(lambda r: r.n > 1)", False),
    ("[0, ''] | any", False),
    ("rows | any(attribute='n')", True),
    ("[1, 2, 3] | batch(2)", [[1, 2], [3]]),
    ("[1, 2, 3] | batch(2, 0)", [[1, 2], [3, 0]]),
    ("'heLLo wOrld' | capitalize", "Hello world"),
    ("'ab' | center(6)", "  ab  "),
    ("rows | count", 3),
    ("{'b': 1, 'A': 2} | dictsort", [["A", 2], ["b", 1]]),
    ("{'b': 1, 'a': 2} | dictsort(by='value', reverse=true)", [["a", 2], ["b", 1]]),
    ("1 | filesizeformat", "1 Byte"),
    ("13000 | filesizeformat", "13.0 kB"),
    ("4300000 | filesizeformat(true)", "4.1 MiB"),
    ("'abc' | first", "a"),
    ("[[1, [2]], 3] | flatten", [1, [2], 3]),
    ("'2.5' | float", 2.5),
    ("'x' | float(default=-1)", -1),
    ("'nan' | float", 0.0),
    ("rows | groupby('a.k') | map(attribute='list') | map('length') | list", [2, 1]),
    ("rows | groupby('s') | map(attribute='grouper') | list", ["A", "b"]),
    ("'a\nb' | indent(2)", "a\n  b"),
    ("'a\n\nb' | indent('> ', true)", "> a\n\n> b"),
    ("'42' | int", 42),
    ("'4.9' | int", 4),
    ("'x' | int", 0),
    ("'ff' | int(base=16)", 255),
    ("{'a': 1} | items", [["a", 1]]),
    ("[1, 'a', none] | join('-')", "1-a-null"),
    ("rows | join(',', attribute='s')", "b,A,a"),
    ("rows | join(lambda r: r.s)", "bAa"),
    ("{'a': [1, 2.5, none, 'ä']} | json", '{"a":[1,2.5,null,"ä"]}'),
    ("{'a': 1} | tojson(indent=2)", '{\n  "a": 1\n}'),
    ("{'a': 1, 'b': 2} | keys", ["a", "b"]),
    ("{'a': 1, 'b': 2} | values", [1, 2]),
    ("[1, 2] | last", 2),
    ("'häß' | length", 3),
    ("'ab' | list", ["a", "b"]),
    ("'AB' | lower", "ab"),
    ("rows | max(attribute='n')", ROWS[2]),
    ("['b', 'A'] | min", "A"),
    ("'aXbX' | replace('X', '-', 1)", "a-bX"),
    ("[1, 2] | reverse", [2, 1]),
    ("'abc' | reverse", "cba"),
    ("42.55 | round(1, 'floor')", 42.5),
    ("42.5 | round", 42.0),
    ("2.1 | round(0, 'ceil')", 3.0),
    ("[1, 2, 3] | slice(2)", [[1, 2], [3]]),
    ("[1, 2, 3] | slice(2, 0)", [[1, 2], [3, 0]]),
    ("['b', 'A', 'c'] | sort", ["A", "b", "c"]),
    ("['b', 'A', 'c'] | sort(case_sensitive=true, reverse=true)", ["c", "b", "A"]),
    ("rows | sort(attribute='n') | map(attribute='n')", [1, 2, 3]),
    ("rows | sort(lambda r: -r.n) | map(attribute='n')", [3, 2, 1]),
    ("rows | sort('s') | map(attribute='n')", [1, 3, 2]),
    ("[none, 2, 1] | sort", [None, 1, 2]),
    ("'a, b' | split(', ')", ["a", "b"]),
    ("' a  b ' | split", ["a", "b"]),
    ("[1, {}] | string", "[1,{}]"),
    ("rows | sum(attribute='n')", 6),
    ("rows | sum('n', start=10)", 16),
    ("rows | map(attribute='n') | sum", 6),
    ("rows | sum(lambda r: r.n * 2)", 12),
    ('"it\'s a test" | title', "It'S A Test"),
    ("'  x ' | trim", "x"),
    ("'--x-' | trim('-')", "x"),
    ("'foo bar baz qux' | truncate(9)", "foo..."),
    ("'foo bar baz qux' | truncate(9, true)", "foo ba..."),
    ("'foo bar baz qux' | truncate(11)", "foo bar baz qux"),
    ("['a', 'A', 1, 1.0, true] | unique", ["a", 1, True]),
    ("[{'a': 1, 'b': 2}, {'b': 2, 'a': 1.0}] | unique | length", 1),
    ("rows | unique(attribute='a') | length", 2),
    ("'ab' | upper", "AB"),
    ("'a b/c&d' | urlencode", "a%20b/c%26d"),
    ("{'a b': 1, 'c': 'd&e'} | urlencode", "a+b=1&c=d%26e"),
    ("'a b, c' | wordcount", 3),
    ("'aa bb cc' | wordwrap(5)", "aa bb\ncc"),
    ("rows | filter(lambda r: r.n > 1 and r.a.k == 1) | length", 2),
    ("rows | select | length", 3),
    ("[1, 2, 3] | select('odd') | list", [1, 3]),
    ("[1, 2, 3] | reject('in', [2]) | list", [1, 3]),
    ("[1, 2, 3] | reject(lambda v: v == 2)", [1, 3]),
    ("rows | selectattr('n', 'gt', 1) | map(attribute='n')", [2, 3]),
    ("rows | selectattr('nope') | length", 0),
    ("rows | selectattr('nope', 'defined') | length", 0),
    ("rows | rejectattr('a.k', 'equalto', 1) | map(attribute='n')", [1]),
    ("rows | map('length')", [3, 3, 3]),
    ("rows | map(attribute='z', default='-')", ["-", "-", "-"]),
    ("['a', 'b'] | map('upper')", ["A", "B"]),
    ("['ab'] | map('replace', 'a', 'c')", ["cb"]),
    ("x | default('d')", None),
    ("x is none and x is null", True),
    ("3 is divisibleby(3)", True),
    ("3 is divisibleby 2", False),
    ("1 is number and 1.0 is number and not (true is number)", True),
    ("1 is integer and 1.5 is float and not (1.5 is integer)", True),
    ("'a' is string and {} is mapping and [] is sequence and true is boolean", True),
    ("true is true and false is false and not (1 is true)", True),
    ("'a' is lower and 'A' is upper and not (1 is upper)", True),
    ("2 is even and 3 is odd and [] is iterable", True),
    ("2 is in [1, 2] and 1 is lt 2 and 2 is ge 2 and 2 is not ne 2", True),
]


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_a_filter_or_test_gives_its_value(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "x | upper", "x | length", "x | first", "x | sum", "x | map(lambda v: v)", "x | filter(lambda v: v)",
        "x | keys",
        "x | items", "x | abs", "x | round", "x | join", "x | sort", "x | replace('a', 'b')", "x | split", "x is even",
        "'a' | center('b')", "'a' | split('')", "[1] | batch(0)", "[1] | slice(-1)", "1 | round(0, 'up')", "x | list",
        "'abcdef' | truncate(2)", "'a' | wordwrap(0)", "{} | dictsort(by='x')", "[1, 'a'] | min", "x | urlencode",
        "[1] | join(1)", "3 is divisibleby(0)", "rows | groupby('a')", "'a' | int(base='x')", "x | flatten", "x | trim",
        "x | reverse", "x | title", "x | indent", "x | values", "x | unique", "x | max", "'2' | filesizeformat",
    ],
)  # fmt: skip
def test_a_filter_says_what_it_needs(source: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        value(source)
    assert raised.value.code == "expression_type"
    assert len(raised.value.message) > 10


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_every_filter_is_covered_by_a_case(name: str) -> None:
    assert any(f"| {name}" in source or f"'{name}'" in source for source, _ in CASES)


@pytest.mark.parametrize("name", sorted(TESTS))
def test_every_test_is_covered_by_a_case(name: str) -> None:
    assert any(f"is {name}" in source for source, _ in CASES)


@pytest.mark.parametrize("x", [None, True, 0, 1.5, "text", "", [], [1], {}, {"k": "v"}, [[1], {}], 2**70, -1])
@pytest.mark.parametrize("name", sorted(FILTERS))
def test_a_filter_gives_json_or_an_error_of_the_language_for_any_value(name: str, x: Any) -> None:
    needed = {"batch": "(2)", "slice": "(2)", "replace": "('a', 'b')"}.get(name, "")
    try:
        found = value(f"x | {name}{needed}", x)
    except ExpressionError:
        return
    assert type(found) in (type(None), bool, int, float, str, list, dict)
