"""`GET /questions`: all of them, page by page, without reading journals; and runs that nobody has begun."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.rest_cases import ASKING, GATED, SUM, api, begun, until_asked
from tests.server.rest_cases import tools as tools_of
from tests.server.serving_cases import assert_problem
from tests.server.test_doors_with_workers import Handed

from toolpath import RunContext, Toolpath
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.store.sqlite.store import SqliteStore


class Reading(SqliteStore):
    """Tells which events were asked for."""

    whole = 0

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[Any]:
        self.whole += limit is None
        return await super().read_events(run_id, after=after, limit=limit, most_bytes=most_bytes)


async def all_pages(client: httpx.AsyncClient, limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        answer = await client.get("questions", params={"limit": limit, **after})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["questions"]
        assert len({question["run_id"] for question in page["questions"]}) <= limit
        if page["next"] is None:
            return found
        after = {"after": page["next"]}


async def test_every_question_is_found_page_by_page_and_no_journal_is_read_for_it(tmp_path: Path) -> None:
    async with tools_of(Toolpath(tmp_path / "runs.db")) as tp:
        asked = [(await tp.run(ASKING if number % 3 else GATED)).run_id for number in range(25)]
        done = (await tp.run(ASKING)).run_id
        await (await tp.answer(done, "who", {"first": "Ann", "age": 3})).result()
    store = Reading(tmp_path / "runs.db")
    async with api(tools_of(Toolpath(store))) as client:
        store.whole = 0
        found = await all_pages(client, 4)
        assert [question["run_id"] for question in found] == asked, "the longest waiting first, each once"
        assert {question["kind"] for question in found} == {"input", "approval"}
        assert {question["run_name"] for question in found} == {"asking", "gated"}, "each says of which run it is"
        assert next(question for question in found if question["kind"] == "approval")["inputs"] == {"a": 1, "b": 2}
        assert store.whole == 0
        for wrong in ("x", "1.0", "nan run_1", "1e999 run_1", "1 a\0b"):
            assert_problem(await client.get("questions", params={"after": wrong}), 422, "invalid_request")


async def test_what_older_code_has_asked_is_found_too(tmp_path: Path) -> None:
    async with tools_of(Toolpath(tmp_path / "runs.db")) as tp:
        asked = [(await tp.run(ASKING)).run_id for _ in range(3)]
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        # As code leaves it that does not know these columns.
        connection.execute("UPDATE runs SET asked = '[]', asked_at = NULL, epoch = epoch + 1")
    async with api(tools_of(Toolpath(tmp_path / "runs.db"))) as client:
        assert [question["run_id"] for question in await all_pages(client, 2)] == asked


@pytest.mark.parametrize("tenant", ["acme", "other"])
async def test_a_caller_pages_through_the_questions_of_its_own_tenant(tmp_path: Path, tenant: str) -> None:
    async with tools_of(Toolpath(tmp_path / "runs.db")) as tp:
        asked = [(await tp.run(ASKING, context=RunContext(tenant=who))).run_id for who in ("acme", "other") * 3]
    caller = Caller(tenant=tenant, permissions=EVERYTHING, scopes=EVERYTHING)
    async with api(tools_of(Toolpath(tmp_path / "runs.db")), caller=caller) as client:
        mine = asked[0 if tenant == "acme" else 1 :: 2]
        assert [question["run_id"] for question in await all_pages(client, 1)] == mine


async def test_a_question_is_listed_from_when_it_is_asked_until_it_is_answered() -> None:
    async with api() as client:
        run_id = await begun(client, {"plan": ASKING})
        await until_asked(client, run_id)
        assert [question["run_id"] for question in await all_pages(client, 50)] == [run_id]
        await client.post(f"runs/{run_id}/input", json={"values": {"first": "Ann", "age": 3}})
        assert await all_pages(client, 50) == []


class Kept(Handed):
    """A queue from which nobody takes anything."""

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        pass


async def test_a_run_that_nobody_has_begun_is_pending_wherever_it_is_looked_at(tmp_path: Path) -> None:
    tp = tools_of(Toolpath(tmp_path / "runs.db", queue=Kept()))
    async with api(tp) as client:
        body = {"plan": SUM, "inputs": {"a": 1}, "priority": 3}
        run = (await client.post("runs", json=body)).json()
        assert (run["status"], run["priority"]) == ("pending", 3)
        shown = (await client.get(f"runs/{run['run_id']}")).json()
        assert (shown["status"], shown["priority"]) == ("pending", 3)
        [row] = (await client.get("runs")).json()["runs"]
        assert row["status"] == "pending"
        for wrong in (5, -6, "high", 1.5):
            assert_problem(await client.post("runs", json={**body, "priority": wrong}), 422, "invalid_request")


async def test_runs_have_the_priority_of_the_key_where_the_request_says_none(tmp_path: Path) -> None:
    tp = tools_of(Toolpath(tmp_path / "runs.db", queue=Kept()))
    caller = Caller(tenant="acme", permissions=EVERYTHING, scopes=EVERYTHING, priority=-4)
    async with api(tp, caller=caller) as client:
        told = [
            (await client.post("runs", json={"plan": SUM, "inputs": {"a": 1}, **more})).json()["priority"]
            for more in ({}, {"priority": 2}, {"priority": 0})
        ]
    assert told == [-4, 2, 0]


async def test_a_fork_has_the_priority_of_its_run_where_the_request_says_none(tmp_path: Path) -> None:
    tp = tools_of(Toolpath(tmp_path / "runs.db", queue=Kept()))
    async with api(tp) as client:
        run_id = (await client.post("runs", json={"plan": SUM, "inputs": {"a": 1}, "priority": 3})).json()["run_id"]
        told = [
            (await client.post(f"runs/{run_id}/fork", json=more)).json()["priority"] for more in ({}, {"priority": -2})
        ]
        assert_problem(await client.post(f"runs/{run_id}/fork", json={"priority": 99}), 422, "invalid_request")
    assert told == [3, -2]
