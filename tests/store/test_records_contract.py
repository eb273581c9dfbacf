"""The laws that every store keeps for records and the audit trail."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from tests.store.store_cases import Now

from toolpath.errors import RecordConflict, RecordNotFound, ToolpathError
from toolpath.model.record import AuditEntry, Record, broken_link
from toolpath.ports import Store

# Records


async def test_a_record_is_read_as_it_was_put(store: Store, now: Now) -> None:
    kept = await store.put_record(
        Record(kind="plan", id="plan_1", tenant="t", parent="req_1", name="n", data={"x": [1, 2.5, None, "é"]})
    )
    assert kept == Record(
        kind="plan",
        id="plan_1",
        tenant="t",
        parent="req_1",
        name="n",
        data={"x": [1, 2.5, None, "é"]},
        created_at=1_000.0,
        updated_at=1_000.0,
        version=1,
    )
    assert await store.get_record("plan", "plan_1") == kept
    assert await store.get_record("key", "plan_1") is None
    assert await store.get_record("plan", "plan_2") is None


async def test_a_record_is_replaced_with_its_next_version(store: Store, now: Now) -> None:
    first = await store.put_record(Record(kind="page", id="a", data={"n": 1}, created_at=5.0))
    now.at = 2_000.0
    second = await store.put_record(Record(kind="page", id="a", name="named", data={"n": 2}))
    assert (first.created_at, first.version) == (5.0, 1)
    assert (second.created_at, second.updated_at, second.version) == (5.0, 2_000.0, 2)
    assert await store.get_record("page", "a") == second


async def test_a_change_is_refused_where_somebody_was_there_first(store: Store) -> None:
    await store.put_record(Record(kind="plan", id="a", data={"n": 1}), expected=0)
    with pytest.raises(RecordConflict, match="plan 'a'"):
        await store.put_record(Record(kind="plan", id="a", data={"n": 2}), expected=0)
    await store.put_record(Record(kind="plan", id="a", data={"n": 3}), expected=1)
    with pytest.raises(RecordConflict, match="version 2"):
        await store.put_record(Record(kind="plan", id="a", data={"n": 4}), expected=1)
    with pytest.raises(RecordConflict, match="not stored"):
        await store.put_record(Record(kind="plan", id="gone"), expected=1)
    kept = await store.get_record("plan", "a")
    assert kept is not None
    assert (kept.data, kept.version) == ({"n": 3}, 2)
    assert await store.get_record("plan", "gone") is None


@pytest.mark.parametrize("there", [False, True])
async def test_one_of_many_changes_at_once_wins(store: Store, there: bool) -> None:
    if there:
        await store.put_record(Record(kind="plan", id="a"))
    changes = (store.put_record(Record(kind="plan", id="a", data={"n": n}), expected=int(there)) for n in range(10))
    outcomes = await asyncio.gather(*changes, return_exceptions=True)
    (kept,) = [outcome for outcome in outcomes if isinstance(outcome, Record)]
    assert sum(isinstance(outcome, RecordConflict) for outcome in outcomes) == 9
    assert await store.get_record("plan", "a") == kept


async def test_changes_at_once_that_expect_nothing_are_all_counted(store: Store) -> None:
    await asyncio.gather(*(store.put_record(Record(kind="page", id="a", data={"n": n})) for n in range(10)))
    kept = await store.get_record("page", "a")
    assert kept is not None
    assert kept.version == 10


async def test_a_record_is_nobodys_to_change(store: Store) -> None:
    data = {"rows": [1]}
    await store.put_record(Record(kind="page", id="a", data=data))
    data["rows"].append(2)
    found = await store.get_record("page", "a")
    assert found is not None
    found.data["rows"].append(3)
    again = await store.get_record("page", "a")
    assert again is not None
    assert again.data == {"rows": [1]}


async def test_the_newest_records_come_first_page_by_page(store: Store) -> None:
    for number in range(7):
        await store.put_record(Record(kind="plan", id=f"p{number}", created_at=float(1 + number // 2)))
    await store.put_record(Record(kind="key", id="k"))
    seen: list[str] = []
    before = None
    while page := await store.list_records("plan", limit=3, before=before):
        seen += [record.id for record in page]
        before = seen[-1]
    assert seen == [f"p{number}" for number in reversed(range(7))]
    with pytest.raises(RecordNotFound, match="plan 'gone'"):
        await store.list_records("plan", before="gone")
    assert await store.list_records("plan", limit=0) == []
    assert await store.list_records("plan", limit=-1) == []


async def test_records_are_listed_by_tenant_and_parent(store: Store) -> None:
    for number, (tenant, parent) in enumerate([("t", "r1"), ("t", "r2"), ("u", "r1"), ("t", ""), ("t", "r1")]):
        await store.put_record(Record(kind="plan", id=f"p{number}", tenant=tenant, parent=parent))

    async def listed(**wanted: str) -> list[str]:
        return [record.id for record in await store.list_records("plan", **wanted)]  # type: ignore[arg-type]

    assert await listed(tenant="t") == ["p4", "p3", "p1", "p0"]
    assert await listed(parent="r1") == ["p4", "p2", "p0"]
    assert await listed(tenant="t", parent="r1") == ["p4", "p0"]
    assert await listed(parent="") == ["p3"]
    assert await listed(tenant="other") == []


async def test_a_record_is_deleted_once_and_begins_anew(store: Store) -> None:
    await store.put_record(Record(kind="plan", id="a"))
    await store.put_record(Record(kind="key", id="a"))
    assert await store.delete_record("plan", "a") is True
    assert await store.delete_record("plan", "a") is False
    assert await store.get_record("key", "a") is not None
    assert (await store.put_record(Record(kind="plan", id="a"), expected=0)).version == 1


@pytest.mark.parametrize(
    "record",
    [
        Record(kind="plan", id="a", data={"x": object()}),
        Record(kind="plan", id="a", data={"x": "half a \ud83d pair"}),
    ],
)
async def test_a_record_that_no_store_can_hold_is_refused(store: Store, record: Record) -> None:
    with pytest.raises(ToolpathError):
        await store.put_record(record)
    assert await store.get_record("plan", "a") is None


# The audit trail


def entry(action: str, **fields: object) -> AuditEntry:
    return AuditEntry(action=action, **fields)  # type: ignore[arg-type]


def faults(entries: list[AuditEntry]) -> list[str]:
    return [fault for last, link in zip([None, *entries], entries, strict=False) if (fault := broken_link(link, last))]


async def test_entries_are_links_of_one_chain(store: Store, now: Now) -> None:
    first = await store.append_audit([entry("run.started", user="ann", subject="run_1", data={"x": 1.0, "y": "é"})])
    more = await store.append_audit([entry("a", tenant="t", at=5.0), entry("b", tenant="u")])
    trail = await store.read_audit()
    assert trail == first + more
    assert [link.seq for link in trail] == [1, 2, 3]
    assert [link.at for link in trail] == [1_000.0, 5.0, 1_000.0]
    assert (trail[0].user, trail[0].subject, trail[0].data) == ("ann", "run_1", {"x": 1.0, "y": "é"})
    assert trail[0].previous == ""
    assert trail[2].previous == trail[1].digest
    assert faults(trail) == []
    assert await store.append_audit([]) == []


async def test_entries_are_read_by_tenant_and_from_where_one_left_off(store: Store) -> None:
    await store.append_audit([entry(f"a{n}", tenant="t" if n % 2 else "u") for n in range(6)])
    assert [link.action for link in await store.read_audit(after=4)] == ["a4", "a5"]
    assert [link.action for link in await store.read_audit(limit=2)] == ["a0", "a1"]
    assert [link.action for link in await store.read_audit(tenant="t", after=2)] == ["a3", "a5"]
    assert [link.action for link in await store.newest_audit(tenant=None, before=None, limit=2)] == ["a5", "a4"]
    assert [link.action for link in await store.newest_audit(tenant="t", before=6, limit=9)] == ["a3", "a1"]
    assert await store.read_audit(after=6) == []
    assert await store.read_audit(limit=-1) == []


async def test_entries_added_at_once_make_one_chain(store: Store) -> None:
    await asyncio.gather(*(store.append_audit([entry(f"a{n}"), entry(f"b{n}")]) for n in range(20)))
    trail = await store.read_audit()
    assert len(trail) == 40
    assert faults(trail) == []


async def test_what_was_changed_taken_out_or_put_in_is_seen(store: Store) -> None:
    trail = await store.append_audit([entry(f"a{n}", data={"n": n}) for n in range(4)])
    changed = msgspec.structs.replace(trail[1], user="mallory")
    assert faults([trail[0], changed, *trail[2:]]) == ["Entry 2 was changed after it was written."]
    assert "taken out" in faults([trail[0], *trail[2:]])[0]
    assert "taken out" in faults(trail[1:])[0]
    resealed = msgspec.structs.replace(changed, digest=trail[3].digest)
    assert len(faults([trail[0], resealed, *trail[2:]])) == 2


async def test_an_entry_that_no_store_can_hold_is_refused_with_all_of_its_append(store: Store) -> None:
    with pytest.raises(ToolpathError):
        await store.append_audit([entry("fine"), entry("bad", data={"x": object()})])
    assert await store.read_audit() == []
