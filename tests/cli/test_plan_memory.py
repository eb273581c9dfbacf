"""`toolpath plan` in several processes: what a model planned is found again, and the report says how planning did."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Command, spawned

from toolpath.testing.model_server import ModelServer
from toolpath.values import encode

ANSWER = {
    "steps": [{"id": "order", "tool": "shop.order", "inputs": {"item": "tea", "count": 3}}],
    "origin": {"confidence": 0.9},
}

STATUS = """
name: order_status
description: Ask for the status of an order.
parameters:
  - {name: order_id, type: string, required: true}
implementation:
  type: api_call
  api_call: {url: "https://shop.example/orders/{order_id}"}
"""


async def planned(shop: Path, *words: str) -> tuple[bytes, bytes]:
    process = spawned(shop, "plan", *words)
    out, err = await asyncio.to_thread(process.communicate, None, 60)
    assert process.returncode == 0, err
    return out, err


async def test_the_second_process_takes_the_plan_from_the_cache(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(encode(ANSWER).decode()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
        with (shop / "toolpath.toml").open("a") as settings:
            settings.write('planner_llm = "openai"\nplanner_model = "m"\n')
        await planned(shop, "Order 3 of the item tea")
        out, err = await planned(shop, "Order 5 of the item tea")
        assert b"count: 5" in out
        assert b"planned before" in err
        assert b"50% of all requests were" in err
        assert len(server.requests) == 1


async def test_a_model_may_plan_with_a_composite_that_makes_a_request(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {
        "steps": [{"id": "status", "tool": "order_status", "inputs": {"order_id": "A-17"}}],
        "origin": {"confidence": 0.9},
    }
    (shop / "flows").mkdir()
    (shop / "flows" / "status.yaml").write_text(STATUS)
    async with ModelServer(encode(answer).decode()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
        with (shop / "toolpath.toml").open("a") as settings:
            settings.write('folders = ["flows"]\nplanner_llm = "openai"\nplanner_model = "m"\n')
        out, err = await planned(shop, "Ask for the order status with order id A-17")
        assert b"tool: order_status" in out
        assert b"Planned without a model" not in out + err
        assert "http.get" not in str(server.requests)


def test_the_report_says_how_planning_did(toolpath: Command, shop: Path) -> None:
    assert toolpath("plan", "What is the price of the item tea?", "--run").code == 0
    said = toolpath("plan", "--report").out
    assert "rules: 1 of 1 succeeded" in said
    assert "shop.price" in said
    report: Any = toolpath("plan", "--report", "--json").json
    assert report["ways"]["arms"][1]["tally"]["trials"] == 1
    assert report["hit_rate"] is None
