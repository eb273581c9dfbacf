"""A password that is answered at any door is shown by none."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from tests.server.rest_cases import stream_of, tools, until_asked
from tests.server.serving_cases import serving

from toolpath import Toolpath
from toolpath.errors import ToolFailed
from toolpath.runs.secret_answers import KIND as SECRETS
from toolpath.server.asgi import create_app

PASSWORD = "correct horse+Battery"
PLAN: dict[str, Any] = {
    "name": "login",
    "steps": [
        {"id": "form", "ask": {"title": "Log in", "inputs": [{"name": "pw", "label": "Word", "type": "password"}]}},
        {"id": "entry", "tool": "login", "inputs": {"password": "{{ form.pw }}"}},
    ],
    "outputs": {"form": "{{ form }}", "entry": "{{ entry }}"},
}
SEEN: list[str] = []


async def login(password: str) -> str:
    """Log in."""
    SEEN.append(password)
    return f"in with {password}"


async def _by_rest(client: httpx.AsyncClient, run_id: str) -> httpx.Response:
    return await client.post(f"runs/{run_id}/input", json={"values": {"pw": PASSWORD}})


async def _by_plan_service(client: httpx.AsyncClient, run_id: str) -> httpx.Response:
    return await client.post(client.base_url.join(f"/api/executor/submit-input/{run_id}"), json={"Word": PASSWORD})


async def _by_graphql(client: httpx.AsyncClient, run_id: str) -> httpx.Response:
    return await client.post(
        client.base_url.join("/graphql"), json={"query": _ANSWER, "variables": {"id": run_id, "values": _VALUES}}
    )


_VALUES = '{"pw": "' + PASSWORD + '"}'
_ANSWER = "mutation ($id: ID!, $values: String!) { answer(runId: $id, values: $values) { requestId } }"


@pytest.mark.parametrize("answer", [_by_rest, _by_plan_service, _by_graphql])
async def test_no_door_tells_the_password_that_was_answered(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "toolpath")
    tp = tools(Toolpath())
    tp.add(login)
    async with serving(create_app(tp)) as client:
        client.base_url = client.base_url.join("/api/v1/")
        run_id = (await client.post("runs", json={"plan": PLAN})).json()["run_id"]
        await until_asked(client, run_id)
        said = await answer(client, run_id)
        assert said.status_code in (200, 202), said.text
        told = [said.text]
        told += ["".join(one) async for one in stream_of(client, run_id)]
        for path in (
            f"runs/{run_id}",
            f"runs/{run_id}/events",
            "runs",
            "audit",
            f"/api/executor/details/{run_id}",
            f"/api/executor/taskStatus/{run_id}",
        ):
            found = await client.get(client.base_url.join(path))
            assert found.status_code == 200, path
            told.append(found.text)
        assert "[redacted]" in "".join(told)
        assert SEEN.pop() == PASSWORD
    assert "Battery" not in "".join(told) + caplog.text


async def _forgotten_by_graphql(client: httpx.AsyncClient, tp: Toolpath, run_id: str) -> None:
    query = "mutation ($id: ID!) { deleteExecution(id: $id) }"
    answer = await client.post(client.base_url.join("/graphql"), json={"query": query, "variables": {"id": run_id}})
    assert answer.json() == {"data": {"deleteExecution": True}}


async def _forgotten_by_retention(client: httpx.AsyncClient, tp: Toolpath, run_id: str) -> None:
    assert [info.run_id for info in await tp.prune(-1)] == [run_id]


@pytest.mark.parametrize("forget", [_forgotten_by_graphql, _forgotten_by_retention])
@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_deleted_leaves_its_answer_in_the_conversation_and_no_password(
    forget: Any, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tp = tools(Toolpath())

    async def fail(password: str) -> str:
        """Fail, and say with what."""
        raise ToolFailed(f"Nobody comes in with {password}.")

    tp.add(login, fail)
    steps = [PLAN["steps"][0], {**PLAN["steps"][1], "tool": "fail" if fails else "login"}]

    async def died(_: str) -> None:
        """Nobody keeps what came of the run when it has ended."""

    async with serving(create_app(tp)) as client:
        client.base_url = client.base_url.join("/api/v1/")
        thread = (await client.post("conversations", json={})).json()["conversation_id"]
        monkeypatch.setattr(tp._launcher, "ended", died)
        body = {"plan": {**PLAN, "steps": steps}, "conversation_id": thread}
        run_id = (await client.post("runs", json=body)).json()["run_id"]
        await until_asked(client, run_id)
        assert (await _by_rest(client, run_id)).status_code == 202
        assert (await tp.result(run_id)).status == ("failed" if fails else "completed")
        kept = await tp.store.list_records(SECRETS, parent=run_id)
        # Of a run that failed they are kept, since it may be retried.
        assert [bool(record.data) for record in kept] == [fails]
        await forget(client, tp, run_id)
        assert await tp.store.list_records(SECRETS, parent=run_id) == []
        told = (await client.get(f"conversations/{thread}/messages")).json()["messages"]
        assert [message.get("status", "") for message in told] == ["", "failed" if fails else "completed"]
        text = (await client.get(f"conversations/{thread}/messages")).text
        assert PASSWORD not in text
        assert ("Nobody comes in with" if fails else "in with") in text
