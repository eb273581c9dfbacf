"""A span for each request to a model: what was asked of whom and what it took, never what was said."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from toolpath import Settings, ToolContext, Toolpath, tool
from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest, Message
from toolpath.telemetry.traces import Traces
from toolpath.telemetry.watch import Watch
from toolpath.testing.model_replies import Fails, Says
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import encode
from toolpath.workspace.models.chats import WatchedChat

PLAN = encode({"steps": [{"tool": "forecast", "inputs": {"city": "Eulalia"}}]}).decode()
REQUEST = "What is the weather forecast of city Eulalia?"


@tool(effect="read")
def forecast(city: str) -> str:
    """The weather forecast of a city."""
    return f"sun in {city}"


@tool(effect="read")
async def think(ctx: ToolContext) -> str:
    """Ask the model."""
    return (await ctx.chat(ChatRequest(messages=(Message(text="hm"),)))).text


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(spans: InMemorySpanExporter) -> Traces:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return Traces(provider)


def chats(spans: InMemorySpanExporter) -> list[Any]:
    return [span for span in spans.get_finished_spans() if span.name.startswith("chat")]


async def planned_with(server: ModelServer, traces: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    settings = Settings(planner_llm="openai", planner_model="planner-1", planner_temperature=0.2)
    async with Toolpath(settings=settings, observer=Watch(traces)) as tp:
        tp.add(forecast)
        await tp.plan(REQUEST)


async def test_a_request_to_a_configured_model_is_a_span(
    spans: InMemorySpanExporter, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(Says(text=PLAN, input_tokens=120, output_tokens=30)) as server:
        await planned_with(server, traces, monkeypatch)
    (span,) = chats(spans)
    assert span.name == "chat planner-1"
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    said = dict(span.attributes)
    assert said["gen_ai.operation.name"] == "chat"
    assert said["gen_ai.provider.name"] == "openai"
    assert said["gen_ai.request.model"] == "planner-1"
    assert (said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]) == (120, 30)
    assert said["gen_ai.response.finish_reasons"] == ("stop",)
    assert "Eulalia" not in span.to_json()
    assert "forecast" not in span.to_json()


async def test_a_request_that_fails_says_of_which_kind_and_not_what_the_provider_said(
    spans: InMemorySpanExporter, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(then=Fails(status=401, message=f"no key for: {REQUEST}")) as server:
        await planned_with(server, traces, monkeypatch)
    span = chats(spans)[0]
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "denied"
    assert "Eulalia" not in span.to_json()


async def test_what_a_tool_asks_belongs_to_the_tool_s_call(spans: InMemorySpanExporter, traces: Traces) -> None:
    async with Toolpath(chat=ScriptedChat("42"), observer=traces) as tp:
        tp.add(think)
        assert (await tp.run({"steps": [{"id": "one", "tool": "think"}]})).status == "completed"
    (span,) = chats(spans)
    by_id = {one.context.span_id: one for one in spans.get_finished_spans()}
    # Asking is a step of its own, below the tool's.
    asking = by_id[span.parent.span_id]
    assert by_id[asking.parent.span_id].name == "execute_tool think"
    assert len({one.context.trace_id for one in by_id.values()}) == 1
    assert span.attributes["gen_ai.provider.name"] == "unknown"


class Halting:
    """A model that breaks off in the middle, and one that goes on for as long as it is read."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        raise ChatFailed("no", kind="rejected")

    async def stream(self, request: ChatRequest) -> Any:
        yield ChatDelta(text="one")
        yield ChatDelta(text="two")
        if request.system == "break":
            raise ChatFailed("cut", kind="rejected")
        yield ChatDelta(reply=ChatReply(text="onetwo", finish_reason="stop"))


async def test_a_stream_is_one_span_however_it_ends(spans: InMemorySpanExporter, traces: Traces) -> None:
    chat = WatchedChat(Halting(), traces, provider="google", model="m")
    whole = [piece.text async for piece in chat.stream(ChatRequest())]
    assert whole == ["one", "two", ""]
    with pytest.raises(ChatFailed):
        [piece async for piece in chat.stream(ChatRequest(system="break"))]
    left = chat.stream(ChatRequest())
    assert (await anext(left)).text == "one"
    await left.aclose()
    read, broken, left_off = chats(spans)
    assert read.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert read.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert broken.attributes["error.type"] == "rejected"
    assert left_off.status.status_code is StatusCode.UNSET


class Broken(Traces):
    """An onlooker that fails."""

    def asking(self, request: Any, provider: str, model: str) -> Any:
        raise RuntimeError("no")


async def test_an_onlooker_that_fails_keeps_no_model_from_being_asked() -> None:
    chat = ScriptedChat("42")
    async with Toolpath(chat=chat, observer=Watch(Broken(TracerProvider(shutdown_on_exit=False)))) as tp:
        tp.add(think)
        assert (await tp.run({"steps": [{"id": "one", "tool": "think"}]})).status == "completed"
