"""Retries: how often, when, what is repeated by default and what never is."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, opened, plan_text, ran, run

from toolpath import PlanInvalid, Settings, ToolFailed, ToolRetry
from toolpath.errors import PolicyViolationError, ToolNotFound, ToolUnavailable
from toolpath.model import events as ev
from toolpath.model.plan import Retry
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

BOOM = ValueError("boom")


def step(**fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool": "t", **fields}]}


def delays(found: Any) -> list[float]:
    return [event.delay for event in found.of(ev.StepRetrying)]


async def test_the_seed_s_rule_three_retries_make_four_calls_after_one_two_and_four_seconds() -> None:
    clock = FakeClock(auto=True)
    t = scripted("t", BOOM, BOOM, BOOM, {"ok": 1})
    found = await run(step(retry={"max_retries": 3}), t, clock=clock)
    assert (found.status, len(t.calls)) == ("completed", 4)
    assert delays(found) == [1, 2, 4]
    assert found.result.total_duration == pytest.approx(7)
    assert found.result.step("a").attempts == 4


@pytest.mark.parametrize(
    ("retry", "expected"),
    [
        ({"max_retries": 4, "backoff": "fixed", "initial_delay": 3}, [3, 3, 3, 3]),
        ({"max_retries": 3, "backoff": "none"}, [0, 0, 0]),
        ({"max_retries": 4, "initial_delay": 10, "factor": 3, "max_delay": 60}, [10, 30, 60, 60]),
        ({"max_attempts": 3}, [1, 2]),
        ({"max_retries": 8}, [1, 2, 4, 8, 16, 32, 60, 60]),
        ({"max_retries": 2, "initial_delay": "500ms"}, [0.5, 1]),
        ({"max_retries": 0}, []),
        ({"max_attempts": 1}, []),
    ],
)
async def test_the_pauses_are_those_that_the_retry_says(retry: dict[str, Any], expected: list[float]) -> None:
    t = scripted("t", then=BOOM)
    found = await run(step(retry=retry), t)
    assert delays(found) == expected
    assert len(t.calls) == len(expected) + 1
    assert found.status == "failed"


async def test_jitter_lies_between_half_the_pause_and_the_whole_and_is_in_the_journal() -> None:
    clock = FakeClock(auto=True)
    found = await run(
        step(retry={"max_retries": 6, "jitter": True, "initial_delay": 8, "backoff": "fixed"}),
        scripted("t", then=BOOM),
        clock=clock,
    )
    assert all(4 <= delay <= 8 for delay in delays(found))
    assert found.result.total_duration == pytest.approx(sum(delays(found)))


async def test_when_all_retries_are_used_up_the_message_says_so() -> None:
    found = await run(step(retry={"max_retries": 2, "backoff": "none"}), scripted("t", then=BOOM))
    error = found.result.error
    assert error is not None
    assert error.message == "Max retries (2) exceeded for step a: boom"
    assert error.type == "ValueError"


@pytest.mark.parametrize(
    ("fields", "calls"),
    [
        ({"effect": "read"}, 4),
        ({"effect": "write", "idempotent": True}, 4),
        ({"effect": "write"}, 1),
        ({"effect": "destructive"}, 1),
    ],
)
async def test_by_default_reads_and_idempotent_tools_are_retried_three_times_and_others_never(
    fields: dict[str, Any], calls: int
) -> None:
    t = scripted("t", then=ToolRetry("later"), **fields)
    await run(step(), t)
    assert len(t.calls) == calls


async def test_the_settings_say_how_often_by_default() -> None:
    t = scripted("t", then=ToolRetry("later"))
    await run(step(), t, settings=Settings(max_retries=1, retry_backoff="none"))
    assert len(t.calls) == 2


async def test_a_tool_says_by_its_code_which_kind_of_failure_it_is() -> None:
    busy = scripted("t", ToolRetry("busy", code="rate_limit"), {"ok": 1})
    found = await run(step(retry={"max_retries": 2, "backoff": "none", "retry_on": ["rate_limit"]}), busy)
    assert found.status == "completed"
    gone = scripted("t", then=ToolFailed("gone", code="not_found"))
    found = await run(step(retry={"max_retries": 2, "backoff": "none"}), gone)
    assert (len(gone.calls), found.result.error.code) == (1, "not_found")


class HttpError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status_code = status


@pytest.mark.parametrize(
    ("error", "repeated"),
    [
        (TimeoutError("slow"), True),
        (ConnectionError("gone"), True),
        (ConnectionResetError("reset"), True),
        (ToolRetry("later"), True),
        (ToolRetry("busy", code="rate_limit"), True),
        (ToolUnavailable("down"), True),
        (HttpError(503), True),
        (HttpError(429), True),
        (HttpError(500), True),
        (HttpError(404), False),
        (HttpError(400), False),
        (ToolFailed("no"), False),
        (ValueError("no"), False),
        (KeyError("k"), False),
        (PermissionError("no"), False),
    ],
)
async def test_the_default_repeats_only_transient_errors(error: Exception, repeated: bool) -> None:
    t = scripted("t", error, {"ok": 1})
    found = await run(step(), t)
    assert len(t.calls) == (2 if repeated else 1)
    assert found.result.success is repeated


@pytest.mark.parametrize(
    "error", [ValueError("no"), ToolFailed("no"), HttpError(418), RuntimeError("no"), {"error": "bad"}]
)
async def test_an_explicit_retry_repeats_every_other_failure(error: Any) -> None:
    t = scripted("t", error, {"ok": 1})
    found = await run(step(retry={"max_retries": 1, "backoff": "none"}), t)
    assert found.status == "completed"
    assert len(t.calls) == 2


@pytest.mark.parametrize(
    "error", [PolicyViolationError("not allowed"), ToolNotFound("gone"), PermissionError("denied")]
)
async def test_an_explicit_retry_never_repeats_what_will_fail_again(error: Exception) -> None:
    t = scripted("t", then=error)
    found = await run(step(retry={"max_retries": 3, "backoff": "none"}), t)
    assert len(t.calls) == 1
    assert found.status == "failed"


async def test_a_tool_s_own_retry_counts_where_the_step_says_nothing_and_is_explicit() -> None:
    t = scripted("t", then=BOOM, retry=Retry(max_retries=2, backoff="none"))
    await run(step(), t)
    assert len(t.calls) == 3


async def test_the_step_s_retry_wins_over_the_tool_s() -> None:
    t = scripted("t", then=BOOM, retry=Retry(max_retries=5, backoff="none"))
    await run(step(retry={"max_retries": 1, "backoff": "none"}), t)
    assert len(t.calls) == 2


async def test_retry_on_names_what_is_repeated() -> None:
    retry = {"max_retries": 3, "backoff": "none", "retry_on": ["timeout", "ValueError"]}
    t = scripted("t", ValueError("1"), TimeoutError("2"), KeyError("3"))
    found = await run(step(retry=retry), t)
    assert len(t.calls) == 3
    assert found.status == "failed"


async def test_a_server_s_retry_after_wins_over_the_backoff() -> None:
    clock = FakeClock(auto=True)
    t = scripted("t", ToolRetry("busy", retry_after=42), {"ok": 1})
    found = await run(step(retry={"max_retries": 3, "initial_delay": 1}), t, clock=clock)
    assert delays(found) == [42]
    assert found.result.total_duration == pytest.approx(42)


async def test_two_steps_of_one_tool_count_for_themselves() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t", "retry": {"max_retries": 2, "backoff": "none"}},
            {"id": "b", "tool": "t", "retry": {"max_retries": 2, "backoff": "none"}},
        ],
    }
    t = scripted("t", BOOM, BOOM, {"n": 1}, BOOM, BOOM, {"n": 2})
    found = await run(plan, t)
    assert found.status == "completed"
    assert [found.result.step(name).attempts for name in "ab"] == [3, 3]


async def test_retries_are_counted_per_visit_of_a_step() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {
                "id": "a",
                "tool": "t",
                "retry": {"max_retries": 1, "backoff": "none"},
                "on_success": {"map_outputs": {"n": "n"}},
            },
            {"id": "b", "tool": "u", "when": "state.n < 3", "on_success": {"next": "a"}},
        ],
    }
    t = scripted("t", BOOM, {"n": 1}, BOOM, {"n": 2}, BOOM, {"n": 3})
    found = await run(plan, t, identity("u"))
    assert found.status == "completed"
    t.assert_complete()


async def test_a_retry_gives_its_slot_away_while_it_waits() -> None:
    clock = FakeClock(auto=True)
    plan = {
        "concurrency": 1,
        "steps": [
            {"id": "a", "tool": "flaky", "retry": {"max_retries": 1, "initial_delay": 10}},
            {"id": "b", "tool": "slow"},
        ],
    }
    found = await run(
        plan, scripted("flaky", BOOM, {"ok": 1}), scripted("slow", then=lambda _: after(clock, 5)), clock=clock
    )
    assert found.result.total_duration == pytest.approx(10)


async def test_inputs_are_the_same_for_every_attempt_and_so_is_the_idempotency_key() -> None:
    found = await run(
        step(inputs={"n": [1]}, retry={"max_retries": 2, "backoff": "none"}), t := scripted("t", BOOM, BOOM, {})
    )
    assert t.calls == [{"n": [1]}] * 3
    assert len({event.key for event in found.of(ev.StepStarted)}) == 1
    assert found.of(ev.StepStarted)[0].key == f"{found.result.run_id}/a/0"


async def test_on_failure_retry_is_read_into_retry_and_giving_both_is_an_error() -> None:
    t = scripted("t", then=BOOM)
    found = await run(step(on_failure={"action": "retry", "max_retries": 1}), t)
    assert len(t.calls) == 2
    assert found.status == "failed"
    with pytest.raises(PlanInvalid):
        await run(step(on_failure={"action": "retry", "max_retries": 1}, retry={"max_retries": 1}), t)


async def test_a_retry_in_a_chain_with_continue_on_max_retries_goes_to_the_backup() -> None:
    plan = """
        flow: chain
        steps:
          - tool: primary_service
            on_failure: {action: retry, max_retries: 3, continue_on_max_retries: true, next: backup_service}
          - {tool: never, when: "false"}
          - tool: backup_service
        """
    primary = scripted("primary_service", then=BOOM)
    found = await run(plan, primary, identity("never"), scripted("backup_service", {"ok": 1}))
    assert len(primary.calls) == 4
    assert delays(found) == [1, 2, 4]
    assert found.outputs == {"ok": 1}
    assert found.status == "completed_with_errors"
    assert "never" not in found.statuses()


async def test_a_write_that_is_not_idempotent_and_retried_is_a_warning_of_the_check() -> None:
    async with opened(scripted("t", effect="write")) as tp:
        findings = tp.check(tp.read(plan_text(step(retry={"max_retries": 1}))))
    assert ("effect_retried", "warning") in [(finding.code, finding.severity) for finding in findings]


async def test_a_cancel_during_the_pause_of_a_retry_ends_the_run_at_once() -> None:
    clock = FakeClock()
    t = scripted("t", then=BOOM)
    async with opened(t, clock=clock) as tp:
        run_ = await tp.start(tp.read(step(retry={"max_retries": 3, "initial_delay": 100})))
        await clock.advance(1)
        await run_.cancel("enough")
        found = await ran(tp, await run_.result())
    assert (found.status, len(t.calls)) == ("cancelled", 1)


async def test_a_fallback_s_attempts_and_the_step_s_are_each_counted_for_themselves() -> None:
    a, b = scripted("t", then=BOOM), scripted("other", BOOM, {"ok": 1})
    found = await run(step(retry={"max_retries": 1, "backoff": "none"}, fallback={"tool": "other"}), a, b)
    assert (len(a.calls), len(b.calls)) == (2, 2)
    assert found.status == "completed"
