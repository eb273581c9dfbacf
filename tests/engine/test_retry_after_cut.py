"""`retry` and `fork` after a block was cut off or gave no good output: nothing is null that was never called."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from engine_cases import opened, ran

from toolpath import Tool, ToolContext, ToolFailed, Toolpath, tool
from toolpath.model import events as ev
from toolpath.testing.scripted import scripted


class Gate:
    """A tool that holds its calls until it is told to let them through."""

    def __init__(self, holds: int, effect: Any = "read") -> None:
        self.holds, self.effect = holds, effect
        self.open = False
        self.calls: list[int] = []
        self.full = asyncio.Event()

    def tool(self) -> Tool:
        @tool(group="t", effect=self.effect)
        async def gate(x: int) -> int:
            self.calls.append(x)
            if len(self.calls) == self.holds:
                self.full.set()
            if not self.open:
                await asyncio.Event().wait()
            return x + 100

        return gate

    async def cut_and_retry(self, tp: Toolpath, plan: dict[str, Any], *, cancel: bool = True) -> Any:
        run = await tp.start(tp.read(plan))
        await self.full.wait()
        if cancel:
            await tp.cancel(run.run_id)
        first = await run.result()
        assert first.status == ("cancelled" if cancel else "failed")
        self.calls.clear()
        self.open = True
        return await (await tp.retry(run.run_id)).result()


def nested(tp: Toolpath, plan: dict[str, Any]) -> None:
    tp.add(Tool(name="inner", group="t", body=tp.read({"name": "inner", **plan}), input_schema={"type": "object"}))


def gated(step_id: str, x: Any) -> dict[str, Any]:
    return {"id": step_id, "tool": "t.gate", "inputs": {"x": x}}


PARALLEL = {"id": "par", "parallel": [gated("a", 1), gated("b", 2)]}


@pytest.mark.parametrize("collect", [{}, {"collect": "{{ b }}"}])
async def test_items_of_a_cancelled_loop_are_done_when_it_is_retried(collect: dict[str, Any]) -> None:
    gate = Gate(2)
    loop = {"over": [1, 2], "as": "x", "concurrency": 2, **collect}
    body = [{"id": "a", "tool": "t.same", "inputs": {"x": "{{ x }}"}}, gated("b", "{{ a }}")]

    @tool(group="t", effect="read")
    async def same(x: int) -> int:
        return x

    async with opened(gate.tool(), same) as tp:
        result = await gate.cut_and_retry(tp, {"name": "p", "steps": [{"id": "each", "loop": {**loop, "steps": body}}]})
    assert (result.status, sorted(gate.calls)) == ("completed", [1, 2])
    assert result.outputs["each"] == ([101, 102] if collect else [{"b": 101}, {"b": 102}])


@pytest.mark.parametrize("cancel", [True, False])
async def test_a_parallel_that_was_cut_off_goes_on_when_it_is_retried(cancel: bool) -> None:
    gate = Gate(2)
    step = PARALLEL if cancel else {**PARALLEL, "timeout": 0.05}
    async with opened(gate.tool()) as tp:
        result = await gate.cut_and_retry(tp, {"name": "p", "steps": [step]}, cancel=cancel)
    assert (result.status, result.outputs, sorted(gate.calls)) == ("completed", {"par": {"a": 101, "b": 102}}, [1, 2])


async def test_a_nested_plan_that_was_cut_off_keeps_what_it_had_done() -> None:
    gate, before = Gate(2), scripted("before", 1)
    async with opened(gate.tool(), before) as tp:
        nested(tp, {"steps": [{"id": "first", "tool": "before"}, PARALLEL]})
        plan = {"name": "p", "steps": [{"id": "n", "tool": "t.inner"}]}
        result = await gate.cut_and_retry(tp, plan)
    assert result.status == "completed"
    assert result.outputs == {"n": {"first": 1, "par": {"a": 101, "b": 102}}}


async def test_a_write_that_was_cut_off_inside_a_nested_plan_is_asked_about_when_it_is_retried() -> None:
    gate = Gate(1, "write")
    async with opened(gate.tool()) as tp:
        nested(tp, {"steps": [gated("w", 7)]})
        result = await gate.cut_and_retry(tp, {"name": "p", "steps": [{"id": "n", "tool": "t.inner"}]})
        unknown = [event for event in await tp.events(result.run_id) if isinstance(event, ev.StepUnknown)]
    assert (result.status, gate.calls, [event.path for event in unknown]) == ("waiting", [], ["n/w"])


async def test_a_nested_plan_whose_outputs_failed_is_begun_anew_when_it_is_retried() -> None:
    async with opened(scripted("w", {"a": 1}, {"v": 1})) as tp:
        nested(tp, {"steps": [{"id": "w", "tool": "w"}], "outputs": {"v": "{{ w.v }}"}})
        first = await tp.run(tp.read({"name": "p", "steps": [{"id": "n", "tool": "t.inner"}]}))
        assert first.status == "failed"
        again = await (await tp.retry(first.run_id)).result()
    assert (again.status, again.outputs) == ("completed", {"n": {"v": 1}})


@pytest.mark.parametrize(
    ("step", "output"),
    [
        ({"id": "n", "tool": "t.inner"}, {"w": 3}),
        ({"id": "n", "loop": {"over": [1, 2], "as": "x", "steps": [{"id": "w", "tool": "w"}]}}, [3, 3]),
        ({"id": "n", "parallel": [{"id": "a", "tool": "w"}]}, {"a": 3}),
    ],
    ids=["nested", "loop", "parallel"],
)
async def test_the_fork_of_a_chain_does_the_block_that_failed_again(step: dict[str, Any], output: Any) -> None:
    before = scripted("before", 1)
    async with opened(before, scripted("w", ValueError("no"), 3, 3)) as tp:
        nested(tp, {"steps": [{"id": "w", "tool": "w"}]})
        plan = {"name": "p", "flow": "chain", "steps": [{"id": "b", "tool": "before"}, step]}
        first = await tp.run(tp.read(plan))
        assert first.status == "failed"
        fork = await (await tp.fork(first.run_id)).result()
        events = await tp.events(fork.run_id)
    assert (fork.status, fork.outputs) == ("completed", output)
    assert [getattr(event, "path", "") for event in events].count("b") == 2


async def test_the_fork_of_a_graph_that_a_retry_completed_is_complete_as_well() -> None:
    loop = {"over": [1, 2], "as": "x", "steps": [{"id": "w", "tool": "w"}]}
    async with opened(scripted("w", ValueError("no"), 3, 4)) as tp:
        first = await tp.run(tp.read({"name": "p", "steps": [{"id": "n", "loop": loop}]}))
        again = await (await tp.retry(first.run_id)).result()
        fork = await (await tp.fork(first.run_id)).result()
    assert (first.status, again.status, fork.status) == ("failed", "completed", "completed")
    assert fork.outputs == again.outputs


async def test_a_fork_keeps_the_failures_inside_finished_steps_that_a_retry_left_alone() -> None:
    async def careful(ctx: ToolContext) -> str:
        """Goes on without what it calls."""
        with contextlib.suppress(ToolFailed):
            await ctx.call("never")
        return "done"

    async with opened(
        scripted("never", then=ValueError("no")),
        careful,
        scripted("w", ValueError("no"), 3),
        scripted("tail", then=4),
    ) as tp:
        steps = [
            {"id": "a", "tool": "careful"},
            {
                "id": "par",
                "parallel": [{"id": "b", "tool": "never", "critical": False}, {"id": "c", "tool": "tail"}],
            },
            {"id": "w", "tool": "w"},
            {"id": "tail", "tool": "tail"},
        ]
        first = await tp.run(tp.read({"name": "p", "steps": steps, "failure_mode": "isolate"}))
        again = await (await tp.retry(first.run_id)).result()
        fork = await (await tp.fork(first.run_id, from_step="tail", repeat_writes=True)).result()
    inside = {step.path: step.status for step in again.results}
    assert (first.status, again.status, fork.status) == ("failed", "completed_with_errors", "completed_with_errors")
    assert list(inside.values()).count("failed") == 2
    assert {step.path: step.status for step in fork.results} == inside


async def test_the_fork_of_a_chain_keeps_what_a_retry_finished() -> None:
    w = scripted("w", ValueError("no"), 3)
    async with opened(scripted("never", then=ValueError("no")), w, scripted("after", 4, 5)) as tp:
        steps = [
            {"id": "n", "tool": "never", "critical": False},
            {"id": "w", "tool": "w"},
            {"id": "a", "tool": "after"},
        ]
        first = await tp.run(tp.read({"name": "p", "flow": "chain", "steps": steps}))
        again = await (await tp.retry(first.run_id)).result()
        fork = await (await tp.fork(first.run_id, from_step="a", repeat_writes=True)).result()
    assert (first.status, again.status) == ("failed", "completed_with_errors")
    assert len(w.calls) == 2
    assert {step.path: step.status for step in fork.results} == {step.path: step.status for step in again.results}


@pytest.mark.parametrize("flow", ["graph", "chain"])
async def test_an_item_whose_collect_failed_is_begun_anew_when_its_loop_is_retried(flow: str) -> None:
    w = scripted("w", {"v": 1}, {"no": 2}, {"v": 2}, {"v": 3})
    loop = {"over": [1, 2, 3], "as": "x", "flow": flow, "steps": [{"id": "w", "tool": "w"}], "collect": "{{ w.v }}"}
    async with opened(w) as tp:
        first = await tp.run(tp.read({"name": "p", "steps": [{"id": "n", "loop": loop}]}))
        assert (first.status, len(w.calls)) == ("failed", 2)
        again = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert (again.status, again.outputs, len(w.calls)) == ("completed", {"n": [1, 2, 3]}, 4)


async def test_what_an_item_wrote_to_the_state_is_forgotten_when_it_is_begun_anew() -> None:
    w = scripted("w", {"v": 1, "s": 1}, {"s": 2}, {"v": 2, "s": 3})
    steps = [{"id": "w", "tool": "w", "on_success": {"map_outputs": {"s": "seen"}}}]
    loop = {"over": [1, 2], "as": "x", "flow": "chain", "concurrency": 2, "steps": steps, "collect": "{{ w.v }}"}
    plan = {"name": "p", "flow": "chain", "steps": [{"id": "n", "loop": loop}, {"id": "t", "tool": "t"}]}
    plan["steps"][1]["inputs"] = {"seen": "{{ state.seen }}"}  # type: ignore[index]
    async with opened(w, t := scripted("t", then={})) as tp:
        first = await tp.run(tp.read(plan))
        assert first.status == "failed"
        again = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert (again.status, t.calls) == ("completed", [{"seen": 3}])
