"""Every kind of server and every name of a model: a request is sent, and a plan comes back, over the real clients."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from tests.patience import PATIENCE
from tests.planner.planning_cases import ALICE, HELLO, REQUEST, answer, ground

from toolpath.errors import ChatFailed
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.llm.ways import Way, plainer
from toolpath.model.chat import ChatRequest, Message, ToolCall, ToolSpec
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.prompt import ANSWER_SCHEMA
from toolpath.planner.records import PlanRequest
from toolpath.testing.clock import FakeClock
from toolpath.testing.model_manners import MANNERS, Manner, admitted, parts_of, schema_of
from toolpath.testing.model_replies import Fails
from toolpath.testing.model_server import ModelServer
from toolpath.values import encode

LOOP = {
    "id": "each",
    "loop": {
        "over": "{{ find }}",
        "as": "page",
        "steps": [{"id": "get", "tool": "web.fetch", "inputs": {"url": "{{ page.url }}"}}],
        "collect": "{{ get }}",
    },
    "when": "{{ find }}",
}
PLANS = [
    answer(ALICE, HELLO),
    answer({"id": "find", "tool": "web.search", "inputs": {"query": "cats"}, "depends_on": ["x"]}, LOOP),
    {**answer(questions=["Which one?"]), "outputs": {"a": "{{ author }}"}, "metadata": {"why": {"author": "So."}}},
]
NAMES: dict[str, list[str]] = {
    "vllm": [
        "Qwen/Qwen3-32B", "meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-V3.2", "microsoft/Phi-4",
        "mistralai/Mistral-Small-24B-Instruct-2501", "google/gemma-3-27b-it", "openai/gpt-oss-120b",
        "zai-org/GLM-4.6", "moonshotai/Kimi-K2-Instruct", "NousResearch/Hermes-3-Llama-3.1-8B",
    ],
    "llama.cpp": [
        "default", "/models/qwen2.5-7b-instruct-q4_k_m.gguf", "gemma-3-4b-it-Q4_K_M", "llama-3.2-3b", "phi-4-mini",
        "unsloth/Qwen3-8B-GGUF:Q4_K_M", "ggml-org/gpt-oss-20b-GGUF", "mistral-nemo.gguf", "SmolLM3", "gpt-3.5-turbo",
    ],
    "ollama": [
        "llama3.1:8b", "qwen3:14b-q4_K_M", "gemma3:27b", "mistral-nemo", "deepseek-r1:7b", "phi4", "gpt-oss:20b",
        "granite3.3:8b", "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:latest", "command-r",
    ],
    "openai": [
        "gpt-4o", "gpt-4o-mini", "gpt-4.1", "o1", "o3-mini", "gpt-5", "gpt-5-mini", "gpt-3.5-turbo",
        "chatgpt-4o-latest", "ft:gpt-4o-mini:acme::abc123",
    ],
    "anthropic": [
        "claude-3-opus-20240229", "claude-3-5-sonnet-latest", "claude-3-5-haiku-20241022", "claude-3-7-sonnet-latest",
        "claude-sonnet-4-0", "claude-opus-4-1", "claude-sonnet-4-5", "claude-haiku-4-5", "claude-3-haiku-20240307",
        "claude-opus-4-5",
    ],
    "google": [
        "gemini-1.5-pro", "gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-pro",
        "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro-preview", "gemma-3-27b-it", "learnlm-2.0-flash",
    ],
}  # fmt: skip
#: The client of Anthropic warns of names that it knows to end.
pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
APIS: dict[str, Any] = {"anthropic": "anthropic", "google": "google", "ollama": "ollama"}


def chat_at(server: ModelServer, kind: str, name: str, api: Any = None, *, clock: FakeClock | None = None) -> ModelChat:
    url = server.url if kind in ("anthropic", "google") else f"{server.url}/v1"
    choice = ModelChoice(api=api or APIS.get(kind, "openai"), model=name, key="k" * 12, base_url=url, top_p=0.9)
    return ModelChat(choice, limits=ChatLimits(timeout=PATIENCE, max_retries=0), clock=clock or FakeClock())


@pytest.mark.parametrize("kind", NAMES)
async def test_each_name_gets_a_request_and_gives_its_plan_in_each_manner_of_its_server(kind: str) -> None:
    good = encode(answer(ALICE, HELLO)).decode()
    for number, name in enumerate(NAMES[kind]):
        manner = MANNERS[kind][number % len(MANNERS[kind])]
        async with ModelServer(then=good, manner=manner) as server, chat_at(server, kind, name) as chat:
            planned = await plan_with_model(PlanRequest(text=REQUEST), ground(chat))
            assert planned.record.outcome == "planned", (name, manner)
            assert planned.plan.questions == ()
            asked = len(server.requests)
            assert asked <= 1 + len(manner.refuses) + (manner.most_tokens is not None)
            await plan_with_model(PlanRequest(text=REQUEST), ground(chat))
            assert len(server.requests) == asked + 1, "what a model takes is remembered"


@pytest.mark.parametrize("manner", MANNERS["openai"], ids=lambda one: "-".join(one.refuses) or "all")
async def test_openai_s_newer_protocol_steps_down_too(manner: Manner) -> None:
    good = encode(answer(ALICE, HELLO)).decode()
    server = ModelServer(then=good, manner=manner)
    async with server, chat_at(server, "openai", "gpt-4o", "openai-responses") as chat:
        planned = await plan_with_model(PlanRequest(text=REQUEST), ground(chat))
    assert planned.record.outcome == "planned"


def test_each_real_plan_fits_the_schema_and_passes_a_grammar_made_of_it() -> None:
    jsonschema.Draft202012Validator.check_schema(ANSWER_SCHEMA)
    for plan in PLANS:
        jsonschema.validate(plan, ANSWER_SCHEMA)
        assert admitted(plan, ANSWER_SCHEMA) == plan
    closed = {"type": "object", "properties": {"inputs": {"type": "object", "properties": {}}}}
    assert admitted({"inputs": {"a": 1}}, closed) == {"inputs": {}}, "a closed object is what a grammar closes"


@pytest.mark.parametrize("kind", NAMES)
async def test_the_schema_that_each_client_sends_admits_real_plans(kind: str) -> None:
    async with ModelServer(then=encode(PLANS[0]).decode()) as server:
        async with chat_at(server, kind, NAMES[kind][0]) as chat:
            await plan_with_model(PlanRequest(text=REQUEST), ground(chat))
        sent = schema_of(server.requests[0])
    assert sent is not None
    for plan in PLANS:
        jsonschema.validate(plan, sent)
        assert admitted(plan, sent) == plan


TOOLS = (ToolSpec(name="add", description="Add.", input_schema={"type": "object", "properties": {"a": {}}}),)
TALK = ChatRequest(
    system="Sums.",
    messages=(
        Message(text="1 and 2"),
        Message(role="assistant", tool_calls=(ToolCall(name="add", arguments={"a": 1}, id="c1"),)),
        Message(role="tool", name="add", tool_call_id="c1", text="3"),
        Message(text="And 4"),
    ),
    tools=TOOLS,
    tool_choice="required",
)


async def test_a_server_without_tools_is_told_of_them_in_words() -> None:
    for manner in (MANNERS["llama.cpp"][1], MANNERS["ollama"][1], MANNERS["openai"][-1]):
        async with ModelServer(then="{}", manner=manner) as server, chat_at(server, "vllm", "m") as chat:
            await chat(TALK)
            await chat(TALK)
            assert len(server.requests) == 3
            assert "tools" not in parts_of(server.requests[-1])
            told = server.requests[-1].text
            assert "tool_calls" in told
            assert "Result of add" in told
    server = ModelServer(then="{}", manner=MANNERS["vllm"][-1])
    async with server, chat_at(server, "vllm", "m") as chat:
        await chat(TALK)
        assert ["tools" in parts_of(one) for one in server.requests] == [True, True, False]


async def test_what_one_model_takes_says_nothing_of_another() -> None:
    async with ModelServer(then="{}", manner=MANNERS["openai"][1]) as server, chat_at(server, "vllm", "m") as chat:
        for name, asked in (("a", 2), ("a", 3), ("b", 5), ("b", 6)):
            await chat(ChatRequest(messages=(Message(text="Hello"),), model=name))
            assert len(server.requests) == asked


async def test_what_a_server_refused_once_is_asked_again_after_an_hour() -> None:
    clock = FakeClock()
    async with ModelServer(Fails(status=400, message="response_format: no."), then="{}") as server:
        async with chat_at(server, "vllm", "m", clock=clock) as chat:
            asked = msgspec.structs.replace(TALK, output_schema=ANSWER_SCHEMA)
            for _ in range(3):
                await chat(asked)
            await clock.advance(3_600)
            await chat(asked)
        assert ["response_format" in one.body for one in server.requests] == [True, False, False, False, True]


def test_a_server_that_takes_less_each_time_is_left_soon() -> None:
    way: Way | None = Way(modes=("native",))
    asked = ChatRequest(max_tokens=8_192)
    for _ in range(10):
        if way is None:
            break
        most = 8_192 if way.max_tokens is None else way.max_tokens
        way = plainer(way, asked, status=400, said=f"max_tokens must be at most {most - 1}")
    assert way is None


async def test_a_server_without_streams_answers_at_once() -> None:
    async with ModelServer(then="Hello there.", manner=MANNERS["openai"][6]) as server:
        async with chat_at(server, "vllm", "m") as chat:
            pieces = [piece async for piece in chat.stream(ChatRequest(messages=(Message(text="Hello"),)))]
        assert [piece.text for piece in pieces] == ["Hello there.", ""]
        assert pieces[-1].reply is not None
        assert len(server.requests) == 2


async def test_a_server_that_refuses_everything_is_left_after_few_requests() -> None:
    everything = "temperature top_p max_tokens tool_choice tools response_format json_schema system role stream: no."
    async with ModelServer(then=Fails(status=400, message=everything)) as server, chat_at(server, "vllm", "m") as chat:
        for _ in range(2):
            with pytest.raises(ChatFailed) as raised:
                await chat(msgspec.structs.replace(TALK, output_schema=ANSWER_SCHEMA))
            assert raised.value.kind in ("rejected", "too_long")
        assert len(server.requests) <= 20


@pytest.mark.parametrize(
    ("said", "status", "expected"),
    [
        ("response_format.type must be 'json_schema' or 'text'", 400, "native"),
        ("This model does not support response_format json_schema, only json_object", 400, "json"),
        ("unknown field response_format", 422, "prompted"),
        ("Not found: the model", 404, None),
        ("Wrong key", 401, None),
        ("maximum context length is 8192 tokens", 400, None),
        ("Slow down", 429, None),
    ],
)
def test_a_refusal_says_what_is_asked_otherwise(said: str, status: int, expected: str | None) -> None:
    way = Way(modes=("native", "json", "prompted"))
    found = plainer(way, ChatRequest(output_schema={}), status=status, said=said)
    if expected == "native":
        assert found is not None
        assert found.mode == "prompted", "it has no mode of its own between the two"
    else:
        assert (found and found.mode) == expected


@pytest.mark.parametrize(
    ("said", "status", "part"),
    [
        ("invalid role: system", 400, "system"),
        ("Error rendering prompt with jinja template: Only user and assistant roles are supported!", 500, "system"),
        ("Failed to call a function. Please adjust your prompt. See 'failed_generation'.", 400, "tools"),
    ],
)
def test_a_refusal_names_what_is_left_out(said: str, status: int, part: str) -> None:
    way = Way(modes=("native",))
    tools = (ToolSpec(name="f", description="", input_schema={}),)
    found = plainer(way, ChatRequest(system="Be kind.", tools=tools), status=status, said=said)
    assert found is not None
    assert found.without == {part}


def test_a_form_that_no_provider_behind_a_server_takes_is_left() -> None:
    said = "No endpoints found that can handle the requested parameters."
    found = plainer(Way(modes=("native", "prompted")), ChatRequest(output_schema={}), status=404, said=said)
    assert found is not None
    assert found.mode == "prompted"
