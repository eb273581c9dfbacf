"""Writes in doubt: each doubt is settled by an answer of its own, and by nothing while the run is held."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import after, opened, run
from hypothesis import given
from hypothesis import strategies as st

from toolpath import Tool, ToolContext, ToolFailed, ToolRetry, tool
from toolpath.engine.state.paths import safe_key
from toolpath.model import events as ev
from toolpath.model.plan import Retry
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

PLAN = {"steps": [{"id": "a", "tool": "pay"}], "outputs": "{{ a }}"}


class Till:
    """A payment whose driver dies before the effect, then after it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(clock=self.clock.time)
        self.calls = 0
        self.effects: list[int] = []

    async def pay(self, _: Any) -> Any:
        self.calls += 1
        call = self.calls
        if call == 1:
            return await after(self.clock, 1000)
        self.effects.append(call)
        return await after(self.clock, 1000) if call == 2 else call

    async def drive(self, run_id: str, tell: Any, about: str = "") -> tuple[str, Any]:
        """One driver's life: it is gone as soon as nothing moves."""
        told = scripted("told", then=tell, retry=Retry(max_retries=0))
        pay = scripted("pay", then=self.pay, effect="write", verify="told", timeout=5000.0, description=about)
        async with opened(pay, told, clock=self.clock, store=self.store) as tp:
            run = await (tp.resume(run_id) if run_id else tp.start(tp.read(PLAN)))
            await self.clock.settle()
            self.told = len(told.calls)
            return run.id, await self.store.get_run(run.id)


async def test_a_second_doubt_of_a_write_is_not_settled_with_the_answer_to_the_first() -> None:
    till = Till()

    def tell(_: Any) -> Any:
        return {"happened": bool(till.effects), "output": till.effects}

    run_id, _ = await till.drive("", tell)
    await till.drive(run_id, tell)
    _, info = await till.drive(run_id, tell)
    assert (info.status, till.effects) == ("completed", [2])


async def test_a_write_in_doubt_is_not_settled_by_a_tool_while_a_changed_tool_is_not_accepted() -> None:
    till = Till()
    run_id, _ = await till.drive("", ValueError("cannot tell"))
    await till.drive(run_id, ValueError("cannot tell"))
    _, info = await till.drive(run_id, {"happened": False}, "another one now")
    assert (info.status, till.told, till.calls) == ("waiting", 0, 1)


async def test_a_call_under_the_key_verify_is_never_taken_for_the_answer_of_the_tool_that_can_tell() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)

    async def pay(context: ToolContext) -> Any:
        """Look first, then write."""
        await context.call("look", {}, key="verify")
        await context.call("look", {}, key="verify-2")
        return await after(clock, 1000)

    paying = tool(effect="write", verify="told", timeout=5000.0)(pay)
    look, told = scripted("look", then=False), scripted("told", then={"happened": True, "output": "paid"})
    async with opened(paying, look, told, clock=clock, store=store) as tp:
        run = await tp.start(tp.read(PLAN))
        await clock.settle()
    async with opened(paying, look, told, clock=clock, store=store) as tp:
        result = await (await tp.resume(run.id)).result()
    assert (result.status, result.outputs) == ("completed", "paid")
    assert (len(look.calls), len(told.calls)) == (2, 1)


async def test_a_write_that_says_it_may_be_made_twice_is_made_again_when_it_times_out() -> None:
    clock = FakeClock(auto=True)
    pay = scripted("pay", lambda _: after(clock, 100), "paid", effect="write", idempotent=True, timeout=2.0)
    found = await run(PLAN, pay, clock=clock)
    assert (found.outputs, len(pay.calls)) == ("paid", 2)
    assert [event.error.in_doubt for event in found.of(ev.StepRetrying)] == [False]


CALLERS: list[dict[str, Any]] = [{"effect": "read"}, {"effect": "write", "idempotent": True}]
CONSENT = {"max_retries": 1, "backoff": "none"}


def paying_through(shape: str, clock: FakeClock, **said: Any) -> tuple[list[Tool], Any]:
    """A tool that a transient failure meets after its payment timed out, and the payment that it calls."""
    pay = scripted("pay", lambda _: after(clock, 100), "paid", effect="write", timeout=2.0)
    steps = [{"id": "x", "tool": "pay"}]
    inner = read_composite({"name": "inner", "implementation": {"type": "composite", "composite": {"steps": steps}}})
    inner_key = "inner" if shape == "in a plan" else "pay"

    @tool(name="deep", effect="read")
    async def deep(context: ToolContext) -> Any:
        return await context.call(inner_key, key="p")

    @tool(name="order", **said)
    async def order(context: ToolContext) -> Any:
        try:
            return await context.call("deep" if shape == "deep" else inner_key, key="p")
        except ToolFailed as error:
            raise ToolRetry("the line is bad") from error

    return [order, deep, inner, pay], pay


ORDER = {"steps": [{"id": "a", "tool": "order"}], "outputs": "{{ a }}"}


@pytest.mark.parametrize("said", CALLERS, ids=["read", "idempotent"])
@pytest.mark.parametrize("shape", ["alone", "in a plan", "deep"])
async def test_a_write_in_doubt_is_not_made_again_as_the_tool_that_called_it_is_retried_by_default(
    shape: str, said: dict[str, Any]
) -> None:
    clock = FakeClock(auto=True)
    tools, pay = paying_through(shape, clock, **said)
    async with opened(*tools, clock=clock) as tp:
        failed = await tp.run(tp.read(ORDER))
        assert (failed.status, len(pay.calls), failed.step("a").attempts) == ("failed", 1, 4)
        # Only a person lets it be made again.
        asked = await (await tp.retry(failed.run_id)).result()
        assert (asked.status, len(pay.calls)) == ("waiting", 1)
        doubt = next(step.path for step in asked.results if step.status == "unknown")
        settled = await (await tp.settle(failed.run_id, doubt, retry=True)).result()
    assert (settled.status, len(pay.calls)) == ("completed", 2)


