"""What is told of a run: its result, its events as they come, failures that tools return, validation of results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_cases import after, identity, opened, run, run_in

from toolpath import ChainExecutor, Settings, Tool, ToolFailed, Toolpath, tool
from toolpath.errors import ChainExecutionError, NoToolpath, SchemaError
from toolpath.model import events as ev
from toolpath.model.events import event_type
from toolpath.model.run import RunContext
from toolpath.model.tool import Body, ToolResult
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


async def test_a_result_tells_everything_of_each_step() -> None:
    clock = FakeClock(auto=True)
    t = scripted(
        "g.t", then=lambda _: after(clock, 2, ToolResult(output={"n": 1}, confidence=0.8, sources=("s",), cost=0.5))
    )
    found = await run({"name": "told", "steps": [{"id": "a", "tool": "g.t", "inputs": {"q": 1}}]}, t, clock=clock)
    (step,) = found.result.results
    assert (step.step, step.path, step.tool, step.status) == ("a", "a", "g.t", "succeeded")
    assert (step.inputs, step.output, step.error) == ({"q": 1}, {"n": 1}, None)
    assert (step.confidence, step.sources, step.cost) == (0.8, ("s",), 0.5)
    assert (step.started_at, step.duration, step.attempts, step.cached) == (clock.start, 2.0, 1, False)
    told = json.loads(json.dumps(found.result.as_json()))
    assert set(told) == {
        "success", "run_id", "status", "reason", "outputs", "error", "results", "failed_steps", "total_duration",
        "cost",
    }  # fmt: skip
    assert told["cost"] == 0.5
    assert found.result.run_id.startswith("run_1700000000000_")


async def test_the_result_of_a_run_is_stored_and_may_be_asked_for_later() -> None:
    async with opened(identity("t")) as tp:
        result = await tp.run({"steps": [{"id": "a", "tool": "t"}]})
        again = await tp.result(result.run_id)
        assert again.as_json() == result.as_json()
        (info,) = await tp.runs()
        assert (info.status, info.last_seq, info.ended_at) == ("completed", 4, 1_700_000_000.0)


async def test_raise_on_error_raises_with_what_failed() -> None:
    async with opened(scripted("bad", then=ValueError("no"))) as tp:
        with pytest.raises(ToolFailed, match="no"):
            await tp.run({"steps": [{"id": "a", "tool": "bad"}]}, raise_on_error=True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"error": "quota exceeded"}, "quota exceeded"),
        ({"error": {"message": "deep", "code": 3}}, "deep"),
        ({"success": False, "message": "refused"}, "refused"),
        ({"success": False}, "success"),
        ({"error": 0}, "0"),
        ({"success": True, "error": "yet"}, "yet"),
    ],
)
async def test_an_object_with_an_error_or_success_false_has_failed(value: Any, message: str) -> None:
    found = await run({"steps": [{"id": "a", "tool": "t"}]}, scripted("t", value))
    assert found.status == "failed"
    assert found.result.error is not None
    assert message in found.result.error.message


@pytest.mark.parametrize(
    "value",
    [{"error": None}, {"success": True}, {"success": None}, {"success": 0}, {"errors": ["x"]}, [{"error": "x"}]],
)
async def test_anything_else_is_a_success(value: Any) -> None:
    found = await run({"steps": [{"id": "a", "tool": "t"}]}, scripted("t", value))
    assert (found.status, found.outputs) == ("completed", {"a": value})


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("of_tool", "of_step", "status", "warned"),
    [
        ("strict", None, "failed", False),
        ("warn", None, "completed", True),
        ("off", None, "completed", False),
        (None, None, "completed", True),
        ("strict", "warn", "completed", True),
        ("warn", "strict", "failed", False),
        ("strict", "off", "completed", False),
    ],
)
async def test_results_are_validated_as_tool_or_step_say(of_tool: Any, of_step: Any, status: str, warned: bool) -> None:
    fields = {} if of_tool is None else {"output_validation": of_tool}
    step = {"id": "a", "tool": "t"} | ({} if of_step is None else {"output_validation": of_step})
    found = await run({"steps": [step]}, scripted("t", {"n": "many"}, output_schema=SCHEMA, **fields))
    assert found.status == status
    assert ("output_mismatch a" in found.warned()) is warned
    if status == "failed":
        assert found.result.error is not None
        assert found.result.error.code == "invalid_output"
    else:
        assert found.outputs == {"a": {"n": "many"}}


async def test_a_result_that_fits_after_a_change_of_form_without_loss_fits() -> None:
    found = await run(
        {"steps": [{"id": "a", "tool": "t"}]},
        scripted("t", {"n": "12"}, output_schema=SCHEMA, output_validation="strict"),
    )
    assert found.outputs == {"a": {"n": 12}}


async def test_functions_with_a_return_annotation_are_validated_strictly_and_others_are_not() -> None:
    @tool(effect="read")
    async def typed() -> int:
        return "text"  # type: ignore[return-value]

    @tool(effect="read")
    async def untyped():  # type: ignore[no-untyped-def]
        return "text"

    assert (await run({"steps": [{"tool": "typed"}]}, typed)).status == "failed"
    assert (await run({"steps": [{"tool": "untyped"}]}, untyped)).status == "completed"


async def test_events_come_as_they_happen() -> None:
    clock = FakeClock(auto=True)
    plan = {"flow": "chain", "steps": [{"id": name, "tool": "t"} for name in "ab"]}
    async with opened(scripted("t", then=lambda _: after(clock, 1, {})), clock=clock) as tp:
        seen = [event_type(event) async for event in tp.stream(tp.read(plan))]
    assert seen[0] == "run.started"
    assert seen[-1] == "run.completed"
    assert seen.count("step.succeeded") == 2


async def test_a_watcher_may_come_late_and_begin_anywhere() -> None:
    clock = FakeClock(auto=True)
    async with opened(scripted("t", then=lambda _: after(clock, 1, {})), clock=clock) as tp:
        result = await tp.run({"flow": "chain", "steps": [{"id": name, "tool": "t"} for name in "ab"]})
        events = await tp.events(result.run_id)
        assert [event async for event in tp.watch(result.run_id, after=3)] == events[3:]
        assert await tp.events(result.run_id, after=3) == events[3:]


async def test_start_comes_back_with_the_run_stored() -> None:
    clock = FakeClock()
    async with opened(scripted("t", then=lambda _: after(clock, 5, {})), clock=clock) as tp:
        run_ = await tp.start({"steps": [{"tool": "t"}]})
        assert (await tp.store.get_run(run_.id)).status in ("pending", "running")
        await clock.advance(6)
        assert (await run_.result()).status == "completed"


async def test_the_same_idempotency_key_starts_one_run() -> None:
    async with opened(t := identity("t")) as tp:
        runs = [await tp.start({"steps": [{"tool": "t"}]}, idempotency_key="k") for _ in range(3)]
        results = [await run_.result() for run_ in runs]
    assert len({result.run_id for result in results}) == 1
    assert {result.status for result in results} == {"completed"}
    assert len(t.calls) == 1  # type: ignore[attr-defined]


async def test_a_long_idempotency_key_is_refused_whole_since_two_that_are_cut_could_be_one() -> None:
    async with opened(identity("t")) as tp:
        with pytest.raises(SchemaError, match="201 characters; 200 are the most"):
            await tp.start({"steps": [{"tool": "t"}]}, idempotency_key="k" * 201)
        assert await tp.runs() == []


def test_run_sync_runs_it_without_a_loop() -> None:
    tp = Toolpath(settings=Settings())
    tp.add(identity("t"))
    assert tp.run_sync({"steps": [{"id": "a", "tool": "t", "inputs": {"v": 1}}]}).outputs == {"a": {"v": 1}}


async def test_statistics_are_kept_of_every_tool() -> None:
    clock = FakeClock(auto=True)
    t = scripted(
        "t",
        lambda _: after(clock, 2, ToolResult(output={}, confidence=0.5)),
        lambda _: after(clock, 4, ValueError("no")),
        lambda _: after(clock, 100),
        cost=0.1,
    )
    plan = {
        "failure_mode": "continue",
        "flow": "chain",
        "steps": [{"id": name, "tool": "t", "timeout": 10, "retry": {"max_retries": 0}} for name in "abc"],
    }
    async with opened(t, clock=clock) as tp:
        await run_in(tp, plan)
        stats = tp.stats()["t"]
    assert (stats.calls, stats.failures, stats.timeouts) == (3, 1, 1)
    assert stats.durations == (2.0,)
    assert stats.failure_rate == pytest.approx(2 / 3)
    assert stats.average_confidence == 0.5
    assert stats.cost == pytest.approx(0.1)


async def test_ids_of_runs_begin_alike_sort_by_time_and_are_never_the_same() -> None:
    async with opened(identity("t")) as tp:
        plan = tp.read({"steps": [{"tool": "t"}]})
        ids = [(await tp.run(plan)).run_id for _ in range(200)]
    assert len(set(ids)) == 200
    assert all(name.startswith("run_1700000000000_") and len(name.rpartition("_")[2]) == 9 for name in ids)


class TestChainExecutor:
    STEPS = (
        {"tool": "t", "inputs": {"v": "{{ state.start }}"}, "on_success": {"map_outputs": {"v": "one"}}},
        {"tool": "flaky", "on_failure": {"action": "retry", "max_retries": 2}},
        {"tool": "t", "inputs": {"v": "{{ one }}!"}, "on_success": {"map_outputs": {"v": "two"}}},
    )

    async def test_a_chain_is_told_in_the_words_of_the_composition_system(self) -> None:
        async with opened(identity("t"), scripted("flaky", ValueError("1"), {"ok": 1})) as tp:
            context = tp.context(user_id="ann")
            told = await ChainExecutor(context).execute_chain(list(self.STEPS), {"start": "s"}, "my_chain")
        assert told["success"] is True
        assert (told["steps_executed"], told["steps_succeeded"], told["steps_failed"]) == (4, 3, 1)
        assert [(entry["step"], entry["status"]) for entry in told["results"]] == [
            ("t", "success"), ("flaky", "failure"), ("flaky", "success"), ("t", "success"),
        ]  # fmt: skip
        state = told["final_state"]
        assert (state["start"], state["one"], state["two"], state["chain_name"]) == ("s", "s", "s!", "my_chain")
        assert state["step_1_retry_count"] == 1
        assert told["chain_id"] == state["chain_id"]
        assert context.active_chains["my_chain"]["status"] == "completed"
        assert context.next_planned_tools == []

    async def test_a_chain_that_failed_is_told_too_or_raised(self) -> None:
        steps = [{"tool": "t"}, {"tool": "bad"}, {"tool": "t"}]
        async with opened(identity("t"), scripted("bad", then=ValueError("broken"))) as tp:
            executor = ChainExecutor(tp.context(user_id="ann"))
            told = await executor.execute_chain(steps)
            assert (told["success"], told["steps_executed"], told["steps_failed"]) == (False, 2, 1)
            with pytest.raises(ChainExecutionError, match="broken") as caught:
                await executor.execute_chain(steps, raise_on_error=True)
        assert (caught.value.step_index, caught.value.step_name) == (1, "bad")
        assert caught.value.result["steps_executed"] == 2

    async def test_each_chain_has_its_own_history(self) -> None:
        async with opened(identity("t")) as tp:
            executor = ChainExecutor(tp.context(user_id="ann"))
            counts = [(await executor.execute_chain([{"tool": "t"}]))["steps_executed"] for _ in range(3)]
        assert counts == [1, 1, 1]

    async def test_an_unbound_context_uses_the_enclosing_toolpath(self) -> None:
        with pytest.raises(NoToolpath):
            await ChainExecutor(RunContext("ann")).execute_chain([{"tool": "t"}])
        async with opened(identity("t")):
            assert (await ChainExecutor(RunContext("ann")).execute_chain([{"tool": "t"}]))["success"]


async def test_a_tool_from_data_may_say_how_its_body_is_called() -> None:
    body = Body(invoke=lambda inputs, context: {"thread": inputs["v"]}, runs="thread")
    tool_ = Tool(name="t", effect="read", input_schema={"type": "object"}, body=body)
    found = await run({"steps": [{"id": "a", "tool": "t", "inputs": {"v": 1}}]}, tool_)
    assert found.outputs == {"a": {"thread": 1}}


async def test_warnings_are_in_the_journal_and_counted() -> None:
    plan = {
        "on_unresolved": "keep",
        "steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a.gone }}"}}],
    }
    found = await run(plan, identity("t"))
    (done,) = found.of(ev.RunCompleted)
    assert done.warnings == len(found.of(ev.Warned)) == 1
    assert found.result.warnings == tuple(found.of(ev.Warned))
