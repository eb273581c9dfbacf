"""Laws of the language: both forms agree, the short way to a plain path equals the long one, Jinja is the grammar."""

from __future__ import annotations

import contextlib
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import Environment, StrictUndefined, nodes
from jinja2.exceptions import TemplateSyntaxError

from toolpath.errors import ExpressionError, ToolpathError
from toolpath.expressions.compile import compile_value
from toolpath.expressions.leaf import plain_leaf
from toolpath.expressions.lower import Lowering
from toolpath.expressions.names import Frame, Names
from toolpath.expressions.parse import parse_fully, plain_path
from toolpath.expressions.scan import Placeholder, scan

#: How many examples most laws are tried with; these have many kinds of templates.
EXAMPLES = settings().max_examples
NAMES = Names(flow="graph", ids={"a": "a", "rows": "rows", "gone": "gone"}, shared={})
DATA: dict[str, Any] = {
    "a": {"i": 7, "f": 2.5, "z": 0, "s": "Abc def", "e": "", "t": True, "n": None, "l": [3, 1, 2], "o": {"k": "v"}},
    "rows": [{"v": 1, "w": "b"}, {"v": 5, "w": "a"}, {"v": 3, "w": "b", "x": None}],
}


def frame() -> Frame:
    outputs = {**DATA, "gone": None}
    return Frame(inputs={}, run={}, outputs=outputs, void=lambda key: key == "gone")


def shape(node: Any) -> Any:
    """Everything of a tree, its positions too."""
    if isinstance(node, nodes.Node):
        return (type(node).__name__, node.lineno, [shape(getattr(node, field)) for field in node.fields])
    return [shape(item) for item in node] if isinstance(node, list) else (type(node), node)


_names = st.sampled_from(["a", "rows", "x1", "_", "not", "in", "lambda", "true", "null", "items", "is", "None", "Ω"])
_keys = st.one_of(
    _names.map(lambda name: f".{name}"),
    st.integers(-2, 12).map(lambda index: f"[{index}]"),
    st.sampled_from(
        ["['k']", '["k y"]', "['']", "['ä\"']", "['\\n']", "['\\'']", "[01]", "[1_0]", ".0", "[ 1 ]", "['a' 'b']"]
    ),
)
_paths = st.builds(
    lambda before, name, keys, after: before + name + "".join(keys) + after,
    st.sampled_from(["", " ", "\t\n", "\r\n "]),
    _names,
    st.lists(_keys, max_size=6),
    st.sampled_from(["", " ", "\n", " \r"]),
)


@given(_paths)
@settings(max_examples=3 * EXAMPLES)
def test_the_short_way_to_a_plain_path_gives_what_the_parser_gives(source: str) -> None:
    short = plain_path(source)
    if short is not None:
        assert shape(short) == shape(parse_fully(source))


@given(st.text(alphabet="{}()[]'\"\\ ax.1|-%#\n", max_size=40))
@settings(max_examples=3 * EXAMPLES)
def test_templates_end_where_jinja_ends_them(rest: str) -> None:
    try:
        found = scan("{{ " + rest)
    except ExpressionError:
        return
    template = found[0]
    assert isinstance(template, Placeholder)
    try:
        tokens = Environment(keep_trailing_newline=True).lexer.tokeniter("{{ " + rest, None)
        used = 0
        for _, kind, text in tokens:
            used += len(text)
            if kind == "variable_end":
                # Jinja's whitespace control eats blanks; such a template is refused later.
                assert used == len(template.text) or text.startswith("-")
                break
    except TemplateSyntaxError:
        with pytest.raises(ToolpathError):
            compile_value(template.text, NAMES)


@given(st.text(max_size=60))
def test_text_without_templates_stays_as_it_is(text: str) -> None:
    if "{{" not in text:
        assert compile_value(text, NAMES).evaluate(frame()) is text