@pytest.mark.parametrize("shape", ["alone", "in a plan", "deep"])
@pytest.mark.parametrize("where", ["step", "tool"])
async def test_a_retry_that_somebody_wrote_is_consent_to_the_writes_in_doubt_that_the_tool_made(
    where: str, shape: str
) -> None:
    clock = FakeClock(auto=True)
    tools, pay = paying_through(shape, clock, effect="read", **({"retry": CONSENT} if where == "tool" else {}))
    step = {"id": "a", "tool": "order", **({"retry": CONSENT} if where == "step" else {})}
    async with opened(*tools, clock=clock) as tp:
        result = await tp.run({"steps": [step], "outputs": "{{ a }}"})
    assert (result.status, len(pay.calls)) == ("completed", 2)


def shipping_through(shape: str, pay: Any, **said: Any) -> list[Tool]:
    """A tool that calls a plan which pays, and then cannot ship the first time."""
    ship = scripted("ship", ToolFailed("no lorry"), then="shipped", effect="write")
    paying: dict[str, dict[str, Any]] = {
        "flat": {"id": "x", "tool": "pay"},
        "loop": {"id": "x", "loop": {"over": "{{ [1, 2] }}", "steps": [{"id": "y", "tool": "pay"}]}},
        "branch": {"id": "x", "parallel": [{"id": "y", "tool": "pay"}, {"id": "z", "tool": "look"}]},
        "nested": {"id": "x", "tool": "paying"},
        "deep": {"id": "x", "tool": "payer"},
    }
    paid = {"name": "paying", "implementation": {"type": "composite", "composite": {"steps": [paying["flat"]]}}}
    steps = [paying[shape], {"id": "s", "tool": "ship", "depends_on": ["x"]}]
    inner = {"name": "inner", "implementation": {"type": "composite", "composite": {"steps": steps}}}

    @tool(name="payer", effect="read")
    async def payer(context: ToolContext) -> Any:
        return await context.call("pay", key="p")

    @tool(name="order", **said)
    async def order(context: ToolContext) -> Any:
        try:
            return await context.call("inner", key="p")
        except ToolFailed as error:
            raise ToolRetry("the line is bad") from error

    look = scripted("look", then="seen", effect="read")
    return [order, payer, look, read_composite(paid), read_composite(inner), pay, ship]


SHAPES = {"flat": 1, "loop": 2, "branch": 1, "nested": 1, "deep": 1}


@pytest.mark.parametrize("said", CALLERS, ids=["read", "idempotent"])
@pytest.mark.parametrize("shape", SHAPES)
async def test_a_plan_with_a_finished_write_does_not_begin_anew_as_its_caller_is_retried_by_default(
    shape: str, said: dict[str, Any]
) -> None:
    pay = scripted("pay", then="paid", effect="write")
    async with opened(*shipping_through(shape, pay, **said)) as tp:
        failed = await tp.run(tp.read(ORDER))
        assert (failed.status, len(pay.calls)) == ("failed", SHAPES[shape])
        # Going on with the run goes on with the plan, from what failed in it.
        result = await (await tp.retry(failed.run_id)).result()
    assert (result.status, len(pay.calls)) == ("completed", SHAPES[shape])


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_retry_that_somebody_wrote_begins_the_plan_anew(shape: str) -> None:
    pay = scripted("pay", then="paid", effect="write")
    async with opened(*shipping_through(shape, pay, effect="read", retry=CONSENT)) as tp:
        result = await tp.run(tp.read(ORDER))
    assert (result.status, len(pay.calls)) == ("completed", 2 * SHAPES[shape])


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_plan_whose_finished_writes_may_be_made_twice_begins_anew(shape: str) -> None:
    pay = scripted("pay", then="paid", effect="write", idempotent=True)
    async with opened(*shipping_through(shape, pay, effect="read")) as tp:
        result = await tp.run(tp.read(ORDER))
    assert (result.status, len(pay.calls)) == ("completed", 2 * SHAPES[shape])


async def test_a_write_that_was_cut_off_is_not_made_again_as_its_caller_is_retried_by_default() -> None:
    clock = FakeClock(auto=True)
    pay = scripted("pay", lambda _: after(clock, 100), "paid", effect="write", timeout=200.0)

    async def stumble() -> None:
        await clock.sleep(1)
        raise ToolFailed("no")

    @tool(name="both", effect="read")
    async def both(context: ToolContext) -> Any:
        return await asyncio.gather(context.call("pay", key="p"), stumble())

    @tool(name="order", effect="read")
    async def order(context: ToolContext) -> Any:
        try:
            return await context.call("both", key="b")
        except ToolFailed as error:
            raise ToolRetry("the line is bad") from error

    async with opened(order, both, pay, clock=clock) as tp:
        result = await tp.run(tp.read(ORDER))
    assert (result.status, result.step("a").attempts, len(pay.calls)) == ("failed", 4, 1)


@given(st.lists(st.text(alphabet="verify-0123456789abcdef /~#[]", min_size=1, max_size=20), unique=True))
def test_keys_that_differ_have_paths_that_differ_and_none_has_one_of_the_engine_s_own(keys: list[str]) -> None:
    names = [safe_key(key) for key in keys]
    assert len(set(names)) == len(names)
    assert not {"verify", "verify-2", "verify-10", "pay-0123abcd"} & set(names)
