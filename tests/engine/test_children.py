"""What a running tool does through its context: calls, questions, progress; what it knows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import after, identity, opened, plan_text, ran, run, run_in

from toolpath import RunContext, ToolContext, ToolFailed, ToolRetry, tool
from toolpath.model import events as ev
from toolpath.model.tool import Requires
from toolpath.notation.composite import read_composite
from toolpath.store.memory.store import MemoryStore
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

ONE = {"steps": [{"id": "a", "tool": "caller"}], "outputs": "{{ a }}"}


async def test_a_context_knows_the_run_and_who_runs_it() -> None:
    seen: dict[str, Any] = {}

    @tool(effect="read")
    async def caller(context: ToolContext, n: int):  # type: ignore[no-untyped-def]
        for name in (
            "run_id", "path", "tool_call_id", "plan_depth", "attempt", "idempotency_key", "tenant", "user", "session",
            "case", "deadline", "results", "metadata",
        ):  # fmt: skip
            seen[name] = getattr(context, name)
        return {}

    clock = FakeClock(auto=True)
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "before", "tool": "t", "inputs": {"v": 1}},
            {"id": "a", "tool": "caller", "inputs": {"n": 1}, "timeout": 12},
        ],
    }
    who = RunContext("ann", "s1", "c1", tenant="acme", metadata={"k": 1})
    found = await run(plan, caller, identity("t"), context=who, clock=clock)
    assert found.status == "completed"
    assert seen["run_id"] == found.result.run_id
    assert (seen["path"], seen["attempt"], seen["plan_depth"]) == ("a", 1, 0)
    assert seen["tool_call_id"] == seen["idempotency_key"] == f"{found.result.run_id}/a/0"
    assert (seen["tenant"], seen["user"], seen["session"], seen["case"]) == ("acme", "ann", "s1", "c1")
    assert seen["deadline"] == clock.start + 12
    assert seen["results"] == {"before": {"v": 1}}
    assert seen["metadata"] == {"k": 1}


async def test_the_context_is_hidden_from_the_schema() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext, n: int) -> dict[str, int]:
        return {"n": n}

    async with opened(caller) as tp:
        assert list((await tp.tools()).find("caller").input_schema["properties"]) == ["n"]


async def test_what_a_tool_calls_is_a_journaled_child_step() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext):  # type: ignore[no-untyped-def]
        first = await context.call("t", {"v": 1})
        second = await context.call("t", {"v": first["v"] + 1}, key="named")
        return {"sum": first["v"] + second["v"]}

    found = await run(ONE, caller, identity("t"))
    assert found.outputs == {"sum": 3}
    paths = [event.path for event in found.of(ev.StepStarted)]
    assert paths[0] == "a"
    assert paths[2] == "a/named"
    assert paths[1].startswith("a/t-")
    assert found.seq("step.succeeded", "a/named") < found.seq("step.succeeded", "a")


async def test_equal_calls_of_one_tool_are_told_apart_by_their_occurrence_and_all_are_made() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> list[Any]:
        return [await context.call("t", {"v": 1}) for _ in range(3)]

    t = scripted("t", {"n": 1}, {"n": 2}, {"n": 3})
    found = await run(ONE, caller, t)
    assert found.outputs == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert len({event.path for event in found.of(ev.StepStarted)}) == 4


async def test_calls_side_by_side_run_at_once() -> None:
    clock = FakeClock(auto=True)

    @tool(effect="read")
    async def caller(context: ToolContext) -> list[Any]:
        return list(await asyncio.gather(*(context.call("t", {"n": n}) for n in range(4))))

    found = await run(ONE, caller, scripted("t", then=lambda inputs: after(clock, 2, inputs)), clock=clock)
    assert found.outputs == [{"n": n} for n in range(4)]
    assert found.result.total_duration == pytest.approx(2)


async def test_a_tool_that_waits_for_its_calls_holds_no_slot_and_its_time_stands_still() -> None:
    clock = FakeClock(auto=True)

    @tool(effect="read", timeout=3)
    async def caller(context: ToolContext, depth: int) -> int:
        if depth == 0:
            await context.call("t", {})
            return 0
        found: int = await context.call("caller", {"depth": depth - 1})
        return found + 1

    plan = {"concurrency": 1, "steps": [{"id": "a", "tool": "caller", "inputs": {"depth": 5}}], "outputs": "{{ a }}"}
    found = await run(plan, caller, scripted("t", then=lambda _: after(clock, 20, {})), clock=clock)
    assert (found.status, found.outputs) == ("completed", 5)
    assert found.trace("step.retrying") == [], "none of them was cut off and made again meanwhile"


@pytest.mark.parametrize("waits_for", ["call", "person"])
@pytest.mark.parametrize("first", [True, False])
async def test_the_time_of_a_tool_stands_still_while_it_waits_whether_it_waits_first_or_later(
    waits_for: str, first: bool
) -> None:
    clock = FakeClock(auto=True)
    form = {"title": "How many?", "inputs": [{"name": "n", "type": "integer"}]}

    @tool(effect="read", timeout=3)
    async def waiter(context: ToolContext) -> str:
        if not first:
            await clock.sleep(1)
        if waits_for == "call":
            await context.call("t", {})
        else:
            await context.ask(form, timeout=10)
        return "done"

    # What goes on beside it keeps the run from being parked.
    beside = scripted("beside", then=lambda _: after(clock, 25, {}))
    plan = {"steps": [{"id": "a", "tool": "waiter"}, {"id": "b", "tool": "beside"}]}
    found = await run(plan, waiter, beside, scripted("t", then=lambda _: after(clock, 20, {})), clock=clock)
    assert found.trace("step.retrying", "step.timed_out") == []
    if waits_for == "call":
        assert (found.status, found.outputs["a"]) == ("completed", "done")


async def test_a_failed_call_raises_and_the_tool_may_go_on() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> str:
        try:
            await context.call("bad")
        except ToolFailed as error:
            return f"caught {error.message}"
        return "nothing"

    found = await run(ONE, caller, scripted("bad", then=ValueError("no")))
    assert found.outputs == "caught no"
    assert found.status == "completed"


async def test_a_call_of_a_tool_that_is_not_there_or_with_wrong_inputs_fails_with_its_reason() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext, name: str) -> str:
        await context.call(name, {"n": "x"})
        return "never"

    plan = {"steps": [{"id": "a", "tool": "caller", "inputs": {"name": "tt"}}]}
    strict = scripted("t", {}, input_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    gone = await run(plan, caller, strict)
    assert gone.status == "failed"
    assert "tt" in gone.result.error.message  # type: ignore[union-attr]
    plan["steps"][0]["inputs"] = {"name": "t"}
    wrong = await run(plan, caller, strict)
    assert wrong.status == "failed"
    assert strict.calls == []


async def test_children_have_the_retries_of_their_tools_and_policy_holds_for_them() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext, name: str):  # type: ignore[no-untyped-def]
        return await context.call(name)

    flaky = scripted("flaky", ToolRetry("1"), {"ok": 1})
    guarded = scripted("guarded", {}, requires=Requires(permissions=("p",)))
    async with opened(caller, flaky, guarded) as tp:
        good = await run_in(tp, {"steps": [{"id": "a", "tool": "caller", "inputs": {"name": "flaky"}}]})
        bad = await run_in(tp, {"steps": [{"id": "a", "tool": "caller", "inputs": {"name": "guarded"}}]})
    assert good.status == "completed"
    assert bad.status == "failed"
    assert guarded.calls == []


async def test_children_count_in_the_budget() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> int:
        for n in range(10):
            await context.call("t", {"n": n})
        return 10

    found = await run({"budget": {"calls": 4}, **ONE}, caller, t := identity("t"))
    assert (found.status, found.result.reason) == ("failed", "budget")
    assert len(t.calls) == 3  # type: ignore[attr-defined]


async def test_a_composite_may_be_called_as_a_child() -> None:
    inner = read_composite(
        {
            "name": "inner",
            "parameters": [{"name": "v", "type": "integer", "required": True}],
            "implementation": {
                "type": "composite",
                "composite": {
                    "steps": [
                        {
                            "id": "x",
                            "tool": "t",
                            "inputs": {"v": "{{ state.v }}"},
                            "on_success": {"map_outputs": {"v": "got"}},
                        }
                    ]
                },
            },
        }
    )

    @tool(effect="read")
    async def caller(context: ToolContext) -> Any:
        return (await context.call("inner", {"v": 3}, key="k"))["got"]

    found = await run(ONE, caller, identity("t"), inner)
    assert found.outputs == 3
    assert "a/k/x" in found.statuses()


async def test_a_child_that_has_finished_is_not_called_again_when_the_tool_is_retried() -> None:
    attempts: list[int] = []

    @tool(effect="read", retry={"max_retries": 2, "backoff": "none"})
    async def caller(context: ToolContext) -> Any:
        attempts.append(context.attempt)
        value = await context.call("t", {"v": 1})
        if len(attempts) < 3:
            raise ValueError("after the call")
        return value

    found = await run(ONE, caller, t := identity("t"))
    assert (found.status, len(t.calls), attempts) == ("completed", 1, [1, 2, 3])  # type: ignore[attr-defined]


async def test_a_child_that_has_finished_is_not_called_again_when_the_run_is_taken_up() -> None:
    clock = FakeClock()
    store = MemoryStore(clock=clock.time)

    @tool(effect="read", timeout=5000)
    async def caller(context: ToolContext) -> Any:
        first = await context.call("w", {"v": 1})
        second = await context.call("slow", {})
        return [first, second]

    first_w, slow = (
        scripted("w", then={"n": 1}, effect="write"),
        scripted("slow", then=lambda _: after(clock, 1000), timeout=5000.0),
    )
    async with opened(caller, first_w, slow, clock=clock, store=store) as tp:
        run_ = await tp.start(tp.read(ONE))
        await clock.settle()
        assert len(first_w.calls) == 1
    w = scripted("w", then={"n": 2}, effect="write")
    async with opened(caller, w, scripted("slow", then={"n": 3}, timeout=5000.0), clock=clock, store=store) as tp:
        again = await tp.resume(run_.id)
        await clock.settle()
        found = await ran(tp, await again.result())
    assert (found.status, found.outputs) == ("completed", [{"n": 1}, {"n": 3}])
    assert w.calls == []


async def test_cancelling_the_run_cancels_children_too() -> None:
    clock = FakeClock()

    @tool(effect="read")
    async def caller(context: ToolContext) -> Any:
        return await context.call("slow", {}, key="k")

    async with opened(caller, scripted("slow", then=lambda _: after(clock, 100)), clock=clock) as tp:
        run_ = await tp.start(tp.read(ONE))
        await clock.advance(1)
        await run_.cancel()
        found = await ran(tp, await run_.result())
    assert found.statuses() == {"a": "cancelled", "a/k": "cancelled"}


QUESTION = {"title": "Sure?", "inputs": [{"name": "ok", "type": "checkbox"}]}


async def test_a_tool_may_ask_a_person_and_the_run_parks_while_nobody_answers() -> None:
    calls: list[int] = []

    @tool(effect="write")
    async def caller(context: ToolContext) -> Any:
        calls.append(1)
        return await context.ask(QUESTION)

    async with opened(caller) as tp:
        waiting = await tp.run(tp.read(ONE))
        assert waiting.status == "waiting"
        (question,) = waiting.questions
        assert (question.path, question.form["title"]) == ("a", "Sure?")
        found = await ran(tp, await (await tp.answer(waiting.run_id, "a", {"ok": "true"})).result())
    assert (found.status, found.outputs) == ("completed", {"ok": True})
    # A tool that asks is run again up to its question: nothing of it stayed in memory.
    assert len(calls) in (1, 2)


async def test_questions_asked_one_after_the_other_are_each_asked_once() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> Any:
        first = await context.ask({"title": "one", "inputs": [{"name": "n"}]})
        await context.call("t", {"v": 1})
        second = await context.ask({"title": "two", "inputs": [{"name": "n"}]})
        return [first["n"], second["n"]]

    async with opened(caller, t := identity("t")) as tp:
        waiting = await tp.run(tp.read(ONE))
        second = await (await tp.answer(waiting.run_id, "a", {"n": "x"})).result()
        assert second.status == "waiting"
        found = await ran(tp, await (await tp.answer(waiting.run_id, "a", {"n": "y"})).result())
    assert (found.status, found.outputs) == ("completed", ["x", "y"])
    assert len(found.of(ev.InputRequested)) == 2
    assert len(t.calls) == 1  # type: ignore[attr-defined]


async def test_a_declined_question_is_a_failure_that_the_tool_may_handle() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> str:
        try:
            await context.ask(QUESTION)
        except ToolFailed:
            return "declined"
        return "answered"

    async with opened(caller) as tp:
        waiting = await tp.run(tp.read(ONE))
        found = await ran(tp, await (await tp.answer(waiting.run_id, "a", declined=True)).result())
    assert found.outputs == "declined"


async def test_a_tool_reports_its_progress_and_it_is_in_the_journal_in_order() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> int:
        for n in range(3):
            context.progress(n, 3, f"part {n}")
        return 3

    found = await run(ONE, caller)
    assert [(e.path, e.progress, e.total, e.message) for e in found.of(ev.StepProgress)] == [
        ("a", float(n), 3, f"part {n}") for n in range(3)
    ]
    assert found.seq("step.started", "a") < found.seq("step.progress", "a") < found.seq("step.succeeded", "a")


async def test_progress_reported_after_the_end_changes_nothing() -> None:
    kept: list[ToolContext] = []

    @tool(effect="read")
    async def caller(context: ToolContext) -> int:
        kept.append(context)
        return 1

    async with opened(caller, identity("t")) as tp:
        found = await run_in(tp, {"flow": "chain", "steps": [{"id": "a", "tool": "caller"}, {"id": "b", "tool": "t"}]})
        kept[0].progress(1)
        assert await tp.events(found.result.run_id) == found.events


async def test_a_def_tool_in_a_thread_may_report_its_progress() -> None:
    @tool(effect="read")
    def caller(context: ToolContext) -> int:
        context.progress(1, 2, "half")
        return 1

    found = await run(ONE, caller)
    assert found.status == "completed"
    assert [event.message for event in found.of(ev.StepProgress)] == ["half"]


async def test_a_tool_without_a_model_says_so() -> None:
    @tool(effect="read")
    async def caller(context: ToolContext) -> Any:
        return await context.chat("hello")

    found = await run(plan_text(ONE), caller)
    assert found.status == "failed"
    assert "model" in found.result.error.message  # type: ignore[union-attr]
