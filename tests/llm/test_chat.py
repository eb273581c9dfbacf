"""Asking models: real client libraries against a server that plays the providers."""

from __future__ import annotations

import asyncio

import pytest

from toolpath.config import Settings
from toolpath.errors import ChatFailed, ConfigError
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice, choose_model
from toolpath.model.chat import ChatRequest, Message, ToolCall, ToolSpec
from toolpath.model.model_providers import Api
from toolpath.model.redaction import Redactor
from toolpath.testing.clock import FakeClock
from toolpath.testing.model_replies import Breaks, Calls, Fails, Hangs, Refuses, Reply, Says, Sends
from toolpath.testing.model_server import ModelServer
from toolpath.values import JsonObject

KEY = "sk-very-secret-0123456789"
MODELS: dict[Api, str] = {
    "openai": "local-model",
    "openai-responses": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "ollama": "qwen3",
}
EACH = pytest.mark.parametrize("api", list(MODELS))
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"steps": {"type": "array", "items": {"type": "object"}}},
    "required": ["steps"],
}
HELLO = ChatRequest(system="Be kind.", messages=(Message(text="Hello?"),))
VALUE = ChatRequest(messages=(Message(text="A plan, please."),), output_schema=SCHEMA)
ADD = ToolSpec(name="math--add", description="Add.", input_schema={"type": "object", "properties": {"a": {}}})
CALL = ChatRequest(messages=(Message(text="1 and 2"),), tools=(ADD,))


def chat_at(server: ModelServer, api: Api = "openai", *, clock: FakeClock | None = None, **limits: float) -> ModelChat:
    url = server.url if api in ("anthropic", "google") else f"{server.url}/v1"
    choice = ModelChoice(api=api, model=MODELS[api], key=KEY, base_url=url)
    known = ChatLimits(**{"timeout": 10.0, "initial_delay": 1.0, **limits})  # type: ignore[arg-type]
    return ModelChat(choice, limits=known, clock=clock or FakeClock(), chance=lambda: 0.5)


async def streamed(chat: ModelChat, request: ChatRequest) -> tuple[str, list[object]]:
    pieces = [piece async for piece in chat.stream(request)]
    assert [piece.reply is not None for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    return "".join(piece.text for piece in pieces), [pieces[-1].reply]


async def broken_stream(chat: ModelChat) -> tuple[list[str], ChatFailed]:
    """What came of a stream before it failed, and its failure."""
    pieces: list[str] = []
    try:
        async for piece in chat.stream(HELLO):
            pieces.append(piece.text)
    except ChatFailed as failure:
        return pieces, failure
    raise AssertionError("The stream did not fail.")


@EACH
async def test_a_model_answers_with_text_tokens_and_price(api: Api) -> None:
    async with ModelServer(Says(text="Hello, friend.", input_tokens=30, output_tokens=4)) as server:
        async with chat_at(server, api) as chat:
            reply = await chat(HELLO)
        assert (reply.text, reply.finish_reason, reply.attempts) == ("Hello, friend.", "stop", 1)
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.total) == (30, 4, 34)
        assert (reply.cost is None) == (api in ("openai", "ollama")), "the price of a server of one's own is not known"
        assert "Be kind." in server.requests[0].text
        assert "Hello?" in server.requests[0].text


@EACH
async def test_a_stream_brings_the_same_answer_in_pieces(api: Api) -> None:
    text = "A longer answer that comes in many pieces."
    async with ModelServer(text, text) as server, chat_at(server, api) as chat:
        whole = await chat(HELLO)
        joined, (reply,) = await streamed(chat, HELLO)
        assert joined == text
        assert reply == whole


@EACH
async def test_a_value_is_handed_over(api: Api) -> None:
    text = '{"steps": [{"id": "a"}]}'
    async with ModelServer(text, text) as server, chat_at(server, api) as chat:
        reply = await chat(VALUE)
        assert reply.structured == {"steps": [{"id": "a"}]}
        assert reply.tool_calls == ()
        joined, (streamed_reply,) = await streamed(chat, VALUE)
        assert "steps" in joined
        assert streamed_reply == reply
        assert '"steps"' in server.requests[0].text, "the schema went with the request"


