"""The planning engine: what its document says of execution, retries, time, fallbacks, registry and context."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolpath import Settings, Toolpath, ToolRetry
from toolpath.config import load_settings
from toolpath.model import events as ev
from toolpath.model.plan import Cache
from toolpath.model.tool import Example, ToolResult
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
async def tp(clock: FakeClock) -> AsyncIterator[Toolpath]:
    async with Toolpath(clock=clock, settings=Settings()) as door:
        yield door


def search(clock: FakeClock, name: str, seconds: float = 1, **fields: Any) -> ScriptedTool:
    async def answer(inputs: dict[str, Any]) -> ToolResult:
        await clock.sleep(seconds)
        return ToolResult(output={"found": [f"{name}: {inputs.get('query')}"]}, confidence=0.9, sources=(name,))

    return scripted(name, then=answer, **fields)


def step(step_id: str, tool: str, *depends: str, **fields: Any) -> dict[str, Any]:
    """A step in the document's own words: `parameters`, `dependencies`, `executionMode`."""
    return {"id": step_id, "tool": tool, "dependencies": list(depends), "executionMode": "parallel", **fields}


class TestOrchestrator:
    async def test_three_independent_tools_run_concurrently(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search", 4))
        plan = {"steps": [step(f"s{n}", "vector-search", parameters={"query": n}) for n in range(3)]}
        result = await tp.run(tp.read(plan))
        assert result.success
        assert result.total_duration == pytest.approx(4)

    async def test_tool_b_receives_tool_a_s_result(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search"), b := scripted("validation", then={}))
        plan = {
            "steps": [
                step("a", "vector-search", parameters={"query": "toughness"}),
                step("b", "validation", "a", parameters={"sources": "{{ a.found }}"}),
            ]
        }
        assert (await tp.run(tp.read(plan))).success
        assert b.calls == [{"sources": ["vector-search: toughness"]}]

    async def test_a_parallel_stage_is_followed_by_a_sequential_one(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search", 3), search(clock, "keyword-search", 2), search(clock, "synthesis", 1))
        plan = {
            "steps": [
                step("one", "vector-search"),
                step("two", "keyword-search"),
                step("sum", "synthesis", "one", "two", executionMode="sequential"),
            ]
        }
        result = await tp.run(tp.read(plan))
        assert result.total_duration == pytest.approx(4)
        assert result.step("sum").started_at == pytest.approx(clock.start + 3)

    async def test_a_simple_query_is_one_call(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(tool := search(clock, "vector-search"))
        assert (await tp.call("vector-search", {"query": "toughness?"}))["found"]
        assert len(tool.calls) == 1

    async def test_partial_failures_keep_what_succeeded(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search"), scripted("broken", then=ValueError("no")))
        plan = {
            "failure_mode": "isolate",
            "steps": [step("a", "vector-search"), step("b", "broken"), step("c", "vector-search")],
        }
        result = await tp.run(tp.read(plan))
        assert (result.success, result.failed_steps) == (False, ("b",))
        assert [result.step(name).status for name in "abc"] == ["succeeded", "failed", "succeeded"]

    async def test_a_tool_that_fails_twice_succeeds_on_the_third_attempt(self, tp: Toolpath) -> None:
        tp.add(flaky := scripted("flaky", ToolRetry("1"), ToolRetry("2"), {"ok": 1}))
        result = await tp.run(tp.read({"steps": [step("a", "flaky")]}))
        assert result.success
        assert result.step("a").attempts == 3
        flaky.assert_complete()

    async def test_three_retries_wait_one_two_and_four_seconds(self, tp: Toolpath) -> None:
        tp.add(scripted("down", then=ConnectionError("refused")))
        result = await tp.run(tp.read({"steps": [step("a", "down")]}))
        delays = [event.delay for event in await tp.events(result.run_id) if isinstance(event, ev.StepRetrying)]
        assert delays == [1, 2, 4]
        assert result.total_duration == pytest.approx(7)

    async def test_a_validation_error_is_not_retried(self, tp: Toolpath) -> None:
        schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
        tp.add(scripted("src", {"limit": "many"}), tool := scripted("strict", then={}, input_schema=schema))
        plan = {
            "steps": [
                step("s", "src"),
                step("a", "strict", parameters={"limit": "{{ s.limit }}"}, retry={"max_retries": 3}),
            ]
        }
        result = await tp.run(tp.read(plan))
        assert (result.status, tool.calls) == ("failed", [])
        assert result.total_duration == 0

    async def test_a_tool_times_out_after_thirty_seconds_and_that_is_in_the_journal(
        self, tp: Toolpath, clock: FakeClock
    ) -> None:
        tp.add(search(clock, "slow", 1000))
        result = await tp.run(tp.read({"steps": [step("a", "slow", retry={"max_retries": 0})]}))
        assert (result.step("a").status, result.total_duration) == ("timed_out", pytest.approx(30))
        assert any(isinstance(event, ev.StepTimedOut) for event in await tp.events(result.run_id))

    async def test_cancel_ends_a_plan(self, clock: FakeClock) -> None:
        by_hand = FakeClock()
        async with Toolpath(clock=by_hand, settings=Settings()) as door:
            door.add(search(by_hand, "slow", 100))
            run = await door.start(door.read({"steps": [step("a", "slow")]}))
            await by_hand.advance(1)
            await door.cancel(run.id)
            assert (await run.result()).status == "cancelled"


class TestFailures:
    async def test_a_fallback_is_executed_where_one_is_defined(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(scripted("vector-search", then=ValueError("down")), search(clock, "keyword-search"))
        plan = {"steps": [step("a", "vector-search", fallback={"tool": "keyword-search", "condition": "on_error"})]}
        result = await tp.run(tp.read(plan))
        assert result.success
        assert result.step("a").tool == "keyword-search"

    async def test_low_confidence_asks_the_fallback(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(
            scripted("vector-search", ToolResult(output={"found": []}, confidence=0.2)), search(clock, "hybrid-search")
        )
        fallback = {"tool": "hybrid-search", "condition": "on_low_confidence", "threshold": 0.7}
        result = await tp.run(tp.read({"steps": [step("a", "vector-search", fallback=fallback)]}))
        assert (result.step("a").tool, result.step("a").confidence) == ("hybrid-search", 0.9)

    @pytest.mark.parametrize(("critical", "status"), [(True, "failed"), (False, "completed_with_errors")])
    async def test_without_a_fallback_a_critical_step_stops_and_another_does_not(
        self, tp: Toolpath, clock: FakeClock, critical: bool, status: str
    ) -> None:
        tp.add(scripted("broken", then=ValueError("no")), later := search(clock, "later"), search(clock, "other", 5))
        plan = {"steps": [step("a", "broken", critical=critical), step("o", "other"), step("l", "later", "o")]}
        result = await tp.run(tp.read(plan))
        assert result.status == status
        assert len(later.calls) == (0 if critical else 1)


class TestResults:
    async def test_a_result_has_what_the_document_lists(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search", 2))
        result = await tp.run(tp.read({"steps": [step("a", "vector-search", parameters={"query": "q"})]}))
        (told,) = result.results
        assert (told.step, told.tool, told.status == "succeeded", told.output) == (
            "a", "vector-search", True, {"found": ["vector-search: q"]},
        )  # fmt: skip
        assert (told.confidence, told.duration, told.sources, told.error) == (0.9, 2, ("vector-search",), None)
        assert told.attempts - 1 == 0
        assert (result.success, result.total_duration, result.failed_steps) == (True, 2, ())

    async def test_results_are_gathered_for_a_synthesis_with_their_confidence_and_sources(
        self, tp: Toolpath, clock: FakeClock
    ) -> None:
        tp.add(
            search(clock, "vector-search"),
            search(clock, "keyword-search"),
            synthesis := scripted("synthesis", then={"text": "…"}),
        )
        plan = {
            "steps": [
                step("one", "vector-search", parameters={"query": "terminator"}),
                step("two", "keyword-search", parameters={"query": "dreadnought"}),
                step("sum", "synthesis", parameters={"a": "{{ one.found }}", "b": "{{ two.found }}"}),
            ]
        }
        result = await tp.run(tp.read(plan))
        assert synthesis.calls == [{"a": ["vector-search: terminator"], "b": ["keyword-search: dreadnought"]}]
        assert [result.step(name).sources for name in ("one", "two")] == [("vector-search",), ("keyword-search",)]


class TestRegistry:
    async def test_five_tools_are_registered_found_by_capability_and_by_name(self, tp: Toolpath) -> None:
        for name in ("vector", "keyword", "hybrid", "validate", "synthesise"):
            capabilities = ("search.semantic",) if name in ("vector", "hybrid") else (name,)
            tp.add(
                scripted(f"rag.{name}", capabilities=capabilities, examples=(Example(query="q", parameters={"a": 1}),))
            )
        catalog = await tp.tools()
        assert len(catalog.tools) == 5
        assert sorted(tool.key for tool in catalog.by_capability("search.semantic")) == ["rag.hybrid", "rag.vector"]
        assert catalog.find("rag.vector").examples[0].query == "q"

    async def test_statistics_are_updated_after_each_execution(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(search(clock, "vector-search", 2), scripted("broken", then=ValueError("no")))
        plan = {
            "failure_mode": "isolate",
            "steps": [step("a", "vector-search"), step("b", "broken"), step("c", "vector-search")],
        }
        await tp.run(tp.read(plan))
        good, bad = tp.stats()["vector-search"], tp.stats()["broken"]
        assert (good.calls, good.average_duration, good.failure_rate, good.average_confidence) == (2, 2.0, 0.0, 0.9)
        assert (bad.calls, bad.failure_rate) == (1, 1.0)


class TestConfiguration:
    def test_the_document_s_variables_are_honoured(self) -> None:
        found = load_settings(
            env={
                "TOOL_DEFAULT_TIMEOUT": "5000",
                "TOOL_MAX_RETRIES": "1",
                "TOOL_RETRY_BACKOFF": "fixed",
                "TOOL_PARALLEL_LIMIT": "2",
                "TOOL_RESULT_CACHE_ENABLED": "false",
                "TOOL_RESULT_CACHE_TTL": "60",
            }
        )
        assert (found.default_timeout, found.max_retries, found.retry_backoff) == (5.0, 1, "fixed")
        assert (found.parallel_limit, found.cache_enabled, found.cache_ttl) == (2, False, 60.0)

    def test_their_defaults_are_those_of_the_document(self) -> None:
        found = Settings()
        assert (found.default_timeout, found.max_retries, found.retry_backoff) == (30.0, 3, "exponential")
        assert (found.parallel_limit, found.cache_enabled, found.cache_ttl) == (5, True, 300.0)

    async def test_parallel_tools_are_limited_and_the_excess_is_queued(self, clock: FakeClock) -> None:
        async with Toolpath(clock=clock, settings=Settings(parallel_limit=2)) as door:
            door.add(search(clock, "vector-search", 1))
            result = await door.run(door.read({"steps": [step(f"s{n}", "vector-search") for n in range(6)]}))
        assert result.total_duration == pytest.approx(3)

    async def test_a_result_cache_avoids_redundant_calls(self, tp: Toolpath, clock: FakeClock) -> None:
        tp.add(tool := search(clock, "vector-search", cache=Cache()))
        plan = tp.read({"steps": [step("a", "vector-search", parameters={"query": "same"})]})
        results = [await tp.run(plan) for _ in range(3)]
        assert len(tool.calls) == 1
        assert [result.step("a").cached for result in results] == [False, True, True]

    async def test_the_speed_up_over_one_after_the_other_is_at_least_twofold(
        self, tp: Toolpath, clock: FakeClock
    ) -> None:
        tp.add(search(clock, "vector-search", 1))
        steps = [step(f"s{n}", "vector-search") for n in range(6)]
        beside = await tp.run(tp.read({"steps": steps}))
        after = await tp.run(tp.read({"steps": steps, "concurrency": 1}))
        assert after.total_duration / beside.total_duration >= 2
