"""Fallbacks: order, conditions, inputs of their own, and an answer that was not sure enough."""

from __future__ import annotations

from typing import Any

from engine_cases import identity, run

from toolpath import ToolRetry
from toolpath.model import events as ev
from toolpath.model.tool import ToolResult
from toolpath.notation.composite import read_composite
from toolpath.testing.scripted import scripted

BOOM = ValueError("boom")


def step(**fields: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a", "tool": "t", "inputs": {"q": 1}, **fields}], "outputs": "{{ a }}"}


async def test_a_fallback_is_asked_when_the_tool_has_failed_with_the_step_s_own_inputs() -> None:
    found = await run(step(fallback={"tool": "other"}), scripted("t", BOOM), other := identity("other"))
    assert (found.status, found.outputs) == ("completed", {"q": 1})
    assert other.calls == [{"q": 1}]  # type: ignore[attr-defined]
    (event,) = found.of(ev.FallbackStarted)
    assert (event.path, event.index, event.tool, event.error.message) == ("a", 1, "other", "boom")
    assert found.result.step("a").tool == "other"
    assert [e.key.rpartition("/")[2] for e in found.of(ev.StepStarted)] == ["0", "1"]


async def test_a_fallback_may_have_inputs_of_its_own() -> None:
    plan = step(fallback={"tool": "other", "inputs": {"z": "{{ inputs.n }}"}})
    plan["inputs"] = {"type": "object", "properties": {"n": {}}}
    found = await run(plan, scripted("t", BOOM), identity("other"), inputs={"n": 5})
    assert found.outputs == {"z": 5}


async def test_a_list_of_fallbacks_is_tried_in_order() -> None:
    found = await run(
        step(fallback=[{"tool": "b"}, {"tool": "c"}, {"tool": "d"}]),
        scripted("t", BOOM),
        scripted("b", BOOM),
        scripted("c", {"from": "c"}),
        d := scripted("d", {}),
    )
    assert found.outputs == {"from": "c"}
    assert d.calls == []


async def test_when_all_fallbacks_fail_the_step_has_failed_with_the_last_error() -> None:
    found = await run(step(fallback=[{"tool": "b"}]), scripted("t", BOOM), scripted("b", KeyError("last")))
    assert found.status == "failed"
    assert found.result.error is not None
    assert found.result.error.type == "KeyError"


async def test_attempts_then_fallbacks_then_on_failure() -> None:
    plan = {
        "flow": "chain",
        "steps": [
            {
                "id": "a",
                "tool": "t",
                "retry": {"max_retries": 1, "backoff": "none"},
                "fallback": {"tool": "b"},
                "on_failure": {"next": "repair"},
            },
            {"id": "skipped_over", "tool": "t"},
            {"id": "repair", "tool": "ok"},
        ],
    }
    found = await run(plan, t := scripted("t", then=BOOM), scripted("b", BOOM, BOOM), identity("ok"))
    assert found.trace("step.retrying", "fallback.started", "step.failed", "step.succeeded") == [
        "step.retrying a",
        "fallback.started a",
        "step.retrying a",
        "step.failed a",
        "step.succeeded repair",
    ]
    assert len(t.calls) == 2


async def test_a_fallback_s_default_attempts_are_those_of_its_own_tool() -> None:
    b = scripted("b", ToolRetry("1"), ToolRetry("2"), {"ok": 1})
    found = await run(step(fallback={"tool": "b"}), scripted("t", BOOM, effect="write"), b)
    assert found.outputs == {"ok": 1}


async def test_low_confidence_asks_the_fallback_and_takes_the_surer_answer() -> None:
    fallback = {"tool": "b", "condition": "on_low_confidence", "threshold": 0.6}
    found = await run(
        step(fallback=fallback),
        scripted("t", ToolResult(output={"from": "t"}, confidence=0.3)),
        scripted("b", ToolResult(output={"from": "b"}, confidence=0.9)),
    )
    assert found.outputs == {"from": "b"}
    assert found.result.step("a").confidence == 0.9
    (event,) = found.of(ev.FallbackStarted)
    assert (event.confidence, event.output) == (0.3, {"from": "t"})


async def test_confidence_at_the_threshold_is_enough() -> None:
    fallback = {"tool": "b", "condition": "on_low_confidence"}
    found = await run(
        step(fallback=fallback), scripted("t", ToolResult(output=1, confidence=0.5)), b := scripted("b", 2)
    )
    assert found.outputs == 1
    assert b.calls == []


async def test_an_answer_without_confidence_is_taken_as_sure() -> None:
    fallback = {"tool": "b", "condition": "on_low_confidence"}
    found = await run(step(fallback=fallback), scripted("t", 1), b := scripted("b", 2))
    assert (found.outputs, b.calls) == (1, [])


async def test_the_first_answer_stands_if_the_fallback_is_less_sure_or_fails() -> None:
    fallback = {"tool": "b", "condition": "on_low_confidence"}
    unsure = ToolResult(output={"from": "t"}, confidence=0.4)
    less = await run(
        step(fallback=fallback), scripted("t", unsure), scripted("b", ToolResult(output=2, confidence=0.1))
    )
    assert less.outputs == {"from": "t"}
    assert less.result.step("a").confidence == 0.4
    broken = await run(step(fallback=fallback), scripted("t", unsure), scripted("b", BOOM))
    assert broken.outputs == {"from": "t"}
    assert broken.status == "completed"


async def test_a_fallback_for_low_confidence_is_not_asked_after_an_error_nor_the_other_way_round() -> None:
    low = await run(
        step(fallback={"tool": "b", "condition": "on_low_confidence"}), scripted("t", BOOM), b := scripted("b", {})
    )
    assert low.status == "failed"
    assert b.calls == []
    error = await run(
        step(fallback={"tool": "b", "condition": "on_error"}),
        scripted("t", ToolResult(output=1, confidence=0.1)),
        b := scripted("b", {}),
    )
    assert error.outputs == 1
    assert b.calls == []


async def test_inputs_that_do_not_resolve_are_a_failure_that_a_fallback_may_answer() -> None:
    plan = {
        "steps": [
            {"id": "src", "tool": "src"},
            {
                "id": "a",
                "tool": "t",
                "inputs": {"q": "{{ src.gone }}"},
                "fallback": {"tool": "b", "inputs": {"q": "plain"}},
            },
        ]
    }
    found = await run(plan, scripted("src", {"n": 1}), t := identity("t"), identity("b"))
    assert found.outputs == {"a": {"q": "plain"}}
    assert t.calls == []  # type: ignore[attr-defined]


async def test_a_composite_may_be_a_fallback() -> None:
    composite = {
        "name": "backup",
        "parameters": [{"name": "q", "type": "integer", "required": True}],
        "implementation": {
            "type": "composite",
            "composite": {
                "steps": [{"tool": "u", "inputs": {"v": "{{ state.q }}"}, "on_success": {"map_outputs": {"v": "got"}}}]
            },
        },
    }
    found = await run(step(fallback={"tool": "backup"}), scripted("t", BOOM), identity("u"), read_composite(composite))
    assert found.outputs["got"] == 1