@EACH
async def test_a_call_of_a_tool_is_read(api: Api) -> None:
    calls = Calls(calls=(("math--add", {"a": 1, "b": [2]}),))
    async with ModelServer(calls, calls) as server, chat_at(server, api) as chat:
        reply = await chat(CALL)
        (call,) = reply.tool_calls
        assert (call.name, call.arguments) == ("math--add", {"a": 1, "b": [2]})
        assert reply.finish_reason == "tool_calls"
        _, (streamed_reply,) = await streamed(chat, CALL)
        assert streamed_reply == reply


async def test_arguments_that_are_no_json_stay_as_text() -> None:
    async with ModelServer(Calls(calls=(("math--add", {}),), arguments='{"a": 1')) as server, chat_at(server) as chat:
        reply = await chat(CALL)
        assert reply.tool_calls[0].arguments == '{"a": 1'


@EACH
async def test_a_conversation_with_calls_is_sent_as_the_provider_wants_it(api: Api) -> None:
    request = ChatRequest(
        system="Sums only.",
        messages=(
            Message(text="1 and 2"),
            Message(role="assistant", text="", tool_calls=(ToolCall(name="math--add", arguments={"a": 1}, id="c1"),)),
            Message(role="tool", name="math--add", tool_call_id="c1", text="3"),
            Message(text="Thank you."),
        ),
        tools=(ADD,),
    )
    async with ModelServer("You are welcome.") as server, chat_at(server, api) as chat:
        reply = await chat(request)
        assert reply.text == "You are welcome."
        sent = server.requests[0].text
        assert all(part in sent for part in ("math--add", "1 and 2", "Thank you.", "Sums only."))


@EACH
async def test_a_refusal_is_no_answer(api: Api) -> None:
    async with ModelServer(Refuses(), Refuses()) as server, chat_at(server, api) as chat:
        with pytest.raises(ChatFailed) as raised:
            await chat(HELLO)
        assert raised.value.kind == "refused"
        assert not raised.value.retryable
        with pytest.raises(ChatFailed) as raised:
            await streamed(chat, HELLO)
        assert raised.value.kind == "refused"


@EACH
async def test_an_answer_that_was_cut_off_says_so(api: Api) -> None:
    async with ModelServer(Says(text="Half an ans", finish="length")) as server, chat_at(server, api) as chat:
        assert (await chat(HELLO)).finish_reason == "length"


async def after_pauses(clock: FakeClock, asking: asyncio.Task[object], *pauses: float) -> None:
    """Let each pause of a chat pass, which has to be exactly so long."""
    for pause in pauses:
        while not clock.pending:
            await asyncio.wait([asking], timeout=0.005)
        assert not asking.done()
        assert clock.pending == (pytest.approx(clock.monotonic() + pause),)
        await clock.advance(pause)


@EACH
@pytest.mark.parametrize("failure", [Fails(status=503), Fails(status=529), Sends(body=b"<html>"), Breaks(text="Hello")])
async def test_a_server_that_fails_is_asked_again(api: Api, failure: Reply) -> None:
    clock = FakeClock()
    async with ModelServer(failure, failure, "Hello.") as server, chat_at(server, api, clock=clock) as chat:
        asking = asyncio.create_task(chat(HELLO))
        await after_pauses(clock, asking, 1.0, 2.0)
        reply = await asking
        assert (reply.text, reply.attempts) == ("Hello.", 3)


async def test_an_answer_that_lacks_a_part_is_no_reply() -> None:
    empty = Sends(body=b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}')
    async with ModelServer(then=empty) as server, chat_at(server, max_retries=0) as chat:
        with pytest.raises(ChatFailed, match="answered with what is no reply") as raised:
            await chat(HELLO)
        assert (raised.value.kind, raised.value.retryable) == ("malformed", True)


@EACH
async def test_a_limit_of_the_rate_is_waited_for_as_the_provider_says(api: Api) -> None:
    clock = FakeClock()
    limited = Fails(status=429, message="Slow down.", retry_after="7")
    async with ModelServer(limited, "Hello.") as server, chat_at(server, api, clock=clock) as chat:
        asking = asyncio.create_task(chat(HELLO))
        await after_pauses(clock, asking, 7.0)
        assert (await asking).attempts == 2


