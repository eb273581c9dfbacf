"""Figures of runs, steps, questions and requests, in Prometheus' format and of bounded number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from tests.telemetry.telemetry_cases import ASKING, PLAN, Desk, desk_of

from toolpath import Toolpath
from toolpath.engine.drive.workers import BREATH
from toolpath.telemetry.metrics import MOST_EVENTS, MOST_TOOLS, Durations, Metrics


def figures(metrics: Metrics) -> Mapping[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, these in the order of their names."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


async def test_runs_steps_retries_tokens_and_cost_are_counted() -> None:
    metrics = Metrics()
    async with desk_of(None, metrics) as tp:
        await tp.run(tp.read(PLAN))
    found = figures(metrics)
    assert found["toolpath_runs_started_total",] == 1
    assert found["toolpath_runs_ended_total", "completed_with_errors"] == 1
    assert found["toolpath_runs_driven",] == 0
    assert found["toolpath_run_duration_seconds_count", "completed_with_errors"] == 1
    assert found["toolpath_step_attempts_total", "retried", "desk.flaky"] == 1
    assert found["toolpath_step_attempts_total", "succeeded", "desk.flaky"] == 1
    assert found["toolpath_step_attempts_total", "failed", "desk.lost"] == 1
    assert found["toolpath_step_retries_total", "desk.flaky"] == 1
    assert found["toolpath_step_duration_seconds_count", "desk.flaky"] == 2
    assert found["toolpath_step_queue_seconds_count",] == 5
    assert found["toolpath_model_tokens_total", "desk.model"] == 120
    assert found["toolpath_cost_usd_total", "desk.model"] == 0.25
    assert found["toolpath_events_total", "run.completed"] == 1


async def test_questions_asked_and_answered_are_counted(tmp_path: Path) -> None:
    metrics = Metrics()
    async with desk_of(tmp_path / "runs.db", metrics) as tp:
        result = await tp.run(tp.read(ASKING))
        asked = figures(metrics)
        run = await tp.approve(result.run_id, "send")
        await run.result()
    assert asked["toolpath_questions_asked_total", "approval"] == 1
    assert ("toolpath_questions_answered_total", "approval") not in asked
    found = figures(metrics)
    assert found["toolpath_questions_answered_total", "approval"] == 1
    assert found["toolpath_runs_started_total",] == 1, "going on is no start"
    assert found["toolpath_store_commit_seconds_count",] >= 1
    assert found["toolpath_runs_driven",] == 0


async def test_forks_and_retries_are_told_apart_from_starts() -> None:
    metrics, desk = Metrics(), Desk()
    desk.failures = 2
    async with desk_of(None, metrics, desk) as tp:
        failed = await tp.run(tp.read(PLAN))
        await (await tp.retry(failed.run_id)).result()
        await (await tp.fork(failed.run_id, from_step="model")).result()
    found = figures(metrics)
    assert found["toolpath_runs_started_total",] == 2
    assert found["toolpath_runs_ended_total", "failed"] == 1
    assert found["toolpath_runs_ended_total", "completed_with_errors"] == 2


async def test_however_many_tools_and_paths_there_are_labels_are_bounded() -> None:
    metrics = Metrics()
    async with Toolpath(observer=metrics) as tp:
        for number in range(MOST_TOOLS + 20):

            async def same() -> None:
                """Do nothing."""

            tp.add(same, name=f"tool{number}", effect="read")
        steps = [{"id": f"s{number}", "tool": f"tool{number}"} for number in range(MOST_TOOLS + 20)]
        assert (await tp.run({"name": "\n# HELP x", "steps": steps})).success
    for number in range(MOST_TOOLS + 20):
        metrics.request(f"/route{number}", "BREW" if number % 2 else "GET", 200, 0.001)
    found = figures(metrics)
    tools = {labels[2] for labels in found if labels[0] == "toolpath_step_attempts_total"}
    assert len(tools) == MOST_TOOLS + 1
    assert found["toolpath_step_attempts_total", "succeeded", "other"] == 20
    requests = {labels[1:] for labels in found if labels[0] == "toolpath_http_requests_total"}
    assert len({route for _, route, _ in requests}) == MOST_TOOLS + 1
    assert {method for method, _, _ in requests} == {"GET", "OTHER"}


def test_durations_that_are_told_together_count_as_each_told_by_itself() -> None:
    told: list[dict[tuple[str, ...], float]] = []
    seconds = [0.0, 0.001, 0.0011, 0.3, 0.5, 7.0, 1e9]
    for together in (False, True):
        registry = CollectorRegistry()
        durations = Durations("took", "It took.", ["what"], buckets=(0.001, 0.5, 5), registry=registry).labels("it")
        if together:
            durations.observe_all(seconds)
        else:
            for one in seconds:
                durations.observe(one)
        told.append(
            {
                (sample.name, *sample.labels.values()): sample.value
                for family in registry.collect()
                for sample in family.samples
                if not sample.name.endswith("_created")
            }
        )
    assert told[0] == told[1]
    assert told[0]["took_count", "it"] == len(seconds)


async def test_figures_of_a_run_that_goes_on_are_there_for_who_asks_and_not_kept_back_for_long() -> None:
    metrics = Metrics()
    known: list[float] = []
    kept_back: list[int] = []

    async def look() -> None:
        """Look at what there is: rarely, as whoever collects does."""
        kept_back.append(metrics._pending.events)
        if not len(kept_back) % 100:
            known.append(metrics.registry.get_sample_value("toolpath_events_total", {"type": "step.succeeded"}) or 0)

    async with Toolpath(observer=metrics) as tp:
        tp.add(look)
        steps = [{"id": f"s{number}", "tool": "look"} for number in range(MOST_EVENTS * 2)]
        result = await tp.run(tp.read({"flow": "chain", "steps": steps}))
    assert result.success, result.error
    assert 0 < max(kept_back) <= MOST_EVENTS
    assert known == sorted(set(known))
    assert 100 - BREATH <= known[0] < 100
    assert metrics.registry.get_sample_value("toolpath_events_total", {"type": "step.succeeded"}) == MOST_EVENTS * 2
