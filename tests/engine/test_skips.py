"""Skipped steps: what counts as ended, what spreads, what a path into nothing reads."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import after, identity, run

from toolpath import PlanInvalid
from toolpath.model import events as ev
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted


@pytest.mark.parametrize(
    "when", [False, "false", "0", "''", "[]", "{}", "none", "{{ false }}", "{{ 1 > 2 }}", "{{ src.no }}", "src.n < 3"]
)
async def test_when_is_an_expression_bare_or_in_braces_and_false_skips(when: Any) -> None:
    plan = {"steps": [{"id": "src", "tool": "src"}, {"id": "a", "tool": "t", "when": when}]}
    ran = await run(plan, scripted("src", {"n": 3, "no": 0}), t := identity("t"))
    assert ran.statuses()["a"] == "skipped"
    assert ran.outputs.get("a", "absent") is None
    assert t.calls == []  # type: ignore[attr-defined]
    assert ran.status == "completed"


@pytest.mark.parametrize("when", [True, "true", "1", "'x'", "[0]", "{{ src.n == 3 }}", "src.n >= 3 and not src.no"])
async def test_when_that_holds_runs_the_step(when: Any) -> None:
    plan = {"steps": [{"id": "src", "tool": "src"}, {"id": "a", "tool": "t", "when": when}]}
    ran = await run(plan, scripted("src", {"n": 3, "no": 0}), identity("t"))
    assert ran.statuses()["a"] == "succeeded"


async def test_skipped_by_when_counts_as_ended_and_dependents_run() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "t", "when": False},
            {
                "id": "b",
                "tool": "t",
                "inputs": {"whole": "{{ a }}", "path": "{{ a.x[0].y }}", "or": "{{ a.x | default(7) }}"},
            },
        ]
    }
    ran = await run(plan, identity("t"))
    assert ran.outputs == {"b": {"whole": None, "path": None, "or": 7}}


async def test_a_skip_by_when_does_not_spread_and_says_why() -> None:
    plan = {"steps": [{"id": "a", "tool": "t", "when": "1 > 2"}, {"id": "b", "tool": "t", "depends_on": "a"}]}
    ran = await run(plan, identity("t"))
    (skipped,) = ran.of(ev.StepSkipped)
    assert (skipped.path, skipped.reason, skipped.spreads) == ("a", "when: 1 > 2", False)


async def test_a_condition_that_cannot_be_computed_fails_the_step() -> None:
    plan = {"steps": [{"id": "src", "tool": "src"}, {"id": "a", "tool": "t", "when": "src.gone.x > 1"}]}
    ran = await run(plan, scripted("src", {"n": 3}), t := identity("t"))
    assert ran.statuses()["a"] == "failed"
    assert t.calls == []  # type: ignore[attr-defined]
    assert ran.result.step("a").error.code == "unresolved"  # type: ignore[union-attr]


async def test_skipped_because_something_upstream_failed_spreads_with_the_reason() -> None:
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "b", "tool": "t", "depends_on": "a"},
            {"id": "c", "tool": "t", "depends_on": "b"},
            {"id": "d", "tool": "t", "depends_on": ["c", "e"]},
            {"id": "e", "tool": "t"},
        ],
    }
    ran = await run(plan, scripted("bad", ValueError("no")), t := identity("t"))
    assert ran.statuses() == {"a": "failed", "b": "skipped", "c": "skipped", "d": "skipped", "e": "succeeded"}
    reasons = {event.path: (event.reason, event.spreads) for event in ran.of(ev.StepSkipped)}
    assert reasons["b"] == ("a failed", True)
    assert reasons["c"][1]
    assert "b" in reasons["c"][0]
    assert "c" in reasons["d"][0]
    assert len(t.calls) == 1  # type: ignore[attr-defined]


async def test_a_condition_that_would_skip_does_not_hide_that_something_upstream_failed() -> None:
    plan = {
        "failure_mode": "isolate",
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "b", "tool": "t", "depends_on": "a", "when": False},
            {"id": "c", "tool": "t", "depends_on": "b"},
        ],
    }
    ran = await run(plan, scripted("bad", ValueError("no")), identity("t"))
    assert ran.statuses() == {"a": "failed", "b": "skipped", "c": "skipped"}


@pytest.mark.parametrize("mode", ["stop", "isolate", "continue"])
@pytest.mark.parametrize("aspect", ["status", "error"])
async def test_a_step_that_reads_only_how_another_ended_waits_for_the_end_and_starts_in_every_mode(
    mode: str, aspect: str
) -> None:
    clock = FakeClock(auto=True)
    plan = {
        "failure_mode": mode,
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "clean", "tool": "t", "inputs": {"how": f"{{{{ steps.a.{aspect} }}}}"}},
        ],
    }
    bad = scripted("bad", then=lambda _: after(clock, 5, ValueError("no")))
    ran = await run(plan, bad, t := identity("t"), clock=clock)
    assert ran.statuses() == {"a": "failed", "clean": "succeeded"}
    how = t.calls[0]["how"]  # type: ignore[attr-defined]
    assert how == "failed" if aspect == "status" else how["message"] == "no"
    assert ran.status == ("completed_with_errors" if mode == "continue" else "failed")


async def test_a_step_that_needs_another_as_well_is_still_skipped_with_it() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "bad"},
            {"id": "b", "tool": "t", "inputs": {"s": "{{ steps.a.status }}", "v": "{{ a.x }}"}},
        ]
    }
    ran = await run(plan, scripted("bad", ValueError("no")), identity("t"))
    assert ran.statuses() == {"a": "failed", "b": "skipped"}


async def test_a_path_into_a_failure_that_was_continued_is_null_and_default_replaces_it() -> None:
    plan = {
        "steps": [
            {"id": "a", "tool": "bad", "on_failure": {"action": "continue"}},
            {"id": "b", "tool": "t", "inputs": {"v": "{{ a.x.y }}", "d": "{{ a.x.y | default('d') }}"}},
        ]
    }
    ran = await run(plan, scripted("bad", ValueError("no")), identity("t"))
    assert ran.outputs == {"b": {"v": None, "d": "d"}}
    assert ran.status == "completed_with_errors"


async def test_a_path_into_a_step_of_a_chain_that_was_not_visited_is_null() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {"id": "a", "tool": "t", "on_success": {"next": "c"}, "on_failure": {"next": "b"}},
            {"id": "b", "tool": "t"},
            {"id": "c", "tool": "t", "inputs": {"v": "{{ steps.b.output.x }}", "s": "{{ steps.b.status }}"}},
        ],
    }
    ran = await run(plan, identity("t"))
    assert ran.outputs == {"v": None, "s": "pending"}


async def test_any_other_missing_key_is_unresolved_and_fails_without_calling() -> None:
    plan = {"steps": [{"id": "a", "tool": "a"}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a.missing }}"}}]}
    ran = await run(plan, scripted("a", {"x": 1}), t := identity("t"))
    assert ran.statuses() == {"a": "succeeded", "b": "failed"}
    assert t.calls == []  # type: ignore[attr-defined]
    error = ran.result.step("b").error
    assert error is not None
    assert (error.code, error.retryable) == ("unresolved", False)
    assert "missing" in error.message


async def test_default_replaces_a_missing_key() -> None:
    plan = {
        "steps": [{"id": "a", "tool": "a"}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a.missing | default(1) }}"}}]
    }
    ran = await run(plan, scripted("a", {"x": 1}), identity("t"))
    assert ran.outputs == {"b": {"v": 1}}


class TestUnresolved:
    @staticmethod
    def plan(mode: str | None, step_mode: str | None = None) -> dict[str, Any]:
        step = {
            "id": "b",
            "tool": "t",
            "inputs": {"v": "{{ a.gone }}", "text": "x {{ a.gone }} {{ a.n }}", "n": "{{ a.n }}"},
        }
        if step_mode is not None:
            step["on_unresolved"] = step_mode
        plan = {"steps": [{"id": "a", "tool": "a"}, step, {"id": "c", "tool": "t", "depends_on": "b"}]}
        return plan if mode is None else {**plan, "on_unresolved": mode}

    @pytest.mark.parametrize(("plan_mode", "step_mode"), [("keep", None), ("error", "keep"), ("skip", "keep")])
    async def test_keep_leaves_the_text_as_written_with_a_warning(self, plan_mode: str, step_mode: str | None) -> None:
        ran = await run(self.plan(plan_mode, step_mode), scripted("a", {"n": 1}), t := identity("t"))
        assert ran.status == "completed"
        assert t.calls[0]["v"] == "{{ a.gone }}"  # type: ignore[attr-defined]
        assert t.calls[0]["n"] == 1  # type: ignore[attr-defined]
        assert "{{ a.gone }}" in t.calls[0]["text"]  # type: ignore[attr-defined]
        assert "unresolved b" in ran.warned()

    async def test_null_gives_null(self) -> None:
        ran = await run(self.plan("null"), scripted("a", {"n": 1}), t := identity("t"))
        assert ran.status == "completed"
        assert t.calls[0]["v"] is None  # type: ignore[attr-defined]

    async def test_skip_skips_the_step_and_its_dependents_run(self) -> None:
        ran = await run(self.plan("skip"), scripted("a", {"n": 1}), t := identity("t"))
        assert ran.statuses() == {"a": "succeeded", "b": "skipped", "c": "succeeded"}
        assert ran.status == "completed"
        assert len(t.calls) == 1  # type: ignore[attr-defined]

    @pytest.mark.parametrize("mode", [None, "error"])
    async def test_error_is_the_default_and_is_not_retried(self, mode: str | None) -> None:
        plan = self.plan(mode)
        plan["steps"][1]["retry"] = {"max_retries": 3}
        ran = await run(plan, scripted("a", {"n": 1}), t := identity("t"))
        assert ran.statuses() == {"a": "succeeded", "b": "failed", "c": "skipped"}
        assert t.calls == []  # type: ignore[attr-defined]
        assert ran.of(ev.StepRetrying) == []

    @pytest.mark.parametrize("mode", ["error", "keep", "null", "skip"])
    async def test_what_can_never_resolve_is_refused_in_every_mode(self, mode: str) -> None:
        plan = {"on_unresolved": mode, "steps": [{"id": "b", "tool": "t", "inputs": {"v": "{{ nobody.x }}"}}]}
        with pytest.raises(PlanInvalid, match="nobody"):
            await run(plan, identity("t"))

    async def test_a_step_that_is_unresolved_may_be_continued_like_any_failure(self) -> None:
        plan = self.plan("error")
        plan["steps"][1]["on_failure"] = {"action": "continue"}
        ran = await run(plan, scripted("a", {"n": 1}), identity("t"))
        assert ran.statuses() == {"a": "succeeded", "b": "failed", "c": "succeeded"}
        assert ran.status == "completed_with_errors"


async def test_a_nested_plan_obeys_on_unresolved_too() -> None:
    plan = """
        on_unresolved: skip
        steps:
          - {id: a, tool: a}
          - id: each
            loop: {over: "{{ a.rows }}", steps: [{id: x, tool: t, inputs: {v: "{{ item.v }}"}}]}
        outputs: "{{ each }}"
        """
    ran = await run(plan, scripted("a", {"rows": [{"v": 1}, {}]}), identity("t"))
    assert ran.outputs == [{"x": {"v": 1}}, {"x": None}]


@pytest.mark.parametrize("kind", ["parallel", "loop", "ask"])
async def test_every_kind_of_step_may_be_skipped(kind: str) -> None:
    action: dict[str, Any] = {
        "parallel": {"parallel": [{"tool": "t"}]},
        "loop": {"loop": {"over": [1], "steps": [{"tool": "t"}]}},
        "ask": {"ask": {"title": "?", "inputs": [{"name": "n"}]}},
    }[kind]
    plan = {"steps": [{"id": "a", "when": False, **action}, {"id": "b", "tool": "t", "inputs": {"v": "{{ a }}"}}]}
    ran = await run(plan, identity("t"))
    assert ran.outputs == {"b": {"v": None}}
    assert ran.status == "completed"


async def test_an_action_block_that_cannot_resolve_its_list_obeys_on_unresolved() -> None:
    plan = {
        "on_unresolved": "skip",
        "steps": [
            {"id": "a", "tool": "a"},
            {"id": "each", "loop": {"over": "{{ a.gone }}", "steps": [{"id": "x", "tool": "t"}]}},
        ],
    }
    ran = await run(plan, scripted("a", {"n": 1}), identity("t"))
    assert ran.statuses()["each"] == "skipped"
