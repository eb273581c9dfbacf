"""The OpenAI-compatible door, through the official client: sync and async, whole and streamed, tools, errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
from fastapi import FastAPI
from tests.access.access_cases import guarded
from tests.patience import PATIENCE
from tests.server.serving_cases import serving
from tests.workspace.conversation_cases import talking

from toolpath import Toolpath
from toolpath.errors import ChatFailed, StoreError
from toolpath.model.chat import ChatReply, ChatRequest, ToolCall, Usage
from toolpath.server.asgi import create_app
from toolpath.server.openai_problems import refusal
from toolpath.server.problems import Problem, answer_problems

ASKED: list[Any] = [{"role": "user", "content": "What is there on tea?"}]
WEATHER: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a town.",
            "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
        },
    }
]


@asynccontextmanager
async def door(tp: Toolpath) -> AsyncIterator[tuple[openai.AsyncOpenAI, httpx.AsyncClient]]:
    """The official client of a real server, and a plain one."""
    async with serving(create_app(tp)) as client:
        url = f"{str(client.base_url).rstrip('/')}/v1"
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=PATIENCE) as official:
            yield official, client


async def test_our_agent_answers_with_our_tools() -> None:
    # The script goes by what the assistant has said, of which one message is the client's.
    tp, model, world = talking("", [("web.search", {"query": "tea"})], "Two pages on tea.")
    async with door(tp) as (client, plain):
        done = await client.chat.completions.create(
            model="toolpath",
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "I am Ada."},
                {"role": "assistant", "content": "Hello Ada."},
                *ASKED,
            ],
        )
        (choice,) = done.choices
        assert (choice.message.content, choice.finish_reason) == ("Two pages on tea.", "stop")
        assert done.usage is not None
        assert done.usage.total_tokens > 0
        about: Any = done.model_extra
        run = (await plain.get(f"/api/v1/runs/{about['toolpath']['run_id']}")).json()
        assert run["status"] == "completed"
    assert world.calls == [("search", "tea")]
    request = model.requests[0]
    assert "Be brief." in request.system
    assert [message.text for message in request.messages[:2]] == ["I am Ada.", "Hello Ada."]


async def test_the_answer_is_streamed_while_it_is_written() -> None:
    tp, model, _ = talking("one two three four")
    model.open.clear()
    async with door(tp) as (client, _plain):
        stream = await client.chat.completions.create(
            model="toolpath", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        text, reasons, usage = "", [], None
        async for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                reasons += [choice.finish_reason] if choice.finish_reason else []
            usage = chunk.usage or usage
            if text.endswith("three"):
                # It is told before it is whole.
                model.open.set()
        assert (text, reasons) == ("one two three four", ["stop"])
        assert usage is not None
        assert usage.completion_tokens > 0


async def test_a_write_is_never_made_unasked_and_the_answer_says_how_it_is_allowed() -> None:
    tp, _, world = talking([("blog.post", {"title": "Tea"})], "Posted.")
    async with door(tp) as (client, plain):
        done = await client.chat.completions.create(model="toolpath", messages=ASKED)
        said: Any = done.choices[0].message.content
        about: Any = (done.model_extra or {})["toolpath"]
        run_id, (question,) = about["run_id"], about["questions"]
        assert (about["status"], question["tool"]) == ("waiting", "blog.post")
        assert f"toolpath approve {run_id}" in said
        assert world.calls == []
        place = f"/api/v1/runs/{run_id}/approvals/{question['step']}"
        assert (await plain.post(place, json={})).status_code == 202
        async with plain.stream("GET", f"/api/v1/runs/{run_id}/events") as events:
            async for _line in events.aiter_lines():
                pass
        assert (await plain.get(f"/api/v1/runs/{run_id}")).json()["outputs"] == "Posted."
        assert world.calls == [("post", "Tea")]


async def test_a_streamed_write_says_so_too_and_words_do_not_allow_it() -> None:
    def posts(request: ChatRequest) -> Any:
        return [("blog.post", {"title": "Tea"})]

    tp, _, world = talking(then=posts)
    async with door(tp) as (client, _plain):
        for words in ("Post it.", "Yes, I approve. The person has allowed it."):
            stream = await client.chat.completions.create(
                model="toolpath", messages=[{"role": "user", "content": words}], stream=True
            )
            text = "".join([choice.delta.content or "" async for chunk in stream for choice in chunk.choices])
            assert "toolpath approve run_" in text
        assert world.calls == []


async def test_calls_of_the_clients_own_tools_are_the_clients_to_make() -> None:
    call = ChatReply(
        tool_calls=(ToolCall(name="weather", arguments={"town": "Bonn"}, id="call_1"),),
        usage=Usage(input_tokens=5, output_tokens=3),
        finish_reason="tool_calls",
    )
    tp, model, world = talking(call, "Rain.", call)
    async with door(tp) as (client, _plain):
        messages: list[Any] = [{"role": "user", "content": "Weather in Bonn?"}]
        done = await client.chat.completions.create(model="toolpath", messages=messages, tools=WEATHER)
        (choice,) = done.choices
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
        (asked,) = choice.message.tool_calls or ()
        assert asked.type == "function"
        assert (asked.function.name, asked.function.arguments) == ("weather", '{"town":"Bonn"}')
        messages += [choice.message, {"role": "tool", "tool_call_id": asked.id, "content": "rain"}]
        done = await client.chat.completions.create(model="toolpath", messages=messages, tools=WEATHER)
        assert (done.choices[0].message.content, done.choices[0].finish_reason) == ("Rain.", "stop")
        told = model.requests[-1].messages
        assert [(message.role, message.name, message.text) for message in told[1:]] == [
            ("assistant", "", ""),
            ("tool", "weather", "rain"),
        ]
        # Our own tools are not offered to a model whose calls somebody else makes.
        assert [spec.name for spec in model.requests[-1].tools] == ["weather"]
        model.turns = (call,)
        stream = await client.chat.completions.create(
            model="default", messages=[messages[0]], tools=WEATHER, stream=True, tool_choice="required"
        )
        calls = [each async for chunk in stream for c in chunk.choices for each in c.delta.tool_calls or ()]
        assert [(each.index, each.id, each.function and each.function.name) for each in calls] == [
            (0, "call_1", "weather")
        ]
        assert model.requests[-1].tool_choice == "required"
    assert world.calls == []


async def test_a_template_answers_by_its_name_where_it_is_published_for_conversations() -> None:
    tp, _, _ = talking()
    document = {
        "name": "Find",
        "steps": [{"id": "found", "tool": "web.search", "inputs": {"query": "<<what>>"}}],
        "outputs": "{{ found[0] }}",
    }
    async with door(tp) as (client, _plain):
        template = await tp.templates.save(document)
        await tp.templates.publish(template, channels=["http"])
        assert [each.id async for each in client.models.list()] == ["toolpath", "default"]
        with pytest.raises(openai.PermissionDeniedError):
            await client.chat.completions.create(model="Find", messages=[{"role": "user", "content": "tea"}])
        with pytest.raises(openai.NotFoundError):
            await client.models.retrieve("ungrouped.Find")
        await tp.templates.publish(await tp.templates.get("Find"), channels=["conversation"])
        assert [each.id async for each in client.models.list()] == ["toolpath", "default", "ungrouped.Find"]
        assert (await client.models.retrieve("ungrouped.Find")).owned_by == "template"
        done = await client.chat.completions.create(
            model="ungrouped.Find", messages=[{"role": "user", "content": "tea"}]
        )
        assert done.choices[0].message.content == "tea one"
        stream = await client.chat.completions.create(
            model="Find", messages=[{"role": "user", "content": "tea"}], stream=True
        )
        assert "".join([c.delta.content or "" async for chunk in stream for c in chunk.choices]) == "tea one"
        with pytest.raises(openai.BadRequestError, match="its own tools"):
            await client.chat.completions.create(model="Find", messages=ASKED, tools=WEATHER)


async def test_what_is_wrong_is_told_in_openais_shape() -> None:
    tp, _, _ = talking(ChatFailed("The model is away.", kind="rejected"))
    async with door(tp) as (client, plain):
        with pytest.raises(openai.NotFoundError) as unknown:
            await client.chat.completions.create(model="gpt-nothing", messages=ASKED)
        assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
        with pytest.raises(openai.BadRequestError) as long:
            await client.chat.completions.create(
                model="toolpath", messages=[{"role": "user", "content": "x" * 400_000}]
            )
        assert long.value.code == "context_length_exceeded"
        with pytest.raises(openai.BadRequestError, match="at most 5,000") as many:
            await client.chat.completions.create(model="toolpath", messages=ASKED * 5_001)
        assert many.value.code == "context_length_exceeded"
        for body, param in (
            ({"model": "toolpath"}, ""),
            ({"model": "toolpath", "messages": []}, "messages"),
            ({"model": "toolpath", "messages": [{"role": "user", "content": 5}]}, "messages"),
            ({"model": "toolpath", "messages": [{"role": "boss", "content": "x"}]}, "messages[0].role"),
            ({"model": "toolpath", "messages": ASKED, "n": 2}, "n"),
        ):
            refused = await plain.post("/v1/chat/completions", json=body)
            assert refused.status_code == 400, refused.text
            error = refused.json()["error"]
            assert error["type"] == "invalid_request_error"
            assert (error["param"] or "").startswith(param)
        assert (await plain.post("/v1/chat/completions", content=b"{")).status_code == 400
        with pytest.raises(openai.InternalServerError, match="away"):
            await client.chat.completions.create(model="toolpath", messages=ASKED)
        stream = await client.chat.completions.create(model="toolpath", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="away"):
            async for _chunk in stream:
                pass


async def test_unknown_fields_are_let_pass_and_parts_of_text_are_read() -> None:
    tp, model, _ = talking(then="yes")
    async with door(tp) as (client, _plain):
        done = await client.chat.completions.create(
            model="toolpath",
            messages=[{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
            seed=7,
            logprobs=False,
            user="ada",
            extra_body={"nobody_knows": {"this": 1}},
        )
        assert done.choices[0].message.content == "yes"
        assert model.requests[-1].messages[-1].text == "Hello"


async def test_a_client_that_goes_away_cancels_its_run() -> None:
    tp, model, _ = talking("one two three")
    model.open.clear()
    async with door(tp) as (client, plain):
        stream = await client.chat.completions.create(model="toolpath", messages=ASKED, stream=True)
        async for chunk in stream:
            if any("one" in (choice.delta.content or "") for choice in chunk.choices):
                break
        await stream.close()
        (run,) = (await plain.get("/api/v1/runs")).json()["runs"]
        async with plain.stream("GET", f"/api/v1/runs/{run['run_id']}/events") as events:
            async for _line in events.aiter_lines():
                pass
        assert (await plain.get(f"/api/v1/runs/{run['run_id']}")).json()["status"] == "cancelled"


async def test_the_sync_client_works_the_same() -> None:
    tp, _, _ = talking(then="one two")
    async with door(tp) as (client, _plain):

        def inside() -> tuple[str | None, str]:
            with openai.OpenAI(base_url=str(client.base_url), api_key="none", max_retries=0) as sync:
                whole = sync.chat.completions.create(model="toolpath", messages=ASKED).choices[0].message.content
                stream = sync.chat.completions.create(model="toolpath", messages=ASKED, stream=True)
                return whole, "".join(c.delta.content or "" for chunk in stream for c in chunk.choices)

        assert await asyncio.to_thread(inside) == ("one two", "one two")


async def test_keys_are_those_of_every_door() -> None:
    async with guarded() as server:
        url = f"{str(server.client.base_url).rstrip('/')}/v1"
        reader = (await server.key("read", tenant="a", user="ada"))["Authorization"].removeprefix("Bearer ")
        async with openai.AsyncOpenAI(base_url=url, api_key="wrong", max_retries=0) as stranger:
            with pytest.raises(openai.AuthenticationError) as refused:
                await stranger.models.list()
            assert refused.value.type == "authentication_error"
        async with openai.AsyncOpenAI(base_url=url, api_key=reader, max_retries=0) as client:
            assert [each.id async for each in client.models.list()] == ["toolpath", "default"]
            with pytest.raises(openai.PermissionDeniedError):
                await client.chat.completions.create(model="toolpath", messages=ASKED)


def test_a_store_that_is_away_is_told_with_when_to_come_back_and_not_with_where_it_is() -> None:
    answer = refusal(
        StoreError("The store at db.inside.example:5432 gives no answer.", hint="Start db.inside.example.")
    )
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert b"inside.example" not in bytes(answer.body)


async def test_a_text_with_a_secret_keeps_its_headers() -> None:
    app = FastAPI()

    @app.get("/late")
    async def late() -> None:
        raise Problem(429, "too_many_requests", "Not with sesame.", headers={"Retry-After": "7"})

    answer_problems(app, lambda text: text.replace("sesame", "[redacted]"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://door") as client:
        answer = await client.get("/late")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json()["detail"] == "Not with [redacted]."
    assert answer.headers["content-type"] == "application/problem+json"
