"""What a store does with the audit trail, as a Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolpath.model.record import AuditEntry, AuditRow


class Trails(Protocol):
    """The audit trail of a store: one chain of entries. A part of `ports.Store`."""

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the trail, all or none; gives them as links of its chain."""
        ...

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries to the trail, all or none. They are kept when this returns, and links when read."""
        ...

    async def unlinked_audit(self) -> int:
        """How many entries are kept and are no links of the chain yet."""
        ...

    async def drop_audit(self, through: int) -> None:
        """Forget the entries up to this number, at the beginning of the chain; the last of all stays."""
        ...

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order."""
        ...

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """The same as the store has them, unread: for who looks whether they are as they were written."""
        ...
