"""Verification of the audit trail: every link of the chain follows from the one before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import msgspec

from toolpath.access.pruned import Beginning
from toolpath.errors import RunNotFound, StoreError
from toolpath.model.record import AuditEntry, AuditRow, broken_link, broken_row
from toolpath.model.run import ENDED_RUN
from toolpath.ports import Store

_PAGE = 1_000
#: Faults beyond this help nobody.
MOST_FAULTS = 100
_BEGINS = ("run.start", "run.fork", "run.retry", "run.replan")


class TrailVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict on a trail that was looked through."""

    entries: int
    head: str
    """Digest of the last entry: who noted it can tell later that nothing before was taken away."""
    faults: tuple[str, ...]
    """Each names an entry that was changed, or where some are missing or out of order."""
    unended: tuple[str, ...]
    """Runs that have ended without that being in the trail: their process died in between."""

    unlinked: int = 0
    """Entries that had been kept and were in no chain yet when the look began: nothing vouches for those but now."""

    @property
    def good(self) -> bool:
        """The trail is whole."""
        return not self.faults


async def entries_of(store: Store, *, tenant: str | None = None, after: int = 0) -> AsyncIterator[AuditEntry]:
    """The entries after one, in order, however many."""
    while page := await store.read_audit(tenant=tenant, after=after, limit=_PAGE):
        for entry in page:
            yield entry
        last = page[-1].seq
        # A number that does not grow was tampered with; nothing more can be read by it.
        if last <= after:
            return
        after = last


async def _rows_of(store: Store) -> AsyncIterator[AuditRow]:
    after = -1
    while page := await store.read_audit_rows(after=after, limit=_PAGE):
        for row in page:
            yield row
        if page[-1].seq <= after:
            return
        after = page[-1].seq


async def verify(store: Store, *, noted: Mapping[int, str] | None = None) -> TrailVerdict:
    """Look through the whole trail. `noted`: digests by number that it must still have, of an earlier export."""
    faults: list[str] = []
    begun: dict[str, None] = {}
    last: AuditEntry | None = None
    is_known = True
    expected = dict(noted or {})
    beginning = Beginning()
    count, unlinked = 0, await store.unlinked_audit()
    async for row in _rows_of(store):
        count += 1
        try:
            entry = row.entry()
        except StoreError as error:
            faults.append(error.message)
            expected.pop(row.seq, None)
            last, is_known = AuditEntry(seq=row.seq), False
            continue
        if not is_known and last is not None:
            # What stood before it cannot be known: only its place and itself can be looked at.
            last, is_known = AuditEntry(seq=last.seq, digest=entry.previous), True
        last = last or beginning.before(entry)
        beginning.take(entry)
        faults += [fault for fault in (broken_row(row, entry), broken_link(entry, last)) if fault]
        if expected.pop(entry.seq, entry.digest) != entry.digest:
            faults.append(f"Entry {entry.seq} is not the one that was exported.")
        if entry.action in _BEGINS:
            begun[entry.subject] = None
        elif entry.action == "run.ended":
            begun.pop(entry.subject, None)
        last = entry
    faults += [beginning.fault] if beginning.fault else []
    expected = {seq: digest for seq, digest in expected.items() if seq > beginning.let_go}
    faults += [f"Entry {seq} was exported, and is not there any more." for seq in sorted(expected)]
    unended = [run_id for run_id in begun if await _has_ended(store, run_id)]
    head = "" if last is None else last.digest
    return TrailVerdict(
        entries=count, head=head, faults=tuple(faults[:MOST_FAULTS]), unended=tuple(unended), unlinked=unlinked
    )


async def _has_ended(store: Store, run_id: str) -> bool:
    try:
        return (await store.get_run(run_id)).status in ENDED_RUN
    except RunNotFound:
        return False