@given(st.text(max_size=200))
def test_any_text_gives_a_value_or_an_error_of_the_language(text: str) -> None:
    for source in (text, "{{" + text + "}}"):
        with contextlib.suppress(ExpressionError):
            compile_value(source, NAMES).evaluate(frame())


_atoms = st.sampled_from(
    [
        "a.i",
        "a.f",
        "a.z",
        "a.s",
        "a.e",
        "a.t",
        "a.n",
        "a.l",
        "a.o",
        "a.o.k",
        "a.l[0]",
        "a.s[1]",
        "rows",
        "rows[1].v",
        "rows[0]['w']",
        "1",
        "0",
        "2.5",
        "'b'",
        "''",
        "true",
        "false",
        "none",
        "[]",
        "[1, 'b']",
        "{'k': 1}",
        "-1",
    ]
)
_ours = st.sampled_from(["gone", "gone.x", "gone[a.i]", "a.nope", "a.nope.x", "rows[9]", "a.l.x", "rows[1].x", "a.n.x"])


_SIGNS = ["+", "-", "*", "/", "//", "%"]
_COMPARISONS = ["==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
_FILTERS = [
    "length",
    "first",
    "last",
    "sort",
    "sum",
    "list",
    "upper",
    "int",
    "abs",
    "unique | list",
    "reverse | list",
    "min",
    "max",
]
_TESTS = ["defined", "none", "number", "string", "mapping", "even", "in [1, 2]", "not none", "eq 1", "undefined"]


def _terms(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    filters = [*_FILTERS, "default('d')", "default(1, true)", "replace('b', 'c')", "title", "trim", "round", "float"]
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(_SIGNS), inner),
        st.builds("({} | {})".format, inner, st.sampled_from(filters)),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
    )


def _asked(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(_COMPARISONS), inner),
        st.builds("({} is {})".format, inner, st.sampled_from(_TESTS)),
        st.builds("(not {})".format, inner),
    )


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    texts = st.sampled_from(["string", "json", "join(',')"])
    return st.one_of(
        _terms(inner),
        _asked(inner),
        st.builds("({} ~ {})".format, inner, inner),
        st.builds("({} | {})".format, inner, texts),
    )


def outcome(source: Any, *, care: bool) -> Any:
    """The value of an expression, or the code of its error; by the diagnosing form where `care` is asked."""
    try:
        if not care:
            return compile_value("{{ " + source + " }}", NAMES).evaluate(frame())
        # What cannot be resolved beside it makes the whole value go the careful way.
        both = compile_value(["{{ " + source + " }}", "{{ a.missing_for_sure }}"], NAMES)
        found, missing = both.evaluate_lenient(frame(), "keep")
        return "unresolved" if len(missing) > 1 else found[0]
    except ExpressionError as error:
        return error.code


def _bodies(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner,
        st.builds("x.{} {} {}".format, st.sampled_from("vwxq"), st.sampled_from(["==", ">", "~", "in", "!="]), inner),
        st.builds("x.{} | default({})".format, st.sampled_from("vwxq"), inner),
    )


_own = st.recursive(
    st.one_of(_atoms, _ours),
    lambda inner: st.one_of(
        _grown(inner),
        st.builds("(rows | filter(lambda x: {}))".format, _bodies(inner)),
        st.builds("(rows | map(lambda x: {}) | list)".format, _bodies(inner)),
        st.builds("({} | default({}))".format, inner, inner),
        st.builds("({} if {})".format, inner, inner),
    ),
    max_leaves=6,
)


@given(_own)
@settings(max_examples=4 * EXAMPLES)
def test_the_fast_form_and_the_diagnosing_form_agree(source: str) -> None:
    fast, careful = outcome(source, care=False), outcome(source, care=True)
    if isinstance(careful, str) and careful == "{{ " + source + " }}":
        careful = "unresolved"
    assert repr(fast) == repr(careful)


@given(_own)
@settings(max_examples=3 * EXAMPLES)
def test_a_value_is_of_the_type_that_was_told_before(source: str) -> None:
    try:
        compiled = compile_value("{{ " + source + " }}", NAMES)
        found = compiled.evaluate(frame())
    except ExpressionError:
        return
    if compiled.schema is not None:
        assert jsonschema_rs.is_valid(compiled.schema, found)


