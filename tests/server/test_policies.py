"""What callers must have, asked of them over HTTP for every step that is made for them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.access.access_cases import JWT, SECRET, Guarded, bearer, guarded, token
from tests.patience import PATIENCE
from tests.server.rest_cases import Gate
from tests.server.serving_cases import assert_problem

from toolpath import Tool, ToolContext, tool
from toolpath.model.tool import Requires
from toolpath.values import JsonObject

API = "/api/v1"


@tool(group="mail", effect="read", requires=Requires(permissions=("mail.read",)))
def read_mail(box: str) -> str:
    """Read a mailbox."""
    return f"mail of {box}"


@tool(group="mail", effect="read")
async def look(context: ToolContext, box: str) -> Any:
    """Reads a mailbox through another tool."""
    return await context.call("mail.read_mail", {"box": box})


@tool(group="mail", effect="read")
def broken() -> str:
    """Never works."""
    raise ValueError("no")


@tool(group="mail", effect="read")
def send_key(key: str) -> int:
    """Takes a secret somewhere."""
    return len(key)


def composite(name: str, **rules: Any) -> JsonObject:
    steps = [{"tool": "mail.read_mail", "inputs": {"box": "in"}}]
    found: JsonObject = {"name": name, "description": "d", "category": "workflow", "parameters": [], **rules}
    return found | {"implementation": {"type": "composite", "composite": {"steps": steps}}}


COMPOSITES = [
    composite("plain"),
    composite("of_case", business_rules={"requires_casefile": True}),
    composite("of_state", casefile_policies={"requires_casefile": True, "allowed_casefile_states": ["active"]}),
    composite("of_session", session_policies={"requires_active_session": True}),
    composite("switched_off", business_rules={"enabled": False}),
]
TOOLS = (read_mail, look, broken, send_key)
CAN = {"permissions": ("mail.read",)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for document in COMPOSITES:
        (tmp_path / f"{document['name']}.yaml").write_bytes(msgspec.json.encode(document))
    return tmp_path


async def outcome(door: Guarded, headers: dict[str, str], what: str | JsonObject) -> JsonObject:
    """What came of a tool or plan, run over HTTP."""
    body = {"tool": what} if isinstance(what, str) else {"plan": what}
    begun = await door.client.post(f"{API}/runs", json=body, headers=headers)
    assert begun.status_code == 202, begun.text
    return await ended(door, headers, begun)


async def ended(door: Guarded, headers: dict[str, str], begun: httpx.Response) -> JsonObject:
    path = f"{API}/runs/{begun.json()['run_id']}"
    async with asyncio.timeout(PATIENCE):
        async for _ in door.tp.watch(begun.json()["run_id"]):
            pass
    found: JsonObject = (await door.client.get(path, headers=headers)).json()
    return found


def assert_refused(found: JsonObject, code: str, lacking: str) -> None:
    assert found["status"] == "failed", found
    assert found["error"]["type"] == "PolicyViolationError"
    assert found["error"]["code"] == code
    assert lacking in found["error"]["details"]


@pytest.mark.parametrize(
    ("name", "lacking", "has"),
    [
        ("of_case", "case", {"case": "c1"}),
        ("of_state", "case", {"case": "c1"}),
        ("of_session", "session", {"session": "s1"}),
    ],
)
async def test_a_composite_says_which_case_or_session_it_misses(
    name: str, lacking: str, has: dict[str, str], folder: Path
) -> None:
    async with guarded(tools=TOOLS) as door:
        door.tp.add_folder(folder)
        catalog = await door.tp.tools()
        key = catalog.find(name).key
        without = await door.key("run", "read", **CAN)
        assert_refused(await outcome(door, without, key), "policy", lacking)
        with_it = await door.key("run", "read", **CAN, **has)
        assert (await outcome(door, with_it, key))["status"] == "completed"
        said = {f"X-Toolpath-{field.title()}": value for field, value in has.items()}
        service = await door.key("run", "read", **CAN, delegates=True)
        assert (await outcome(door, service | said, key))["status"] == "completed"
        if name == "of_state":
            closed = await door.key("run", "read", **CAN, case="c1", case_state="closed")
            assert_refused(await outcome(door, closed, key), "policy", "case state active")


async def test_claims_of_a_token_are_what_policies_look_at(folder: Path) -> None:
    async with guarded(env={"TOOLPATH_JWT_SECRET": SECRET}, tools=TOOLS, **JWT) as door:
        door.tp.add_folder(folder)
        key = (await door.tp.tools()).find("of_case").key
        without = bearer(token(permissions=["mail.read"]))
        assert_refused(await outcome(door, without, key), "policy", "case")
        with_it = bearer(token(permissions=["mail.read"], case="c1"))
        assert (await outcome(door, with_it, key))["status"] == "completed"


READ: JsonObject = {"tool": "mail.read_mail", "inputs": {"box": "in"}}
#: Every way in which a plan can come to a call.
WAYS: dict[str, JsonObject] = {
    "step": {"steps": [READ]},
    "composite": {"steps": [{"tool": "plain"}]},
    "loop": {"steps": [{"loop": {"over": [1, 2], "steps": [READ]}}]},
    "parallel": {"steps": [{"parallel": [READ, {"tool": "mail.send_key", "inputs": {"key": "abcd"}}]}]},
    "fallback": {"steps": [{"tool": "mail.broken", "fallback": {"tool": "mail.read_mail", "inputs": {"box": "in"}}}]},
    "tool": {"steps": [{"tool": "mail.look", "inputs": {"box": "in"}}]},
    "chain": {"flow": "chain", "steps": [{"id": "a", **READ}, {"id": "b", **READ}]},
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_permission_is_asked_for_whatever_way_leads_to_the_call(way: str, folder: Path) -> None:
    async with guarded(tools=TOOLS, max_retries=0) as door:
        door.tp.add_folder(folder)
        plan = msgspec.json.decode(msgspec.json.encode(WAYS[way]))
        if way == "composite":
            plan["steps"][0]["tool"] = (await door.tp.tools()).find("plain").key
        found = await outcome(door, await door.key("run", "read"), plan)
        assert found["status"] == "failed"
        assert "mail of" not in str(found)
        assert "permission mail.read" in str(found)
        assert (await outcome(door, await door.key("run", "read", **CAN), plan))["status"] == "completed"


async def test_what_is_switched_off_is_called_by_nobody(folder: Path) -> None:
    async with guarded(tools=TOOLS) as door:
        door.tp.add_folder(folder)
        key = (await door.tp.tools()).find("switched_off").key
        assert_refused(await outcome(door, await door.key("*", permissions=("*",)), key), "policy", "enabled")


async def test_a_plan_says_what_its_callers_must_have() -> None:
    plan = {"policy": {"requires": {"permissions": ["pay"], "case": True}}, "steps": [READ]}
    async with guarded(tools=TOOLS) as door:
        sent = {"json": {"plan": plan}}
        refused = await door.client.post(f"{API}/runs", headers=await door.key("run", **CAN), **sent)  # type: ignore[arg-type]
        assert assert_problem(refused, 403, "policy")["missing"] == ["case", "permission pay"]
        may = await door.key("run", "read", permissions=("pay", "mail.read"), case="c1")
        assert (await outcome(door, may, plan))["status"] == "completed"
        assert await door.tp.runs() != []
        wrong = {"plan": {"policy": {"requires": {"permisions": ["pay"]}}, "steps": [READ]}}
        odd = await door.client.post(f"{API}/runs", headers=may, json=wrong)
        assert_problem(odd, 422, "plan_invalid")


async def test_whoever_forks_a_run_goes_on_with_their_own_permissions() -> None:
    async with guarded(tools=TOOLS) as door:
        ada = await door.key("run", "read", **CAN, tenant="acme", user="ada")
        bob = await door.key("run", "read", tenant="acme", user="bob")
        carl = await door.key("run", "read", **CAN, tenant="acme", user="carl")
        begun = await door.client.post(f"{API}/runs", json={"plan": {"steps": [READ]}}, headers=ada)
        assert (await ended(door, ada, begun))["status"] == "completed"
        path = f"{API}/runs/{begun.json()['run_id']}/fork"
        refused = await door.client.post(path, json={"from_step": "read_mail"}, headers=bob)
        assert assert_problem(refused, 403, "policy")["missing"] == ["permission mail.read"]
        assert [run.user for run in await door.tp.runs()] == ["ada"]
        forked = await door.client.post(path, json={"from_step": "read_mail"}, headers=carl)
        assert forked.status_code == 202, forked.text
        assert (await ended(door, carl, forked))["status"] == "completed"
        info = await door.tp.store.get_run(forked.json()["run_id"])
        assert (info.tenant, info.user) == ("acme", "carl")


async def test_whoever_forks_a_run_need_not_be_allowed_what_it_keeps() -> None:
    later = {"id": "later", "tool": "mail.send_key", "inputs": {"key": "{{ read_mail }}"}}
    async with guarded(tools=TOOLS) as door:
        ada = await door.key("run", "read", **CAN, tenant="acme", user="ada")
        bob = await door.key("run", "read", tenant="acme", user="bob")
        begun = await door.client.post(f"{API}/runs", json={"plan": {"steps": [READ, later]}}, headers=ada)
        assert (await ended(door, ada, begun))["status"] == "completed"
        path = f"{API}/runs/{begun.json()['run_id']}/fork"
        forked = await door.client.post(path, json={"from_step": "later"}, headers=bob)
        assert (await ended(door, bob, forked))["outputs"] == {"later": 10}


async def test_a_secret_is_given_to_no_plan_that_somebody_sends_without_the_permission(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLPATH_SECRET_API_KEY", "hunter2hunter2")
    plan = {"steps": [{"tool": "mail.send_key", "inputs": {"key": "{{ secrets.API_KEY }}"}}]}
    async with guarded(tools=TOOLS) as door:
        eve = await door.key("run", "read")
        for body in ({"plan": plan}, {"plan": plan, "inputs": {}}):
            refused = await door.client.post(f"{API}/runs", json=body, headers=eve)
            assert assert_problem(refused, 403, "policy")["missing"] == ["permission secrets.API_KEY"]
        may = await door.key("run", "read", permissions=("secrets.API_KEY",))
        assert (await outcome(door, may, plan))["outputs"] == {"send_key": 14}


class Post:
    """A tool that writes and needs a permission; it fails until it is told to work. And one that waits for the test."""

    def __init__(self) -> None:
        self.works = False
        self.sent = 0
        self.gate = Gate()
        requires = Requires(permissions=("mail.send",))
        self.tools = (
            Tool(name="send", group="mail", effect="write", requires=requires, body=self.send),
            Tool(name="hold", effect="read", body=self.gate.hold),
        )

    def send(self) -> int:
        """Send a letter."""
        if not self.works:
            raise ValueError("no stamps")
        self.sent += 1
        return self.sent


async def actions(door: Guarded, run_id: str) -> list[tuple[str, str]]:
    """What was done to the run, and with which key."""
    return [
        (entry.action, entry.data.get("key", "")) for entry in await door.tp.trail.entries() if entry.subject == run_id
    ]


@pytest.mark.parametrize("verb", ["retry", "resume"])
async def test_a_run_goes_on_only_for_those_who_may_today_do_what_it_writes(verb: str) -> None:
    post = Post()
    async with guarded(tools=post.tools) as door:
        # The same person: what counts is what they may do now, and not when they began it.
        made, text = await door.keys.create(name="a", scopes=["*"], user="ada", permissions=("mail.send",))
        less, lesser = await door.keys.create(name="b", scopes=["*"], user="ada")
        other, others = await door.keys.create(name="c", scopes=["*"], user="bob", permissions=("mail.send",))
        steps = [{"tool": "hold"}, {"tool": "mail.send"}]
        body = {"plan": {"flow": "chain", "steps": steps}}
        begun = await door.client.post(f"{API}/runs", json=body, headers=bearer(text))
        assert begun.status_code == 202, begun.text
        run_id = begun.json()["run_id"]
        await post.gate.entered.wait()
        if verb == "resume":
            await door.client.post(f"{API}/runs/{run_id}/pause", headers=bearer(text))
        else:
            post.gate.open.set()
            await ended(door, bearer(text), begun)
        await door.keys.revoke(made.id)
        post.works = True
        path = f"{API}/runs/{run_id}/{verb}"
        assert (await door.client.post(path, headers=bearer(text))).status_code == 401
        refused = assert_problem(await door.client.post(path, headers=bearer(lesser)), 403, "policy")
        assert refused["missing"] == ["permission mail.send"]
        assert post.sent == 0
        assert (await door.client.post(path, headers=bearer(others))).status_code == 202
        told = await actions(door, run_id)
        assert (f"run.{verb}.refused", less.id) in told
        assert (f"run.{verb}", other.id) in told
        post.gate.open.set()
        assert (await ended(door, bearer(others), begun))["status"] == "completed"
        started = (await door.tp.events(run_id))[0]
        assert started.context["user_id"] == "ada"  # type: ignore[union-attr]
