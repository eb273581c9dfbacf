"""Records and the audit trail in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import msgspec

from toolpath.model.record import AuditEntry, AuditRow, Record, linked
from toolpath.store.rows import given, next_record, no_record
from toolpath.values import decode, encode


class MemoryRecords:
    """Records by kind and id, and the chain of audit entries, as their JSON text: nobody else changes them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._records: dict[tuple[str, str], tuple[Record, bytes]] = {}
        self._audit: list[AuditEntry] = []

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        """Keep the record in place of the one with its kind and id. Raises `RecordConflict`."""
        key = record.kind, record.id
        data = encode(record.data)
        known = self._records.get(key)
        kept = next_record(record, None if known is None else known[0], expected, self._clock())
        self._records[key] = msgspec.structs.replace(kept, data={}), data
        return kept

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        """The record, or None."""
        known = self._records.get((kind, record_id))
        return None if known is None else _whole(known)

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
        wanted = given(kind=kind, tenant=tenant, parent=parent)
        ordered = sorted(self._records.values(), key=_age, reverse=True)
        if before is not None:
            last = self._records.get((kind, before))
            if last is None:
                raise no_record(kind, before)
            ordered = [known for known in ordered if _age(known) < _age(last)]
        fitting = (known for known in ordered if all(getattr(known[0], name) == wanted[name] for name in wanted))
        return [_whole(known) for known in itertools.islice(fitting, max(limit, 0))]

    def _forget_secrets(self, run_ids: set[str]) -> None:
        """Forget what people told these runs as secrets."""
        known = [
            key for key, (record, _) in self._records.items() if key[0] == "run_secret" and record.parent in run_ids
        ]
        for key in known:
            del self._records[key]

    async def delete_record(self, kind: str, record_id: str) -> bool:
        """Forget the record; whether it was there."""
        return self._records.pop((kind, record_id), None) is not None

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the trail, all or none; gives them as links of its chain."""
        now = self._clock()
        links: list[AuditEntry] = []
        last = self._audit[-1] if self._audit else None
        for entry in entries:
            # A copy: what the caller changes later is not in the trail.
            own = msgspec.structs.replace(entry, at=entry.at or now, data=decode(encode(entry.data)))
            last = linked(own, last)
            links.append(last)
        self._audit += links
        return links

    async def unlinked_audit(self) -> int:
        """How many entries are kept and are no links of the chain yet."""
        return 0

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries to the trail, all or none."""
        await self.append_audit(entries)

    async def drop_audit(self, through: int) -> None:
        """Forget the entries up to this number; the last of all stays."""
        self._audit = [entry for entry in self._audit[:-1] if entry.seq > through] + self._audit[-1:]

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order."""
        fitting = (e for e in self._audit if e.seq > after and (tenant is None or e.tenant == tenant))
        return list(itertools.islice(fitting, max(limit, 0)))

    async def newest_audit(self, *, tenant: str | None, before: int | None, limit: int) -> list[AuditEntry]:
        """The trail's entries with a smaller `seq` than `before`, newest first."""
        older = (e for e in reversed(self._audit) if before is None or e.seq < before)
        fitting = (e for e in older if tenant in (None, e.tenant))
        return list(itertools.islice(fitting, max(limit, 0)))

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """The same as the store has them, unread."""
        entries = await self.read_audit(after=after, limit=limit)
        return [AuditRow(entry.seq, entry.tenant, msgspec.json.encode(entry)) for entry in entries]


def _age(known: tuple[Record, bytes]) -> tuple[float, str]:
    return known[0].created_at, known[0].id


def _whole(known: tuple[Record, bytes]) -> Record:
    record, data = known
    return msgspec.structs.replace(record, data=decode(data))
