"""A request taken apart, and the zone that its days are meant in, at every door that plans."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_cases import talking
from tests.server.serving_cases import assert_problem, serving

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import ReadError
from toolpath.server.asgi import create_app
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted
from toolpath.values import JsonObject

#: 2026-06-10, 21:30 in UTC; in Tokyo it is tomorrow.
LATE = 1_781_127_000.0
REQUEST = "Order item tea for tomorrow"
PLAN = """mutation ($q: String!, $d: String, $z: String!) {
  createPlanWithRequestId(query: $q, decomposition: $d, timeZone: $z) { document query validationResult }
  createPlanWithWorkflow(query: $q, decomposition: $d, timeZone: $z) { validationResult } }"""


def shop() -> tuple[Toolpath, Any]:
    properties = {"item": {"type": "string"}, "day": {"type": "string", "format": "date"}}
    schema = {"type": "object", "properties": properties, "required": ["item", "day"]}
    tool = scripted("order", then="tea", effect="write", description="Order an item for a day.", input_schema=schema)
    tp = Toolpath(clock=FakeClock(start=LATE))
    tp.add(tool)
    return tp, tool


def parts(item: str) -> JsonObject:
    return {"sub_queries": [{"id": "a", "query": f"Order item {item} for tomorrow", "suggested_tool": "order"}]}


def day_of(plan: JsonObject) -> object:
    return plan["steps"][0]["inputs"]["day"]


ZONES = pytest.mark.parametrize(("zone", "day"), [("", "2026-06-11"), ("Asia/Tokyo", "2026-06-12")])
ITEMS = pytest.mark.parametrize(("item", "asks"), [("tea", False), ("gold bars", True)])


@ZONES
@ITEMS
async def test_mcp_and_graphql_and_rest(zone: str, day: str, item: str, asks: bool) -> None:
    tp, _ = shop()
    async with serving(create_app(tp)) as http:
        said = {"q": REQUEST, "d": json.dumps(parts(item)), "z": zone}
        told = (await http.post("/graphql", json={"query": PLAN, "variables": said})).json()
        assert "errors" not in told, told
        made = told["data"]["createPlanWithRequestId"]
        plan = json.loads(made["document"])
        assert (day_of(plan), made["query"]) == (day, REQUEST)
        assert bool(plan["origin"].get("questions")) == asks
        for one in told["data"].values():
            assert json.loads(one["validationResult"])["isValid"] == (not asks)
        body = {"request": REQUEST, "decomposition": parts(item), "time_zone": zone}
        made = (await http.post("/api/v1/plans", json=body)).json()
        assert (day_of(made["plan"]), bool(made["questions"])) == (day, asks)
    async with talking(tp, "auto") as mcp:
        answer = await mcp.call_tool("plan", {"request": REQUEST, "decomposition": parts(item), "time_zone": zone})
        assert answer.structured_content is not None
        plan = answer.structured_content["plan"]
        assert (day_of(plan), bool(answer.structured_content["questions"])) == (day, asks)
        assert plan["origin"]["request"] == REQUEST


async def test_what_is_no_decomposition_and_no_zone_is_refused() -> None:
    tp, tool = shop()
    async with serving(create_app(tp)) as http:
        for decomposition, zone in (("5", ""), ("{", ""), ('{"sub_queries": 5}', ""), (None, "Mars/Base")):
            said = {"q": REQUEST, "d": decomposition, "z": zone}
            told = (await http.post("/graphql", json={"query": PLAN, "variables": said})).json()
            assert told["errors"][0]["extensions"]["code"] in ("schema", "read", "unreadable"), told
        wrong = await http.post("/api/v1/plans", json={"request": REQUEST, "time_zone": "Mars/Base"})
        assert_problem(wrong, 422, wrong.json()["code"])
        assert "Mars/Base" in wrong.text
    async with talking(tp, "auto") as mcp:
        for wrong_input in ({"decomposition": {"sub_queries": 5}}, {"time_zone": "Mars/Base"}, {"decomposition": 5}):
            assert (await mcp.call_tool("plan", {"request": REQUEST, **wrong_input})).is_error
    assert tool.calls == []


@ZONES
@pytest.mark.parametrize("stream", [False, True])
async def test_plan_and_run(zone: str, day: str, stream: bool) -> None:
    tp, tool = shop()
    async with tp:
        how: Any = {"time_zone": zone, "stream": stream}
        taken = {"original_query": REQUEST, **parts("tea")}
        result = await tp.plan_and_run(REQUEST, decomposition=taken, **how)
        assert result.success
        assert tool.calls == [{"item": "tea", "day": day}]
        with pytest.raises(PlanInvalid):
            await tp.plan_and_run(REQUEST, decomposition=taken | parts("gold bars"), **how)
        with pytest.raises(ReadError):
            await tp.plan_and_run(REQUEST, decomposition={"sub_queries": 5}, **how)
        assert len(tool.calls) == 1
