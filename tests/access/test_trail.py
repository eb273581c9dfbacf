from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.patience import PATIENCE
from tests.store.store_cases import dropped, postgres_connection, postgres_url

from toolpath import RunContext, Settings, Toolpath, tool
from toolpath.access.acting import acting
from toolpath.access.caller import Caller
from toolpath.access.verifying import entries_of, verify
from toolpath.chains import run_composite
from toolpath.errors import PolicyViolationError, RunConflict, StoreError
from toolpath.model.record import AuditEntry
from toolpath.ports import waiting_at_most
from toolpath.store.memory.store import MemoryStore
from toolpath.values import JsonObject


@tool(group="shop", effect="write")
def order(item: str) -> dict[str, str]:
    """Order something."""
    return {"item": item, "card": "4711 0815"}


@tool(group="shop", effect="write", requires={"permissions": ["shop.refund"]})  # type: ignore[call-arg]
def refund(item: str) -> str:
    """Give the money back."""
    return item


ADA = RunContext("ada", "s1", "c1", tenant="acme")
APPROVED: JsonObject = {
    "steps": [{"id": "buy", "tool": "shop.order", "inputs": {"item": "tea"}, "requires_approval": True}]
}
ASKED: JsonObject = {"steps": [{"id": "form", "ask": {"title": "Who?", "inputs": [{"name": "who"}]}}]}


async def trail_of(tp: Toolpath) -> list[AuditEntry]:
    return [entry async for entry in entries_of(tp.store)]


def told(entries: list[AuditEntry]) -> list[tuple[str, str]]:
    return [(entry.user, entry.action) for entry in entries]


