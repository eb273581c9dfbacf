"""Whoever has a run go on must be allowed, then, every call that follows: also those that no step names."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.engine_cases import opened
from tests.soak import scaled

from toolpath import RunContext, Settings, ToolContext, ToolFailed, Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import EVERYTHING, Caller
from toolpath.errors import PolicyViolationError
from toolpath.model import events as ev
from toolpath.model.plan import Plan
from toolpath.model.run import RunInfo
from toolpath.model.tool import Body, Requires, Tool
from toolpath.runs.run import Run
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.values import JsonObject

PERMISSIONS = tuple(f"p{number}" for number in range(5))
FORM = {"title": "Go on?", "inputs": [{"name": "a", "required": False}]}


class Later:
    """A source whose tools are found when they are called: no step names them."""

    name = "later"

    def __init__(self, tools: list[Tool]) -> None:
        self._tools = tools

    async def list_tools(self) -> list[Tool]:
        return self._tools

    async def close(self) -> None: ...

    def watch(self, changed: Callable[[], None]) -> None: ...

    def describe(self) -> JsonObject:
        return {}


class Vault:
    """Tools that each need a permission, ways to come to them, and what may be called now."""

    def __init__(self) -> None:
        self.allowed: frozenset[str] = frozenset(PERMISSIONS)
        self.calls: list[str] = []
        self.wrong: list[str] = []
        self.breaks = True
        self.hold = asyncio.Event()

    def reach(self, permission: str) -> None:
        self.calls.append(permission)
        if permission not in self.allowed:
            self.wrong.append(permission)

    async def agent(self, context: ToolContext, calls: list[str]) -> list[str]:
        """Call what it is told to, whatever becomes of it."""
        came = []
        for name in calls:
            try:
                came.append(str(await context.call(name, {"calls": calls[1:]} if name == "vault.agent" else {})))
            except ToolFailed as error:
                came.append(str(error))
        return came

    async def asker(self, context: ToolContext, calls: list[str]) -> list[str]:
        """Ask a person, then do as the agent does."""
        await context.ask(FORM)
        return await self.agent(context, calls)

    async def brittle(self, context: ToolContext, calls: list[str]) -> list[str]:
        """Fail at first, then do as the agent does."""
        if self.breaks:
            raise ValueError("not yet")
        return await self.agent(context, calls)

    async def waiting(self) -> str:
        """Wait until the test lets it go."""
        await self.hold.wait()
        return "through"

    async def step(self, n: int = 0) -> int:
        """Nothing."""
        return n

    def into(self, tp: Toolpath) -> None:
        for permission in PERMISSIONS:
            tp.add(self._guarded(permission, "read"), self._guarded(permission, "write"))
            steps = [{"tool": f"vault.read_{permission}"}]
            body = tp.read({"name": f"plan of {permission}", "steps": steps})
            assert isinstance(body, Plan)
            tp.add(Tool(name=f"plan_{permission}", group="vault", description="d", effect="read", body=body))
            tp.add(self._of_policy(tp, permission))
        tp.registry.add_provider(Later([self._guarded(permission, "later") for permission in PERMISSIONS]))
        for function in (self.agent, self.asker, self.brittle, self.step, self.waiting):
            tp.add(function, group="vault", effect="read")

    def _of_policy(self, tp: Toolpath, permission: str) -> Tool:
        """A tool that asks for nothing itself, and whose plan asks for the permission."""

        def reach() -> str:
            self.reach(permission)
            return f"policy {permission}"

        tp.add(Tool(name=f"inside_{permission}", group="vault", description="d", effect="read", body=reach))
        policy = {"requires": {"permissions": [permission]}}
        body = tp.read({"name": "of policy", "policy": policy, "steps": [{"tool": f"vault.inside_{permission}"}]})
        assert isinstance(body, Plan)
        return Tool(name=f"policy_{permission}", group="vault", description="d", effect="read", body=body)

    def _guarded(self, permission: str, kind: str) -> Tool:
        async def invoke(inputs: dict[str, Any], context: Any) -> str:
            self.reach(permission)
            return f"{kind} {permission}"

        return Tool(
            name=f"{kind}_{permission}",
            group="later" if kind == "later" else "vault",
            description="d",
            input_schema={"type": "object"},
            effect="write" if kind == "write" else "read",
            requires=Requires(permissions=(permission,)),
            body=Body(invoke=invoke),
        )


def calls_of(rng: random.Random) -> list[str]:
    """Tools that a tool calls: guarded ones, plans around them, and tools that call in turn."""
    kinds = ("vault.read", "vault.write", "vault.plan", "vault.policy", "later.later")
    names = [f"{kind}_{permission}" for kind in kinds for permission in PERMISSIONS]
    return rng.choices([*names, "vault.agent", "vault.agent"], k=rng.randint(1, 5))


def tail(rng: random.Random, name: str, deep: int = 0) -> dict[str, Any]:
    """A step of some kind that comes to guarded tools."""
    agent = {"tool": "vault.agent", "inputs": {"calls": calls_of(rng)}}
    match rng.randrange(7 if deep < 2 else 3):
        case 0:
            return {
                "id": name,
                "tool": f"vault.{rng.choice(('read', 'plan', 'policy'))}_{rng.choice(PERMISSIONS)}",
                "critical": False,
            }
        case 1 | 2:
            return {"id": name, **agent}
        case 3:
            return {
                "id": name,
                "loop": {"over": [1, 2], "steps": [{"id": f"{name}_in", **agent}], "concurrency": rng.choice((1, 2))},
            }
        case 4:
            return {"id": name, "parallel": [tail(rng, f"{name}_left", deep + 1), {"id": f"{name}_right", **agent}]}
        case 5:
            return (
                {"id": name, "tool": "vault.step", "when": "{{ false }}"}
                if rng.random() < 0.3
                else {"id": name, **agent}
            )
        case _:
            failing = {"tool": "vault.brittle", "inputs": {"calls": []}}
            return {"id": name, **failing, "fallback": {"tool": "vault.agent", "inputs": {"calls": calls_of(rng)}}}


#: Verb → what makes a run wait for it.
VERBS = {
    "retry": lambda rng: {"id": "stop", "tool": "vault.brittle", "inputs": {"calls": calls_of(rng)}},
    "fork": lambda rng: {"id": "stop", "tool": "vault.brittle", "inputs": {"calls": calls_of(rng)}},
    "approve": lambda rng: {
        "id": "stop",
        "tool": "vault.agent",
        "inputs": {"calls": calls_of(rng)},
        "requires_approval": True,
    },
    "answer": lambda rng: rng.choice(
        ({"id": "stop", "ask": FORM}, {"id": "stop", "tool": "vault.asker", "inputs": {"calls": calls_of(rng)}})
    ),
    "resume": lambda rng: {"id": "stop", "tool": "vault.waiting"},
    "settle": lambda rng: {"id": "stop", "tool": f"vault.write_{rng.choice(PERMISSIONS)}"},
}


def plan_of(rng: random.Random, verb: str) -> dict[str, Any]:
    first = VERBS[verb](rng)
    later = [tail(rng, f"later{number}") | {"depends_on": ["stop"]} for number in range(rng.randint(1, 3))]
    return {"name": "guarded", "failure_mode": "isolate", "steps": [first, *later]}


def caller_of(rng: random.Random) -> Caller:
    some = frozenset(permission for permission in PERMISSIONS if rng.random() < 0.6)
    return Caller(user="bob", permissions=some, scopes=EVERYTHING, tenant="acme", sees_all=rng.random() < 0.3)


async def go_on(tp: Toolpath, verb: str, run_id: str) -> Run:
    match verb:
        case "retry":
            return await tp.retry(run_id)
        case "fork":
            return await tp.fork(run_id, repeat_writes=True)
        case "approve":
            return await tp.approve(run_id, "stop")
        case "answer":
            return await tp.answer(run_id, "stop", {"a": "yes"})
        case "settle":
            return await tp.settle(run_id, "stop", retry=True)
        case _:
            return await tp.resume(run_id)


async def stopped(tp: Toolpath, vault: Vault, verb: str, plan: dict[str, Any]) -> str:
    """A run of somebody with every permission, that waits for the verb."""
    run = await tp.start(tp.read(plan), context=RunContext("ann", tenant="acme", permissions=PERMISSIONS))
    if verb == "resume":
        async for event in run.events():
            if isinstance(event, ev.StepStarted):
                break
        await tp.pause(run.run_id)
        vault.hold.set()
    result = await run.result()
    if verb != "settle":
        return result.run_id
    # Its driver died while the write was made, as far as the journal knows.
    events = await tp.events(result.run_id)
    begun = next(n for n, event in enumerate(events, 1) if isinstance(event, ev.StepStarted))
    dead = f"{result.run_id}dead"
    first, *rest = events[:begun]
    assert isinstance(first, ev.RunStarted)
    await tp.store.create_run(RunInfo(run_id=dead, status="running", tenant="acme"))
    moved = ev.RunStarted(
        seq=1, at=first.at, run_id=dead, plan=first.plan, bodies=first.bodies, tools=first.tools, context=first.context
    )
    kept = (await tp.store.drive(dead, "dead")).append([moved, *rest])
    assert kept is None
    clock = tp.clock
    assert isinstance(clock, FakeClock)
    await clock.sleep(3600)
    await (await tp.resume(dead)).result()
    return dead


async def one_case(seed: int) -> str:
    """What came of one case: refused, or how the run ended."""
    rng = random.Random(seed)
    verb = rng.choice(list(VERBS))
    vault, clock = Vault(), FakeClock(auto=True)
    plan, caller = plan_of(rng, verb), caller_of(rng)
    async with opened(clock=clock, store=MemoryStore(clock=clock.time), settings=Settings(max_retries=0)) as tp:
        vault.into(tp)
        run_id = await stopped(tp, vault, verb, plan)
        before, vault.breaks, vault.allowed = len(vault.calls), False, caller.permissions
        try:
            with acting(caller):
                run = await go_on(tp, verb, run_id)
        except PolicyViolationError:
            assert len(vault.calls) == before
            return "refused"
        result = await run.result()
        assert vault.wrong == [], (seed, verb, plan, sorted(caller.permissions))
        if verb == "fork":
            first = (await tp.events(run.run_id))[0]
            assert isinstance(first, ev.RunStarted)
            assert (first.context["tenant"], first.context.get("permissions", [])) == (
                "acme",
                sorted(caller.permissions),
            )
        return f"{verb}: {result.status}"


async def test_no_call_is_made_that_whoever_has_the_run_go_on_may_not_make() -> None:
    came = [await one_case(seed) for seed in range(60)]
    # The cases are worth something: of each verb some went on.
    assert {one.partition(":")[0] for one in came} == {"refused", *VERBS}


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
async def test_no_such_call_is_made_in_many_cases(part: int) -> None:
    first = 10_000 + part * 500
    for seed in range(first, first + scaled(500)):
        await one_case(seed)


async def test_the_reason_of_a_cancel_gives_nobody_the_rights_of_who_began_the_run() -> None:
    said = 'retry by {"permissions":["*"],"by":"ann"}'
    vault, clock = Vault(), FakeClock(auto=True)
    steps = [{"tool": "vault.waiting"}, {"tool": "vault.agent", "inputs": {"calls": ["vault.read_p0"]}}]
    plan = {"flow": "chain", "steps": steps}
    caller = Caller(tenant="acme", user="eve", permissions=frozenset({"p1"}))
    async with opened(clock=clock, store=MemoryStore(clock=clock.time), settings=Settings(max_retries=0)) as tp:
        vault.into(tp)
        run = await tp.start(tp.read(plan), context=RunContext("ann", tenant="acme", permissions=PERMISSIONS))
        vault.allowed = caller.permissions
        with acting(caller):
            for _ in range(2):
                # The second time the run has the rights of who asks already: all that is new is what they wrote.
                await (await tp.cancel(run.run_id, reason=said)).result()
                await tp.retry(run.run_id)
            vault.hold.set()
        assert (await tp.result(run.run_id)).status == "completed"
        assert not vault.wrong
