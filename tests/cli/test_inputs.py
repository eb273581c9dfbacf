from __future__ import annotations

from pathlib import Path

import pytest

from toolpath.cli.exits import UsageError
from toolpath.cli.inputs import parse_pairs, read_inputs
from toolpath.values import Json, JsonObject

SCHEMA: JsonObject = {
    "properties": {
        "zip": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "either": {"type": ["string", "number"]},
        "rows": {"type": "array"},
        "free": {},
    }
}


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("zip=01234", "01234"),
        ("zip=true", "true"),
        ('zip={"a": 1}', '{"a": 1}'),
        ("zip=", ""),
        ("zip=a=b", "a=b"),
        ("count=3", 3),
        ("count=three", "three"),
        ("share=3", 3),
        ("either=3", 3),
        ("rows=[1, 2]", [1, 2]),
        ("free=null", None),
        ("free=plain words", "plain words"),
        ('unknown="quoted"', "quoted"),
        ("unknown=NaN", "NaN"),
    ],
)
def test_a_value_is_json_where_it_is_json_and_the_plan_does_not_want_text(pair: str, value: Json) -> None:
    assert parse_pairs([pair], SCHEMA) == {pair.partition("=")[0]: value}


@pytest.mark.parametrize("pair", ["novalue", "=x", ""])
def test_a_pair_without_name_or_equals_sign_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="Write name=value"):
        parse_pairs([pair])


def test_pairs_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "inputs.yaml"
    file.write_text("count: 1\nzip: '007'\n")
    assert read_inputs(["count=2"], str(file), SCHEMA) == {"count": 2, "zip": "007"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"{", "are no JSON"),
        ("a.json", b"[1]", "are array; they must be an object"),
        ("a.yaml", b"a: [", "are no YAML"),
        ("a.json", b"\xff\xfe", "is no UTF-8 text"),
        ("a.json", b"[" * 100_000, "are no JSON"),
    ],
)
def test_a_file_that_holds_no_inputs_is_refused_with_its_name(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(UsageError, match=words) as caught:
        read_inputs([], str(file))
    assert name in str(caught.value)


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"missing\.json cannot be read"):
        read_inputs([], "missing.json")
