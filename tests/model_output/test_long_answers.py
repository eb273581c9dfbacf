"""Long answers of models: where a part may begin is found fast, and nobody else waits for them to be read."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.agents.asked_calls import asked_in, read_reply
from toolpath.model.chat import ChatReply
from toolpath.model_output.model_text import read_tool_calls
from toolpath.model_output.scan import _AT_ONCE, _BEGINS, _begins

#: Pieces of all that begins a part, and of what stands around it.
_PIECES = """word ~\n~ ~  ~\t~<~think>~</think>~[THINK]~<\uff5ctool~\u25c1think\u25b7~analysis~assistantanalysis ~
assistantfinal ~commentary ~to=functions.x~<|channel|>~final~<|message|>~assistantcommentary {~{~"a": 1}~[~]~>>>x\n~
all\n~Observation:~
Tool result:~<tool_call>~<function=x>~<invoke name="x">~<tool_use>~<a_b>~```~```json\n~```tool_code\n~x = f(~Code:\n~
<code>\n~default_api.x(~Action: x\n~Action Input: ~Action: f(~PAUSE~Function: x\n~Parameters: ~\u273fFUNCTION\u273f: x\n
~#E1 = x[~1. f(~2) f(~- tool: x\n~* f("""
_TEXTS = st.lists(st.sampled_from(_PIECES.split("~")), max_size=14).map("".join)


@settings(max_examples=1_000)
@given(_TEXTS, st.integers(0, 30))
def test_a_part_is_found_where_all_patterns_would_find_it(text: str, at: int) -> None:
    at = min(at, len(text))
    slow, fast = _BEGINS.search(text, at), _begins(text, at)
    assert (slow and slow.span()) == (fast and fast.span())


@pytest.mark.parametrize("before", range(-12, 3))
@pytest.mark.parametrize("part", ["assistantcommentary{", "<tool_call>", "to=functions.x {", "\n1. f("])
def test_a_part_at_the_edge_of_what_is_looked_through_at_once_is_found(part: str, before: int) -> None:
    text = "x " * (_AT_ONCE // 2) + "x" * 20
    text = f"{text[: _AT_ONCE + before]} {part}{text[:100]}"
    # Before the edge stands nothing that begins: all patterns at once are slow to find that.
    slow = _BEGINS.search(text, _AT_ONCE - 100)
    fast = _begins(text, 0)
    assert slow is not None
    assert fast is not None
    assert fast.span() == slow.span()


def test_a_call_behind_much_prose_is_read() -> None:
    call = '<tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call>'
    assert read_tool_calls("Let me think about it. " * 9_000 + call) == [("price", {"item": "tea"})]


@pytest.mark.parametrize("piece", ["word ", "a < b ", "<b>x</b> ", "{ ", "f(", "- x\n", " "])
async def test_others_go_on_while_a_long_answer_is_read(piece: str) -> None:
    reply = ChatReply(text=(piece * 200_000)[:190_000])
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(others())
    asked = await read_reply(reply, 1)
    beside.cancel()
    assert turns
    assert asked == asked_in(reply, 1)
