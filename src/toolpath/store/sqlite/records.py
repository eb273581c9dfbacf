"""Records and the audit trail in the SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from toolpath.model.record import AuditEntry, AuditRow, Record, audit_row, linked
from toolpath.store.rows import given, next_record, no_record, page_bound
from toolpath.store.sqlite.file import SqliteFile, encoded
from toolpath.store.sqlite.sql import filtered
from toolpath.store.sqlite.writer import HEAVY
from toolpath.values import decode

#: Entries of the audit trail that are deleted in one transaction.
TOGETHER = 2_000
#: Bytes of a record's text up to which a turn of the loop has time to read it.
SMALL = 32_000


class SqliteRecords(SqliteFile):
    """Records by kind and id, and the chain of audit entries."""

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        """Keep the record in place of the one with its kind and id. Raises `RecordConflict`."""
        data = encoded(record.data, f"The {record.kind} {record.id!r}")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> Record:
            kept = next_record(record, self._record(connection, record.kind, record.id), expected, now)
            connection.execute(self._sql.upsert_record, {**msgspec.structs.asdict(kept), "data": data})
            return kept

        return await self._write(work, heavy=len(data) > HEAVY)

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        """The record, or None."""
        row = self._at_once(self._sql.select_small_record, {"kind": kind, "id": record_id, "most": SMALL})
        if row is not None:
            return _record(row)
        return await self._read(lambda connection: self._record(connection, kind, record_id))

    def _record(self, connection: sqlite3.Connection, kind: str, record_id: str) -> Record | None:
        row = connection.execute(self._sql.select_record, {"kind": kind, "id": record_id}).fetchone()
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

        def work(connection: sqlite3.Connection) -> list[Record]:
            last = None if before is None else self._record(connection, kind, before)
            if before is not None and last is None:
                raise no_record(kind, before)
            created_at, record_id = page_bound(None if last is None else (last.created_at, last.id))
            values = {**wanted, "kind": kind, "limit": max(limit, 0), "created_at": created_at, "id": record_id}
            return [_record(row) for row in connection.execute(statement, values)]

        return await self._read(work)

    async def delete_record(self, kind: str, record_id: str) -> bool:
        """Forget the record; whether it was there."""
        values = {"kind": kind, "id": record_id}
        return await self._write(lambda connection: connection.execute(self._sql.delete_record, values).rowcount > 0)

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the trail, all or none; gives them as links of its chain."""
        stamped = self._stamped(entries)
        if not stamped:
            return []
        # Nothing can be wrong with it once something is written: it has been encoded, and the last link read.
        return await self._write(lambda connection: self._link(connection, stamped), guarded=False)

    def _stamped(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """The entries, each with its time. Raises `StoreError` where one cannot be written."""
        now = self._clock()
        for entry in entries:
            encoded(entry, f"The audit entry {entry.action!r}")
        return [entry if entry.at else msgspec.structs.replace(entry, at=now) for entry in entries]

    def _link(self, connection: sqlite3.Connection, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the chain as its next links."""
        row = connection.execute(self._sql.select_last_audit).fetchone()
        last = None if row is None else audit_row(*row).entry()
        links = []
        for entry in entries:
            last = linked(entry, last)
            links.append(last)
        rows = [{"seq": link.seq, "tenant": link.tenant, "data": msgspec.json.encode(link)} for link in links]
        connection.executemany(self._sql.insert_audit, rows)
        return links

    async def unlinked_audit(self) -> int:
        """How many entries are kept and are no links of the chain yet."""
        return 0

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries to the trail, all or none."""
        await self.append_audit(entries)

    async def drop_audit(self, through: int) -> None:
        """Forget the entries up to this number; the last of all stays."""
        values = {"through": through, "limit": TOGETHER}
        statement = self._sql.delete_audit
        # Some at a time, so that others write in between.
        while await self._write(lambda connection: connection.execute(statement, values).rowcount, heavy=True):
            pass

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order."""
        return [row.entry() for row in await self._audit_rows(given(tenant=tenant), after, limit)]

    async def newest_audit(self, *, tenant: str | None, before: int | None, limit: int) -> list[AuditEntry]:
        """The trail's entries with a smaller `seq` than `before`, newest first."""
        wanted = given(tenant=tenant)
        values: dict[str, Any] = {**wanted, "before": 2**62 if before is None else before, "limit": max(limit, 0)}
        statement = filtered(self._sql.select_newest_audit, wanted)
        rows = await self._read(lambda connection: [tuple(row) for row in connection.execute(statement, values)])
        return [audit_row(*row).entry() for row in rows]

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """The same as the store has them, unread."""
        return await self._audit_rows({}, after, limit)

    async def _audit_rows(self, wanted: dict[str, Any], after: int, limit: int) -> list[AuditRow]:
        statement = filtered(self._sql.select_audit, wanted)
        values: dict[str, Any] = {**wanted, "after": after, "limit": max(limit, 0)}
        return await self._read(lambda connection: [audit_row(*row) for row in connection.execute(statement, values)])


def _record(row: sqlite3.Row) -> Record:
    return Record(**{**dict(row), "data": decode(row["data"])})
