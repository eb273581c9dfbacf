import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.errors import ReadError
from toolpath.notation.json_text import read_json
from toolpath.notation.nodes import plain
from toolpath.notation.plan import read_plan
from toolpath.notation.tree import read_tree
from toolpath.notation.yaml_text import read_yaml

BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def refusal_of(source):
    with pytest.raises(ReadError) as caught:
        read_tree(source, file="plan.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("source", "line", "column", "words"),
    [
        ("steps:\n\t- tool: a\n", 2, 1, "tab"),
        ("name: a\nsteps:\n  - tool: a\n\t  inputs: {}\n", 4, 1, "tab"),
        ("name: a\nb: {{ x }}\n", 2, 5, "cannot be a key"),
        ("name: a: b\n", 1, 8, "not allowed here"),
        ("name: !!python/object:os.system x\n", 1, 7, "tag"),
        ("name: !mine x\n", 1, 7, "tag"),
        ("name: *nobody\n", 1, 7, "anchor"),
        ("name: &me [*me]\n", 1, 12, "holds itself"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
        ("a: .inf\n", 1, 4, "no number"),
        ("a: 1e999\n", 1, 4, "too large"),
        ("a: " + "9" * 5000, 1, 4, "digits"),
        ("a: b\x00c\n", 1, 5, "U+0000"),
        ('a: "\\ud800"\n', 1, 4, "half a character"),
        ('{"a": 1,\n "b" 2}', 2, 6, "colon"),
        ('{"a": "\\ud800"}', 1, 7, "half a character"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ("[1, 2]", 1, 1, "a list"),
        ("- tool: a\n", 1, 1, "a list"),
        ("just words", 1, 1, "one piece of text"),
        (b"name: caf\xe9\n", 1, 10, "UTF-8"),
        ("? [a, b]\n: c\n", 1, 3, "cannot be a key"),
        ("[" * 100_000, 1, 202, "deeper"),
        ('{"a":' * 300, 1, 1006, "deeper"),
        ("- " * 1000 + "a", 1, 401, "deeper"),
        (BOMB, 7, 12, "values"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_where_and_why(source, line, column, words):
    error = refusal_of(source)
    assert words in error.message
    assert [(finding.line, finding.column) for finding in error.findings] == [(line, column)]
    assert error.message.startswith(f"plan.yaml:{line}:{column}: ")


@pytest.mark.parametrize("source", ['{"a": "x\ty"}', '{"a": NaN}', '{"a": 1,}', "{a: 1}", "{'a': 1}", '{"a": 01}'])
def test_a_file_named_json_holds_nothing_else(source):
    assert read_tree(source, file="plan.yaml").value["a"]
    with pytest.raises(ReadError, match=r"plan\.json:1:"):
        read_tree(source, file="plan.json")


@pytest.mark.parametrize("source", ["", "   \n", b"", "# nothing but a remark\n", "\ufeff", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(source):
    assert "empty" in refusal_of(source).message


def test_a_file_of_fifty_megabytes_is_refused_before_it_is_parsed():
    error = refusal_of("[" * 50_000_000)
    assert "50,000,000" in error.message
    assert "Split it" in error.hint


def test_a_tab_says_what_to_do():
    assert refusal_of("steps:\n\t- tool: a\n").hint == "Use spaces."


def test_values_that_hold_themselves_end():
    ring: list = []
    ring.append(ring)
    assert "deeper" in refusal_of({"steps": ring}).message
    wide: dict = {}
    wide |= {str(number): wide for number in range(50)}
    refusal_of({"steps": wide})


@pytest.mark.parametrize(
    "value", [{"a": object()}, {"a": {1: 2}}, {"a": float("nan")}, {"a": "\ud800"}, {"a": {3}}, 7, None, ["x"]]
)
def test_values_that_are_no_json_object_are_refused(value):
    refusal_of(value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"), ("No", "No"), ("on", "on"), ("off", "off"), ("y", "y"), ("2026-11-21", "2026-11-21"),
        ("12:30:45", "12:30:45"), ("1_000", "1_000"), ("0o17", 15), ("0x1F", 31), ("017", 17), ("+1", 1), ("-.5", -0.5),
        ("1.", 1.0), ("1e3", 1000.0), ("~", None), ("null", None), ("Null", None), ("nUll", "nUll"), ("true", True),
        ("FALSE", False), ("tRue", "tRue"), ("'1'", "1"), ('"null"', "null"), ("!!str 1", "1"), ("1.2.3", "1.2.3"),
        ("-", [None]), ("0b1", "0b1"), ('"\\ud83d\\ude00"', "😀"),
    ],
)  # fmt: skip
def test_scalars_mean_what_yaml_1_2_says(written, value):
    read = plain(read_yaml(f"a:\n  {written}\n"))["a"]
    assert read == value
    assert type(read) is type(value)


def test_keys_stay_text_as_they_are_written():
    assert plain(read_yaml("1: a\ntrue: b\nnull: c\non: d\n")) == {"1": "a", "true": "b", "null": "c", "on": "d"}


def test_aliases_repeat_what_they_name():
    assert plain(read_yaml("a: &x {b: [1]}\nc: *x\nd: [*x]\n")) == {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}]}


def test_each_value_knows_its_line_and_column():
    for read, source in (
        (read_yaml, "a:\n  - b: 1\n    c: two\n"),
        (read_json, '{"a":\n  [{ "b": 1,\n    "c":"two"}]}'),
    ):
        inner = read(source).value["a"].value[0].value
        assert inner["c"].value == "two"
        assert (inner["c"].key_line, inner["c"].key_column) == (3, 5)
        assert inner["c"].line == 3
        assert inner["b"].written == "1"


@pytest.mark.parametrize("source", ["name: a\nname: b\nsteps: [{tool: t}]\n",
                                    '{"name": "a",\n"name": "b", "steps": [{"tool": "t"}]}'])  # fmt: skip
def test_a_key_given_twice_is_an_error_finding_with_its_place(source):
    plan = read_plan(source)
    assert plan.name == "a"
    assert [(finding.code, finding.path, finding.line, finding.column) for finding in plan.source.findings] == [
        ("duplicate_key", "/name", 2, 1)
    ]


def test_a_key_given_twice_deep_in_the_inputs_is_found():
    plan = read_plan("steps:\n  - tool: t\n    inputs:\n      a: {b: 1, b: 2}\n")
    assert [(finding.code, finding.path) for finding in plan.source.findings] == [
        ("duplicate_key", "/steps/0/inputs/a/b")
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(json_values, st.sampled_from([None, 1]), st.booleans())
def test_any_json_text_reads_as_the_standard_library_reads_it(value, indent, ascii_only):
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    if any("\ud800" <= character <= "\udfff" for character in written):
        return
    assert plain(read_json(written)) == json.loads(written)


@given(st.text(alphabet="{}[]:,\"'-?|>&*!%#@ \n\tab1.~\\\x00", max_size=40))
def test_any_text_reads_or_is_refused(source):
    try:
        read_tree(source)
    except ReadError:
        return


@given(st.binary(max_size=40))
def test_any_bytes_read_or_are_refused(source):
    try:
        read_tree(source)
    except ReadError:
        return