_jinja = Environment(undefined=StrictUndefined)
_plain_atoms = st.sampled_from(
    [
        "a.i",
        "a.f",
        "a.z",
        "a.s",
        "a.e",
        "a.l",
        "a.o",
        "a.o.k",
        "a.l[0]",
        "a.s[1]",
        "rows",
        "rows[1].v",
        "1",
        "0",
        "2.5",
        "'b'",
        "''",
        "[]",
        "{'k': 1}",
        "-1",
    ]
)


# true and false are numbers there and texts of lists are Python's: neither is put into anything else.
_computed = st.recursive(_plain_atoms, _terms, max_leaves=4)


@given(st.one_of(_computed, _asked(_computed)))
@settings(max_examples=4 * EXAMPLES)
def test_what_both_can_compute_is_what_jinja_computes(source: str) -> None:
    ours = outcome(source, care=False)
    if ours in ("unresolved", "expression_type", "expression_budget"):
        return
    if "defined" in source or "default" in source:
        # Here anything missing inside counts as not there; in Jinja only what the whole comes to.
        return
    try:
        theirs = _jinja.compile_expression(source, undefined_to_none=False)(**DATA)
        if hasattr(theirs, "__iter__") and not isinstance(theirs, str | list | dict):
            theirs = list(theirs)
    except Exception:  # Jinja may fail where we do not, with anything
        return
    assert ours == theirs


_referring = st.one_of(
    _paths, st.sampled_from([" steps.a.output.k ", "steps.a.error", " steps.rows.status", "steps.b.output", "steps.a"])
)
_around = st.sampled_from(["", " ", "of ", "}", "{", "}}", "'", "%}"])


@given(st.lists(st.tuples(_around, _referring), min_size=1, max_size=3), _around)
def test_the_short_way_to_a_whole_text_equals_the_long_one(parts: list[tuple[str, str]], end: str) -> None:
    names = Names(flow="graph", ids={"a": "a", "rows": "rows"}, shared={"x1": ("p", "q")})
    source = "".join(f"{text}{{{{{path}}}}}" for text, path in parts) + end
    short = plain_leaf(source, "/at", names)
    if short is None:
        return
    pieces: list[Any] = []
    references: list[Any] = []
    for part in scan(source):
        if isinstance(part, Placeholder):
            lowering = Lowering(names, "/at", part.offset, allow_secrets=True)
            pieces.append((part.text, part.offset, lowering.whole(parse_fully(part.source))))
            references += lowering.references
            assert not lowering.faults
        else:
            pieces.append(part)
    short_pieces = [
        piece if isinstance(piece, str) else (piece.text, piece.offset, piece.tree) for piece in short.pieces
    ]
    assert short_pieces == pieces
    assert list(short.references) == references


@pytest.mark.parametrize(
    "value",
    [
        "{{ a.o }}",
        {"whole": "{{ a }}", "deep": [{"x": "{{ rows[1].v }}", "y": 1}, [], "{{ a.o.k }}"], "same": {"z": [1]}},
        {"text": "of {{ a.s }}, {{ a.o }}", "input": "{{ inputs.b.c }}", "a/b~": "{{ a.i }}"},
        ["{{ a.none }}", "{{ a.i }}"],
        {"x": "{{ gone.v }}"},
        {"x": "text {{ inputs.missing }}"},
    ],
)
def test_a_value_is_the_same_however_often_it_is_made(value: Any) -> None:
    compiled = compile_value(value, NAMES)
    where = frame()
    where.inputs = {"b": {"c": [1]}}

    def made() -> Any:
        try:
            return compiled.evaluate(where)
        except ToolpathError as error:
            return type(error), str(error)

    first = made()
    assert all(made() == first for _ in range(10))
    assert compile_value(value, NAMES).references == compiled.references
