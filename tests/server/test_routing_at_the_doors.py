"""Routing over REST, GraphQL and MCP, and how requests were routed and planned, each tenant its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from mcp_cases import talking
from tests.server.rest_cases import api
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_chat import ScriptedChat

API = "/api/v1"
ASKED = 'shop.price of the item "tea"'
ROUTE = """mutation ($r: String!, $run: Boolean!) { route(request: $r, run: $run)
  { routeId outcome plan message suggestions decisions questions runId status outputs } }"""
ROUTES = "{ routes { id request outcome toolOrder runId prompt createdAt } }"


def price(item: str) -> float:
    """The price of an item."""
    return {"tea": 2.5}[item]


def order(item: str) -> str:
    """Order something."""
    return item


@pytest.fixture
async def tp() -> AsyncIterator[Toolpath]:
    async with Toolpath() as door:
        door.add(price, group="shop", effect="read")
        door.add(order, group="shop", effect="write")
        yield door


async def graphql(client: httpx.AsyncClient, query: str, **values: Any) -> Any:
    answer = await client.post("/graphql", json={"query": query, "variables": values})
    assert "errors" not in answer.json(), answer.text
    return answer.json()["data"]


async def test_a_request_is_routed_and_run_over_rest_and_kept_with_its_run(tp: Toolpath) -> None:
    async with serving(create_app(tp)) as client:
        shown = (await client.post(f"{API}/tools/route", json={"request": ASKED})).json()
        assert (shown["outcome"], shown["run_id"], shown["outputs"]) == ("tools", "", [])
        assert shown["decisions"][0]["tools"] == ["shop.price"]
        ran = await client.post(f"{API}/tools/route", json={"request": ASKED, "run": True})
        assert ran.status_code == 200
        assert ran.json()["outputs"] == [{"tool": "shop.price", "status": "succeeded", "output": 2.5}]
        await tp.result(ran.json()["run_id"])
        kept = (await client.get(f"{API}/tools/routes", params={"limit": 1})).json()
        assert kept["routes"][0]["id"] == ran.json()["route_id"]
        assert kept["next"] == ran.json()["route_id"]
        older = (await client.get(f"{API}/tools/routes", params={"before": kept["next"]})).json()
        assert [one["id"] for one in older["routes"]] == [shown["route_id"]]
        one = (await client.get(f"{API}/tools/routes/{ran.json()['route_id']}")).json()
        assert (one["run_id"], one["request"]) == (ran.json()["run_id"], ASKED)
        assert one["at"] > 0


async def test_what_is_not_commanded_is_not_run_by_any_door(tp: Toolpath) -> None:
    request = 'Do not call shop.order of the item "tea"'
    async with serving(create_app(tp)) as client:
        refused = await client.post(f"{API}/tools/route", json={"request": request, "run": True})
        assert_problem(refused, 422, "plan_invalid")
        answer = await client.post("/graphql", json={"query": ROUTE, "variables": {"r": request, "run": True}})
        assert answer.json()["errors"][0]["extensions"]["code"] == "plan_invalid"
        assert (await tp.runs()) == []


async def test_wrong_names_and_words_are_told_over_rest(tp: Toolpath) -> None:
    async with serving(create_app(tp)) as client:
        wrong = await client.post(f"{API}/tools/route", json={"request": ASKED, "tools": ["shop.prize"]})
        assert_problem(wrong, 404, "unknown_tool")
        assert "shop.price" in wrong.text
        assert (await client.post(f"{API}/tools/route", json={"request": ""})).status_code == 422
        for place in ("tools/routes", "plannings"):
            assert_problem(await client.get(f"{API}/{place}/none"), 404, "unknown_record")
            assert_problem(await client.get(f"{API}/{place}", params={"before": "none"}), 404, "unknown_record")
        nothing = (await client.post(f"{API}/tools/route", json={"request": "Sing me a song"})).json()
        assert nothing["outcome"] == "no_match"
        assert "shop.price" in nothing["message"]


async def test_a_request_is_routed_over_graphql(tp: Toolpath) -> None:
    async with serving(create_app(tp)) as client:
        ran = (await graphql(client, ROUTE, r=ASKED, run=True))["route"]
        assert json.loads(ran["outputs"]) == [{"tool": "shop.price", "status": "succeeded", "output": 2.5}]
        await tp.result(ran["runId"])
        (kept,) = (await graphql(client, ROUTES))["routes"]
        assert (kept["id"], kept["runId"], kept["toolOrder"]) == (ran["routeId"], ran["runId"], ["shop.price"])


async def test_a_request_is_routed_over_mcp_and_its_plan_run(tp: Toolpath) -> None:
    async with talking(tp, "auto") as client:
        found = (await client.call_tool("route", {"request": ASKED})).structured_content
        assert (found["outcome"], found["decisions"][0]["how"]) == ("tools", "exact")
        ran = (await client.call_tool("run_plan", {"plan": found["plan"]})).structured_content
        assert ran["status"] == "completed"
        await tp.result(ran["run_id"])
        (kept,) = await tp.routes()
        assert (kept.id, kept.run_id) == (found["route_id"], ran["run_id"])


@pytest.mark.parametrize(
    ("user", "scopes", "reads"),
    [
        ("ann", {"read"}, True),
        ("bob", {"read"}, False),
        ("", {"read", "run", "answer"}, False),
        ("bob", {"admin"}, True),
    ],
)
async def test_what_a_model_was_asked_and_wrote_is_for_who_asked_and_for_admins(
    user: str, scopes: set[str], reads: bool
) -> None:
    steps = [{"id": "a", "tool": "shop.price", "inputs": {"item": "tea"}}]
    written = {"steps": steps, "origin": {"confidence": 0.9}}
    called = {"action": "shop.price", "parameters": {"item": "tea"}}
    tp = Toolpath(chat=ScriptedChat(written, called))
    tp.add(price, group="shop", effect="read")
    caller = Caller(user=user, scopes=frozenset(scopes | {"read"}))
    async with api(tp, caller=caller) as client:
        with acting(Caller(user="ann", scopes=EVERYTHING)):
            await tp.plan("What is the price of tea?", planner="model")
            await tp.route("What is the price of tea?", planner="model")
        (row,) = (await client.get("plannings")).json()["plannings"]
        (round_,) = (await client.get(f"plannings/{row['id']}")).json()["rounds"]
        assert (bool(round_.get("answer")), bool(round_.get("plan"))) == (reads, reads)
        (route,) = (await client.get("tools/routes")).json()["routes"]
        whole = (await client.get(f"tools/routes/{route['id']}")).json()
        assert [bool(one.get("answers")) for one in (route, whole)] == [reads, reads]
        assert bool(whole.get("prompt")) == reads


async def test_a_page_of_all_traces_says_that_there_are_more() -> None:
    tp = Toolpath()
    tp.add(price, group="shop", effect="read")
    async with api(tp, caller=Caller(scopes=EVERYTHING, sees_all=True)) as client:
        for tenant in ("a", "b"):
            with acting(Caller(tenant=tenant, scopes=EVERYTHING)):
                for _ in range(260):
                    await tp.route(ASKED)
        first = (await client.get("tools/routes", params={"limit": 500})).json()
        rest = (await client.get("tools/routes", params={"limit": 500, "before": first["next"]})).json()
        assert (len(first["routes"]), len(rest["routes"]), rest["next"]) == (500, 20, None)


async def test_plannings_are_listed_and_shown_with_the_report(tp: Toolpath) -> None:
    async with serving(create_app(tp)) as client:
        made = await client.post(f"{API}/plans", json={"request": 'Order the item "tea"'})
        assert made.status_code == 201, made.text
        (row,) = (await client.get(f"{API}/plannings")).json()["plannings"]
        assert (row["request"], row["planner"], row["strategy"]) == ('Order the item "tea"', "offline", "rules")
        whole = (await client.get(f"{API}/plannings/{row['id']}")).json()
        assert whole["selections"][0]["tool"] == "shop.order"
        report = (await client.get(f"{API}/plannings/report")).json()
        assert report["ways"]["untried"] == ["model", "rules"]
        assert "Not compared" in report["text"]


async def test_a_word_that_is_no_choice_is_told_with_the_choices(tp: Toolpath) -> None:
    async with serving(create_app(tp)) as client:
        refused = await client.post(f"{API}/tools/route", json={"request": ASKED, "on_multiple": "first"})
        assert refused.status_code == 422
        assert refused.json()["hint"] == "One of all, best, error."
        assert refused.json()["findings"][0]["hint"] == "One of all, best, error."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"request": " "}, "There is no request and no plan."),
        ({}, "There is no request and no plan."),
        ({"request": ASKED, "plan": {"steps": []}}, "There are both a request and a plan."),
    ],
)
async def test_what_a_new_plan_is_made_of_is_told(tp: Toolpath, body: dict[str, Any], said: str) -> None:
    async with serving(create_app(tp)) as client:
        refused = await client.post(f"{API}/plans", json=body)
        assert (refused.status_code, refused.json()["detail"]) == (422, said)
        assert refused.json()["hint"]
