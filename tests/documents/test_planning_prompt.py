"""The planning engine's prompt and records: what a model answers, and `IToolPlan`, as the document has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolpath import Toolpath
from toolpath.model_output.model_text import read_model_plan
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import scripted

ANSWER = {
    "reasoning": "The query compares two units; both are looked up.",
    "toolChain": [
        {
            "subQuery": "What is a terminator's toughness?",
            "tool": "vector-search",
            "parameters": {"query": "terminator toughness"},
            "confidence": 0.9,
        },
        {
            "subQuery": "What is a dreadnought's toughness?",
            "tool": "keyword-search",
            "parameters": {"query": "dreadnought toughness"},
            "confidence": 0.8,
        },
    ],
}
PLAN: dict[str, Any] = {
    "steps": [
        {
            "id": "lookup",
            "tool": "vector-search",
            "parameters": {"query": "deep strike"},
            "dependencies": [],
            "executionMode": "parallel",
            "timeout": 30000,
            "fallback": {"tool": "keyword-search", "condition": "on_low_confidence", "threshold": 0.7},
        },
        {
            "id": "rules",
            "tool": "hybrid-search",
            "parameters": {"query": "turn 1"},
            "dependencies": [],
            "executionMode": "parallel",
            "timeout": 30000,
        },
        {
            "id": "synthesis",
            "tool": "synthesis",
            "parameters": {"a": "{{ lookup.found }}", "b": "{{ rules.found }}"},
            "dependencies": ["lookup", "rules"],
            "executionMode": "sequential",
            "timeout": 5000,
            "fallback": {"tool": "validation", "condition": "on_error"},
        },
    ],
    "reasoning": "Two lookups, then both are put together.",
    "estimatedDuration": 3000,
    "estimatedCost": 0.01,
}


def search(name: str, **fields: Any) -> Any:
    return scripted(name, then=lambda inputs: {"found": [f"{name}: {inputs['query']}"]}, effect="read", **fields)


def in_prose(answer: Any) -> str:
    return f"Here is the plan.\n```json\n{json.dumps(answer, indent=2)}\n```\nTell me if it will do."


@pytest.mark.parametrize("written", [ANSWER, json.dumps(ANSWER), in_prose(ANSWER)], ids=["object", "text", "prose"])
async def test_what_a_model_answers_to_the_prompt_is_a_plan_that_runs(written: Any) -> None:
    async with Toolpath(clock=FakeClock(auto=True)) as tp:
        tp.add(vector := search("vector-search"), keyword := search("keyword-search"))
        plan = read_model_plan(written) if written == in_prose(ANSWER) else tp.read(written)
        assert not [finding for finding in tp.check(plan) if finding.severity == "error"]
        assert (await tp.run(plan)).success
        assert vector.calls == [{"query": "terminator toughness"}]
        assert keyword.calls == [{"query": "dreadnought toughness"}]


async def test_a_plan_of_the_document_s_interface_runs_in_stages_with_its_times_and_fallbacks() -> None:
    clock = FakeClock(auto=True)
    async with Toolpath(clock=clock) as tp:
        tp.add(search("vector-search"), search("keyword-search"), search("hybrid-search"))
        tp.add(scripted("synthesis", then=lambda i: i, effect="read"), scripted("validation", then={}, effect="read"))
        plan = tp.read(PLAN)
        assert [step.timeout for step in plan.steps] == [30, 30, 5]
        (low,) = plan.steps[0].fallback
        (error,) = plan.steps[2].fallback
        assert (low.tool, low.condition, low.threshold) == ("keyword-search", "on_low_confidence", 0.7)
        assert (error.tool, error.condition) == ("validation", "on_error")
        result = await tp.run(plan)
        assert result.success
        assert result.step("synthesis").output == {
            "a": ["vector-search: deep strike"],
            "b": ["hybrid-search: turn 1"],
        }


async def test_the_fallback_of_the_interface_answers_for_a_tool_that_fails() -> None:
    async with Toolpath(clock=FakeClock(auto=True)) as tp:
        tp.add(search("vector-search"), search("keyword-search"), search("hybrid-search"))
        tp.add(scripted("synthesis", then=ValueError("no"), effect="read"))
        tp.add(scripted("validation", then={"valid": True}, effect="read"))
        result = await tp.run(tp.read(PLAN))
        assert (result.success, result.step("synthesis").output) == (True, {"valid": True})
