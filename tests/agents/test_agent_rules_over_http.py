"""Each rule of an agent's rounds, and what hostile answers come to, with the clients of real providers.

| rule | test |
| --- | --- |
| thirty rounds; the last is told of, with `terminate` alone, and may end with a summary | `test_the_last_round_…` |
| a request is made again by its client, with growing pauses | `test_agents_over_http.py` (busy) |
| a model that calls nothing is told to, and given up after three answers | `test_text_without_a_call_…` |
| an answer that only talks on is no result, however long | `test_text_without_a_call_…`, `test_hostile_models.py` |
| all requests fail: the agent fails with the reason and how often it was tried | `test_when_every_request_fails_…` |
| several calls at once: reads together, results in call order, each once | `test_calls_of_one_answer_…` |
| `terminate` beside other calls is refused | `test_terminate_beside_other_calls_…` |
| a missing required argument is never blank | `test_a_missing_argument_…` |
| `terminate` has the columns, by either comma, typed | `test_the_result_has_the_columns_…` |
| the same again and again: told after three, given up after eight | `test_the_same_again_and_again_…` |
| the window of the conversation, by size | `test_old_results_are_left_out_…` |
| a model of each step's own | `test_each_step_asks_its_own_model` |
| forms; interrupts | `test_agents_and_people.py` |
| the record of each round | `tests/server/test_plan_service.py` |
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.agents.agent_cases import World, agent
from tests.agents.test_agents_over_http import MODELS
from tests.engine.engine_cases import ran

from toolpath import Settings, Toolpath, tool
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model import events as ev
from toolpath.model.model_providers import Api
from toolpath.testing.model_replies import Breaks, Calls, Fails, Hangs, Says, Sends
from toolpath.testing.model_server import ModelServer

DONE = Calls(calls=(("terminate", {"message": "ended"}),))
SEARCH = Calls(calls=(("web--search", {"query": "tea"}),))

pytestmark = pytest.mark.parametrize("api", ["openai", "anthropic"])


async def worked(server: ModelServer, api: Api, plan: Any, *tools: Any, timeout: float = 20.0, **settings: Any) -> Any:
    url = server.url if api == "anthropic" else f"{server.url}/v1"
    choice = ModelChoice(api=api, model=MODELS[api], key="sk-0123456789", base_url=url)
    chat = ModelChat(choice, limits=ChatLimits(timeout=timeout, initial_delay=0.01))
    async with Toolpath(settings=Settings(**settings), chat=chat) as tp:
        tp.add(*tools)
        found = await ran(tp, await tp.run(plan))
    await chat.close()
    return found


def code_of(found: Any) -> str:
    return "" if found.result.error is None else str(found.result.error.code)


def refusals(found: Any) -> list[str]:
    return [event.error.code for event in found.of(ev.StepFailed) if "/act[" in event.path]


def offered(server: ModelServer, number: int = -1) -> list[str]:
    body: Any = server.requests[number].body
    return [each.get("function", each)["name"] for each in body["tools"]]


async def test_text_without_a_call_is_told_and_given_up_after_three_answers(api: Api) -> None:
    talk = Says(text="Let me think about it. " * 500)
    async with ModelServer(talk, SEARCH, talk, talk, talk) as server:
        found = await worked(server, api, agent(), *World().tools())
    assert (found.status, code_of(found), len(server.requests)) == ("failed", "no_tool_call", 5)
    assert "You called no tool" in json.dumps(server.requests[1].body)


async def test_when_every_request_fails_the_agent_fails_with_the_reason_and_how_often_it_was_tried(api: Api) -> None:
    async with ModelServer(then=Fails(status=503, message="overloaded")) as server:
        found = await worked(server, api, agent(), *World().tools())
    assert found.status == "failed"
    error = found.result.error
    assert len(server.requests) == 3
    assert all(words in error.message for words in ("503", "overloaded", "asked 3 times"))


async def test_calls_of_one_answer_are_made_once_and_told_in_their_order(api: Api) -> None:
    made: list[int] = []

    @tool(effect="read")
    async def look(n: int) -> str:
        made.append(n)
        return f"look {n}"

    @tool(effect="write")
    async def save(n: int) -> str:
        made.append(n)
        return f"save {n}"

    both = Calls(calls=(("look", {"n": 1}), ("look", {"n": 2}), ("save", {"n": 3}), ("look", {"n": 4})))
    async with ModelServer(both, DONE) as server:
        found = await worked(server, api, agent(), look, save)
    assert (found.outputs, sorted(made), made.index(3)) == ("ended", [1, 2, 3, 4], 2)
    told = json.dumps(server.requests[1].body)
    places = [told.rindex(words) for words in ("look 1", "look 2", "save 3", "look 4")]
    assert places == sorted(places)


async def test_terminate_beside_other_calls_is_refused_and_they_are_made(api: Api) -> None:
    world = World()
    both = Calls(calls=(("web--search", {"query": "tea"}), ("terminate", {"message": "too soon"})))
    async with ModelServer(both, DONE) as server:
        found = await worked(server, api, agent(), *world.tools())
    assert (found.outputs, world.calls, refusals(found)) == ("ended", [("search", "tea")], ["not_alone"])


@pytest.mark.parametrize("arguments", [{}, {"query": None}, {"qeury": "tea"}])
async def test_a_missing_argument_is_told_and_never_made_up(api: Api, arguments: dict[str, Any]) -> None:
    world = World()
    async with ModelServer(Calls(calls=(("web--search", arguments),)), DONE) as server:
        found = await worked(server, api, agent(), *world.tools())
    assert (found.outputs, world.calls) == ("ended", [])
    assert "query" in json.dumps(server.requests[1].body["messages"][-1])  # type: ignore[index]


@pytest.mark.parametrize("comma", [",", "\uff0c"])
async def test_the_result_has_the_columns_that_are_wanted_with_their_types(api: Api, comma: str) -> None:
    config = {"title": "T", "steps": [{"stepRequirement": "Count.", "terminateColumns": f"title{comma} pages"}]}
    wrong = [
        {"message": "a text"},
        {"message": [{"title": "Tea"}]},
        {"message": [{"title": "Tea", "pages": "2"}], "x": 1},
    ]
    right = {"message": [{"title": "Tea", "pages": "2"}]}
    replies = [Calls(calls=(("terminate", given),)) for given in (*wrong[:2], right)]
    async with ModelServer(*replies) as server, Toolpath() as tp:
        template = await tp.templates.save(config)
        plan = await tp.templates.plan(template)
        found = await worked(server, api, plan)
    assert found.result.outputs == [{"title": "Tea", "pages": "2"}]
    assert refusals(found) == ["wrong_input", "wrong_input"]


async def test_the_same_again_and_again_is_told_after_three_and_given_up_after_eight(api: Api) -> None:
    async with ModelServer(then=SEARCH) as server:
        found = await worked(server, api, agent(), *World().tools())
    assert (code_of(found), len(server.requests)) == ("repeated", 8)
    told = ["three times in a row" in json.dumps(received.body) for received in server.requests]
    assert told == [False] * 3 + [True] * 5


async def test_the_last_round_is_told_of_and_ends_with_what_was_found_or_not_at_all(api: Api) -> None:
    pages = [Calls(calls=(("web--read", {"page": str(number)}),)) for number in range(2)]
    summary = Calls(calls=(("terminate", {"message": "Two pages were read; the third is missing."}),))
    async with ModelServer(*pages, summary) as server:
        found = await worked(server, api, agent(max_rounds=3), *World().tools())
    assert found.outputs == "Two pages were read; the third is missing."
    assert (offered(server), "web--read" in offered(server, 0)) == (["terminate"], True)
    assert "the last round" in json.dumps(server.requests[-1].body)
    async with ModelServer(*pages, SEARCH) as server:
        found = await worked(server, api, agent(max_rounds=3), *World().tools())
    assert (code_of(found), len(server.requests)) == ("max_rounds", 3)


async def test_old_results_are_left_out_where_the_conversation_grows_and_the_goal_stays(api: Api) -> None:
    @tool(effect="read")
    async def page(n: int) -> str:
        return f"page {n} " + "x" * 3_000

    turns = [Calls(calls=(("page", {"n": number}),)) for number in range(8)]
    async with ModelServer(*turns, DONE) as server:
        found = await worked(server, api, agent("Read the book."), page, agent_context=20_000)
    assert found.outputs == "ended"
    last = json.dumps(server.requests[-1].body)
    assert len(last) < 25_000
    assert all(words in last for words in ("Read the book.", "were left out", "page 0 ", "page 7 "))


async def test_each_step_asks_its_own_model(api: Api) -> None:
    steps = [
        {"id": name, "agent": {"requirement": name, **model}} for name, model in (("a", {}), ("b", {"model": "m-2"}))
    ]
    async with ModelServer(then=DONE) as server:
        found = await worked(server, api, {"flow": "chain", "steps": steps})
    assert found.status == "completed", found.result.error
    assert [received.body["model"] for received in server.requests] == [MODELS[api], "m-2"]  # type: ignore[index]


# Hostile answers.


@pytest.mark.parametrize(
    "reply",
    [
        Says(text=""), Sends(body=b""), Sends(body=b"{}"), Sends(body=b"<html>busy</html>", content_type="text/html"),
        Sends(body=b'{"choices": "no", "content": 7}'), Breaks(text="Well, I would say that"),
        Sends(body=b"[" * 100_000), Sends(body="\ud800".encode("utf-8", "surrogatepass")),
    ],
    ids=["nothing", "no bytes", "no answer", "a page", "of other types", "breaks off", "nested", "half a character"],
)  # fmt: skip
async def test_an_answer_that_is_none_ends_the_agent_in_words(api: Api, reply: Any) -> None:
    async with ModelServer(then=reply) as server:
        found = await worked(server, api, agent(), *World().tools())
    assert found.status == "failed"
    assert found.result.error is not None
    assert found.result.error.message
    assert code_of(found) != "internal", found.result.error
    assert len(server.requests) <= 12


async def test_a_model_that_never_answers_is_given_up_in_its_time(api: Api) -> None:
    async with ModelServer(then=Hangs()) as server:
        found = await worked(server, api, agent(budget={"time": 1}), *World().tools(), timeout=0.3)
    assert found.status == "failed"
    assert found.result.error is not None


async def test_of_a_thousand_calls_at_once_few_are_made(api: Api) -> None:
    world = World()
    many = Calls(calls=tuple(("web--search", {"query": str(number)}) for number in range(1_000)))
    async with ModelServer(many, DONE) as server:
        found = await worked(server, api, agent(), *world.tools())
    assert (found.outputs, len(world.calls)) == ("ended", 32)
    assert refusals(found) == ["too_many_calls"]
    assert "968 further calls" in json.dumps(server.requests[1].body)


async def test_tools_that_were_not_given_are_not_called(api: Api) -> None:
    world = World()
    calls = Calls(calls=(("blog--post", {"title": "x"}), ("toolpath--chat", {}), ("../../bin/sh", {}), ("", {})))
    async with ModelServer(calls, DONE) as server:
        found = await worked(server, api, agent(tools=["web.search"]), *world.tools())
    assert (found.status, world.calls) == ("completed", []), found.result.error
    assert set(refusals(found)) <= {"unknown_tool"}


async def test_arguments_of_ten_megabytes_are_refused_and_not_sent_again(api: Api) -> None:
    world = World()
    large = Calls(calls=(("web--search", {"query": "x" * 10_000_000}),))
    async with ModelServer(large, DONE) as server:
        found = await worked(server, api, agent(), *world.tools())
    assert (found.outputs, world.calls, refusals(found)) == ("ended", [], ["wrong_input"])
    assert len(json.dumps(server.requests[1].body)) < 100_000