async def test_a_pause_longer_than_the_time_limit_is_not_made() -> None:
    async with ModelServer(Fails(status=429, retry_after="900")) as server, chat_at(server) as chat:
        with pytest.raises(ChatFailed) as raised:
            await chat(HELLO)
        assert raised.value.kind == "rate_limit"
        assert raised.value.retry_after == 900


async def test_attempts_end() -> None:
    clock = FakeClock()
    async with ModelServer(then=Fails(status=500)) as server, chat_at(server, clock=clock, max_retries=1) as chat:
        asking = asyncio.create_task(chat(HELLO))
        await after_pauses(clock, asking, 1.0)
        with pytest.raises(ChatFailed) as raised:
            await asking
        assert raised.value.kind == "server"
        assert raised.value.status == 500
        assert len(server.requests) == 2


@EACH
@pytest.mark.parametrize(
    ("status", "kind"), [(400, "rejected"), (401, "denied"), (403, "denied"), (404, "rejected"), (413, "too_long")]
)
async def test_what_asking_again_cannot_mend_is_not_asked_again(api: Api, status: int, kind: str) -> None:
    async with ModelServer(then=Fails(status=status, message="No.")) as server, chat_at(server, api) as chat:
        with pytest.raises(ChatFailed) as raised:
            await chat(HELLO)
        assert raised.value.kind == kind
        assert len(server.requests) == 1


@EACH
async def test_a_server_that_knows_no_structured_output_is_asked_in_words(api: Api) -> None:
    no = Fails(status=400, message="response_format is not supported")
    async with ModelServer(no, '{"steps": []}', '{"steps": []}') as server, chat_at(server, api) as chat:
        assert (await chat(VALUE)).structured == {"steps": []}
        assert (await chat(VALUE)).structured == {"steps": []}
        assert len(server.requests) == 3, "what the server rejects is not tried twice"
        assert "JSON Schema" in server.requests[1].text


@EACH
async def test_a_server_that_is_silent_is_left(api: Api) -> None:
    # On a machine that is busy the first piece may come later than a short limit: then a longer one is tried.
    for timeout in (0.2, 5, 60):
        server = ModelServer(Hangs(), Hangs(text="Half", after=1, piece=2))
        async with server, chat_at(server, api, timeout=timeout, max_retries=0) as chat:
            with pytest.raises(ChatFailed) as raised:
                await chat(HELLO)
            assert raised.value.kind == "timeout"
            pieces, failure = await broken_stream(chat)
            assert failure.kind == "timeout"
        if pieces:
            break
    assert pieces == ["Ha"]


@EACH
async def test_a_stream_that_breaks_ends_with_an_error_after_what_came(api: Api) -> None:
    async with ModelServer(Breaks(text="one two three", after=2, piece=4)) as server, chat_at(server, api) as chat:
        pieces, failure = await broken_stream(chat)
        assert "".join(pieces) == "one two "
        assert failure.kind in ("connection", "malformed")
        assert len(server.requests) == 1, "what was begun is not begun again"


async def test_a_stream_that_never_began_is_begun_again() -> None:
    clock = FakeClock()
    async with ModelServer(Fails(status=503), "Hello.") as server, chat_at(server, clock=clock) as chat:
        asking = asyncio.create_task(streamed(chat, HELLO))
        await after_pauses(clock, asking, 1.0)
        text, _ = await asking
        assert text == "Hello."


async def test_a_reader_may_leave_a_stream() -> None:
    async with ModelServer("Many words that nobody wants to hear.", "Hello.") as server, chat_at(server) as chat:
        pieces = chat.stream(HELLO)
        assert (await anext(pieces)).text
        await pieces.aclose()
        assert (await chat(HELLO)).text == "Hello."


