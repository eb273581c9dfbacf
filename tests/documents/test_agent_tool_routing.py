"""Routing requests to connected tools: what its document shows of formats, fallbacks and its example workflow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.testing.scripted import ScriptedTool, scripted
from toolpath.testing.scripted_chat import ScriptedChat

SEARCH_CALL = {"tool_name": "web_search", "operation": "search", "args": {"query": "flights to Paris"}}
EVENT_CALL = {
    "tool_name": "calendar",
    "operation": "create_event",
    "args": {"title": "{{ web_search.search.title }}"},
}
REQUEST = "Find flights to Paris and add to my calendar"
#: The part of it that one call does; a plan that drops the rest asks about it.
SEARCH = "Find flights to Paris"


def text(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


def tools(search: Any = None) -> tuple[ScriptedTool, ScriptedTool]:
    """The two connected tools of the example."""
    found = search or (lambda inputs: {"title": f"result for {inputs['query']}"})
    return (
        scripted(
            "web_search.search",
            then=found,
            description="Search the web for information",
            capabilities=("search.web",),
            input_schema=text("query"),
            output_schema=text("title"),
            effect="read",
        ),
        scripted(
            "calendar.create_event",
            then=lambda inputs: {"created": inputs["title"]},
            description="Create a calendar event",
            input_schema=text("title"),
            effect="write",
        ),
    )


async def routed(answer: Any, *connected: ScriptedTool, request: str = REQUEST) -> tuple[Any, Any]:
    """What was chosen, and what came of calling it."""
    async with Toolpath(chat=ScriptedChat(answer)) as tp:
        tp.add(*connected)
        found = await tp.route(request, planner="model")
        return found, None if found.plan is None else await tp.run(found.plan)


async def test_natural_language_only_is_an_answer() -> None:
    found, result = await routed("I can search and plan events.", *tools(), request="What can you do?")
    assert (found.plan, result, found.text) == (None, None, "I can search and plan events.")


WRITTEN: list[Callable[[Any], Any]] = [
    lambda answer: answer,
    json.dumps,
    lambda answer: f"Sure:\n```json\n{json.dumps(answer, indent=2)}\n```\n",
]


@pytest.mark.parametrize("write", WRITTEN, ids=["object", "text", "fence"])
async def test_a_single_tool_call(write: Callable[[Any], Any]) -> None:
    search, event = tools()
    found, result = await routed(write({"tool_call": SEARCH_CALL}), search, event, request=SEARCH)
    assert (search.calls, event.calls, result.success) == ([{"query": "flights to Paris"}], [], True)
    assert found.record.decisions[0].how == "exact"


@pytest.mark.parametrize("write", WRITTEN, ids=["object", "text", "fence"])
async def test_the_example_workflow_calls_both_in_order_with_data_flow(write: Callable[[Any], Any]) -> None:
    search, event = tools()
    found, result = await routed(write({"tool_calls": [SEARCH_CALL, EVENT_CALL]}), search, event)
    assert result.success
    assert event.calls == [{"title": "result for flights to Paris"}]
    assert found.record.order == ("web_search.search", "calendar.create_event")


async def test_a_mixed_response_has_words_and_a_call() -> None:
    search, event = tools()
    answer = {"natural_language_response": "Let me look.", "tool_call": SEARCH_CALL}
    found, result = await routed(answer, search, event, request=SEARCH)
    assert (found.text, result.success, len(search.calls)) == ("Let me look.", True, 1)


@pytest.mark.parametrize("name", ["web_serch", "webSearch", "Web Search", "search.web", "web-search.search"])
async def test_a_name_that_is_nearly_right_finds_its_tool(name: str) -> None:
    search, event = tools()
    answer = {"tool_call": {"tool_name": name, "args": {"query": "flights to Paris"}}}
    _, result = await routed(answer, search, event, request=SEARCH)
    assert (result.success, search.calls) == (True, [{"query": "flights to Paris"}])


async def test_a_name_that_fits_nothing_gives_the_document_s_message_and_calls_nothing() -> None:
    search, event = tools()
    found, result = await routed({"tool_call": {"tool_name": "launch_rocket", "args": {}}}, search, event)
    assert (result, search.calls, event.calls) == (None, [], [])
    assert found.message.startswith(
        "Agent could not determine a matching tool. Connected tools: [web_search, calendar]"
    )


async def test_the_other_tools_go_on_where_one_fails() -> None:
    search, event = tools(ValueError("the web is away"))
    answer = {"tool_calls": [SEARCH_CALL, {**EVENT_CALL, "args": {"title": "Paris"}}]}
    async with Toolpath(chat=ScriptedChat(answer)) as tp:
        tp.add(scripted("web_search.search", then=ValueError("away"), input_schema=text("query"), effect="read"), event)
        found = await tp.route(REQUEST, planner="model")
        result = await tp.run(found.plan)
    assert not result.success
    assert {step.tool: step.status for step in result.results} == {
        "web_search.search": "failed",
        "calendar.create_event": "succeeded",
    }
    assert search.calls == []
