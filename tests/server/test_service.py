from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.pages import table_rows
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.server.asgi import create_app
from toolpath.values import JsonObject


async def test_a_living_server_says_so_and_is_ready() -> None:
    async with serving(create_app(Toolpath())) as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        ready = (await client.get("/ready")).json()
    assert ready["status"] == "ok"
    assert ready["parts"] == [{"name": "store", "detail": "takes writes"}, {"name": "tools", "detail": "0 loaded"}]


async def test_a_store_that_cannot_be_read_makes_a_server_unready_but_not_dead(tmp_path: Path) -> None:
    tp = Toolpath(tmp_path / "runs.db")
    async with serving(create_app(tp)) as client:
        assert (await client.get("/ready")).status_code == 200
        await tp.store.close()
        refused = await client.get("/ready")
        while refused.status_code == 200:
            # What was found holds for a second.
            await asyncio.sleep(0.05)
            refused = await client.get("/ready")
        assert (await client.get("/health")).status_code == 200
        answers = [refused, await client.get("/api/v1/runs")]
        query = {"query": "{ getExecutions { id } }"}
        told = (await client.post("/graphql", json=query)).text
    for answer in answers:
        assert_problem(answer, 503, "store")
        assert answer.headers["retry-after"] == "1"
    # Where the store is, is nothing for whoever asks.
    texts = [told, *(answer.text for answer in answers)]
    assert not [text for text in texts if str(tmp_path) in text or "runs.db" in text]


async def test_errors_are_problem_details_with_a_stable_code() -> None:
    async with serving(create_app(Toolpath())) as client:
        assert_problem(await client.get("/api/v1/runs/run_1"), 404, "unknown_run")
        assert_problem(await client.get("/nowhere"), 404, "not_found")
        assert_problem(await client.delete("/health"), 405, "method_not_allowed")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/templates", {"document": {"steps": []}, "access": "a" * 1_000_000}),
        ("/api/v1/conversations", {"a" * 1_000_000: 1}),
        ("/api/models/validate", {"baseUrl": ["a" * 1_000_000], "headers": {"a" * 1_000_000: 1}}),
        ("/api/v1/plans/check", {"plan": "a" * 1_000_000}),
        ("/v1/chat/completions", {"model": "x", "messages": [{"role": "a" * 1_000_000, "content": "x"}]}),
    ],
)
async def test_a_refusal_does_not_send_back_what_was_sent(path: str, body: JsonObject) -> None:
    async with serving(create_app(Toolpath())) as client:
        answer = await client.post(path, json=body)
        assert len(answer.content) < 20_000, answer.text[:300]


async def test_the_pages_that_load_scripts_from_elsewhere_are_not_there() -> None:
    async with serving(create_app(Toolpath())) as client:
        assert (await client.get("/docs")).status_code == 404
        assert (await client.get("/redoc")).status_code == 404
        assert (await client.get("/api/v1/openapi.json")).json()["openapi"].startswith("3.")


async def test_every_route_says_the_problems_that_any_may_answer_as_they_are_answered() -> None:
    async with serving(create_app(Toolpath())) as client:
        described = (await client.get("/api/v1/openapi.json")).json()
        refused = await client.get("/api/v1/templates/export", params={"group": "\0"})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            for status in ("400", "401", "403", "408", "413", "421", "422", "429", "500", "503"):
                said = list(route["responses"][status]["content"])
                assert said == ["application/problem+json"], (method, path, status)
    # FastAPI's own, which nothing here answers with.
    assert "HTTPValidationError" not in described["components"]["schemas"]


async def test_the_page_of_rest_has_every_route_and_the_status_that_it_answers_with() -> None:
    async with serving(create_app(Toolpath())) as client:
        described = (await client.get("/api/v1/openapi.json")).json()["paths"]
    text = (Path(__file__).parents[2] / "docs" / "reference" / "rest.md").read_text(encoding="utf-8")
    shown = {row[0].strip("`"): row[3] for row in table_rows(text, "Routes")}
    routes = {
        f"{method.upper()} {path.removeprefix('/api/v1')}": sorted(code for code in route["responses"] if code < "300")
        for path, methods in described.items()
        if path.startswith("/api/v1/")
        for method, route in methods.items()
    }
    assert {name: sorted(re.findall(r"\b20\d\b", answers)) for name, answers in shown.items()} == routes