async def test_a_server_that_is_not_there_is_named() -> None:
    choice = ModelChoice(api="openai", model="m", key=KEY, base_url="http://127.0.0.1:9/v1")
    async with ModelChat(choice, limits=ChatLimits(max_retries=0)) as chat:
        with pytest.raises(ChatFailed, match=r"127\.0\.0\.1:9") as raised:
            await chat(HELLO)
    assert raised.value.kind == "connection"
    assert raised.value.retryable


async def test_a_request_beyond_the_bound_is_never_sent() -> None:
    async with ModelServer("Hello.") as server, chat_at(server, max_prompt=1_000) as chat:
        with pytest.raises(ChatFailed, match="1,000") as raised:
            await chat(ChatRequest(messages=(Message(text="x" * 1_001),)))
        assert raised.value.kind == "too_long"
        assert server.requests == []


@EACH
@pytest.mark.parametrize("reply", [Fails(status=401, message=f"Bad key {KEY}."), Sends(body=KEY.encode())])
async def test_a_key_stands_in_no_error(api: Api, reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with ModelServer(then=reply) as server, chat_at(server, api, max_retries=0) as chat:
        with pytest.raises(ChatFailed) as raised:
            await chat(HELLO)
        assert KEY not in f"{raised.value} {raised.value!r} {chat!r} {chat.choice!r}"
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__
        assert any(KEY in value for value in server.requests[0].headers.values()), "it was sent all the same"
    assert KEY not in caplog.text


def settings(**fields: object) -> Settings:
    return Settings(**fields)  # type: ignore[arg-type]


def test_the_model_is_chosen_by_settings_and_the_providers_own_variables() -> None:
    choice = choose_model(settings(planner_llm="anthropic"), {"ANTHROPIC_API_KEY": KEY})
    assert choice is not None
    assert (choice.api, choice.key, choice.base_url, choice.temperature) == ("anthropic", KEY, "", 0.3)
    assert choice.model
    choice = choose_model(
        settings(planner_llm="OpenAI", planner_model="m", planner_temperature=0.9),
        {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://localhost:8000/v1"},
    )
    assert choice is not None
    assert (choice.api, choice.model, choice.temperature, choice.is_compatible_server) == ("openai", "m", 0.9, True)
    choice = choose_model(settings(planner_llm="ollama", planner_model="qwen3"), {})
    assert choice is not None
    assert (choice.base_url, choice.key) == ("http://localhost:11434/v1", "")
    choice = choose_model(settings(planner_llm="openai"), {"OPENAI_API_KEY": KEY})
    assert choice is not None
    assert choice.api == "openai-responses", "OpenAI itself is asked in its newer protocol"


def test_without_settings_no_model_is_chosen() -> None:
    assert choose_model(settings(), {"ANTHROPIC_API_KEY": KEY}) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"planner_llm": "antropic"}, "Did you mean 'anthropic'"),
        ({"planner_llm": "google"}, "GOOGLE_API_KEY is not set"),
        ({"planner_llm": "ollama"}, "TOOL_PLANNER_MODEL"),
    ],
)
def test_a_choice_that_cannot_be_made_says_what_to_do(fields: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        choose_model(settings(**fields), {})
    assert said in str(raised.value)


async def test_a_chat_that_was_closed_may_be_asked_again() -> None:
    async with ModelServer("One.", "Two.") as server:
        chat = chat_at(server)
        assert (await chat(HELLO)).text == "One."
        await chat.close()
        assert (await chat(HELLO)).text == "Two."
        await chat.close()


async def test_no_secret_is_sent_to_a_model() -> None:
    async with ModelServer("Hello.") as server:
        choice = ModelChoice(api="openai", model="m", base_url=f"{server.url}/v1")
        async with ModelChat(choice, redactor=Redactor(["hunter2-secret"])) as chat:
            call = ToolCall(name="math--add", arguments={"a": "hunter2-secret"}, id="c")
            said = Message(role="assistant", tool_calls=(call,))
            told = Message(role="tool", name="math--add", tool_call_id="c", text="hunter2-secret")
            await chat(ChatRequest(system="Use hunter2-secret.", messages=(Message(text="Hi"), said, told)))
        assert "hunter2" not in server.requests[0].text
        assert "[redacted]" in server.requests[0].text
