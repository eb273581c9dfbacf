"""Decompositions are followed by the planner without a model, by a model and by a stream."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.planning_cases import ALICE, BLOG, answer, schema

from toolpath import Settings, Toolpath
from toolpath.errors import ReadError
from toolpath.model.plan import Call, Plan
from toolpath.planner.by_model.streaming import PlanWritten
from toolpath.planner.decompose import read_decomposition
from toolpath.planner.in_parts import along, text_in_parts
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import decode

TEXT = "Create author Alice with email alice@test.com and then forecast the weather of Berlin"
PARTS = {
    "originalQuery": TEXT,
    "queryType": "multi_hop",
    "subQueries": [
        {
            "id": "b",
            "query": "forecast the weather of Berlin",
            "suggestedTool": "weather.forecast",
            "dependencies": ["a"],
        },
        {"id": "a", "query": "create author Alice with email alice@test.com", "suggestedTool": "blog.createAuthor"},
    ],
}


def request(**fields: Any) -> PlanRequest:
    return PlanRequest(text=TEXT, decomposition=read_decomposition({**PARTS, **fields}))


def test_parts_are_read_in_the_order_of_their_stages_unless_they_are_unsure() -> None:
    options = PlannerOptions()
    first, second = text_in_parts(request(), options).split(". ")
    assert first.startswith("Create author Alice")
    assert second.startswith("Forecast")
    assert text_in_parts(request(confidence=0.2), options) == TEXT
    assert text_in_parts(PlanRequest(text=TEXT), options) == TEXT
    assert text_in_parts(request(subQueries=[]), options) == TEXT


def test_a_part_waits_for_those_it_needs_and_what_nobody_asked_for_is_asked() -> None:
    steps = (
        Call(id="author", tool="blog.createAuthor", inputs={"name": "Alice", "email": "alice@test.com"}),
        Call(id="post", tool="blog.createBlog", inputs={"authorId": "1", "title": "Hello", "content": "x"}),
    )
    parts = [
        {"id": "a", "query": "x", "suggestedTool": "blog.createAuthor"},
        {"id": "b", "query": "y", "suggestedTool": "blog.createBlog", "dependencies": ["a"]},
    ]
    asked = PlanRequest(
        text="Create author Alice with email alice@test.com",
        decomposition=read_decomposition({**PARTS, "subQueries": parts}),
    )
    found = along(Plan(steps=steps), asked, BLOG, PlannerOptions())
    assert [step.depends_on for step in found.steps] == [(), ("author",)]
    assert found.questions, "parts that the request does not say are nobody's command"


def tools(chat: Any = None) -> Toolpath:
    tp = Toolpath(chat=chat, settings=Settings())
    tp.add(
        scripted(
            "blog.createAuthor",
            then={"_id": "a"},
            effect="write",
            description="Create an author.",
            input_schema=schema("name", "email"),
        ),
        scripted(
            "weather.forecast",
            then={"sky": "blue"},
            effect="read",
            description="Forecast the weather of a city.",
            input_schema=schema("city"),
        ),
    )
    return tp


async def test_the_planner_without_a_model_follows_one() -> None:
    async with tools() as tp:
        plan = await tp.plan(TEXT, planner="offline", decomposition=PARTS)
        assert [(step.tool, step.depends_on) for step in plan.steps if isinstance(step, Call)] == [
            ("blog.createAuthor", ()),
            ("weather.forecast", (plan.steps[0].id,)),
        ]
        assert plan.origin.request == TEXT


@pytest.mark.parametrize("streams", [False, True])
async def test_a_model_is_told_its_parts_and_its_kind(streams: bool) -> None:
    steps = [ALICE, {"id": "sky", "tool": "weather.forecast", "inputs": {"city": "Berlin"}}]
    chat = ScriptedChat(then=answer(*steps))
    async with tools(chat) as tp:
        if streams:
            parts = [part async for part in tp.planning.stream(TEXT, decomposition=PARTS)]
            assert isinstance(parts[-1], PlanWritten)
        else:
            await tp.plan(TEXT, decomposition=PARTS)
    told = decode(chat.requests[0].messages[0].text)
    assert told["query_type"] == "multi_hop"
    assert [part["id"] for part in told["parts"]] == ["b", "a"]


async def test_a_decomposition_is_of_the_request_that_it_is_given_with() -> None:
    async with tools(ScriptedChat()) as tp:
        text = "Create author Alice with email alice@test.com"
        plan = await tp.plan(text, planner="offline", decomposition={"sub_queries": [{"id": "a", "query": text}]})
        assert [step.tool for step in plan.steps if isinstance(step, Call)] == ["blog.createAuthor"]
        with pytest.raises(ReadError, match="no 'sub_queries'"):
            await tp.plan(text, planner="offline", decomposition={"sub_querys": [{"id": "a", "query": text}]})