async def ended(tp: Toolpath, run_id: str) -> list[AuditEntry]:
    """The trail once the end of the run is in it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            entries = await trail_of(tp)
            if any(entry.action == "run.ended" and entry.subject == run_id for entry in entries):
                return entries
            await asyncio.sleep(0)


@pytest.mark.parametrize("store", [None, "runs.db"])
async def test_who_asked_and_what_came_of_it_is_in_the_trail(store: str | None, tmp_path: Path) -> None:
    async with Toolpath(store and tmp_path / store) as tp:
        tp.add(order)
        result = await tp.run("shop.order", {"item": "tea"}, context=ADA)
        asked, end = await ended(tp, result.run_id)
    assert (asked.action, asked.subject, asked.tenant, asked.user) == ("run.start", result.run_id, "acme", "ada")
    assert asked.data == {"plan": "shop.order", "tools": ["shop.order"], "session": "s1", "case": "c1"}
    assert (end.action, end.user, end.data) == ("run.ended", "ada", {"status": "completed", "calls": 1})


async def test_who_decided_is_in_the_trail_with_door_address_and_credential_and_not_what_was_answered() -> None:
    boss = Caller(user="bob", key="key_1", address="203.0.113.7", door="rest")
    async with Toolpath() as tp:
        tp.add(order)
        first = await tp.run(APPROVED, context=ADA)
        second = await tp.run(ASKED, context=ADA)
        with acting(boss):
            await (await tp.approve(first.run_id, "buy", by="bob", comment="fine")).result()
            await (await tp.answer(second.run_id, "form", {"who": "a secret name"}, by="bob")).result()
        entries = await ended(tp, second.run_id)
    approved = next(entry for entry in entries if entry.action == "step.approve")
    assert (approved.user, approved.tenant, approved.subject) == ("bob", "acme", first.run_id)
    where = {"from": "203.0.113.7", "door": "rest", "key": "key_1"}
    assert approved.data == {"step": "buy", "comment": "fine", **where}
    answered = next(entry for entry in entries if entry.action == "step.answer")
    assert answered.data == {"step": "form", "fields": ["who"], **where}
    assert b"secret name" not in msgspec.json.encode(entries)


async def test_steering_is_in_the_trail_and_what_could_not_be_done_is_not() -> None:
    async with Toolpath() as tp:
        tp.add(order)
        run = await tp.start(ASKED, context=ADA)
        await run.result()
        await run.cancel("changed my mind")
        await ended(tp, run.run_id)
        with pytest.raises(RunConflict):
            await run.cancel()
        await (await tp.retry(run.run_id)).result()
        entries = await trail_of(tp)
    assert [entry.action for entry in entries] == ["run.start", "run.cancel", "run.ended", "run.retry"]
    assert entries[1].data == {"reason": "changed my mind"}


async def test_a_policy_that_refuses_is_in_the_trail() -> None:
    composite = {
        "name": "file_it",
        "description": "d",
        "category": "workflow",
        "parameters": [],
        "business_rules": {"requires_casefile": True},
        "implementation": {
            "type": "composite",
            "composite": {"steps": [{"tool": "shop.order", "inputs": {"item": "x"}}]},
        },
    }
    async with Toolpath() as tp:
        tp.add(order)
        with pytest.raises(PolicyViolationError, match="missing case"):
            await tp.run(composite, context=RunContext("ada"))
        (entry,) = await trail_of(tp)
    assert (entry.action, entry.user, entry.data["missing"]) == ("run.start.refused", "ada", ["case"])


class Refusing(MemoryStore):
    """A store whose trail cannot be written."""

    async def append_audit(self, entries: Any) -> Any:
        raise StoreError("The trail is away.")


async def test_a_run_that_cannot_be_written_down_does_not_start() -> None:
    async with Toolpath(Refusing()) as tp:
        tp.add(order)
        for begin in (tp.run, tp.start):
            with pytest.raises(StoreError, match="away"):
                await begin("shop.order", {"item": "tea"})
        assert await tp.runs() == []
    async with Toolpath(Refusing(), settings=Settings(audit=False)) as tp:
        tp.add(order)
        assert (await tp.run("shop.order", {"item": "tea"})).success


async def test_a_process_that_stood_still_does_not_say_that_the_store_was_away() -> None:
    class Late(MemoryStore):
        async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
            # A long turn of the loop, longer than anybody is to wait; what was begun before it is done after it.
            await asyncio.sleep(0)
            time.sleep(0.5)  # noqa: ASYNC251  # the loop is to stand still
            await asyncio.sleep(0)
            await super().keep_audit(entries)

    async with Toolpath(Late()) as tp:
        with waiting_at_most(0.1):
            await tp.trail.record("probe", "it")
        assert [entry.action for entry in await trail_of(tp)] == ["probe"]


async def test_a_store_that_does_not_answer_is_given_up() -> None:
    class Away(MemoryStore):
        async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
            await asyncio.Event().wait()

    async with Toolpath(Away()) as tp:
        with waiting_at_most(0.1), pytest.raises(StoreError, match="in time"):
            await tp.trail.record("probe", "it")
        assert tp.trail._writing is not None
        tp.trail._writing.cancel()


async def test_an_end_that_cannot_be_written_is_in_the_log_and_named_when_the_trail_is_verified(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpath.access.trail._PAUSE", 0.0)
    store = MemoryStore()
    async with Toolpath(store) as tp:
        tp.add(order)
        run = await tp.start(ASKED)
        await run.result()
        monkeypatch.setattr(MemoryStore, "append_audit", Refusing.append_audit)
        with pytest.raises(StoreError):
            await run.cancel()
        monkeypatch.undo()
        await run.cancel()
        tp.trail._store = Refusing()  # type: ignore[assignment]
        await run.result()
        await tp.trail.close()
        verdict = await verify(store)
    assert "not in the audit trail" in caplog.text
    assert (verdict.good, verdict.unended) == (True, (run.run_id,))


DECLARING: JsonObject = {
    "name": "buy",
    "description": "Buys.",
    "category": "workflow",
    "parameters": [{"name": "item", "type": "string"}, {"name": "card", "type": "string"}],
    "session_policies": {"log_request_payload": True},
    "audit_events": {
        "success_event": "bought",
        "failure_event": "not_bought",
        "log_response_fields": ["item", "bill.number", "card"],
        "redact_fields": ["card"],
    },
    "implementation": {
        "type": "composite",
        "composite": {
            "steps": [{"tool": "shop.order", "inputs": {"item": "{{ item }}"}}],
            "outputs": {"item": "{{ item }}", "card": "{{ card }}", "rest": 1, "bill": {"number": 7, "sum": 3}},
        },
    },
}


async def test_a_composite_has_its_calls_written_as_it_declares(tmp_path: Path) -> None:
    (tmp_path / "buy.yaml").write_bytes(msgspec.json.encode(DECLARING))
    async with Toolpath() as tp:
        tp.add(order)
        tp.add_folder(tmp_path)
        plan = {"steps": [{"tool": "buy", "inputs": {"item": "tea", "card": "4711 0815"}}]}
        result = await tp.run(plan, context=ADA)
        assert result.success, result.error
        entries = await ended(tp, result.run_id)
    (bought,) = (entry for entry in entries if entry.action == "bought")
    assert (bought.user, bought.tenant, bought.subject, bought.data["case"]) == ("ada", "acme", result.run_id, "c1")
    assert bought.data["request"] == {"item": "tea", "card": "[redacted]"}
    assert bought.data["response"] == {"item": "tea", "bill.number": 7, "card": "[redacted]"}
    assert b"4711" not in msgspec.json.encode(entries)


@pytest.mark.parametrize("door", ["generated function", "document", "its name"])
async def test_what_a_composite_declares_is_written_once_however_it_is_called(tmp_path: Path, door: str) -> None:
    inputs = {"item": "tea", "card": "4711 0815"}
    (tmp_path / "buy.yaml").write_bytes(msgspec.json.encode(DECLARING))
    async with Toolpath() as tp:
        tp.add(order)
        tp.add_folder(tmp_path)
        context = tp.context("ada", session_id="s", tenant="acme", case_id="c1", permissions=["*"])
        if door == "generated function":
            run_id = (await run_composite(context, DECLARING, inputs))["chain_id"]
        else:
            run_id = (await tp.run(DECLARING if door == "document" else "buy", inputs, context=context)).run_id
        entries = await ended(tp, run_id)
    (bought,) = (entry for entry in entries if entry.action == "bought")
    assert (bought.user, bought.tenant, bought.subject, bought.data["tool"]) == ("ada", "acme", run_id, "buy")
    assert bought.data["request"] == {"item": "tea", "card": "[redacted]"}
    assert bought.data["response"] == {"item": "tea", "bill.number": 7, "card": "[redacted]"}
    assert b"4711" not in msgspec.json.encode(entries)


async def test_a_declared_failure_is_written_without_its_message(tmp_path: Path) -> None:
    steps = [{"tool": "shop.refund", "inputs": {"item": "{{ item }}"}}]
    failing = {**DECLARING, "implementation": {"type": "composite", "composite": {"steps": steps}}}
    (tmp_path / "buy.yaml").write_bytes(msgspec.json.encode(failing))
    async with Toolpath() as tp:
        tp.add(refund)
        tp.add_folder(tmp_path)
        result = await tp.run("buy", {"item": "tea", "card": "4711"}, context=ADA)
        entries = await ended(tp, result.run_id)
    (entry,) = (entry for entry in entries if entry.action == "not_bought")
    assert entry.data["error"]["code"] == "permission"
    assert "message" not in entry.data["error"]


async def test_secrets_do_not_reach_the_trail() -> None:
    async with Toolpath(secrets={"KEY": "hunter2hunter2"}) as tp:
        tp.add(order)
        first = await tp.run({"steps": [{"tool": "shop.order", "inputs": {"item": "{{ secrets.KEY }}"}}]}, context=ADA)
        run = await tp.start(ASKED, context=ADA)
        await run.result()
        await run.cancel("it was hunter2hunter2")
        entries = await ended(tp, run.run_id)
        assert first.success
    assert b"hunter2" not in msgspec.json.encode(entries)


async def test_many_at_once_make_one_chain(tmp_path: Path) -> None:
    async with Toolpath(tmp_path / "runs.db") as tp:
        tp.add(order)
        await asyncio.gather(*(tp.run("shop.order", {"item": str(n)}, context=ADA) for n in range(50)))
        await tp.trail.close()
        verdict = await verify(tp.store)
    assert (verdict.good, verdict.entries, verdict.unended) == (True, 100, ())


def changed(table: sqlite3.Connection) -> None:
    # With its quotes: a digest may have the letters, too.
    table.execute("""UPDATE audit SET data = replace(CAST(data AS TEXT), '"ada"', '"eve"') WHERE seq = 3""")


def removed(table: sqlite3.Connection) -> None:
    table.execute("DELETE FROM audit WHERE seq = 3")


def swapped(table: sqlite3.Connection) -> None:
    table.execute("UPDATE audit SET seq = -4 WHERE seq = 4")
    table.execute("UPDATE audit SET seq = 4 WHERE seq = 3")
    table.execute("UPDATE audit SET seq = 3 WHERE seq = -4")


def cut(table: sqlite3.Connection) -> None:
    table.execute("DELETE FROM audit WHERE seq > 3")


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (changed, "Entry 3 was changed"),
        (removed, "Entry 4 comes after entry 2"),
        (swapped, "Entry 4 comes after entry 2"),
        (cut, "Entry 4 was exported, and is not there"),
    ],
)
async def test_what_was_tampered_with_is_found_and_named(
    tamper: Callable[[sqlite3.Connection], None], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "runs.db"
    async with Toolpath(file) as tp:
        tp.add(order)
        for item in "abc":
            await tp.run("shop.order", {"item": item}, context=ADA)
        await tp.trail.close()
        noted = {entry.seq: entry.digest for entry in await trail_of(tp)}
        assert (await verify(tp.store, noted=noted)).good
    with sqlite3.connect(file) as table:
        tamper(table)
    table.close()
    async with Toolpath(file) as tp:
        verdict = await verify(tp.store, noted=noted)
    assert not verdict.good
    assert any(said in fault for fault in verdict.faults), verdict.faults


async def test_runs_that_are_pruned_are_in_the_trail_before_they_go() -> None:
    async with Toolpath() as tp:
        tp.add(order)
        for number in range(2):
            result = await tp.run({"steps": [{"tool": "shop.order", "inputs": {"item": str(number)}}]}, context=ADA)
            await ended(tp, result.run_id)
        assert len(await tp.prune(0, dry_run=True)) == 2
        with acting(Caller(user="eve", door="cli")):
            gone = await tp.prune(-1)
        assert len(gone) == 2
        last = (await trail_of(tp))[-2:]
        assert [entry.subject for entry in last] == [info.run_id for info in gone]
        assert {(e.action, e.user, e.tenant, e.data["because"]) for e in last} == {
            ("run.delete", "eve", "acme", "prune")
        }
        assert (await verify(tp.store)).good


async def test_what_cannot_be_written_down_is_not_pruned(tmp_path: Path) -> None:
    class Full(MemoryStore):
        full = False

        async def append_audit(self, entries: Any) -> Any:
            if self.full:
                raise StoreError("The disk is full.")
            return await super().append_audit(entries)

    store = Full()
    async with Toolpath(store) as tp:
        tp.add(order)
        result = await tp.run({"steps": [{"tool": "shop.order", "inputs": {"item": "tea"}}]})
        await ended(tp, result.run_id)
        store.full = True
        with pytest.raises(StoreError):
            await tp.prune(-1)
        assert [info.run_id for info in await tp.runs()] == [result.run_id]
        store.full = False


#: What somebody who has the store may do to the row of entry 3, and what is said of it.
DAMAGES = {
    "tenant": ("UPDATE audit SET tenant = 'nobody' WHERE seq = 3", "Entry 3 is listed for the tenant 'nobody'"),
    "text": ("UPDATE audit SET data = CAST('no json' AS {bytes}) WHERE seq = 3", "Entry 3 of the audit trail cannot"),
    "empty": ("UPDATE audit SET data = CAST('' AS {bytes}) WHERE seq = 3", "Entry 3 of the audit trail cannot"),
    "list": ("UPDATE audit SET data = CAST('[1]' AS {bytes}) WHERE seq = 3", "Entry 3 of the audit trail cannot"),
    "moved": ("UPDATE audit SET seq = 30 WHERE seq = 3", "Entry 30 holds entry 3"),
    "gone": ("DELETE FROM audit WHERE seq = 3", "Entry 4 comes after entry 2"),
}


async def trail_of_six(tp: Toolpath) -> None:
    for number in range(6):
        await tp.trail.record("key.create", f"key_{number}", tenant=f"t{number % 2}", user="ada")


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_row_of_a_file_is_named(damage: str, tmp_path: Path) -> None:
    statement, told = DAMAGES[damage]
    async with Toolpath(tmp_path / "runs.db") as tp:
        await trail_of_six(tp)
        with closing(sqlite3.connect(tmp_path / "runs.db")) as file, file:
            file.execute(statement.format(bytes="BLOB"))
        await assert_named(tp, damage, told)


@pytest.mark.postgres
@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_row_of_postgres_is_named(damage: str) -> None:
    schema = f"trail_{os.getpid()}"
    statement, told = DAMAGES[damage]
    await dropped(schema)
    try:
        async with Toolpath(postgres_url(schema)) as tp:
            await trail_of_six(tp)
            # Whoever reads the trail makes what is only kept into links first: these are what is damaged.
            assert (await verify(tp.store)).good
            connection = await postgres_connection()
            await connection.execute(f'SET search_path TO "{schema}"')
            await connection.execute(statement.format(bytes="bytea"))
            await connection.close()
            await assert_named(tp, damage, told)
    finally:
        await dropped(schema)


async def assert_named(tp: Toolpath, damage: str, told: str) -> None:
    verdict = await verify(tp.store)
    assert not verdict.good
    assert any(fault.startswith(told) for fault in verdict.faults), verdict.faults
    if damage == "tenant":
        assert len(verdict.faults) == 1
    if damage in ("text", "empty", "list"):
        # What follows is as it was written, and is told to be.
        assert len(verdict.faults) == 1
        with pytest.raises(StoreError, match="Entry 3 of the audit trail"):
            await tp.trail.entries()
        # Others are added after it.
        await tp.trail.record("key.create", "key_7", tenant="t", user="ada")
        assert len((await verify(tp.store)).faults) == 1


async def test_a_last_row_that_cannot_be_read_is_named_to_who_adds_one(tmp_path: Path) -> None:
    async with Toolpath(tmp_path / "runs.db") as tp:
        await trail_of_six(tp)
        with closing(sqlite3.connect(tmp_path / "runs.db")) as file, file:
            file.execute("UPDATE audit SET data = 'x' WHERE seq = 6")
        with pytest.raises(StoreError, match="Entry 6 of the audit trail"):
            await tp.trail.record("key.create", "key_7", tenant="t", user="ada")
