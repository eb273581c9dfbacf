"""At every door: what follows when somebody has a run of somebody else go on is what they may do, today, themselves."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.access.access_cases import Guarded, guarded
from tests.hostile.test_rights_of_who_goes_on import PERMISSIONS, VERBS, Vault, plan_of
from tests.patience import PATIENCE

from toolpath import Toolpath
from toolpath.model import events as ev
from toolpath.values import JsonObject

API = "/api/v1/runs"
Say = Callable[[Guarded, dict[str, str], str], Awaitable[bool]]
"""Has a run go on with these headers; whether it was allowed."""


def rest(verb: str, body: JsonObject | None = None) -> Say:
    async def say(door: Guarded, who: dict[str, str], run_id: str) -> bool:
        answer = await door.client.post(f"{API}/{run_id}/{verb}", json=body, headers=who)
        assert answer.status_code in (202, 403), answer.text
        return answer.status_code == 202

    return say


def graphql(text: str) -> Say:
    async def say(door: Guarded, who: dict[str, str], run_id: str) -> bool:
        query = f"mutation {{ {text.replace('RUN', run_id)} {{ id }} }}"
        answer = (await door.client.post("/graphql", json={"query": query}, headers=who)).json()
        codes = [error["extensions"]["code"] for error in answer.get("errors", ())]
        assert codes in ([], ["policy"]), answer
        return not codes

    return say


def mcp(**said: Any) -> Say:
    async def say(door: Guarded, who: dict[str, str], run_id: str) -> bool:
        url = f"{door.client.base_url}/mcp"
        async with (
            httpx.AsyncClient(headers=who, follow_redirects=True, timeout=PATIENCE, verify=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            given = {"run_id": run_id, "step": "stop", **said}
            answer = await client.call_tool("answer", given)
        assert not answer.is_error or "policy" in str(answer), answer
        return not answer.is_error

    return say


#: What is said, and at which door. `settle` and what a dead driver leaves are tried without a server.
DOORS: dict[str, dict[str, Say]] = {
    "retry": {"rest": rest("retry")},
    "resume": {"rest": rest("resume")},
    "fork": {"rest": rest("fork", {"repeat_writes": True})},
    "approve": {
        "rest": rest("approvals/stop", {"approved": True}),
        "graphql": graphql('approve(runId: "RUN", step: "stop")'),
        "mcp": mcp(approve=True),
    },
    "answer": {
        "rest": rest("input", {"step": "stop", "values": {"a": "yes"}}),
        "graphql": graphql('answer(runId: "RUN", step: "stop", values: "{\\"a\\": \\"yes\\"}")'),
        "mcp": mcp(values={"a": "yes"}),
    },
}


class Doors:
    """One server, and callers of one tenant with permissions of their own."""

    def __init__(self, door: Guarded, vault: Vault) -> None:
        self.door = door
        self.vault = vault

    async def one_case(self, rng: random.Random, verb: str, say: Say) -> str:
        """What came of it: refused, or how the run ended."""
        vault, tp = self.vault, self.door.tp
        plan = plan_of(rng, verb)
        given = frozenset(permission for permission in PERMISSIONS if rng.random() < 0.6)
        less = rng.choice((given, given, PERMISSIONS))
        ann = await self.door.key("*", tenant="acme", user="ann", permissions=tuple(PERMISSIONS))
        # Now and then whoever asks is the same person, with another key.
        bob = await self.door.key("*", tenant="acme", user=rng.choice(("ann", "bob")), permissions=tuple(less))
        vault.allowed, vault.breaks = frozenset(PERMISSIONS), True
        vault.hold.clear()
        vault.wrong.clear()
        begun = await self.door.client.post(API, json={"plan": plan}, headers=ann)
        assert begun.status_code == 202, begun.text
        run_id: str = begun.json()["run_id"]
        if verb == "resume":
            await seen(tp, run_id, ev.StepStarted)
            paused = await self.door.client.post(f"{API}/{run_id}/pause", headers=ann)
            assert paused.status_code == 202, paused.text
            await seen(tp, run_id, ev.RunPaused)
        vault.hold.set()
        stands = await tp.result(run_id)
        assert stands.status not in ("running", "pending"), stands
        if verb == "resume" and stands.status == "completed":
            # Nothing was left to call.
            return "over"
        before, vault.breaks, vault.allowed = len(vault.calls), False, frozenset(less)
        if not await say(self.door, bob, run_id):
            assert len(vault.calls) == before
            return "refused"
        if verb == "fork":
            run_id = (await tp.runs(limit=1))[0].run_id
        result = await tp.result(run_id)
        assert vault.wrong == [], (verb, plan, sorted(less))
        events = await tp.events(run_id)
        denied = [event for event in events if isinstance(event, ev.StepFailed) and event.error.code == "permission"]
        return "limited" if denied else str(result.status)


async def seen(tp: Toolpath, run_id: str, kind: type[ev.Event]) -> None:
    """Wait until the run has such an event."""
    async for event in tp.watch(run_id):
        if isinstance(event, kind):
            return


def cases() -> list[tuple[str, str]]:
    return [(verb, door) for verb, doors in DOORS.items() for door in doors]


@pytest.mark.parametrize(("verb", "door"), cases())
async def test_no_door_lets_a_run_do_more_than_whoever_has_it_go_on_may(verb: str, door: str) -> None:
    assert set(DOORS) < set(VERBS)
    came = []
    async with guarded(max_retries=0) as there:
        vault = Vault()
        vault.into(there.tp)
        doors = Doors(there, vault)
        for seed in range(8):
            came.append(await doors.one_case(random.Random(f"{verb} {door} {seed}"), verb, DOORS[verb][door]))
    # The cases are worth something: calls were refused, and runs went on.
    assert {"refused", "limited"} & set(came)
    assert set(came) != {"refused"}
