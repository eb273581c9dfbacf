"""Every server that speaks OpenAI's language is asked, whatever its models are called."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.patience import PATIENCE
from tests.planner.planning_cases import ALICE, BLOG, answer, ground

from toolpath import Settings, Toolpath
from toolpath.errors import NoToolFits, PlanInvalid
from toolpath.llm.chat import ChatLimits, ModelChat
from toolpath.llm.choice import ModelChoice
from toolpath.model.plan import Call
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.prompt import ANSWER_SCHEMA
from toolpath.planner.records import PlannerOptions, PlanRequest
from toolpath.testing.clock import FakeClock
from toolpath.testing.model_replies import Fails
from toolpath.testing.model_server import ModelServer
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import Json, decode, encode

ASKED = PlanRequest(text="Create author Alice with email alice@test.com")
NAMES = [
    "Qwen/Qwen3-32B",
    "Qwen/Qwen2.5-Coder-7B-Instruct-AWQ",
    "meta-llama/Llama-3.3-70B-Instruct",
    "meta-llama/llama-4-scout",
    "deepseek-ai/DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-R1",
    "deepseek/deepseek-chat:free",
    "mistralai/Mistral-Small-24B-Instruct-2501",
    "mistralai/mixtral-8x7b",
    "mistral/mistral-large",
    "google/gemma-3-27b-it",
    "google/gemini-2.5-pro",
    "microsoft/Phi-4",
    "anthropic/claude-sonnet-4.5",
    "openai/gpt-oss-120b",
    "openai/gpt-5",
    "x-ai/grok-4",
    "cohere/command-r-plus",
    "CohereForAI/c4ai-command-r-v01",
    "moonshotai/Kimi-K2-Instruct",
    "zai-org/GLM-4.6",
    "amazon/nova-pro-v1",
    "bedrock/amazon.nova-lite",
    "groq/llama-3.3-70b-versatile",
    "perplexity/sonar",
    "HuggingFaceH4/zephyr-7b-beta",
    "NousResearch/Hermes-3-Llama-3.1-8B",
    "nvidia/nemotron-4-340b",
    "ibm-granite/granite-3.1-8b-instruct",
    "org/model:tag",
    "a/b/c@d",
    "llama3.1:8b",
    "qwen3:14b-q4_K_M",
    "mistral-nemo",
    "gpt-4o-mini",
    "o3-mini",
    "o1",
    "claude-3-opus",
    "gemini-pro",
    "/models/my-model.gguf",
    "local model with blanks",
    "modèle-français",
]


def chat_at(server: ModelServer, model: str, api: Any = "openai") -> ModelChat:
    choice = ModelChoice(api=api, model=model, key="k" * 12, base_url=f"{server.url}/v1")
    return ModelChat(choice, limits=ChatLimits(timeout=PATIENCE, initial_delay=0.001), clock=FakeClock())


@pytest.mark.parametrize("api", ["openai", "ollama", "openai-responses"])
async def test_each_name_sends_a_request_and_gets_its_plan(api: Any) -> None:
    good = encode(answer(ALICE)).decode()
    async with ModelServer(then=good) as server:
        for number, name in enumerate(NAMES, 1):
            async with chat_at(server, name, api) as chat:
                planned = await plan_with_model(ASKED, ground(chat))
            assert planned.record.outcome == "planned", name
            assert planned.plan.questions == ()
            assert len(server.requests) == number, name
            assert name in encode(server.requests[-1].body).decode().replace("\\u00e8", "è").replace("\\u00e7", "ç")


async def test_a_server_that_knows_no_schemas_is_asked_in_words_and_that_is_remembered() -> None:
    good = encode(answer(ALICE)).decode()
    for status in (400, 422, 501):
        refuses = Fails(status=status, message="response_format is not supported")
        async with ModelServer(refuses, then=good) as server, chat_at(server, "Qwen/Qwen3-32B") as chat:
            for number in (2, 3):
                await plan_with_model(ASKED, ground(chat))
                assert len(server.requests) == number


def objects(value: Json) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) and value.get("type") == "object" else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*found, *(one for item in inner for one in objects(item))]


async def test_the_schema_that_is_sent_admits_inputs() -> None:
    async with ModelServer(then=encode(answer(ALICE)).decode()) as server:
        for name in ("Qwen/Qwen3-32B", "gpt-4o", "llama3.1:8b"):
            async with chat_at(server, name) as chat:
                await plan_with_model(ASKED, ground(chat))
            sent = server.requests[-1].body
            assert isinstance(sent, dict)
            schema = sent["response_format"]["json_schema"]["schema"]
            assert len(objects(schema)) == len(objects(ANSWER_SCHEMA))
            for one in objects(schema):
                assert one.get("properties") != {}
                assert one.get("properties") or one.get("additionalProperties") not in (None, False)


async def test_a_question_excuses_what_is_missing_and_keeps_the_plan_from_being_run() -> None:
    half = {"id": "author", "tool": "blog.createAuthor", "inputs": {"name": "Alice"}}
    chat = ScriptedChat(answer(half, questions=["What is Alice's address?"]))
    planned = await plan_with_model(PlanRequest(text="Create author Alice"), ground(chat))
    assert planned.plan.questions == ("What is Alice's address?",)
    assert (planned.record.outcome, len(chat.requests)) == ("planned", 1)
    only = ScriptedChat({"steps": [], "origin": {"reasoning": "Who?", "questions": ["Which author?"]}})
    async with Toolpath(chat=only, settings=Settings()) as tp:
        tp.add(scripted("blog.createAuthor", then={}, effect="write"))
        plan = await tp.plan("Create an author")
        assert (plan.steps, plan.questions) == ((), ("Which author?",))
        with pytest.raises(PlanInvalid):
            await tp.run(plan)


async def test_without_steps_and_questions_no_tool_fits() -> None:
    with pytest.raises(NoToolFits):
        await plan_with_model(
            PlanRequest(text="Sing"), ground(ScriptedChat({"steps": [], "origin": {"questions": []}}))
        )


async def test_the_model_is_told_the_moment_by_the_clock_in_the_zone_of_the_settings() -> None:
    for zone, date, time in (("", "2023-11-14", "22:13"), ("Asia/Tokyo", "2023-11-15", "07:13")):
        chat = ScriptedChat(answer(ALICE))
        here = ground(chat, BLOG, options=PlannerOptions(time_zone=zone))
        clock = FakeClock()
        await clock.advance(1_700_000_000 - clock.time())
        await plan_with_model(
            ASKED,
            msgspec.structs.replace(here, clock=clock),
        )
        told = decode(chat.requests[0].messages[0].text)["now"]
        assert (told["date"], told["time"], told["time_zone"]) == (date, time, zone or "UTC")


async def test_what_a_model_plans_against_its_rules_is_asked_all_the_same() -> None:
    chat = ScriptedChat(answer(ALICE))
    planned = await plan_with_model(
        PlanRequest(text="Do not create author Alice with email alice@test.com"), ground(chat)
    )
    assert planned.plan.questions
    assert isinstance(planned.plan.steps[0], Call)
