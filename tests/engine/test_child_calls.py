"""Calls that a running tool makes: approval, being made again, waiting for people, and what is no JSON."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import identity, opened, ran, resumed_after, run, run_in

from toolpath import Settings, ToolContext, ToolFailed, tool
from toolpath.engine.compile.program import Program
from toolpath.engine.state.fold import fold
from toolpath.engine.state.state import State
from toolpath.model import events as ev
from toolpath.model.plan import Retry
from toolpath.model.tool import Requires
from toolpath.notation.composite import read_composite
from toolpath.testing.scripted import scripted

ONE = {"steps": [{"id": "a", "tool": "caller"}], "outputs": "{{ a }}"}


@tool(name="caller")
async def wiping(context: ToolContext) -> Any:
    return await context.call("wipe", {"v": "{{ x }}"}, key="k")


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_call_of_a_tool_that_needs_approval_asks_for_it_and_shows_its_inputs(allowed: bool) -> None:
    wipe = scripted("wipe", then=lambda inputs: inputs, effect="destructive", requires=Requires(approval=True))
    async with opened(wiping, wipe) as tp:
        waiting = await tp.run(tp.read(ONE))
        assert (waiting.status, wipe.calls) == ("waiting", [])
        (question,) = await asks(tp, waiting.run_id)
        assert (question.path, question.inputs) == ("a/k", {"v": "{{ x }}"})
        decided = await (tp.approve if allowed else tp.deny)(waiting.run_id, "a/k")
        found = await ran(tp, await decided.result())
    assert (found.status, len(wipe.calls)) == (("completed", 1) if allowed else ("failed", 0))
    assert found.outputs == ({"v": "{{ x }}"} if allowed else None)
    assert len(found.of(ev.ApprovalRequested)) == 1


async def asks(tp: Any, run_id: str) -> list[ev.ApprovalRequested]:
    return [event for event in await tp.events(run_id) if isinstance(event, ev.ApprovalRequested)]


async def test_a_plan_called_by_a_tool_is_begun_anew_when_it_failed() -> None:
    @tool(effect="read", retry={"max_retries": 1, "backoff": "none"})
    async def caller(context: ToolContext) -> Any:
        return await context.call("inner", key="k")

    inner = read_composite(
        {
            "name": "inner",
            "implementation": {"type": "composite", "composite": {"steps": [{"id": "x", "tool": "flaky"}]}},
        }
    )
    flaky = scripted("flaky", ValueError("once"), {"ok": 1}, retry=Retry(max_retries=0))
    async with opened(caller, inner, flaky) as tp:
        result = await tp.run(tp.read(ONE))
    assert (result.status, len(flaky.calls)) == ("completed", 2)


async def test_one_call_awaited_twice_at_once_is_made_once_and_answers_both() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> Any:
        return await asyncio.gather(*(context.call("t", {"v": 1}, key="k") for _ in range(2)))

    found = await run(ONE, caller, t := identity("t"))
    assert (found.outputs, len(t.calls)) == ([{"v": 1}] * 2, 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize("concurrency", [1, 2, 3])
async def test_a_tool_that_fails_beside_calls_of_its_own_leaves_no_slot_counted_wrong(concurrency: int) -> None:
    begun = asyncio.Event()

    @tool(name="hasty", effect="read")
    async def hasty(context: ToolContext) -> Any:
        await asyncio.gather(*(context.call("fails" if n == "a" else "lasts", key=n) for n in "abc"))

    @tool(name="fails", effect="read")
    async def fails() -> int:
        if concurrency > 1:
            await begun.wait()
        raise ToolFailed("no")

    @tool(name="lasts", effect="read")
    async def lasts() -> int:
        begun.set()
        await asyncio.Event().wait()
        return 1

    wipe = identity("wipe", effect="write", requires=Requires(approval=True))
    steps = [
        {"id": "w", "tool": "caller"},
        {"id": "h", "tool": "hasty", "on_failure": {"action": "continue"}},
        {"id": "after", "tool": "t", "when": "{{ steps.h.status == 'failed' }}"},
    ]
    async with opened(wiping, hasty, fails, lasts, wipe, t := identity("t")) as tp:
        # Nothing is left to do but to ask: the run is left, whatever was still awake of the call that failed.
        waiting = await tp.run({"concurrency": concurrency, "steps": steps})
        assert (waiting.status, len(t.calls)) == ("waiting", 1)  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.approve(waiting.run_id, "w/k")).result())
    assert found.status == "completed_with_errors"


async def test_a_tool_that_waits_for_a_call_that_asks_a_person_goes_on_with_the_answer() -> None:
    @tool
    async def caller(context: ToolContext) -> Any:
        return await context.call("asks", {"title": "q"}, key="k")

    @tool(name="asks")
    async def asking(context: ToolContext, title: str) -> Any:
        return [title, await context.ask({"title": title, "inputs": [{"name": "n"}]})]

    async with opened(caller, asking) as tp:
        waiting = await tp.run(tp.read(ONE))
        assert waiting.status == "waiting"
        found = await ran(tp, await (await tp.answer(waiting.run_id, "a/k", {"n": "x"})).result())
    assert (found.status, found.outputs) == ("completed", ["q", {"n": "x"}])


async def test_what_is_no_json_is_refused_and_ends_neither_tool_nor_journal() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> int:
        context.progress(float("nan"))
        context.progress(1, float("inf"))
        for wrong in (context.call("t", {"v": object()}), context.ask({"title": object()})):
            with pytest.raises(ToolFailed, match="JSON"):
                await wrong
        return 1

    found = await run(ONE, caller, identity("t"))
    assert found.outputs == 1
    assert [(event.progress, event.total) for event in found.of(ev.StepProgress)] == [(1.0, None)]


@pytest.mark.parametrize("depth", [1, 2])
async def test_a_call_that_was_denied_is_asked_about_again_when_the_run_is_retried(depth: int) -> None:
    @tool(name="outer")
    async def outermost(context: ToolContext) -> Any:
        return await context.call("caller", key="c")

    wipe = scripted("wipe", then=lambda inputs: inputs, effect="destructive", requires=Requires(approval=True))
    path = "a/k" if depth == 1 else "a/c/k"
    plan = {"steps": [{"id": "a", "tool": "caller" if depth == 1 else "outer"}], "outputs": "{{ a }}"}
    async with opened(wiping, outermost, wipe) as tp:
        waiting = await tp.run(tp.read(plan))
        denied = await (await tp.deny(waiting.run_id, path)).result()
        assert denied.status == "failed"
        again = await (await tp.retry(waiting.run_id)).result()
        assert (again.status, wipe.calls) == ("waiting", [])
        found = await ran(tp, await (await tp.approve(waiting.run_id, path)).result())
    assert (found.status, wipe.calls) == ("completed", [{"v": "{{ x }}"}])


async def test_a_driver_that_dies_when_a_call_was_denied_leaves_no_doubt_about_who_made_it() -> None:
    wipe = scripted("wipe", then=lambda inputs: inputs, effect="destructive", requires=Requires(approval=True))
    async with opened(wiping, wipe) as tp:
        waiting = await tp.run(tp.read(ONE))
        await (await tp.deny(waiting.run_id, "a/k")).result()
        events = await tp.events(waiting.run_id)
    denied = next(event.seq for event in events if isinstance(event, ev.ApprovalDecided))
    started = [event.seq for event in events if isinstance(event, ev.StepStarted) and event.path == "a"]
    assert started[-1] > denied
    found = await resumed_after(events[: started[-1]], wiping, wipe)
    assert found.result.error is not None
    assert (found.status, found.result.error.message) == ("failed", "A person did not allow a/k.")
    assert (found.of(ev.StepUnknown), wipe.calls) == ([], [])


async def test_what_a_tool_in_a_loop_called_is_forgotten_with_its_item() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext, x: int) -> Any:
        return await context.call("t", {"v": x}, key="k")

    loop = {"over": list(range(5)), "as": "x", "steps": [{"id": "a", "tool": "caller", "inputs": {"x": "{{ x }}"}}]}
    plan = {"steps": [{"id": "l", "loop": loop}]}
    async with opened(caller, identity("t")) as tp:
        found = await run_in(tp, plan)
        state = fold(State(Program(tp.read(plan), await tp.tools(), Settings())), found.events)
    assert found.outputs == {"l": [{"a": {"v": n}} for n in range(5)]}
    assert (list(state.steps), list(state.scopes)) == (["l"], [""])


def plan_of(*tools: str) -> Any:
    """A tool whose body is a chain of these."""
    steps = [{"id": f"s{number}", "tool": name} for number, name in enumerate(tools)]
    return read_composite({"name": "inner", "implementation": {"type": "composite", "composite": {"steps": steps}}})


@pytest.mark.parametrize("depth", [1, 2])
async def test_what_a_plan_called_by_a_tool_had_finished_stays_finished_when_the_run_is_retried(depth: int) -> None:
    @tool(effect="read", retry={"max_retries": 0})
    async def caller(context: ToolContext) -> Any:
        return await context.call("inner" if depth == 1 else "middle", key="k")

    @tool(name="middle", effect="read", retry={"max_retries": 0})
    async def middle(context: ToolContext) -> Any:
        return await context.call("inner", key="k")

    done = scripted("done", then=1, effect="write")
    flaky = scripted("flaky", ToolFailed("not yet"), 2, retry=Retry(max_retries=0))
    later = scripted("later", then=3, effect="write")
    async with opened(caller, middle, plan_of("done", "flaky", "later"), done, flaky, later) as tp:
        failed = await tp.run(tp.read(ONE))
        assert failed.status == "failed"
        found = await ran(tp, await (await tp.retry(failed.run_id)).result())
        events = await tp.events(failed.run_id)
    assert found.status == "completed"
    assert [len(one.calls) for one in (done, flaky, later)] == [1, 2, 1]
    for begun in [event for event in events if isinstance(event, ev.StepStarted)]:
        # A driver that dies during any call makes no write twice that has finished, and leaves nothing that hangs.
        left = events[: begun.seq]
        written = any(isinstance(event, ev.StepSucceeded) and event.path.endswith("s0") for event in left)
        again = scripted("done", then=1, effect="write")
        inner = plan_of("done", "flaky", "later")
        resumed = await resumed_after(left, caller, middle, inner, again, scripted("flaky", then=2), later)
        in_doubt = begun.tool in ("done", "later")
        assert resumed.statuses().get(begun.path, "") == ("unknown" if in_doubt else "succeeded"), begun
        assert not (written and again.calls), begun
        assert resumed.status == ("waiting" if in_doubt else "completed"), begun


async def test_a_plan_that_a_retried_tool_calls_no_more_does_not_hold_the_run() -> None:
    calls = []

    @tool(effect="read", retry={"max_retries": 0})
    async def caller(context: ToolContext) -> Any:
        calls.append(1)
        return await context.call("inner", key="k") if len(calls) == 1 else "without it"

    flaky = scripted("flaky", ToolFailed("not yet"), 2, retry=Retry(max_retries=0))
    async with opened(caller, plan_of("flaky", "flaky"), flaky) as tp:
        failed = await tp.run(tp.read(ONE))
        found = await ran(tp, await (await tp.retry(failed.run_id)).result())
    assert (found.status, found.outputs, len(flaky.calls)) == ("completed", "without it", 1)
    assert "running" not in found.statuses().values()


@pytest.mark.parametrize(
    ("step", "said"),
    [({"id": "x", "tol": "pay"}, "Step must have 'tool' field"), ({"id": "x", "tool": "pay", "inptus": {}}, "inptus")],
)
async def test_a_plan_with_a_fault_that_a_tool_calls_says_where_it_is(step: dict[str, Any], said: str) -> None:
    pay = scripted("pay", then="paid", effect="write")
    inner = read_composite({"name": "inner", "implementation": {"type": "composite", "composite": {"steps": [step]}}})

    @tool(name="order", effect="read")
    async def order(context: ToolContext) -> Any:
        return await context.call("inner")

    found = await run({"steps": [{"id": "a", "tool": "order"}]}, order, inner, pay)
    error = found.result.step("a").error
    assert error is not None
    assert error.message.startswith("inner has a fault at")
    assert said in error.message
    assert not pay.calls
