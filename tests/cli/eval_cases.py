"""Data sets, and a model that always says the same, for the tests of `toolpath eval`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cli_cases import Command, Ran

from toolpath.testing.model_replies import Reply
from toolpath.testing.model_server import ModelServer

DATA = Path(__file__).parents[1] / "data" / "planning"
LUNCH, SETS, BROKEN = str(DATA / "lunch.jsonl"), str(DATA / "toolsets.jsonl"), str(DATA / "broken.jsonl")
RIGHT = {"steps": [{"id": "p", "tool": "price", "inputs": {"item": "tea"}}], "origin": {"confidence": 1.0}}
PRICE = {"id": "mine", "query": "What is the price of the item tea?"}
GOLD = {"gold_plan": [{"step": "p", "tool": "shop.price", "arguments": {"item": "tea"}}]}


def model_environment(server: ModelServer) -> dict[str, str]:
    """What makes the server the configured model."""
    return {
        "TOOL_PLANNER_LLM": "openai",
        "TOOL_PLANNER_MODEL": "local-model",
        "OPENAI_API_KEY": "sk-of-nobody-0123456789",
        "OPENAI_BASE_URL": f"{server.url}/v1",
    }


async def with_model(
    toolpath: Command, monkeypatch: pytest.MonkeyPatch, reply: Reply | str, *arguments: str
) -> tuple[Ran, int]:
    """The command with a model that always answers the same; also how often it was asked."""
    async with ModelServer(then=reply) as server:
        for name, value in model_environment(server).items():
            monkeypatch.setenv(name, value)
        ran = await asyncio.to_thread(toolpath, "eval", *arguments, "--planner", "model", "--json")
        return ran, len(server.requests)
