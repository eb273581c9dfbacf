"""From a request to its results: real client, planner and engine together."""

from __future__ import annotations

import pytest
from tests.planner.planning_cases import ALICE, AUTHOR, HELLO, REQUEST, answer, ground, schema

from toolpath.app import Toolpath
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.model_providers import Api
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.records import PlanRequest
from toolpath.testing.model_replies import Fails
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted import scripted
from toolpath.values import encode


def text_of(*steps: dict[str, object]) -> str:
    return encode({**answer(*steps), "outputs": {"post": "{{ post._id }}"}}).decode()


@pytest.mark.parametrize("api", ["anthropic", "openai", "openai-responses", "google", "ollama"])
async def test_a_request_is_planned_by_a_model_mended_and_run(api: Api) -> None:
    wrong = {**HELLO, "inputs": {**HELLO["inputs"], "authorId": "{{ author.uid }}"}}
    author = scripted(
        "blog.createAuthor",
        {"_id": "a1", "name": "Alice"},
        effect="write",
        input_schema=schema("name", "email"),
        output_schema=AUTHOR,
        output_validation="strict",
    )
    post = scripted(
        "blog.createBlog", {"_id": "b1"}, effect="write", input_schema=schema("authorId", "title", "content")
    )
    limits = ChatLimits(initial_delay=0.001)
    async with ModelServer(Fails(status=503), text_of(ALICE, wrong), text_of(ALICE, HELLO)) as server:
        url = server.url if api in ("anthropic", "google") else f"{server.url}/v1"
        choice = ModelChoice(api=api, model="some-model", key="k" * 12, base_url=url)
        async with ModelChat(choice, limits=limits) as chat, Toolpath() as tp:
            tp.add(author, post)
            planned = await plan_with_model(PlanRequest(text=REQUEST), ground(chat, tp.registry.snapshot()))
            result = await tp.run(planned.plan)
    assert result.success
    assert result.outputs == {"post": "b1"}
    assert post.calls == [{"authorId": "a1", "title": "Hello", "content": "world"}]
    assert [len(one.findings) > 0 for one in planned.record.rounds] == [True, False]
    assert planned.record.usage.total == 36
    assert len(server.requests) == 3
