"""What must not get out gets out nowhere, and who did what is known to those who look after the service."""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import Any

import pytest
from tests.access.access_cases import guarded
from tests.patience import PATIENCE
from tests.server.serving_cases import assert_problem

from toolpath import tool
from toolpath.values import JsonObject

API = "/api/v1"
SECRET = "hunter2hunter2-of-the-house"


@tool(group="leaky", effect="read")
def tell(key: str) -> dict[str, str]:
    """Says what it was given, in every form."""
    return {"plain": f"it is {key}", "base64": base64.b64encode(key.encode()).decode(), key: "a name"}


@tool(group="leaky", effect="read")
def shout(key: str) -> str:
    """Fails, and says too much."""
    raise ValueError(f"401 Unauthorized: {key} is no good")


PLAN: JsonObject = {
    "steps": [
        {"id": "told", "tool": "leaky.tell", "inputs": {"key": "{{ secrets.KEY }}"}},
        {"id": "asked", "depends_on": ["told"], "ask": {"title": "{{ told.plain }}", "inputs": [{"name": "who"}]}},
        {
            "id": "failed",
            "depends_on": ["told"],
            "tool": "leaky.shout",
            "inputs": {"key": "{{ secrets.KEY }}"},
            "critical": False,
        },
    ]
}


async def test_a_secret_gets_out_by_no_door(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TOOLPATH_SECRET_KEY", SECRET)
    said: list[str] = []
    async with guarded(tools=(tell, shout), max_retries=0) as door:
        headers = await door.key("*", permissions=("secrets.*",), user="ada")

        async def get(path: str) -> Any:
            answer = await door.client.get(f"{API}{path}", headers=headers)
            assert answer.status_code == 200, answer.text
            said.append(answer.text)
            return answer

        begun = await door.client.post(f"{API}/runs", json={"plan": PLAN}, headers=headers)
        run_id = begun.json()["run_id"]
        async with asyncio.timeout(PATIENCE):
            async for _ in door.tp.watch(run_id):
                pass
        run = (await get(f"/runs/{run_id}")).json()
        assert "[redacted]" in str(run)
        assert "no good" in str(run)
        await get("/questions")
        # What somebody types who knows it must not come back in an error either.
        wrong = await door.client.post(
            f"{API}/runs/{run_id}/input", json={"step": SECRET, "values": {}}, headers=headers
        )
        assert wrong.status_code >= 400
        said.append(wrong.text)
        cancelled = await door.client.post(f"{API}/runs/{run_id}/cancel", json={"reason": SECRET}, headers=headers)
        said.append(cancelled.text)
        async with asyncio.timeout(PATIENCE):
            async for _ in door.tp.watch(run_id):
                pass
        await get(f"/runs/{run_id}/events")
        await get("/audit")
        tokens = [headers["Authorization"].removeprefix("Bearer ")]
    everything = "".join(said) + caplog.text
    assert run_id in everything
    for form in (SECRET, base64.b64encode(SECRET.encode()).decode(), *tokens):
        assert form not in everything


async def test_the_trail_says_who_asked_from_where_and_with_which_key() -> None:
    async with guarded(tools=(tell,)) as door:
        ada = await door.key("run", "read", user="ada", tenant="acme")
        admin = await door.key("admin", user="root", tenant="acme")
        other = await door.key("admin", user="root", tenant="other")
        (key,) = [key for key in await door.keys.list() if key.user == "ada"]
        body = {"inputs": {"key": "tea"}}
        called = await door.client.post(f"{API}/tools/leaky.tell/call", json=body, headers=ada)
        run_id = called.json()["run_id"]
        entries = (await door.client.get(f"{API}/audit", headers=admin)).json()["entries"]
        start = next(entry for entry in entries if entry["action"] == "run.start")
        assert (start["user"], start["tenant"], start["subject"]) == ("ada", "acme", run_id)
        assert start["data"] == {
            "tools": ["leaky.tell"],
            "plan": "leaky.tell",
            "from": "127.0.0.1",
            "door": "rest",
            "key": key.id,
        }
        assert (await door.client.get(f"{API}/audit", headers=other)).json() == {"entries": [], "next": None}
        first = (await door.client.get(f"{API}/audit?limit=1", headers=admin)).json()
        assert first["next"] == start["seq"]
        assert_problem(await door.client.get(f"{API}/audit", headers=ada), 403, "scope")


@pytest.mark.parametrize("path", ["/mcp", "/graphql"])
async def test_the_other_doors_ask_for_credentials_too(path: str) -> None:
    async with guarded() as door:
        for method in ("GET", "POST", "DELETE"):
            assert_problem(await door.client.request(method, path, json={}), 401, "unauthorized")


async def test_a_mistake_of_the_server_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with guarded() as door:
        headers = await door.key("*")

        async def broken(*_: object, **__: object) -> None:
            raise RuntimeError(f"the password is {SECRET}")

        monkeypatch.setattr(type(door.tp.store), "list_runs", broken)
        answer = await door.client.get(f"{API}/runs", headers=headers)
        body = assert_problem(answer, 500, "internal")
        assert SECRET not in str(body)
