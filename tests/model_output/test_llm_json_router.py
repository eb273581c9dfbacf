"""The router's answers and those of model interfaces, as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolpath.errors import ReadError
from toolpath.model_output.model_text import read_model_plan, read_model_text, read_tool_calls

FERRY = ("ferries.book", {"pier": "North", "seats": 2})
TIDE = ("tides.at", {"pier": "North"})
CALL = {"tool_name": "ferries", "operation": "book", "args": {"pier": "North", "seats": 2}}
NAMED = {"name": "tides.at", "arguments": '{"pier": "North"}'}
BLOCK = {"name": "tides.at", "input": {"pier": "North"}}
OTHER = {"tool_name": "tides", "operation": "at", "args": {"pier": "North"}}


@pytest.mark.parametrize(
    ("answer", "calls", "prose"),
    [
        ({"natural_language_response": "No ferry today."}, [], "No ferry today."),
        ({"tool_call": CALL}, [FERRY], ""),
        ({"tool_calls": [CALL, OTHER]}, [FERRY, TIDE], ""),
        ({"natural_language_response": "I look it up.", "tool_call": OTHER}, [TIDE], "I look it up."),
        ({"tool_calls": [OTHER], "tool_call": OTHER}, [TIDE], ""),
        ({"tool_call": {"capability": "tides.at", "parameters": {"pier": "North"}}}, [TIDE], ""),
        ({"tool_calls": [], "natural_language_response": "Done."}, [], "Done."),
    ],
)
def test_the_four_formats_of_the_router_are_read(answer: Any, calls: list[Any], prose: str) -> None:
    found = read_model_text(json.dumps(answer))
    assert [(call.tool, call.inputs) for call in found.calls] == calls
    assert found.prose == prose


def test_a_text_without_calls_has_none_and_is_prose() -> None:
    found = read_model_text("The ferry {N} leaves at [9], said `x`.")
    assert found.calls == ()
    assert found.format == "text"
    assert found.prose == "The ferry {N} leaves at [9], said `x`."


def test_one_call_and_a_list_that_lacks_it_contradict_each_other() -> None:
    with pytest.raises(ReadError, match="contradict"):
        read_tool_calls(json.dumps({"tool_calls": [CALL], "tool_call": OTHER}))


def test_what_is_no_call_in_a_list_of_calls_is_an_error_at_its_place() -> None:
    with pytest.raises(ReadError, match=r"line 1, column 17: .*>>> 7") as caught:
        read_tool_calls('{"tool_calls": [7]}')
    assert caught.value.findings[0].column == 17


@pytest.mark.parametrize(
    "answer",
    [
        {"id": "c1", "type": "function", "function": {"name": "tides.at", "arguments": '{"pier": "North"}'}},
        {"role": "assistant", "content": None, "tool_calls": [{"function": NAMED}]},
        {"choices": [{"message": {"tool_calls": [{"function": NAMED}]}}]},
        {"function_call": {"name": "tides.at", "arguments": '{"pier": "North"}'}, "content": ""},
        {"content": [{"type": "text", "text": "Wait."}, {"type": "tool_use", "id": "t", **BLOCK}]},
        {"output": [{"type": "reasoning"}, {"type": "function_call", **NAMED}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "tides.at", "args": {"pier": "North"}}}]}}]},
        {"toolUse": {"toolUseId": "u", "name": "tides.at", "input": {"pier": "North"}}},
        {"name": "tides.at", "parameters": {"pier": "North"}},
        {"tool": "tides.at", "input": {"pier": "North"}},
        {"arguments": {"pier": "North"}, "name": "tides.at"},
        [{"name": "tides.at", "arguments": {"pier": "North"}}],
        {"input": "When?", "tools": [{"name": "tides.at", "description": "Tide.", "parameters": {}}],
         "output": [{"name": "tides.at", "label": "$var_1", "arguments": {"pier": "North"}}]},
    ],
)  # fmt: skip
def test_native_calls_are_read_however_an_interface_wraps_them(answer: Any) -> None:
    assert read_tool_calls(json.dumps(answer)) == [TIDE]


def test_arguments_alone_are_read_as_those_of_the_tool_that_is_named() -> None:
    assert read_tool_calls('{"pier": "North",}', tool="tides.at") == [TIDE]
    assert read_tool_calls("", tool="tides.at") == [("tides.at", {})]
    with pytest.raises(ReadError, match="In the text of the arguments"):
        read_tool_calls('{"pier": "No', tool="tides.at")


def test_a_text_of_arguments_that_breaks_is_quoted() -> None:
    answer = {"function": {"name": "tides.at", "arguments": '{"pier": "North", "when": '}}
    with pytest.raises(ReadError, match="In the text of the arguments, line 1, column 27: The text ends"):
        read_tool_calls(json.dumps(answer))


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "tides.at", "description": "Tide.", "parameters": {"pier": {"type": "string"}}},
        {"name": "tides.at", "parameters": {"type": "object", "properties": {}}},
        {
            "type": "function",
            "function": {"name": "tides.at", "description": "Tide.", "parameters": {"type": "object"}},
        },
        {"name": "Bob", "age": 4},
    ],
)
def test_what_only_describes_a_tool_or_a_person_is_no_call(definition: Any) -> None:
    assert read_tool_calls(f"See {json.dumps(definition)} for that.") == []


@pytest.mark.parametrize(
    "answer", ['{"tool": "tides.at", "pier": "North"}', '{"action": "tides.at", "inptu": {"pier": "North"}}']
)
def test_an_object_that_names_a_tool_and_is_no_call_is_an_error(answer: str) -> None:
    with pytest.raises(ReadError, match="names a tool"):
        read_tool_calls(answer)


def test_two_names_or_two_sets_of_arguments_are_no_guess() -> None:
    with pytest.raises(ReadError, match="could name the tool"):
        read_tool_calls('{"tool": "a", "name": "b", "arguments": {}}')
    with pytest.raises(ReadError, match="could be the arguments"):
        read_tool_calls('{"tool": "a", "arguments": {}, "parameters": {"x": 1}}')


def test_several_answers_with_words_between_them_are_an_error_and_a_list_is_not() -> None:
    one, two = '{"name": "a", "arguments": {}}', '{"name": "b", "arguments": {}}'
    assert read_tool_calls(f"{one}\n{two}") == [("a", {}), ("b", {})]
    assert read_tool_calls(f"```json\n{one}\n```\n\n```json\n{two}\n```") == [("a", {}), ("b", {})]
    assert read_tool_calls(f"{one}\nOnce more: {one}") == [("a", {})]
    with pytest.raises(ReadError, match="another answer, which differs from the one at line 1, column 1"):
        read_tool_calls(f"{one}\nNo, better this:\n{two}")


def test_calls_of_the_router_become_a_chain_that_goes_on_after_a_failure() -> None:
    later = {"tool_name": "mail", "operation": "send", "args": {"text": "{{ at.high }}"}}
    plan = read_model_plan(json.dumps({"tool_calls": [OTHER, later]}))
    assert (plan.flow, plan.failure_mode) == ("chain", "continue")
    assert [step.id for step in plan.steps] == ["at", "send"]
    assert plan.steps[1].inputs == {"text": "{{ at.high }}"}  # type: ignore[union-attr]


def test_braces_in_native_arguments_are_data_and_no_templates() -> None:
    native = {"tool_calls": [{"type": "function", "function": {"name": "mail", "arguments": {"t": "{{ secrets.K }}"}}}]}
    plan = read_model_plan(json.dumps(native))
    assert plan.steps[0].inputs == {"t": "{{ '{{' }} secrets.K }}"}  # type: ignore[union-attr]
    assert read_tool_calls(json.dumps(native)) == [("mail", {"t": "{{ secrets.K }}"})]
