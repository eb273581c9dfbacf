"""Records and the audit trail in PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from toolpath.errors import StoreError, ToolpathError
from toolpath.model.record import AuditEntry, AuditRow, Record, audit_row, linked
from toolpath.store.encoding import again
from toolpath.store.postgres.connections import ANSWER
from toolpath.store.postgres.ground import PostgresGround, encoded
from toolpath.store.postgres.sql import bound
from toolpath.store.rows import given, next_record, no_record, page_bound
from toolpath.store.sqlite.sql import filtered
from toolpath.values import decode

_audit_decoder = msgspec.json.Decoder(AuditEntry)


#: Entries that become links of the chain in one transaction.
TOGETHER = 1_000


class PostgresRecords(PostgresGround):
    """Records by kind and id, and the chain of audit entries."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time, database_clock: bool = True) -> None:
        super().__init__(url, clock=clock, database_clock=database_clock)
        self._entering: list[tuple[list[bytes], asyncio.Future[str]]] = []
        """Entries that wait for those before them to be kept."""
        self._keeping: asyncio.Task[None] | None = None
        self._linking: asyncio.Task[None] | None = None
        self._unlinked = False
        """There may be entries that are no links of the chain yet."""

    async def close(self) -> None:
        """Link what is kept, commit what was accepted and disconnect."""
        if self._linking is not None:
            await asyncio.wait({self._linking}, timeout=ANSWER)
            self._linking.cancel()
        await super().close()

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        """Keep the record in place of the one with its kind and id. Raises `RecordConflict`."""
        data = encoded(record.data, f"The {record.kind} {record.id!r}")
        now = self._clock()
        sent: Record | None = None

        async def work(connection: Any) -> Record:
            nonlocal sent
            while True:
                known = await self._record(connection, record.kind, record.id)
                if sent is not None and known == sent:
                    # It was kept, but its answer was lost.
                    return known
                kept = next_record(record, known, expected, now)
                sent = msgspec.structs.replace(kept, data=decode(data))
                statement = self._sql.insert_record if known is None else self._sql.update_record
                values = {**msgspec.structs.asdict(kept), "data": data}
                if await connection.fetchval(*bound(statement, values)) is not None:
                    return kept
                # Somebody else was between the look and the change.
                sent = None

        return await self._run(work)

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        """The record, or None."""
        return await self._run(lambda connection: self._record(connection, kind, record_id), patient=True)

    async def _record(self, connection: Any, kind: str, record_id: str) -> Record | None:
        row = await connection.fetchrow(*bound(self._sql.select_record, {"kind": kind, "id": record_id}))
        return None if row is None else _record(row)

    async def list_records(
        self,
        kind: str,
        *,
        tenant: str | None = None,
        parent: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[Record]:
        """The newest first; `before` is the last id of the page before. Raises `RecordNotFound`."""
        wanted = given(tenant=tenant, parent=parent)
        statement = filtered(self._sql.select_records, wanted)

        async def work(connection: Any) -> list[Record]:
            last = None if before is None else await self._record(connection, kind, before)
            if before is not None and last is None:
                raise no_record(kind, before)
            created_at, record_id = page_bound(None if last is None else (last.created_at, last.id))
            values = {**wanted, "kind": kind, "limit": max(limit, 0), "created_at": created_at, "id": record_id}
            return [_record(row) for row in await connection.fetch(*bound(statement, values))]

        return await self._run(work)

    async def delete_record(self, kind: str, record_id: str) -> bool:
        """Forget the record; whether it was there."""
        return await self._value(self._sql.delete_record, {"kind": kind, "id": record_id}) is not None

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the trail, all or none; gives them as links of its chain."""
        token = await self._keep(entries)
        if token is None:
            return []
        await self._link()
        rows = await self._rows(self._sql.select_audit_of, {"token": token}, patient=True)
        return [_audit_decoder.decode(row["data"]) for row in rows]

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries to the trail, all or none. They are kept when this returns, and linked soon after."""
        if await self._keep(entries) is not None:
            self._link_soon()

    def _link_soon(self) -> None:
        """Have what is kept linked beside."""
        self._unlinked = True
        if self._linking is None or self._linking.done():
            self._linking = asyncio.create_task(self._link_all(), name="toolpath-store-audit")

    async def _keep(self, entries: Sequence[AuditEntry]) -> str | None:
        """Have the entries kept; gives the token that they have. What comes meanwhile goes into one transaction."""
        texts = self._entry_texts(entries)
        if not texts:
            return None
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._entering.append((texts, future))
        if len(self._entering) == 1 and (self._keeping is None or self._keeping.done()):
            self._keeping = asyncio.create_task(self._enter())
        return await future

    def _entry_texts(self, entries: Sequence[AuditEntry]) -> list[bytes]:
        """The entries as JSON, each with its time. Raises `StoreError` where one cannot be written."""
        now = self._clock()
        stamped = [entry if entry.at else msgspec.structs.replace(entry, at=now) for entry in entries]
        texts = [encoded(entry, f"The audit entry {entry.action!r}") for entry in stamped]
        if any("\0" in entry.tenant for entry in stamped):
            raise StoreError("The tenant of an audit entry has a NUL in it.", hint="Use plain text.")
        return texts

    async def _enter(self) -> None:
        while self._entering:
            group, self._entering = self._entering, []
            tokens = [uuid.uuid4().hex for _ in group]
            values = {
                "token": tokens[0],
                "tokens": [token for token, (texts, _) in zip(tokens, group, strict=True) for _ in texts],
                "datas": [text for texts, _ in group for text in texts],
            }
            try:
                await self._enter_once(values)
            except ToolpathError as error:
                for _, future in group:
                    if not future.done():
                        future.set_exception(again(error))
                continue
            for token, (_, future) in zip(tokens, group, strict=True):
                if not future.done():
                    future.set_result(token)

    async def _enter_once(self, values: dict[str, Any]) -> None:
        sent = False

        async def work(connection: Any) -> None:
            nonlocal sent
            if sent and await connection.fetchval(*bound(self._sql.select_is_kept, values)):
                # Its answer was lost.
                return
            sent = True
            await connection.execute(*bound(self._sql.insert_audit_inbox, values))

        await self._run(work, patient=True)

    async def _link_all(self) -> None:
        """Link what is kept. What nobody links now is linked with what comes next, or by who reads."""
        while self._unlinked:
            self._unlinked = False
            with contextlib.suppress(StoreError):
                await self._link()

    async def _link(self) -> None:
        """Make links of the chain of all that is kept."""
        while await self._run(self._link_some, patient=True) == TOGETHER:
            pass

    async def _link_some(self, connection: Any) -> int:
        """One process at a time: each link holds the digest of the one before."""
        sql = self._sql
        async with connection.transaction():
            await connection.execute(sql.commit_soon)
            await connection.execute(sql.lock_audit)
            kept = await connection.fetch(*bound(sql.select_audit_inbox, {"limit": TOGETHER}))
            if not kept:
                return 0
            before = await connection.fetchrow(sql.select_last_audit)
            last = None if before is None else audit_row(*before).entry()
            links: list[AuditEntry] = []
            for row in kept:
                last = linked(_audit_decoder.decode(row["data"]), last)
                links.append(last)
            values = {
                "seqs": [link.seq for link in links],
                "tenants": [link.tenant for link in links],
                "tokens": [row["token"] for row in kept],
                "datas": [msgspec.json.encode(link) for link in links],
            }
            await connection.execute(*bound(sql.insert_audit, values))
            await connection.execute(*bound(sql.delete_audit_inbox, {"ids": [row["id"] for row in kept]}))
        return len(links)

    async def unlinked_audit(self) -> int:
        """How many entries are kept and are no links of the chain yet."""
        return int(await self._value(self._sql.count_unlinked, {}))

    async def drop_audit(self, through: int) -> None:
        """Forget the entries up to this number; the last of all stays."""
        while await self._value(self._sql.delete_audit, {"through": through, "limit": TOGETHER}):
            pass

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order, with all that was kept before this."""
        return [row.entry() for row in await self._audit_rows(given(tenant=tenant), after, limit)]

    async def newest_audit(self, *, tenant: str | None, before: int | None, limit: int) -> list[AuditEntry]:
        """The trail's entries with a smaller `seq` than `before`, newest first."""
        wanted = given(tenant=tenant)
        values: dict[str, Any] = {**wanted, "before": 2**62 if before is None else before, "limit": max(limit, 0)}
        statement = filtered(self._sql.select_newest_audit, wanted)
        if await self._value(self._sql.select_is_unlinked, {}):
            await self._link()
        return [audit_row(*row).entry() for row in await self._rows(statement, values)]

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """The same as the store has them, unread."""
        return await self._audit_rows({}, after, limit)

    async def _audit_rows(self, wanted: dict[str, Any], after: int, limit: int) -> list[AuditRow]:
        if await self._value(self._sql.select_is_unlinked, {}):
            await self._link()
        values: dict[str, Any] = {**wanted, "after": after, "limit": max(limit, 0)}
        return [audit_row(*row) for row in await self._rows(filtered(self._sql.select_audit, wanted), values)]


def _record(row: Any) -> Record:
    return Record(**{**dict(row), "data": decode(row["data"])})
