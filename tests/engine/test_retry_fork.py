"""`retry`: going on from what failed. `fork`: a new run that keeps what is not affected."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine_cases import after, identity, opened, ran

from toolpath import PlanInvalid, ToolContext
from toolpath.errors import RunConflict
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

GRAPH = {
    "failure_mode": "isolate",
    "steps": [
        {"id": "a", "tool": "t", "inputs": {"v": 1}},
        {"id": "b", "tool": "flaky", "inputs": {"v": "{{ a.v }}"}},
        {"id": "c", "tool": "t", "inputs": {"v": "{{ b.n }}"}},
        {"id": "d", "tool": "t", "inputs": {"v": 4}},
    ],
}


async def test_retry_goes_on_from_what_failed_and_what_was_finished_stays_finished() -> None:
    async with opened(t := identity("t"), scripted("flaky", ValueError("no"), {"n": 2})) as tp:
        first = await tp.run(tp.read(GRAPH))
        assert (first.status, len(t.calls)) == ("failed", 2)  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert found.result.run_id == first.run_id
    assert found.status == "completed"
    assert found.outputs == {"c": {"v": 2}, "d": {"v": 4}}
    assert t.calls == [{"v": 1}, {"v": 4}, {"v": 2}]  # type: ignore[attr-defined]
    assert found.statuses() == dict.fromkeys("abdc", "succeeded")
    assert found.result.error is None


async def test_the_idempotency_key_stays_the_same_over_a_retry_of_the_run() -> None:
    async with opened(identity("t"), scripted("flaky", ValueError("no"), {"n": 2})) as tp:
        first = await tp.run(tp.read(GRAPH))
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert len({event.key for event in found.of(ev.StepStarted) if event.path == "b"}) == 1


async def test_retry_of_a_chain_goes_on_at_the_step_that_failed_with_its_state() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"v": 1}, "on_success": {"map_outputs": {"v": "kept"}}},
            {"id": "b", "tool": "flaky"},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ state.kept }}"}},
        ],
    }
    async with opened(t := identity("t"), scripted("flaky", ValueError("no"), {"n": 2})) as tp:
        first = await tp.run(tp.read(plan))
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert (found.status, found.outputs) == ("completed", {"v": 1})
    assert len(t.calls) == 2  # type: ignore[attr-defined]


async def test_retry_reaches_into_loops_branches_and_goes_on_there() -> None:
    plan = {
        "steps": [
            {
                "id": "each",
                "loop": {
                    "over": [1, 2, 3],
                    "collect": "{{ x.v }}",
                    "steps": [{"id": "x", "tool": "picky", "inputs": {"v": "{{ item }}"}}],
                },
            },
            {"id": "p", "depends_on": "each", "parallel": [{"id": "l", "tool": "t"}, {"id": "r", "tool": "flaky"}]},
        ],
        "outputs": {"each": "{{ each }}", "p": "{{ p }}"},
    }
    broken = {2}

    def picky(inputs: dict[str, Any]) -> Any:
        if inputs["v"] in broken:
            return ValueError("not two")
        return inputs

    async with opened(
        t := identity("t"), p := scripted("picky", then=picky), scripted("flaky", ValueError("no"), {"n": 2})
    ) as tp:
        first = await tp.run(tp.read(plan))
        assert first.status == "failed"
        broken.clear()
        second = await (await tp.retry(first.run_id)).result()
        assert second.step("each").output == [1, 2, 3]
        assert [call["v"] for call in p.calls] == [1, 2, 2, 3]
        assert second.status == "failed"
        found = await ran(tp, await (await tp.retry(first.run_id)).result())
    assert found.status == "completed"
    assert found.outputs == {"each": [1, 2, 3], "p": {"l": {}, "r": {"n": 2}}}
    assert len(t.calls) == 1  # type: ignore[attr-defined]


async def test_a_chain_that_was_halted_and_is_tried_again_goes_on_where_it_stands_after_people_were_asked() -> None:
    plan = {
        "steps": [
            {
                "id": "each",
                "loop": {
                    "over": [1],
                    "flow": "chain",
                    "steps": [
                        {"id": "a", "tool": "slow"},
                        {"id": "b", "tool": "w", "inputs": {"v": "{{ item }}"}},
                        {"id": "c", "tool": "t", "requires_approval": True, "inputs": {"v": "{{ b.n }}"}},
                    ],
                },
            },
            {"id": "x", "tool": "flaky"},
        ],
    }
    failed = asyncio.Event()

    def fail(_inputs: dict[str, Any]) -> Any:
        failed.set()
        return {} if flaky.calls[1:] else ValueError("no")

    async def wait(_inputs: dict[str, Any]) -> Any:
        await failed.wait()
        return {}

    flaky, write = scripted("flaky", then=fail), scripted("w", then={"n": 1}, effect="write")
    async with opened(t := identity("t"), write, flaky, scripted("slow", then=wait)) as tp:
        first = await tp.run(tp.read(plan))
        assert (first.status, len(write.calls)) == ("failed", 0)
        waiting = await (await tp.retry(first.run_id)).result()
        assert [question.path for question in waiting.questions] == ["each[0]/c"]
        found = await ran(tp, await (await tp.approve(first.run_id, "each[0]/c")).result())
    assert (found.status, found.outputs["each"]) == ("completed", [{"v": 1}])
    assert (len(write.calls), len(t.calls)) == (1, 1)  # type: ignore[attr-defined]
    assert [event.path for event in found.of(ev.ApprovalRequested)] == ["each[0]/c"]


async def test_retry_of_a_cancelled_run_goes_on() -> None:
    clock = FakeClock()
    t = scripted("t", then=lambda _: after(clock, 10, {}))
    plan = {"flow": "chain", "steps": [{"id": name, "tool": "t"} for name in "ab"]}
    async with opened(t, clock=clock) as tp:
        run_ = await tp.start(tp.read(plan))
        await clock.advance(15)
        await run_.cancel()
        await run_.result()
        again = await tp.retry(run_.id)
        await clock.advance(20)
        found = await ran(tp, await again.result())
    assert (found.status, len(t.calls)) == ("completed", 3)


async def test_retry_asks_first_about_a_write_in_doubt() -> None:
    clock = FakeClock(auto=True)
    w = scripted("w", lambda _: after(clock, 100), then={"ok": 1}, effect="write", timeout=2.0)
    async with opened(w, clock=clock) as tp:
        first = await tp.run(tp.read({"steps": [{"id": "a", "tool": "w"}]}))
        assert first.error is not None
        assert first.error.in_doubt
        waiting = await (await tp.retry(first.run_id)).result()
        assert (waiting.status, len(w.calls)) == ("waiting", 1)
        found = await ran(tp, await (await tp.settle(first.run_id, "a", retry=True)).result())
    assert (found.status, len(w.calls)) == ("completed", 2)


async def test_retry_asks_about_the_fallback_whose_write_is_in_doubt() -> None:
    clock = FakeClock(auto=True)
    w = scripted("w", lambda _: after(clock, 100), then={"ok": 1}, effect="write", timeout=2.0)
    broken = scripted("broken", then=ValueError("no"))
    async with opened(w, broken, clock=clock) as tp:
        first = await tp.run(tp.read({"steps": [{"id": "a", "tool": "broken", "fallback": {"tool": "w"}}]}))
        waiting = await (await tp.retry(first.run_id)).result()
        assert (waiting.status, waiting.step("a").status, waiting.step("a").tool) == ("waiting", "unknown", "w")
        found = await ran(tp, await (await tp.settle(first.run_id, "a", output={"ok": 2})).result())
    assert (found.status, found.outputs) == ("completed", {"a": {"ok": 2}})
    assert (len(w.calls), len(broken.calls)) == (1, 1)


async def test_retry_of_what_has_not_failed_is_refused() -> None:
    async with opened(identity("t")) as tp:
        result = await tp.run({"steps": [{"tool": "t"}]})
        with pytest.raises(RunConflict, match="nothing to retry"):
            await tp.retry(result.run_id)


async def test_fork_keeps_what_is_not_affected_and_runs_the_rest_as_a_new_run() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"v": 1}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a.v + 1 }}"}},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ b.v + 1 }}"}},
            {"id": "d", "tool": "t", "inputs": {"v": 9}},
        ]
    }
    async with opened(t := identity("t")) as tp:
        first = await tp.run(tp.read(plan))
        t.calls.clear()  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.fork(first.run_id, from_step="b")).result())
        kept = await tp.result(first.run_id)
    assert found.result.run_id != first.run_id
    assert found.outputs == first.outputs
    assert [call["v"] for call in t.calls] == [2, 3]  # type: ignore[attr-defined]
    assert kept.status == "completed"
    started = found.events[0]
    assert isinstance(started, ev.RunStarted)
    assert started.parent["run_id"] == first.run_id


async def test_fork_with_other_inputs_runs_what_reads_them_and_what_follows() -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"x": {}, "y": {}}},
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"v": "{{ inputs.x }}"}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ inputs.y }}"}},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ a.v }}{{ b.v }}"}},
        ],
    }
    async with opened(t := identity("t")) as tp:
        first = await tp.run(tp.read(plan), {"x": 1, "y": 2})
        t.calls.clear()  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.fork(first.run_id, inputs={"y": 5})).result())
    assert found.outputs == {"c": {"v": "15"}}
    assert len(t.calls) == 2  # type: ignore[attr-defined]


async def test_fork_of_a_chain_keeps_the_steps_and_the_state_before_the_named_one() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t", "inputs": {"v": 1}, "on_success": {"map_outputs": {"v": "x"}}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ state.x + 1 }}"}, "on_success": {"map_outputs": {"v": "x"}}},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ state.x + 1 }}"}},
        ],
    }
    async with opened(t := identity("t")) as tp:
        first = await tp.run(tp.read(plan))
        t.calls.clear()  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.fork(first.run_id, from_step="b")).result())
    assert found.outputs == first.outputs == {"v": 3}
    assert [call["v"] for call in t.calls] == [2, 3]  # type: ignore[attr-defined]


@pytest.mark.parametrize("tolerated", [{"critical": False}, {"on_failure": {"action": "continue"}}])
async def test_fork_of_a_chain_keeps_a_failure_that_the_chain_went_on_from(tolerated: dict[str, Any]) -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "broken", **tolerated},
            {"id": "b", "tool": "w", "inputs": {"v": 1}},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ b.v }}"}},
        ],
    }
    broken, w = scripted("broken", ValueError("no"), {"n": 1}), identity("w", effect="write")
    async with opened(broken, w, t := identity("t")) as tp:
        first = await tp.run(tp.read(plan))
        found = await ran(tp, await (await tp.fork(first.run_id, from_step="c")).result())
    assert (first.status, found.status) == ("completed_with_errors", "completed_with_errors")
    assert [len(broken.calls), len(w.calls), len(t.calls)] == [1, 1, 2]  # type: ignore[attr-defined]


async def test_fork_of_a_graph_keeps_a_failure_that_the_plan_continued_over() -> None:
    steps = [
        {"id": "a", "tool": "broken", "on_failure": {"action": "continue"}},
        {"id": "b", "tool": "t", "inputs": {"v": "{{ a.v | default(7) }}"}},
        {"id": "c", "tool": "t", "inputs": {"v": "{{ b.v }}"}},
    ]
    async with opened(t := identity("t"), broken := scripted("broken", ValueError("no"), then={"v": 1})) as tp:
        first = await tp.run(tp.read({"steps": steps}))
        kept = await (await tp.fork(first.run_id, from_step="c")).result()
        assert (kept.status, kept.outputs) == (first.status, {"c": {"v": 7}})
        assert (len(broken.calls), len(t.calls)) == (1, 3)  # type: ignore[attr-defined]
        anew = await (await tp.fork(first.run_id, from_step="a")).result()
    assert (anew.status, anew.outputs, len(broken.calls)) == ("completed", {"c": {"v": 1}}, 2)


async def test_a_fork_names_the_writes_it_would_repeat_and_wants_to_be_told() -> None:
    plan = {"flow": "chain", "steps": [{"id": "a", "tool": "w"}, {"id": "b", "tool": "w"}]}
    async with opened(w := identity("w", effect="write")) as tp:
        first = await tp.run(tp.read(plan))
        with pytest.raises(RunConflict, match="b"):
            await tp.fork(first.run_id, from_step="b")
        assert len(w.calls) == 2  # type: ignore[attr-defined]
        found = await ran(tp, await (await tp.fork(first.run_id, from_step="b", repeat_writes=True)).result())
    assert found.status == "completed"
    assert len(w.calls) == 3  # type: ignore[attr-defined]


async def test_a_fork_of_a_fork_names_the_writes_that_tools_of_the_first_run_made_themselves() -> None:
    async def caller(context: ToolContext, v: int) -> Any:
        return await context.call("w", {"v": v}, key="x")

    async with opened(w := identity("w", effect="write")) as tp:
        tp.add(caller, effect="write")
        first = await tp.run(tp.read({"steps": [{"id": "a", "tool": "caller", "inputs": {"v": 1}}]}))
        fork = await (await tp.fork(first.run_id, from_step="a", repeat_writes=True)).result()
        with pytest.raises(RunConflict, match="again: a/x, a"):
            await tp.fork(fork.run_id, from_step="a")
    assert len(w.calls) == 2  # type: ignore[attr-defined]


async def test_a_fork_of_a_failed_run_does_the_failed_step_again() -> None:
    async with opened(t := identity("t"), scripted("flaky", ValueError("no"), {"n": 2})) as tp:
        first = await tp.run(tp.read(GRAPH))
        found = await ran(tp, await (await tp.fork(first.run_id)).result())
        assert (await tp.result(first.run_id)).status == "failed"
    assert found.status == "completed"
    assert len(t.calls) == 3  # type: ignore[attr-defined]


async def test_a_fork_from_a_step_that_is_not_there_is_refused() -> None:
    async with opened(identity("t")) as tp:
        result = await tp.run({"steps": [{"id": "alpha", "tool": "t"}]})
        with pytest.raises(RunConflict, match="alpha"):
            await tp.fork(result.run_id, from_step="alpa")


@pytest.mark.parametrize("inputs", [{"x": "many"}, {"y": 1}])
async def test_a_fork_with_inputs_that_do_not_fit_is_refused(inputs: dict[str, Any]) -> None:
    plan = {
        "inputs": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "steps": [{"id": "a", "tool": "t", "inputs": {"v": "{{ inputs.x }}"}}],
    }
    async with opened(identity("t")) as tp:
        first = await tp.run(tp.read(plan), {"x": 1})
        with pytest.raises((PlanInvalid, RunConflict)):
            await tp.fork(first.run_id, inputs=inputs)
        assert len(await tp.runs()) == 1


async def test_a_fork_names_the_writes_that_may_have_happened() -> None:
    called = asyncio.Event()

    async def charge(v: int) -> int:
        called.set()
        return await asyncio.get_running_loop().create_future()

    async with opened(identity("t")) as tp:
        tp.add(charge, effect="write")
        run = await tp.start(tp.read({"steps": [{"id": "a", "tool": "charge", "inputs": {"v": 1}}]}))
        await called.wait()
        await tp.cancel(run.id)
        assert (await run.result()).step("a").status == "cancelled"
        with pytest.raises(RunConflict, match="again: a"):
            await tp.fork(run.id)
