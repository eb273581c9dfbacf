"""Plans inside a run as runs of their own: looked at, followed and cancelled by an id."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath import Tool, Toolpath, tool
from toolpath.errors import RunConflict, RunNotFound
from toolpath.model import events as ev
from toolpath.model.sub_plan import plan_id, split_plan_id
from toolpath.testing.scripted_model import ScriptedModel, done

INNER: dict[str, Any] = {
    "name": "inner",
    "steps": [{"id": "first", "tool": "count"}, {"id": "held", "tool": "hold", "depends_on": ["first"]}],
    "outputs": "{{ held }}",
}


class Gate:
    """Tools that count and wait for the test."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.cut_off = False
        self.counted = 0

    def tools(self) -> list[Any]:
        @tool(effect="read")
        async def count() -> int:
            """Count."""
            self.counted += 1
            return self.counted

        @tool(effect="read")
        async def hold() -> str:
            """Wait for the test."""
            self.entered.set()
            try:
                await self.open.wait()
            except asyncio.CancelledError:
                self.cut_off = True
                raise
            return "through"

        return [count, hold]


def with_tools(tp: Toolpath, gate: Gate) -> None:
    tp.add(*gate.tools())
    inner = tp.read(INNER)
    tp.add(Tool(name="inner", group="plans", input_schema={"type": "object"}, body=inner))
    outer = tp.read({"name": "outer", "steps": [{"id": "within", "tool": "plans.inner"}], "outputs": "{{ within }}"})
    tp.add(Tool(name="outer", group="plans", input_schema={"type": "object"}, body=outer))


WHOLE: dict[str, Any] = {
    "name": "whole",
    "failure_mode": "isolate",
    "steps": [{"id": "sub", "tool": "plans.outer"}, {"id": "other", "tool": "count"}],
    "outputs": {"other": "{{ other }}"},
}


def test_an_id_says_run_and_path() -> None:
    assert plan_id("run_1", "a/round[3]/act[0]") == "run_1:a:round[3]:act[0]"
    assert split_plan_id("run_1:a:round[3]:act[0]") == ("run_1", "a/round[3]/act[0]")
    assert split_plan_id("run_1:a/round[3]/act[0]") == ("run_1", "a/round[3]/act[0]")
    assert split_plan_id("run_1") == ("run_1", "")


async def test_a_plan_inside_a_run_is_looked_at_while_it_goes_on_and_afterwards() -> None:
    gate = Gate()
    async with Toolpath() as tp:
        with_tools(tp, gate)
        run = await tp.start(WHOLE)
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        inner = plan_id(run.run_id, "sub/within")
        now = await tp.info(inner)
        assert (now.status, now.run_id, [step.path for step in now.results]) == (
            "running",
            inner,
            ["sub/within/first", "sub/within/held"],
        )
        assert now.sub_plan is not None
        assert (now.sub_plan.root, now.sub_plan.parent, now.sub_plan.call, now.sub_plan.title) == (
            run.run_id,
            plan_id(run.run_id, "sub"),
            "sub/within",
            "plans.inner",
        )
        assert (await tp.info(plan_id(run.run_id, "sub"))).sub_plan.parent == run.run_id  # type: ignore[union-attr]
        gate.open.set()
        ended = await asyncio.wait_for(tp.result(inner), PATIENCE)
        assert (ended.status, ended.outputs, ended.success) == ("completed", "through", True)
        await run.result()
        events = await tp.events(inner)
        assert {event.path for event in events} == {"sub/within", "sub/within/first", "sub/within/held"}  # type: ignore[union-attr]
        assert [event async for event in tp.watch(inner)] == events
        for wrong in ("sub/withinn", "nothing", "sub/within/first/x", "[", "../x"):
            with pytest.raises(RunNotFound, match="has no plan"):
                await tp.info(f"{run.run_id}:{wrong}")
        with pytest.raises(RunNotFound):
            await tp.info("run_none:sub")


async def test_one_plan_is_cancelled_and_the_rest_goes_on() -> None:
    gate = Gate()
    async with Toolpath() as tp:
        with_tools(tp, gate)
        run = await tp.start(WHOLE)
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        inner = plan_id(run.run_id, "sub/within")
        with pytest.raises(RunConflict, match="no plan"):
            await tp.cancel(plan_id(run.run_id, "sub/within/held"))
        await tp.cancel(inner, reason="not needed")
        result = await asyncio.wait_for(tp.result(run.run_id), PATIENCE)
        assert gate.cut_off
        assert result.step("sub/within/held").status == "cancelled"
        for path in ("sub/within", "sub"):
            failed = result.step(path)
            assert failed.status == "failed"
            assert failed.error is not None
            # What went wrong travels up as it is.
            assert (failed.error.code, "not needed" in failed.error.message) == ("cancelled", True)
        assert result.step("other").status == "succeeded"
        assert not any(isinstance(event, ev.RunCancelled) for event in await tp.events(run.run_id))
        with pytest.raises(RunConflict, match="has ended"):
            await tp.cancel(inner)


async def test_an_agent_and_what_it_calls_are_plans_of_their_own() -> None:
    gate = Gate()
    chat = ScriptedModel([("plans.inner", {})], then=done("ended"))
    async with Toolpath(chat=chat) as tp:
        with_tools(tp, gate)
        step = {"id": "a", "agent": {"requirement": "Do it.", "tools": ["plans.inner"]}}
        run = await tp.start({"name": "one", "steps": [step], "outputs": "{{ a }}"})
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        called = plan_id(run.run_id, "a/round[1]/act[0]")
        assert (await tp.info(called)).sub_plan.parent == plan_id(run.run_id, "a")  # type: ignore[union-attr]
        await tp.cancel(called, reason="enough")
        result = await asyncio.wait_for(tp.result(run.run_id), PATIENCE)
        # The agent is told, and goes on.
        assert (result.status, result.outputs) == ("completed", "ended")
        assert any("enough" in message.text for message in chat.requests[-1].messages)


async def test_an_agent_is_cancelled_in_the_middle_of_what_it_does() -> None:
    gate = Gate()
    chat = ScriptedModel([("hold", {})], then=done("ended"))
    async with Toolpath(chat=chat) as tp:
        with_tools(tp, gate)
        step = {"id": "a", "agent": {"requirement": "Do it.", "tools": ["hold"]}, "on_failure": {"action": "continue"}}
        run = await tp.start({"name": "one", "steps": [step], "outputs": "over"})
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        await tp.cancel(plan_id(run.run_id, "a"), reason="enough")
        result = await asyncio.wait_for(tp.result(run.run_id), PATIENCE)
        assert gate.cut_off
        assert (result.status, result.step("a").error.code) == ("completed_with_errors", "cancelled")  # type: ignore[union-attr]
        assert len(chat.requests) == 1


async def test_cancel_of_a_run_travels_down() -> None:
    gate = Gate()
    async with Toolpath() as tp:
        with_tools(tp, gate)
        run = await tp.start(WHOLE)
        await asyncio.wait_for(gate.entered.wait(), PATIENCE)
        await tp.cancel(run.run_id)
        await asyncio.wait_for(tp.result(run.run_id), PATIENCE)
        assert gate.cut_off
        assert (await tp.info(plan_id(run.run_id, "sub/within"))).status == "cancelled"
