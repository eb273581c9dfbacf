"""Scripted tools: replies in order, calls remembered, gaps told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolpath.errors import ToolFailed, ToolRetry
from toolpath.model.tool import Body, Tool
from toolpath.testing.scripted import ScriptedTool, scripted


async def call(tool: ScriptedTool, **inputs: Any) -> Any:
    assert isinstance(tool.body, Body)
    returned = tool.body.invoke(inputs, None)
    return await returned if asyncio.iscoroutine(returned) or asyncio.isfuture(returned) else returned


async def test_a_scripted_tool_is_a_tool_with_its_fields() -> None:
    tool = scripted("blog.create", 1, effect="write", description="Creates.")
    assert isinstance(tool, Tool)
    assert (tool.key, tool.effect, tool.description) == ("blog.create", "write", "Creates.")


async def test_replies_come_in_order_and_calls_are_remembered() -> None:
    tool = scripted("t", {"a": 1}, [2], None)
    assert [await call(tool, n=n) for n in range(3)] == [{"a": 1}, [2], None]
    assert tool.calls == [{"n": 0}, {"n": 1}, {"n": 2}]
    tool.assert_complete()


async def test_exceptions_are_raised_functions_called_and_awaitables_awaited() -> None:
    later: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    later.set_result("later")
    tool = scripted("t", ToolRetry("soon"), ConnectionResetError, lambda inputs: inputs["x"] + 1, later)
    with pytest.raises(ToolRetry, match="soon"):
        await call(tool)
    with pytest.raises(ConnectionResetError):
        await call(tool)
    assert await call(tool, x=1) == 2
    assert await call(tool) == "later"


async def test_a_call_after_the_script_fails_and_is_told() -> None:
    tool = scripted("t", 1)
    await call(tool)
    with pytest.raises(ToolFailed, match="called 2 times; its script has 1"):
        await call(tool)
    with pytest.raises(AssertionError, match="1 calls came after"):
        tool.assert_complete()


async def test_then_answers_for_ever() -> None:
    tool = scripted("t", 1, then=2)
    assert [await call(tool) for _ in range(4)] == [1, 2, 2, 2]
    tool.assert_complete()


def test_replies_that_were_not_asked_for_are_told() -> None:
    with pytest.raises(AssertionError, match="2 replies were never asked for"):
        scripted("t", 1, 2).assert_complete()
