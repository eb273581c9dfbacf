"""JSON as models damage it: what can mean one thing is read and noted, all else is an error that quotes the place."""

from __future__ import annotations

import pytest

from toolpath.errors import ReadError
from toolpath.model_output.model_text import read_model_text, read_tool_calls


@pytest.mark.parametrize(
    ("written", "meant", "repair"),
    [
        ('{"a": [1, 2,],}', {"a": [1, 2]}, "trailing comma"),
        ("{'a': 'it\\'s'}", {"a": "it's"}, "instead of double quotes"),
        ('{"a": True, "b": None}', {"a": True, "b": None}, "as Python writes it"),
        ('{a: 1, b_c: "x"}', {"a": 1, "b_c": "x"}, "key without quotes"),
        ('{"a": 1 // one\n, "b": 2 # two\n}', {"a": 1, "b": 2}, "comment"),
        ('{"a": "x\ny"}', {"a": "x\ny"}, "line break inside quotes"),
        ("{“a”: “x”}", {"a": "x"}, "instead of double quotes"),
        ('{"a":\u200b1}', {"a": 1}, "invisible or unusual blanks"),
        ('{"a": "it\\\'s"}', {"a": "it's"}, "inside double quotes"),
        ('{"a": +1}', {"a": 1}, "plus sign"),
    ],
)
def test_what_can_mean_one_thing_is_read_and_noted(written: str, meant: object, repair: str) -> None:
    found = read_model_text(f'{{"name": "f", "arguments": {written}}}')
    assert [call.inputs for call in found.calls] == [meant]
    assert any(repair in note and "line" in note for note in found.repaired), found.repaired


def test_sound_json_needs_no_repair_and_keeps_its_values() -> None:
    text = '{"name": "f", "arguments": {"a": "\\u00e9\\n\\ud83d\\ude00", "b": [0, "", false, null, -1.5e3], "": {}}}'
    found = read_model_text(text)
    assert found.calls[0].inputs == {"a": "é\n😀", "b": [0, "", False, None, -1500.0], "": {}}
    assert found.repaired == ()


def test_one_bracket_may_be_missing_at_the_end_after_what_is_closed() -> None:
    assert read_tool_calls('[{"name": "f", "arguments": {"a": 1}}') == [("f", {"a": 1})]
    found = read_model_text('```json\n{"name": "f", "arguments": {"a": 1}\n```')
    assert found.calls[0].inputs == {"a": 1}
    assert any("missing" in note for note in found.repaired)


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]f[ARGS]{"a": [1], ',
        '[TOOL_CALLS]f[ARGS]{"a": [1]',
        '<function=f>{"a": [1]',
        '<tool_call>f\n{"a": [1]</tool_call>',
        'Action: f\nAction Input: {"a": [1]',
        'Function: f\nParameters: {"a": [1]',
        '{"name": "f", "arguments": "{\\"a\\": [1]"}',
        '{"steps": [{"tool": "f"}]',
        '{"tools": [{"name": "f", "parameters": {}}], "executionOrder": ["f"]',
    ],
)
def test_where_more_may_have_followed_no_bracket_may_be_missing(text: str) -> None:
    with pytest.raises(ReadError, match="ends"):
        read_tool_calls(text)


def test_one_bracket_may_be_too_many_at_the_end() -> None:
    found = read_model_text('{"name": "f", "arguments": {"a": 1}}}')
    assert found.calls[0].inputs == {"a": 1}
    assert any("too many" in note for note in found.repaired)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"a": 1', "ends before"),
        ('{"a": {"b": 1', "ends before"),
        ('{"a": "x', "is not closed"),
        ('{"a": ', "ends before"),
        ('{"a": 1, "a": 2}}', "given twice"),
        ('{"a": {"b": 1, "b": 1}}}', "given twice"),
        ('{"a": NaN}}', "no NaN"),
        ('{"a": Infinity}}', "no Infinity"),
        ('{"a": 1e999}}', "too large"),
        ('{"a": 18446744073709551616}}', "too large"),
        (f'{{"a": {"9" * 500}}}}}', "more than 400 digits"),
        ('{"a": "\\ud800"}}', "half a character"),
        ('{"a": "C:\\data"}}', r"\\d is no escape"),
        ('{"a": "say "hi""}}', "comma or"),
        ('{"a" 1}}', "colon"),
        ('{"a": 1 "b": 2}}', "comma or"),
        ('{"a": undefined}}', "value is expected"),
        ('{"a": 1]}', "comma or"),
        ('{"a": 1}}, "b": 2}', "closed the value too early"),
        ("[1, 2]}", "an object is expected"),
        ('"do it"}', "In the text of the arguments"),
    ],
)
def test_what_could_mean_two_things_is_an_error_that_quotes_the_place(arguments: str, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read_tool_calls(f'Here:\n{{"name": "f", "arguments": {arguments}')
    finding = caught.value.findings[0]
    assert (finding.line, ">>>" in finding.message) == (2, True)
    assert finding.column is not None


def test_an_error_names_the_file_where_there_is_one() -> None:
    with pytest.raises(ReadError, match=r"^answer\.txt:1:32: "):
        read_model_text('{"name": "f", "arguments": {"a"', file="answer.txt")


def test_names_that_hide_a_character_are_refused() -> None:
    with pytest.raises(ReadError, match=r"does not show.*\\u200b"):
        read_tool_calls('{"name": "f\u200bg", "arguments": {}}')
    with pytest.raises(ReadError, match="name of the tool is empty"):
        read_tool_calls('{"name": " ", "arguments": {}}')


def test_escapes_of_python_hold_in_calls_of_python() -> None:
    assert read_tool_calls(r"[f(a='\x41\d', b='''x'y''', c=(1, 2), d=-1)]") == [
        ("f", {"a": "A\\d", "b": "x'y", "c": [1, 2], "d": -1})
    ]


def test_damaged_data_in_prose_stays_prose() -> None:
    text = 'The set {"a", "b"} and {x: y} and `{ "a": }` are no calls.'
    assert read_model_text(text).prose == text
