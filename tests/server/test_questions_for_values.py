"""What a request says and its tool refuses is a question over REST, GraphQL and MCP, and nothing runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_cases import talking
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.testing.scripted import scripted

REQUEST = "Send money: amount 50, currency JPY, to Bob"
CREATE = "mutation ($q: String!) { createPlanWithRequestId(query: $q) { requestId validationResult document } }"
EXECUTE = "mutation ($r: ID!) { executeByRequestId(requestId: $r) { id } }"


def bank() -> tuple[Toolpath, Any]:
    tp = Toolpath()
    properties = {
        "amount": {"type": "number"},
        "currency": {"type": "string", "enum": ["USD", "EUR"]},
        "to": {"type": "string"},
    }
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    about = "Send money to somebody."
    tool = scripted("send_money", then="sent", effect="write", description=about, input_schema=schema)
    tp.add(tool)
    return tp, tool


def assert_asked(questions: Any) -> None:
    assert any("'currency'" in one and '"USD", "EUR"' in one and "'JPY'" in one for one in questions), questions


@pytest.mark.parametrize("planner", [None, "offline"])
async def test_rest_keeps_the_plan_with_a_question(planner: str | None) -> None:
    tp, tool = bank()
    async with serving(create_app(tp)) as http:
        made = await http.post("/api/v1/plans", json={"request": REQUEST, "planner": planner})
        assert made.status_code == 201, made.text
        assert_asked(made.json()["questions"])
        refused = await http.post("/api/v1/runs", json={"plan_id": made.json()["plan_id"]})
        assert_problem(refused, 422, "plan_invalid")
    assert tool.calls == []


async def test_graphql_tells_it_with_what_is_not_valid() -> None:
    tp, tool = bank()
    async with serving(create_app(tp)) as http:
        told = (await http.post("/graphql", json={"query": CREATE, "variables": {"q": REQUEST}})).json()
        assert "errors" not in told, told
        made = told["data"]["createPlanWithRequestId"]
        said = json.loads(made["validationResult"])
        assert said["isValid"] is False
        assert_asked(said["errors"])
        begun = {"query": EXECUTE, "variables": {"r": made["requestId"]}}
        assert (await http.post("/graphql", json=begun)).json()["errors"][0]["extensions"]["code"] == "plan_invalid"
    assert tool.calls == []


async def test_mcp_gives_the_plan_with_a_question() -> None:
    tp, tool = bank()
    async with talking(tp, "auto") as mcp:
        answer = await mcp.call_tool("plan", {"request": REQUEST})
        assert not answer.is_error
        assert answer.structured_content is not None
        assert_asked(answer.structured_content["questions"])
        assert (await mcp.call_tool("run_plan", {"plan": answer.structured_content["plan"]})).is_error
    assert tool.calls == []
