"""Records and the audit trail in PostgreSQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import msgspec

from toolpath.errors import StoreError, ToolpathError
from toolpath.model.record import AuditEntry, Record, linked
from toolpath.store.encoding import again
from toolpath.store.postgres.ground import PostgresGround, encoded
from toolpath.store.postgres.sql import bound
from toolpath.store.rows import given, next_record, no_record, page_bound
from toolpath.store.sql import filtered
from toolpath.values import decode

_audit_decoder = msgspec.json.Decoder(AuditEntry)


class PostgresRecords(PostgresGround):
    """Records by kind and id, and the chain of audit entries."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time, database_clock: bool = True) -> None:
        super().__init__(url, clock=clock, database_clock=database_clock)
        self._entering: list[tuple[list[AuditEntry], asyncio.Future[list[AuditEntry]]]] = []
        """Entries that wait for those before them to be added."""
        self._adding: asyncio.Task[None] | None = None

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
                    # It was kept, but nobody heard of it.
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
        """Add the entries to the trail, all or none; gives them as links of its chain.

        What comes while others are being added goes into one transaction: only one process at a time can add.
        """
        now = self._clock()
        stamped = [entry if entry.at else msgspec.structs.replace(entry, at=now) for entry in entries]
        for entry in stamped:
            encoded(entry, f"The audit entry {entry.action!r}")
            if "\0" in entry.tenant:
                raise StoreError("The tenant of an audit entry has a NUL in it.", hint="Use plain text.")
        if not stamped:
            return []
        future: asyncio.Future[list[AuditEntry]] = asyncio.get_running_loop().create_future()
        self._entering.append((stamped, future))
        if len(self._entering) == 1 and (self._adding is None or self._adding.done()):
            self._adding = asyncio.create_task(self._add())
        return await future

    async def _add(self) -> None:
        while self._entering:
            group, self._entering = self._entering, []
            try:
                links = iter(await self._link([entry for entries, _ in group for entry in entries]))
            except ToolpathError as error:
                for _, future in group:
                    if not future.done():
                        future.set_exception(again(error))
                continue
            for entries, future in group:
                own = list(islice(links, len(entries)))
                if not future.done():
                    future.set_result(own)

    async def _link(self, entries: list[AuditEntry]) -> list[AuditEntry]:
        sql = self._sql
        sent: list[AuditEntry] = []

        async def work(connection: Any) -> list[AuditEntry]:
            nonlocal sent
            async with connection.transaction():
                await connection.execute(sql.lock_audit)
                if sent:
                    there = await connection.fetchval(*bound(sql.select_audit_of, {"seq": sent[-1].seq}))
                    if there is not None and _audit_decoder.decode(there).digest == sent[-1].digest:
                        # It was kept, but nobody heard of it.
                        return sent
                data = await connection.fetchval(sql.select_last_audit)
                last = None if data is None else _audit_decoder.decode(data)
                sent = []
                for entry in entries:
                    last = linked(entry, last)
                    sent.append(last)
                values = {
                    "seqs": [link.seq for link in sent],
                    "tenants": [link.tenant for link in sent],
                    "datas": [msgspec.json.encode(link) for link in sent],
                }
                await connection.execute(*bound(sql.insert_audit, values))
            return sent

        return await self._run(work, patient=True)

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order."""
        wanted = given(tenant=tenant)
        values: dict[str, Any] = {**wanted, "after": after, "limit": max(limit, 0)}
        rows = await self._rows(filtered(self._sql.select_audit, wanted), values)
        return [_audit_decoder.decode(row["data"]) for row in rows]


def _record(row: Any) -> Record:
    return Record(**{**dict(row), "data": decode(row["data"])})
