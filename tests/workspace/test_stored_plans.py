from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import NoToolFits, PolicyViolationError, ReadError, RecordConflict, RecordNotFound
from toolpath.model.record import Record
from toolpath.store.memory.store import MemoryStore

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


WRITTEN = """\
# What this is for: a comment.
name: sum
inputs: {type: object, properties: {a: {type: integer}}, required: [a]}
steps:
  - id: twice  # both the same
    tool: add
    inputs: {a: "{{ inputs.a }}", b: "{{ inputs.a }}"}
"""


@pytest.mark.parametrize("place", ["memory", "sqlite"])
async def test_what_was_written_is_kept_with_its_comments_through_changes_and_back(place: str, tmp_path: Path) -> None:
    async with Toolpath(None if place == "memory" else tmp_path / "runs.db") as tp:
        tp.add(add, effect="read")
        first = await tp.plans.add(WRITTEN, user="ada")
        assert (await tp.plans.get(first.plan_id)).source == WRITTEN
        longer = WRITTEN + "  - {id: more, tool: add, inputs: {a: 1, b: 2}}  # new\n"
        second = await tp.plans.update(first.plan_id, longer, user="bob", comment="more")
        # An approval is a change of the record, and none of the plan.
        await tp.plans.approve(first.plan_id, {"a": 1})
        third = await tp.plans.update(first.plan_id, longer.replace("a comment", "the same"))
        assert [(each.revision, each.by) for each in third.revisions] == [(1, "ada"), (2, "bob"), (4, "")]
        assert len({each.digest for each in third.revisions}) == 3
        found = await tp.plans.history.diff(third, 1, 2)
        assert (found.added, found.removed, dict(found.changed)) == (("more",), (), {})
        assert "+  - {id: more, tool: add, inputs: {a: 1, b: 2}}  # new" in found.text
        # Revision 3 was the approval of revision 2: it is the same plan.
        assert (await tp.plans.history.content(third, 3)).source == longer
        back = await tp.plans.roll_back(first.plan_id, 1, user="eve")
        assert (back.source, back.plan, back.revisions[-1].comment) == (WRITTEN, first.plan, "as revision 1")
        assert back.revisions[-1].digest == first.revisions[0].digest
        with pytest.raises(RecordConflict):
            await tp.plans.roll_back(first.plan_id, 2, expected=second.revision)
        with pytest.raises(RecordNotFound, match="no revision 99"):
            await tp.plans.history.diff(back, 1, 99)
        assert (await tp.run(back, {"a": 2})).success
        await tp.plans.delete(first.plan_id)
        assert await tp.store.list_records("plan_revision") == []


async def test_a_plan_in_another_notation_or_given_as_data_has_no_text_and_keeps_what_it_was(tp: Toolpath) -> None:
    calls = '{"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}'
    foreign = await tp.plans.add(calls)
    assert foreign.source == ""
    assert [step["tool"] for step in foreign.plan["steps"]] == ["add"]
    data = await tp.plans.add(PLAN)
    same = await tp.plans.update(data.plan_id, PLAN)
    assert len(same.revisions) == 1
    other = await tp.plans.update(data.plan_id, WRITTEN)
    assert (await tp.plans.roll_back(data.plan_id, 1)).source == ""
    assert other.source == WRITTEN


async def test_a_plan_that_an_earlier_version_kept_has_a_revision_all_the_same(tp: Toolpath) -> None:
    stored = await tp.plans.add(PLAN, user="ada")
    record = await tp.store.get_record("plan", stored.plan_id)
    assert record is not None
    old = {name: value for name, value in record.data.items() if name not in ("source", "revisions")}
    await tp.store.put_record(msgspec.structs.replace(record, data=old), expected=1)
    known = await tp.plans.get(stored.plan_id)
    assert [(each.revision, each.by) for each in known.revisions] == [(2, "ada")]
    await tp.plans.update(stored.plan_id, WRITTEN)
    assert (await tp.plans.roll_back(stored.plan_id, 2)).plan == stored.plan


async def test_of_many_revisions_the_oldest_go_with_their_texts(tp: Toolpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolpath.workspace.plan_history._MOST", 3)
    stored = await tp.plans.add(WRITTEN)
    for number in range(5):
        stored = await tp.plans.update(stored.plan_id, f"{WRITTEN}# {number}\n")
    assert [each.revision for each in stored.revisions] == [4, 5, 6]
    assert len(await tp.store.list_records("plan_revision")) == 2


class Deleting(MemoryStore):
    """A store in which a noun is deleted just before what it was is put aside."""

    deletes: Callable[[], Awaitable[object]] | None = None

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        if record.kind in ("plan_revision", "template_version") and self.deletes is not None:
            deletes, self.deletes = self.deletes, None
            await deletes()
        return await super().put_record(record, expected=expected)


async def test_a_change_that_meets_a_deletion_leaves_nothing_of_what_was_deleted() -> None:
    store = Deleting()
    async with Toolpath(store) as tp:
        stored = await tp.plans.add(PLAN)
        store.deletes = lambda: tp.plans.delete(stored.plan_id)
        with pytest.raises(RecordConflict):
            await tp.plans.update(stored.plan_id, {**PLAN, "name": "other"})
        template = await tp.templates.save({**PLAN, "name": "Sum"})
        store.deletes = lambda: tp.templates.delete(template)
        with pytest.raises(RecordConflict):
            await tp.templates.save({**PLAN, "name": "Sum", "outputs": None}, template=template)
        for kind in ("plan_revision", "template_version"):
            assert await store.list_records(kind) == []
