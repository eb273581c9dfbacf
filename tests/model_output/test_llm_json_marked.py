"""Calls between the tokens of model families, thoughts, and imagined results."""

from __future__ import annotations

import pytest

from toolpath.errors import ReadError
from toolpath.model_output.model_text import read_model_text, read_tool_calls

TIDE = ("tide_at", {"pier": "North", "day": 3})
OBJECT = '{"name": "tide_at", "arguments": {"pier": "North", "day": 3}}'
ARGS = '{"pier": "North", "day": 3}'
BAR = "\uff5c"


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{OBJECT}</tool_call>",
        f"<tool_call>\n{OBJECT}\n",
        f"<tool_calls>[{OBJECT}]</tool_calls>",
        f"<tool_call_answer>[{OBJECT}]</tool_call_answer>",
        f"[TOOL_CALLS] [{OBJECT}]",
        f"[TOOL_CALLS]tide_at[ARGS]{ARGS}",
        f"tide_at[ARGS]{ARGS}",
        f"<|python_tag|>{OBJECT}<|eom_id|>",
        f"functools[{OBJECT}]",
        f"<|tool_call|>[{OBJECT}]<|/tool_call|>",
        f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "tide_at", "parameters": {ARGS}}}]<|END_ACTION|>',
        f'<|tools_prefix|>[{{"tide_at": {ARGS}}}]<|tools_suffix|>',
        f"<{BAR}tool▁calls▁begin{BAR}><{BAR}tool▁call▁begin{BAR}>function<{BAR}tool▁sep{BAR}>tide_at\n```json\n{ARGS}\n```"
        f"<{BAR}tool▁call▁end{BAR}><{BAR}tool▁calls▁end{BAR}>",
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.tide_at:0<|tool_call_argument_begin|>{ARGS}"
        "<|tool_call_end|><|tool_calls_section_end|>",
        f"<|channel|>analysis<|message|>{OBJECT}<|end|><|start|>assistant<|channel|>commentary to=functions.tide_at "
        f"<|constrain|>json<|message|>{ARGS}<|call|>",
        "<tool_call>tide_at\n<arg_key>pier</arg_key>\n<arg_value>North</arg_value>\n<arg_key>day</arg_key>"
        "<arg_value>3</arg_value></tool_call>",
        "tide_at<longcat_arg_key>pier</longcat_arg_key><longcat_arg_value>North</longcat_arg_value>"
        "<longcat_arg_key>day</longcat_arg_key><longcat_arg_value>3</longcat_arg_value>",
        "<function=tide_at>\n<parameter=pier>\nNorth\n</parameter>\n<parameter=day>\n3\n</parameter>\n</function>",
        "<tool_call><function=tide_at><parameter=pier>North</parameter><parameter=day>3</parameter></tool_call>",
        f"<function=tide_at>{ARGS}</function>",
        '<function_calls><invoke name="tide_at"><parameter name="pier">North</parameter><parameter name="day">3'
        "</parameter></invoke></function_calls>",
        f'<{BAR}DSML{BAR}function_calls><{BAR}DSML{BAR}invoke name="tide_at"><{BAR}DSML{BAR}parameter name="pier" '
        f'string="true">North</{BAR}DSML{BAR}parameter><{BAR}DSML{BAR}parameter name="day" string="false">3'
        f"</{BAR}DSML{BAR}parameter></{BAR}DSML{BAR}invoke></{BAR}DSML{BAR}function_calls>",
        '<|tool_call>call:tide_at{pier:<|"|>North<|"|>,day:3}<tool_call|>',
        "<start_function_call>call:tide_at{pier:<escape>North<escape>,day:3}<end_function_call>",
        "<|tool_call_start|>[tide_at(pier='North', day=3)]<|tool_call_end|>",
        '<function_calls>tide_at(pier="North", day=3)</function_calls>',
        '```tool_code\ntide_at(pier="North", day=3)\n```',
        '[tide_at(pier="North", day=3)]',
        'tide_at pier="North" day=3',
        f"✿FUNCTION✿: tide_at\n✿ARGS✿: {ARGS}\n✿RESULT✿: {{}}",
        '<|python_start|>[tide_at(pier="North", day=3)]<|python_end|>',
        f"<tool_calls>\n<tool_call>tide_at\n```json\n{ARGS}\n```</tool_call>\n</tool_calls>",
    ],
)
def test_the_tokens_of_model_families_are_known(text: str) -> None:
    assert read_tool_calls(text) == [TIDE]
    assert read_tool_calls(f"<think>Perhaps {OBJECT.replace('tide_at', 'drop')}?</think>{text}") == [TIDE]


