"""A plan made of words that leaves questions open, or is not sure enough, is run at no door, however it got there."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_cases import talking
from tests.prepared.prepared import prepared
from tests.server.serving_cases import assert_problem, serving

from toolpath import PlanInvalid, Settings, Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted import scripted
from toolpath.values import JsonObject

TOOLS = """
from pathlib import Path

from toolpath import tool


@tool(effect="write")
def order(item: str) -> str:
    '''Order an item.'''
    Path("ordered").touch()
    return item
"""
STEPS = [{"id": "act", "tool": "order", "inputs": {"item": "tea"}}]
ASKS: JsonObject = {"request": "Do not order tea", "questions": ["Should it be done?"], "confidence": 0.4}
UNSURE: JsonObject = {"request": "Order tea", "confidence": 0.1}
DOUBTS = pytest.mark.parametrize(("origin", "code"), [(ASKS, "open_question"), (UNSURE, "not_sure")])
UPDATE = "mutation ($i: ID!, $o: String!) { updatePlan(id: $i, output: $o) { id } }"
EXECUTE = "mutation ($r: ID!) { executeByRequestId(requestId: $r) { id } }"


def shop(**settings: Any) -> tuple[Toolpath, Any]:
    tp = Toolpath(settings=Settings(**settings))
    schema = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
    tool = scripted("order", then="tea", effect="write", description="Order an item.", input_schema=schema)
    tp.add(tool)
    return tp, tool


def codes_of(problem: JsonObject) -> set[str]:
    return {finding["code"] for finding in problem["findings"]}


@DOUBTS
async def test_rest_refuses_it_given_kept_edited_and_approved(origin: JsonObject, code: str) -> None:
    tp, tool = shop()
    async with serving(create_app(tp)) as http:
        http.base_url = http.base_url.join("/api/v1/")
        plan = {"steps": STEPS, "origin": origin}
        for given in (plan, json.dumps(plan)):
            refused = assert_problem(await http.post("runs", json={"plan": given}), 422, "plan_invalid")
            assert codes_of(refused) == {code}
        kept = (await http.post("plans", json={"plan": plan, "requires_approval": True})).json()
        edited = {**plan, "description": "Read by nobody."}
        changed = await http.put(f"plans/{kept['plan_id']}", json={"plan": edited})
        assert changed.status_code == 200, changed.text
        allowed = await http.post(f"plans/{kept['plan_id']}/approve", json={})
        assert allowed.status_code == 200, allowed.text
        refused = assert_problem(await http.post("runs", json={"plan_id": kept["plan_id"]}), 422, "plan_invalid")
        assert codes_of(refused) == {code}
        assert tool.calls == []
        # A plan without it is a person's own.
        begun = await http.post("runs", json={"plan": {"steps": STEPS}})
        assert begun.status_code == 202
        await tp.result(begun.json()["run_id"])
        assert len(tool.calls) == 1


@DOUBTS
async def test_graphql_and_mcp_refuse_it(origin: JsonObject, code: str) -> None:
    tp, tool = shop()
    plan = {"steps": STEPS, "origin": origin}
    async with serving(create_app(tp)) as http:
        kept = await tp.plans.add(plan)
        changed = {"query": UPDATE, "variables": {"i": kept.plan_id, "o": json.dumps({**plan, "name": "edited"})}}
        assert "errors" not in (await http.post("/graphql", json=changed)).json()
        said = {"query": EXECUTE, "variables": {"r": kept.request_id}}
        told = (await http.post("/graphql", json=said)).json()
        assert told["errors"][0]["extensions"]["code"] == "plan_invalid"
        assert code in json.dumps(told)
    async with talking(tp, "auto") as mcp:
        for given in (plan, json.dumps(plan)):
            answer = await mcp.call_tool("run_plan", {"plan": given})
            assert answer.is_error
            assert code in str(answer.structured_content) + str(answer.content)
    assert tool.calls == []
    assert await tp.runs() == []


@DOUBTS
async def test_the_command_line_refuses_it_with_3(tmp_path: Path, origin: JsonObject, code: str) -> None:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "plan.json").write_text(json.dumps({"steps": STEPS, "origin": origin}))
    words = prepared("toolpath", "--tools", "shop.py", "--store", "runs.db")
    ran = await asyncio.to_thread(
        subprocess.run,
        [*words, "run", "plan.json"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, code in ran.stderr) == (3, True), ran.stderr
    assert not (tmp_path / "ordered").exists()


async def test_a_run_of_it_from_other_days_is_neither_retried_nor_forked(tmp_path: Path) -> None:
    plan = {"steps": [*STEPS, {"id": "more", "tool": "order", "depends_on": ["act"]}], "origin": UNSURE}
    store = str(tmp_path / "runs.db")
    schema = {"type": "object", "properties": {"item": {"type": "string"}}}

    def tool(outcome: Any) -> Any:
        return scripted("order", then=outcome, effect="write", description="Order an item.", input_schema=schema)

    async with Toolpath(store=store, settings=Settings(planner_floor=0.0)) as tp:
        tp.add(tool(ValueError("no")))
        failed = await tp.run(plan)
        assert failed.status == "failed"
    async with Toolpath(store=store) as tp:
        order = tool("tea")
        tp.add(order)
        for again in (tp.retry, tp.fork):
            with pytest.raises(PlanInvalid) as caught:
                await again(failed.run_id)
            assert {finding.code for finding in caught.value.findings} == {"not_sure"}
        assert order.calls == []
        assert len(await tp.runs()) == 1


async def test_a_decomposition_is_followed_over_rest_and_what_only_it_says_is_asked() -> None:
    tp, tool = shop()
    async with serving(create_app(tp)) as http:
        http.base_url = http.base_url.join("/api/v1/")
        for item, asks in (("tea", False), ("gold bars", True)):
            parts = {"sub_queries": [{"id": "a", "query": f"Order item {item}", "suggested_tool": "order"}]}
            made = await http.post("plans", json={"request": "Order item tea", "decomposition": parts})
            assert made.status_code == 201
            origin = made.json()["plan"]["origin"]
            assert origin["request"] == "Order item tea"
            assert bool(origin.get("questions")) == asks
        wrong = await http.post("plans", json={"request": "Order item tea", "decomposition": {"sub_queries": 5}})
        assert wrong.status_code == 400
    assert tool.calls == []
