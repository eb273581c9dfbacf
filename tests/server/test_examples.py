"""The examples that the page offers: each checks, is planned or runs, offline, with the tools that come with them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.patience import PATIENCE
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.cli.session import add_sources
from toolpath.config import Settings
from toolpath.server.asgi import create_app

EXAMPLES = {"examples": {}}


async def test_every_example_is_there_and_goes_as_it_says() -> None:
    tp = Toolpath()
    tp.sources.add_source("builtin", EXAMPLES)
    async with serving(create_app(tp)) as client, asyncio.timeout(PATIENCE):
        told = (await client.get("/api/v1/examples")).json()
        assert told["is_on"]
        assert [each["name"] for each in told["examples"]] == ["first", "blog", "report", "agent"]
        for each in told["examples"]:
            body = {"plan": each["plan"]} if each["plan"] else {"request": each["request"], "planner": "offline"}
            made = await client.post("/api/v1/plans", json=body)
            assert made.status_code == 201, made.text
            plan = made.json()
            assert [one for one in plan["findings"] if one["severity"] == "error"] == [], each["name"]
            assert plan["source"] == each["plan"]
            if each["needs_model"]:
                continue
            begun = await client.post("/api/v1/runs", json={"plan_id": plan["plan_id"]})
            assert begun.status_code == 202, begun.text
            run = begun.json()["run_id"]
            result = await tp.result(run)
            if each["name"] == "report":
                assert result.status == "waiting"
                await tp.approve(run, "post")
                result = await tp.result(run)
                assert "The Book of Tea" in result.outputs
            assert result.success, result.error


async def test_where_tools_are_named_the_examples_are_off(tmp_path: Path) -> None:
    async with Toolpath() as bare, Toolpath() as full:
        add_sources(bare, Settings(), otherwise=EXAMPLES)
        assert "examples.create_post" in (await bare.tools()).tools
        add_sources(full, Settings(builtin={"time": {}}), otherwise=EXAMPLES)
        assert set((await full.tools()).tools) == {"time.now"}
