from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import NoToolFits, PolicyViolationError, ReadError, RecordConflict, RecordNotFound

PLAN = {
    "name": "sum",
    "inputs": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "steps": [{"id": "twice", "tool": "add", "inputs": {"a": "{{ inputs.a }}", "b": "{{ inputs.a }}"}}],
    "outputs": "{{ twice }}",
}


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@pytest.fixture
async def tp():
    async with Toolpath() as door:
        door.add(add, effect="read")
        yield door


async def test_a_request_becomes_a_stored_plan_that_says_who_planned_it(tp: Toolpath) -> None:
    stored = await tp.plans.create("add 2 and 3", planner="offline", tenant="t", user="u")
    assert stored.plan_id.startswith("plan_")
    assert stored.request_id.startswith("req_")
    assert (stored.version, stored.request, stored.planner) == (1, "add 2 and 3", "offline")
    assert await tp.plans.get(stored.plan_id) == stored
    assert (await tp.run(stored)).outputs == {"add": 5}


async def test_what_no_tool_does_is_refused_and_nothing_is_kept(tp: Toolpath) -> None:
    with pytest.raises(NoToolFits):
        await tp.plans.create("bake a cake with cherries", planner="offline")
    assert await tp.plans.newest() == []


async def test_plans_of_a_request_are_its_versions_also_when_made_at_the_same_time(tp: Toolpath) -> None:
    first = await tp.plans.add(PLAN, request="twice")
    await asyncio.gather(*(tp.plans.add(PLAN, request_id=first.request_id) for _ in range(8)))
    versions = [plan.version for plan in await tp.plans.of_request(first.request_id)]
    assert versions == list(range(9, 0, -1))
    assert (await tp.plans.latest(first.request_id)).version == 9


async def test_a_request_of_another_tenant_is_not_there(tp: Toolpath) -> None:
    theirs = await tp.plans.add(PLAN, tenant="them")
    with pytest.raises(RecordNotFound):
        await tp.plans.of_request(theirs.request_id, tenant="us")
    with pytest.raises(RecordNotFound):
        await tp.plans.add(PLAN, request_id=theirs.request_id, tenant="us")
    assert await tp.plans.newest(tenant="us") == []


async def test_a_run_of_a_stored_plan_says_which(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN)
    run = await tp.start(stored, {"a": 4})
    assert (await run.result()).outputs == 8
    info = await tp.store.get_run(run.run_id)
    assert info.plan_id == stored.plan_id
    assert [row.run_id for row in await tp.store.list_runs(plan_id=stored.plan_id)] == [run.run_id]


async def test_a_plan_that_does_not_check_is_kept_with_its_findings_and_cannot_be_run(tp: Toolpath) -> None:
    stored = await tp.plans.add({"steps": [{"tool": "adde", "inputs": {"a": 1, "b": 2}}]})
    review = await tp.plans.review(tp.plans.plan_of(stored))
    assert [finding.code for finding in review.findings] == ["unknown_tool"]
    with pytest.raises(PlanInvalid):
        await tp.start(stored)


@pytest.mark.parametrize("source", ["/etc/passwd", "no plan", "", {}, {"steps": [{"tool": [1]}]}])
async def test_what_is_no_plan_is_refused_and_text_is_never_a_path(tp: Toolpath, source: object) -> None:
    with pytest.raises((ReadError, PlanInvalid)) as caught:
        await tp.plans.add(source)  # type: ignore[arg-type]
    assert "root:" not in str(caught.value)
    assert await tp.plans.newest() == []


async def test_a_changed_plan_is_run_as_it_is_now(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN)
    await tp.run(stored, {"a": 1})
    changed = await tp.plans.update(stored.plan_id, {**PLAN, "outputs": {"sum": "{{ twice }}"}})
    assert changed.revision == stored.revision + 1
    assert (await tp.run(changed, {"a": 1})).outputs == {"sum": 2}
    with pytest.raises(RecordConflict):
        await tp.plans.update(stored.plan_id, PLAN, expected=stored.revision)


async def test_a_deleted_plan_is_gone(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN)
    assert await tp.plans.delete(stored.plan_id)
    assert not await tp.plans.delete(stored.plan_id)
    with pytest.raises(RecordNotFound):
        await tp.plans.get(stored.plan_id)
    with pytest.raises(RecordNotFound):
        await tp.plans.update(stored.plan_id, PLAN)
    with pytest.raises(RecordNotFound):
        await tp.plans.latest(stored.request_id)


async def test_a_plan_that_needs_approval_runs_only_with_the_inputs_that_were_approved(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN, requires_approval=True)
    with pytest.raises(PolicyViolationError, match="is not approved"):
        await tp.start(stored, {"a": 1})
    approved = await tp.plans.approve(stored.plan_id, {"a": 1}, by="ann", comment="fine")
    assert approved.approval is not None
    assert approved.approval.by == "ann"
    with pytest.raises(PolicyViolationError, match="other inputs"):
        await tp.start(approved, {"a": 2})
    run = await tp.start(approved, {"a": 1})
    assert (await run.result()).success
    started = (await tp.events(run.run_id))[0]
    assert started.approval == approved.approval.digest  # type: ignore[union-attr]


async def test_an_approval_ends_when_the_plan_or_a_tool_in_it_changes(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN, requires_approval=True)
    await tp.plans.approve(stored.plan_id, {"a": 1})
    changed = await tp.plans.update(stored.plan_id, {**PLAN, "outputs": "{{ twice }}!"})
    assert changed.approval is None
    with pytest.raises(PolicyViolationError):
        await tp.start(changed, {"a": 1})
    again = await tp.plans.approve(stored.plan_id, {"a": 1})
    tp.add(add, name="add", description="Adds otherwise.")
    with pytest.raises(PolicyViolationError):
        await tp.start(again, {"a": 1})


async def test_a_plan_that_cannot_be_run_cannot_be_approved(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN)
    with pytest.raises(PlanInvalid):
        await tp.plans.approve(stored.plan_id, {"a": "x"})
    broken = await tp.plans.add({"steps": [{"tool": "nothing"}]})
    with pytest.raises(PlanInvalid):
        await tp.plans.approve(broken.plan_id)


async def test_stored_plans_outlive_the_process(tmp_path: Path) -> None:
    async with Toolpath(tmp_path / "runs.db") as first:
        first.add(add)
        stored = await first.plans.add(PLAN)
    async with Toolpath(tmp_path / "runs.db") as second:
        second.add(add)
        assert await second.plans.get(stored.plan_id) == stored
        assert (await second.run(stored, {"a": 3})).outputs == 6