@pytest.mark.parametrize(
    "text",
    [
        f"to=tide_at {ARGS}",
        f"TOOL: tide_at\nINPUT: {ARGS}",
        'Tool call: tide_at(pier="North", day=3)',
        '**Function Call**: `tide_at(pier="North", day=3)`',
        'Call: tide_at(pier="North", day=3)<bot_end>',
        '<function name="tide_at"><param name="pier">North</param><param name="day">3</param></function>',
        '<x:function_call name="tide_at"><parameter name="pier">North</parameter><parameter name="day">3</parameter>'
        "</x:function_call>",
        f"<tool>tide_at</tool><tool_input>{ARGS}</tool_input>",
        '<execute>\nprint(tide_at(pier="North", day=3))\n</execute>',
        '<tool_code>\ntide = await tide_at(pier="North", day=3)\n</tool_code>',
        '```python\ntide_at(pier="North", day=3)\n```',
        'tide = tide_at(pier="North", day=3)',
        f'{{"tool_name": "tide_at", "tool_args": {ARGS}}}',
    ],
)
def test_the_words_and_tags_of_model_families_are_known_at_the_beginning_of_a_line(text: str) -> None:
    assert read_tool_calls(text) == [TIDE]
    assert read_tool_calls(f"<think>Perhaps {OBJECT.replace('tide_at', 'drop')}?</think>\n{text}") == [TIDE]


def test_several_calls_come_in_their_order() -> None:
    text = f"Both. <tool_call>{OBJECT}</tool_call>\n<tool_call>{{'name': 'close', 'arguments': {{}}}}</tool_call>"
    assert read_tool_calls(text) == [TIDE, ("close", {})]
    assert read_model_text(text).prose == "Both."
    assert read_tool_calls("[a(x=1), b()]") == [("a", {"x": 1}), ("b", {})]
    assert read_tool_calls("<tool_calls>\n" + OBJECT + "\n" + OBJECT + "\n</tool_calls>") == [TIDE, TIDE]


def test_values_in_elements_are_numbers_only_where_json_writes_them_so() -> None:
    body = "".join(
        f"<parameter={name}>{value}</parameter>"
        for name, value in {
            "a": "007",
            "b": "1.50",
            "c": "true",
            "d": '"x"',
            "e": "[1]",
            "f": "9" * 40,
            "g": "x\n",
        }.items()
    )
    ((_, inputs),) = read_tool_calls(f"<function=f>{body}</function>")
    assert inputs == {"a": "007", "b": 1.5, "c": True, "d": '"x"', "e": [1], "f": "9" * 40, "g": "x"}


def test_words_of_python_may_name_arguments() -> None:
    assert read_tool_calls('[book(from="A", class=2, lambda=None)]') == [
        ("book", {"from": "A", "class": 2, "lambda": None})
    ]


def test_a_thought_is_neither_call_nor_prose_even_where_its_opening_is_in_the_prompt() -> None:
    draft = OBJECT.replace("tide_at", "drop")
    assert read_tool_calls(f"I might {draft}.\n</think>\n{OBJECT}") == [TIDE]
    assert read_model_text(f"<think>{draft}</think>Nothing to do.").prose == "Nothing to do."


def test_a_text_that_ends_inside_a_thought_is_an_error() -> None:
    with pytest.raises(ReadError, match="ends inside a thought"):
        read_tool_calls(f"<think>I might {OBJECT}")


def test_calls_after_a_result_that_the_model_made_up_are_left_out_and_said_so() -> None:
    text = f"<tool_call>{OBJECT}</tool_call><tool_response>{OBJECT}</tool_response><tool_call>{OBJECT}</tool_call>"
    found = read_model_text(text)
    assert len(found.calls) == 1
    assert any("left out" in repair for repair in found.repaired)


def test_a_marked_call_and_another_one_outside_contradict_each_other() -> None:
    with pytest.raises(ReadError, match="another answer"):
        read_tool_calls(f'{{"name": "other", "arguments": {{}}}} or <tool_call>{OBJECT}</tool_call>')
    assert read_tool_calls(f"{OBJECT} as <tool_call>{OBJECT}</tool_call>") == [TIDE]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "tide_at", "arguments": {"pier": "No',
        '<tool_call>{"name": "tide_at", "arguments": {"pier": "North"',
        "<tool_call>",
        "<function=tide_at><parameter=pier>North</parameter>",
        "<function=tide_at><parameter=pier>No",
        "<tool_call>tide_at<arg_key>pier</arg_key><arg_value>No",
        "[TOOL_CALLS]tide_at[ARGS]{",
        '[tide_at(pier="North"',
        '[tide_at(pier="North", pier="South")]',
        "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>",
        '<|tool_call>call:tide_at{pier:<|"|>North',
        "<|channel|>commentary to=functions.tide_at<|message|>North",
    ],
)
def test_a_call_that_is_cut_off_or_says_a_thing_twice_is_an_error(text: str) -> None:
    with pytest.raises(ReadError, match=r"line \d+, column \d+: .* >>> "):
        read_tool_calls(text)
