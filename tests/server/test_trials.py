"""One step tried alone, and a dry run, over REST: with the guards of any run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.patience import PATIENCE
from tests.server.serving_cases import assert_problem, serving

from toolpath import Toolpath
from toolpath.errors import StepNotFound
from toolpath.runs.trial import trial_of
from toolpath.server.asgi import create_app
from toolpath.workspace.plans import read_plan_document

PLAN: dict[str, Any] = {
    "name": "two",
    "inputs": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "steps": [
        {"id": "first", "tool": "add", "inputs": {"a": "{{ inputs.a }}", "b": 1}},
        {
            "id": "second",
            "tool": "keep",
            "inputs": {"number": "{{ first }}"},
            "requires_approval": "{{ first > 3 }}",
            "when": "{{ first > 0 }}",
        },
        {"id": "each", "loop": {"over": [1, 2], "steps": [{"id": "inner", "tool": "add", "inputs": {"a": 1, "b": 1}}]}},
    ],
}


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


async def test_a_step_is_tried_alone_with_what_it_would_have_read_and_still_asks() -> None:
    kept: list[int] = []

    def keep(number: int) -> int:
        """Keep a number."""
        kept.append(number)
        return number

    tp = Toolpath()
    tp.add(add, effect="read")
    tp.add(keep, effect="write")
    async with serving(create_app(tp)) as client, asyncio.timeout(PATIENCE):

        async def tried(step: str, **more: Any) -> Any:
            return await client.post("/api/v1/plans/trial", json={"plan": PLAN, "step": step, **more})

        begun = await tried("first", inputs={"a": 4})
        assert begun.status_code == 202, begun.text
        assert (await tp.result(begun.json()["run_id"])).step("first").output == 5
        begun = await tried("each/inner", arguments={"a": 20, "b": 22})
        assert (await tp.result(begun.json()["run_id"])).step("inner").output == 42
        # Whether it must be asked hangs on a step that is not run here: it is asked.
        begun = await tried("second", arguments={"number": 9})
        run = begun.json()["run_id"]
        assert (await tp.result(run)).status == "waiting"
        assert kept == []
        await tp.approve(run, "second")
        assert (await tp.result(run)).step("second").output == 9
        assert kept == [9]
        assert_problem(await tried("second"), 422, "plan_invalid")
        assert_problem(await tried("second", arguments={"number": "nine"}), 422, "plan_invalid")
        unknown = await tried("frist")
        assert_problem(unknown, 422, "unknown_step")
        assert unknown.json()["suggestions"] == ["first"]

        before = len(await tp.store.list_runs())
        dry = await client.post("/api/v1/plans/dry-run", json={"plan": PLAN, "inputs": {"a": 4}})
        assert dry.status_code == 200, dry.text
        first, second, *_ = dry.json()["steps"]
        assert first["inputs"] == {"a": 4, "b": 1}
        assert (second["inputs"], second["waits_for"]) == ({"number": "{{ first }}"}, ["first"])
        assert_problem(await client.post("/api/v1/plans/dry-run", json={"plan": PLAN}), 422, "plan_invalid")
        assert len(await tp.store.list_runs()) == before


async def test_a_dry_run_shows_no_more_than_it_was_given_many_times_over() -> None:
    tp = Toolpath()
    tp.add(add, effect="read")
    many = [{"id": f"s{n}", "tool": "add", "inputs": {"a": "{{ inputs.big | length }}", "b": 1}} for n in range(3)]
    many += [
        {"id": f"t{n}", "loop": {"over": "{{ inputs.big }}", "steps": [{**many[0], "id": f"u{n}"}]}} for n in range(30)
    ]
    given = {"type": "object", "properties": {"big": {"type": "array"}}}
    body = {"plan": {"inputs": given, "steps": many}, "inputs": {"big": ["x" * 1_000] * 500}}
    async with serving(create_app(tp)) as client:
        dry = await client.post("/api/v1/plans/dry-run", json=body)
    assert dry.status_code == 200, dry.text[:1_000]
    assert len(dry.content) < 5_000_000
    steps = {step["path"]: step for step in dry.json()["steps"]}
    assert (steps["s0"]["inputs"]["a"], steps["t0"]["items"]) == (500, 500)
    assert steps["t29"]["inputs"] == "{{ inputs.big }}"


def test_what_leads_elsewhere_is_left_out_of_a_trial_and_what_guards_stays() -> None:
    step = {"id": "a", "tool": "add", "inputs": {"a": 1, "b": 1}, "timeout": "2s", "requires_approval": True}
    chain: dict[str, Any] = {
        "flow": "chain",
        "policy": {"requires": {"permissions": ["x"]}},
        "steps": [{**step, "on_success": {"next": "b"}, "on_failure": {"next": "b"}}, {"id": "b", "tool": "add"}],
    }
    alone = trial_of(read_plan_document(chain), "a")
    assert [each.id for each in alone.steps] == ["a"]
    assert alone.policy == {"requires": {"permissions": ["x"]}}
    kept = alone.steps[0]
    assert (kept.timeout, kept.requires_approval) == (2.0, True)
    assert (kept.on_success.next, kept.on_failure.next) == (None, None)
    with pytest.raises(StepNotFound):
        trial_of(read_plan_document(chain), "a/b")


def test_the_approval_of_what_a_step_stands_in_is_asked_for_in_its_trial() -> None:
    body = {"steps": [{"id": "inner", "tool": "add", "inputs": {"a": 1, "b": 1}}]}
    for asked in (True, "{{ inputs.a > 3 }}"):
        outer = {"id": "outer", "requires_approval": asked, "parallel": [{"id": "one", **body}]}
        plan = read_plan_document({"inputs": {"type": "object"}, "steps": [outer]})
        assert trial_of(plan, "outer/inner").steps[0].requires_approval is True
        assert trial_of(plan, "outer").steps[0].requires_approval is True


async def test_a_trial_is_no_answer_to_the_request_that_its_plan_was_made_for() -> None:
    plan = {**PLAN, "origin": {"request": "Add one to a number and keep it", "confidence": 0.9}}
    async with Toolpath() as tp:
        tp.add(add, effect="read")
        whole = trial_of(read_plan_document(plan), "first")
        assert (await tp.run(whole, {"a": 1})).success
        assert (await tp.planning.report()).lessons == ()
        doubtful = {**PLAN, "origin": {"request": "Add", "questions": ["To what?"]}}
        assert trial_of(read_plan_document(doubtful), "first").questions == ("To what?",)
