"""Blocks of every kind: each has its own path and variables, ends with its last step, and is halted as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, ran, resumed_after, run

from toolpath import Tool, ToolContext, tool
from toolpath.model import events as ev
from toolpath.notation.plan import read_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


def composite() -> Tool:
    """A tool whose body is a chain with a variable: it gives `{n: 2 * n}`."""
    body = read_plan(
        {
            "name": "double",
            "inputs": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "flow": "chain",
            "steps": [
                {
                    "id": "d1",
                    "tool": "t",
                    "inputs": {"n": "{{ inputs.n * 2 }}"},
                    "on_success": {"map_outputs": {"n": "twice"}},
                },
                {"id": "d2", "tool": "t", "inputs": {"n": "{{ state.twice }}"}},
            ],
            "outputs": {"n": "{{ d2.n }}"},
        }
    )
    return Tool(name="double", body=body, input_schema=body.inputs, effect="read")


@tool(effect="read")
async def asks_others(context: ToolContext, n: int) -> Any:
    """Calls another tool."""
    return await context.call("t", {"n": n})


ITEMS = {"over": [1, 2], "as": "x", "steps": [{"id": "a", "tool": "t", "inputs": {"n": "{{ x }}"}}]}
DOUBLE = {"tool": "double", "inputs": {"n": 3}}
ONE_STEP: dict[str, tuple[dict[str, Any], Any]] = {
    "composite": ({"id": "b", **DOUBLE}, {"n": 6}),
    "fallback": ({"id": "b", "tool": "bad", "fallback": DOUBLE}, {"n": 6}),
    "loop": ({"id": "b", "loop": ITEMS}, [{"n": 1}, {"n": 2}]),
    "parallel": ({"id": "b", "parallel": [{"id": "c", "tool": "t", "inputs": {"n": 1}}]}, {"c": {"n": 1}}),
    "calls": ({"id": "b", "tool": "asks_others", "inputs": {"n": 4}}, {"n": 4}),
}


@pytest.mark.parametrize("kind", ONE_STEP)
async def test_a_branch_that_is_one_step_may_be_of_any_kind(kind: str) -> None:
    step, output = ONE_STEP[kind]
    writing = {**step, "on_success": {"transform": {"seen": "{{ b }}"}}}
    plan = {
        "flow": "chain",
        "steps": [{"id": "p", "parallel": [writing, {"id": "other", "tool": "t", "inputs": {"n": 0}}]}],
        "outputs": {"p": "{{ p }}", "seen": "{{ state.seen }}"},
    }
    tools = [identity("t"), scripted("bad", ValueError("no")), composite(), asks_others]
    found = await run(plan, *tools)
    assert found.status == "completed"
    assert found.outputs == {"p": {"b": output, "other": {"n": 0}}, "seen": output}
    assert found.statuses()["p/b"] == "succeeded"
    for place in range(1, len(found.events)):
        tools = [identity("t"), scripted("bad", ValueError("no")), composite(), asks_others]
        again = await resumed_after(found.events[:place], *tools)
        assert (again.status, again.outputs) == (found.status, found.outputs), f"cut after {place}"


async def test_items_side_by_side_end_with_what_they_write() -> None:
    step = {"id": "s", "tool": "pay", "inputs": {"to": "{{ x }}"}, "on_success": {"transform": {"r": "{{ s.to }}"}}}
    plan = {
        "flow": "chain",
        "steps": [{"id": "l", "loop": {"over": ["a", "b", "c"], "as": "x", "concurrency": 2, "steps": [step]}}],
        "outputs": "{{ state.r }}",
    }
    found = await run(plan, pay := identity("pay", effect="write"))
    assert (found.status, found.outputs) == ("completed", "c")
    assert [call["to"] for call in pay.calls] == ["a", "b", "c"]  # type: ignore[attr-defined]


async def test_what_a_step_writes_is_told_before_its_success_and_counts_with_it() -> None:
    step = {"id": "a", "tool": "t", "inputs": {"n": 1}, "on_success": {"transform": {"n": "{{ a.n + 1 }}"}}}
    found = await run({"flow": "chain", "steps": [step], "outputs": "{{ state.n }}"}, identity("t", effect="read"))
    assert found.outputs == 2
    kinds = [type(event) for event in found.events if getattr(event, "path", None) in ("a", "")]
    assert kinds.index(ev.StateWritten) < kinds.index(ev.StepSucceeded)
    (written,) = found.of(ev.StateWritten)
    assert (written.path, written.source, written.values) == ("", "a", {"n": 2})
    again = await resumed_after(found.events[: written.seq], identity("t", effect="read"))
    assert again.outputs == 2


async def test_calls_of_a_tool_and_those_of_its_fallback_have_paths_of_their_own() -> None:
    @tool(effect="write")
    async def first(context: ToolContext) -> Any:
        """Makes a call, then fails."""
        await context.call("t", {"n": 1}, key="x")
        raise ValueError("no")

    @tool(effect="write")
    async def second(context: ToolContext) -> Any:
        """Makes another call under the same key."""
        return await context.call("u", {"n": 2}, key="x")

    plan = {"steps": [{"id": "a", "tool": "first", "fallback": {"tool": "second"}}]}
    found = await run(plan, identity("t"), identity("u"), first, second)
    assert found.outputs == {"a": {"n": 2}}
    assert [step.path for step in found.result.results] == ["a", "a/x", "a~2/x"]
    keys = [event.key for event in found.of(ev.StepStarted)]
    assert len(set(keys)) == len(keys)


async def test_a_composite_after_a_tool_that_made_calls_runs() -> None:
    @tool(effect="write")
    async def first(context: ToolContext) -> Any:
        """Makes a call, then fails."""
        await context.call("t", {"n": 1})
        raise ValueError("no")

    plan = {"steps": [{"id": "a", "tool": "first", "fallback": {"tool": "double", "inputs": {"n": 2}}}]}
    found = await run(plan, identity("t"), composite(), first)
    assert found.outputs == {"a": {"n": 4}}


async def test_keys_that_differ_never_mean_the_same_call() -> None:
    @tool(effect="write")
    async def calls(context: ToolContext) -> Any:
        """Makes a call under each of two keys."""
        return [await context.call("t", {"n": n}, key=key) for n, key in enumerate(["a b", "a_b", "a/b", "a#b"])]

    found = await run({"steps": [{"id": "a", "tool": "calls"}]}, identity("t"), calls)
    assert found.outputs == {"a": [{"n": n} for n in range(4)]}


FAILING_BESIDE = {
    "two calls": ({"id": "both", "parallel": [{"id": "x", "tool": "slow"}, {"id": "y", "tool": "slow"}]}, 2),
    "loop and call": (
        {
            "id": "both",
            "parallel": [
                {"id": "b", "loop": {"over": [1, 2], "steps": [{"id": "s", "tool": "slow"}]}},
                {"id": "y", "tool": "slow", "inputs": {"late": True}},
            ],
        },
        3,
    ),
    "loop of two steps": (
        {
            "id": "both",
            "loop": {
                "over": [1, 2, 3],
                "concurrency": 2,
                "steps": [{"id": "s", "tool": "slow"}, {"id": "z", "tool": "slow"}],
            },
        },
        6,
    ),
    "chain": (
        {
            "id": "both",
            "parallel": [{"id": "c", "flow": "chain", "steps": [{"id": f"s{n}", "tool": "slow"} for n in range(4)]}],
        },
        4,
    ),
}


@pytest.mark.parametrize("kind", FAILING_BESIDE)
@pytest.mark.parametrize("concurrency", [1, 2, 5])
async def test_a_retry_makes_every_call_of_a_block_that_was_open_beside_a_failure(kind: str, concurrency: int) -> None:
    block, count = FAILING_BESIDE[kind]
    clock = FakeClock(auto=True)
    slow = scripted("slow", then=lambda _: after(clock, 5, {"n": 1}), effect="write")
    failing = scripted("fails", ValueError("no"), {"n": 2})
    plan = {"concurrency": concurrency, "steps": [block, {"id": "f", "tool": "fails"}]}
    async with opened(slow, failing, clock=clock) as tp:
        first = await tp.run(tp.read(plan))
        assert first.status == "failed"
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert found.status == "completed"
    assert len(slow.calls) == count  # type: ignore[attr-defined]


CONTINUED = {
    "on_failure": {"id": "bad", "tool": "bad", "on_failure": {"action": "continue"}},
    "not critical": {"id": "bad", "tool": "bad", "critical": False},
    "skipped": {"id": "bad", "tool": "t", "when": "1 > 2"},
}


@pytest.mark.parametrize("mode", ["stop", "isolate", "continue"])
@pytest.mark.parametrize("kind", CONTINUED)
async def test_first_success_waits_for_a_success(kind: str, mode: str) -> None:
    clock = FakeClock(auto=True)
    slow = scripted("slow", then=lambda _: after(clock, 5, {"n": 1}), effect="read")
    plan = {
        "failure_mode": mode,
        "steps": [
            {"id": "p", "wait_for": "first_success", "parallel": [CONTINUED[kind], {"id": "ok", "tool": "slow"}]}
        ],
    }
    found = await run(plan, identity("t"), scripted("bad", ValueError("no")), slow, clock=clock)
    assert found.outputs == {"p": {"winner": "ok", "output": {"n": 1}}}


@pytest.mark.parametrize("kind", CONTINUED)
async def test_first_success_fails_where_no_branch_succeeds(kind: str) -> None:
    plan = {"steps": [{"id": "p", "wait_for": "first_success", "parallel": [CONTINUED[kind]]}]}
    found = await run(plan, identity("t"), scripted("bad", ValueError("no")))
    assert found.status == "failed"


async def test_a_fork_of_a_graph_keeps_nothing_that_steps_wrote_which_it_does_anew() -> None:
    write = {"transform": {"sum": "{{ (state.sum | default(0, true)) + one.v }}"}}
    plan = {
        "state": {"sum": 0},
        "steps": [
            {"id": "one", "tool": "t", "inputs": {"v": 6}, "on_success": write},
            {"id": "two", "tool": "t", "inputs": {"v": "{{ state.sum }}"}},
        ],
        "outputs": "{{ two.v }}",
    }
    async with opened(identity("t")) as tp:
        first = await tp.run(tp.read(plan))
        assert first.outputs == 6
        found = await ran(tp, await (await tp.fork(first.run_id, from_step="one", repeat_writes=True)).result())
        kept = await ran(tp, await (await tp.fork(first.run_id, from_step="two", repeat_writes=True)).result())
    assert (found.outputs, kept.outputs) == (6, 6)


async def test_a_whole_path_means_that_step_whatever_ids_others_have() -> None:
    asking = {"tool": "t", "requires_approval": True, "inputs": {"n": 1}}
    body = read_plan({"name": "nested", "steps": [{"id": "a", **asking}]})
    plan = {"steps": [{"id": "a", **asking}, {"id": "p", "tool": "nested"}]}
    async with opened(identity("t"), Tool(name="nested", body=body, effect="read")) as tp:
        first = await tp.run(tp.read(plan))
        assert first.status == "waiting"
        await (await tp.approve(first.run_id, "a")).result()
        found = await ran(tp, await (await tp.approve(first.run_id, "p/a")).result())
    assert found.status == "completed"
