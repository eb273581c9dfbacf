"""Tools of a server that no step names, as running tools call them: found then, frozen then, bound as any other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.prepared.prepared import prepared

from toolpath import RunContext, Settings, ToolContext, Toolpath
from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.errors import ToolNotFound
from toolpath.model import events as ev
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

pytestmark = pytest.mark.mcp
PLAN: dict[str, Any] = {"steps": [{"id": "a", "tool": "agent"}]}


async def agent(context: ToolContext, n: int = 1) -> Any:
    """Add with a tool of a server."""
    return await context.call("probe.add", {"a": n, "b": 1})


def add_probe(tp: Toolpath, **how: Any) -> None:
    command, *args = prepared("probe")
    tp.add_mcp("probe", command=command, args=args, **how)


async def test_a_tool_calls_a_tool_of_a_server_that_no_step_names() -> None:
    async with Toolpath(settings=Settings()) as tp:
        add_probe(tp)
        tp.add(agent)
        result = await tp.run(PLAN)
        events = await tp.events(result.run_id)
    assert result.status == "completed", result.error
    frozen = [event for event in events if isinstance(event, ev.ToolsFrozen)]
    assert [list(event.tools) for event in frozen] == [["probe.add"]]
    assert "probe.add" not in events[0].tools  # type: ignore[union-attr]


async def test_one_that_no_server_has_is_still_not_found() -> None:
    async def lost(context: ToolContext) -> Any:
        """Call what is not there."""
        try:
            await context.call("probe.ad", {})
        except ToolNotFound as error:
            return error.suggestions

    async with Toolpath(settings=Settings()) as tp:
        add_probe(tp)
        tp.add(lost)
        result = await tp.run({"steps": [{"id": "a", "tool": "lost"}], "outputs": "{{ a }}"})
    assert result.status == "completed", result.error
    assert "probe.add" in result.outputs


async def test_its_server_gets_no_more_calls_at_once_than_it_may() -> None:
    steps = [{"id": f"s{n}", "tool": "agent", "inputs": {"n": n}} for n in range(6)]
    async with Toolpath(settings=Settings()) as tp:
        add_probe(tp, max_concurrency=2)
        tp.add(agent)
        result = await tp.run({"concurrency": 6, "steps": steps})
        events = await tp.events(result.run_id)
    assert result.status == "completed", result.error
    flying = most = 0
    for event in events:
        if "/" in getattr(event, "path", ""):
            flying += isinstance(event, ev.StepStarted) - isinstance(event, ev.StepSucceeded)
            most = max(most, flying)
    assert most == 2


async def test_a_run_whose_tool_called_one_that_has_changed_since_waits_for_a_person() -> None:
    store = MemoryStore()
    agent_that_asks = _asking_between()
    async with Toolpath(store=store, settings=Settings()) as tp:
        add_probe(tp)
        tp.add(agent_that_asks, name="agent")
        first = await (await tp.start(PLAN)).result()
    assert first.status == "waiting"
    async with Toolpath(store=store, settings=Settings()) as tp:
        add_probe(tp, env={"PROBE_WORDS": "Add two integers, and more."})
        tp.add(agent_that_asks, name="agent")
        run = await tp.resume(first.run_id)
        held = await run.result()
        assert held.status == "waiting"
        assert [warning.code for warning in held.warnings] == ["tool_changed"]
        assert "probe.add" in held.warnings[0].message


async def test_a_plan_that_a_tool_called_stays_what_it_was_when_the_run_goes_on() -> None:
    """Whatever stands under its name by then: what is half done of it fits no other plan."""

    def inner(given: str) -> Any:
        return read_composite(
            {
                "name": "inner",
                "parameters": [],
                "implementation": {
                    "type": "composite",
                    "composite": {"steps": [{"tool": "give", "parameters": {"n": given}}]},
                },
            }
        )

    async def calling(context: ToolContext) -> Any:
        """Call a plan, ask, and call it again."""
        await context.call("inner", {}, key="first")
        await context.ask(FORM)
        await context.call("inner", {}, key="second")

    store, clock = MemoryStore(), FakeClock(auto=True)
    for given in ("old", "new"):
        give = scripted("give", then=lambda inputs: inputs["n"])
        async with Toolpath(store=store, clock=clock, settings=Settings()) as tp:
            tp.add(calling, give, inner(given))
            if given == "old":
                run = await tp.start({"steps": [{"id": "a", "tool": "calling"}]})
                assert (await run.result()).status == "waiting"
            else:
                await tp.answer(run.id, "a", {})
                result = await (await tp.resume(run.id)).result()
    assert result.status == "completed", result.error
    assert give.calls == [{"n": "old"}]


async def test_what_the_house_asks_of_a_tool_of_a_server_is_asked_where_a_tool_finds_it() -> None:
    async with Toolpath(settings=Settings(max_retries=0)) as tp:
        add_probe(tp)
        tp.add(agent)
        tp.registry.set_override("probe.*", {"requires": {"permissions": ["sums"]}})
        refused = await tp.run(PLAN, context=RunContext("ann"))
        allowed = await tp.run(PLAN, context=RunContext("ann", permissions=["sums"]))
    inner = refused.results[1]
    assert (refused.status, inner.status, inner.error and inner.error.code) == ("failed", "failed", "permission")
    assert inner.attempts == 0
    assert allowed.status == "completed", allowed.error


@pytest.mark.parametrize("approved", [True, False])
async def test_a_person_is_asked_before_a_tool_of_a_server_that_a_tool_finds(approved: bool) -> None:
    async with Toolpath(settings=Settings(max_retries=0)) as tp:
        add_probe(tp)
        tp.add(agent)
        tp.registry.set_override("probe.add", {"requires": {"approval": True}})
        first = await tp.run(PLAN)
        assert first.status == "waiting"
        (question,) = first.questions
        assert (question.tool, question.inputs) == ("probe.add", {"a": 1, "b": 1})  # type: ignore[union-attr]
        assert not [event for event in await tp.events(first.run_id) if _calls(event)]
        decide = tp.approve if approved else tp.deny
        last = await (await decide(first.run_id, question.path)).result()
        calls = [event for event in await tp.events(first.run_id) if _calls(event)]
    assert (last.status, len(calls)) == (("completed", 1) if approved else ("failed", 0))


async def test_whoever_answers_must_be_allowed_what_a_tool_then_finds_on_a_server() -> None:
    async with Toolpath(settings=Settings(max_retries=0)) as tp:
        add_probe(tp)
        tp.add(_asking_before(), name="agent")
        tp.registry.set_override("probe.add", {"requires": {"permissions": ["sums"]}})
        for permissions, status in ((frozenset[str](), "failed"), (frozenset({"sums"}), "completed")):
            first = await tp.run(PLAN, context=RunContext("ann", permissions=["sums"]))
            assert first.status == "waiting"
            with acting(Caller(user="bob", permissions=permissions)):
                run = await tp.answer(first.run_id, "a", {})
            last = await run.result()
            calls = [event for event in await tp.events(first.run_id) if _calls(event)]
            assert (last.status, len(calls)) == (status, len(permissions))


FORM = {"title": "Go on?", "inputs": [{"name": "a", "required": False}]}


def _calls(event: ev.AnyEvent) -> bool:
    return isinstance(event, ev.StepStarted) and event.tool == "probe.add"


def _asking_before() -> Any:
    async def calling(context: ToolContext) -> Any:
        """Ask, and add."""
        await context.ask(FORM)
        return await context.call("probe.add", {"a": 1, "b": 1})

    return calling


def _asking_between() -> Any:
    async def calling(context: ToolContext) -> Any:
        """Add, ask, and add again."""
        await context.call("probe.add", {"a": 1, "b": 1})
        await context.ask(FORM)
        return await context.call("probe.add", {"a": 2, "b": 1})

    return calling
