"""Pruning of the audit trail: the oldest entries go, and it is known later that they were pruned and not stolen."""

from __future__ import annotations

from toolpath.access.trail import Trail
from toolpath.model.record import AuditEntry
from toolpath.ports import Store

#: What the entry is called that tells of it.
ACTION = "audit.prune"
_PAGE = 1_000


async def prune_trail(
    store: Store, trail: Trail, *, before: float, because: str = "prune", dry_run: bool = False
) -> int:
    """Delete the entries at the beginning of the trail that are older than a Unix time; gives how many.

    First an entry is written that names the last of them with its digest. Raises `StoreError`: what cannot be written
    is not deleted. With `dry_run` nothing is.
    """
    last, count = None, 0
    while page := await store.read_audit(after=last.seq if last is not None else 0, limit=_PAGE):
        old = page[: next((place for place, entry in enumerate(page) if entry.at >= before), len(page))]
        last, count = (old[-1] if old else last), count + len(old)
        if len(old) < len(page):
            break
    if last is None or not trail.is_kept:
        return 0
    if dry_run:
        return count
    await trail.record(ACTION, str(last.seq), through=last.seq, digest=last.digest, because=because)
    await store.drop_audit(last.seq)
    return count


class Beginning:
    """Beginning of a trail, and whether what came before was let go of by those who may: told entry by entry."""

    def __init__(self) -> None:
        self._missing = 0
        """Number of the last entry that is not there any more; 0: the trail begins with its first."""
        self._digest = ""
        self._is_told = False
        self._is_first = True

    def before(self, entry: AuditEntry) -> AuditEntry | None:
        """The entry before the first one, as far as it is known; None where that is the first of all."""
        if not self._is_first or entry.seq <= 1:
            self._is_first = False
            return None
        self._is_first = False
        self._missing, self._digest = entry.seq - 1, entry.previous
        return AuditEntry(seq=self._missing, digest=self._digest)

    def take(self, entry: AuditEntry) -> None:
        """Take the next entry, which may tell of it."""
        if entry.action == ACTION and self._missing:
            told = entry.data.get("through"), entry.data.get("digest")
            self._is_told = self._is_told or told == (self._missing, self._digest)

    @property
    def let_go(self) -> int:
        """Number of the last entry that was let go of; 0: none."""
        return self._missing if self._is_told else 0

    @property
    def fault(self) -> str:
        """The fault of the beginning, in words; empty where it has none."""
        if not self._missing or self._is_told:
            return ""
        return f"Entries up to {self._missing} are missing, and no entry tells that they were let go of."
