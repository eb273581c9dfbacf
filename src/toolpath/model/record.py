"""Records that a store keeps besides runs: of any kind by id, and the audit trail, a chain of hashes. Pure."""

from __future__ import annotations

import msgspec

from toolpath.errors import StoreError
from toolpath.values import JsonObject, digest, made_ready


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A JSON object that outlives the process: a stored plan, an API key, a page of the planner's notebook."""

    kind: str
    """What it is, e.g. `plan`; ids are unique within one kind."""
    id: str
    tenant: str = ""
    parent: str = ""
    """Id of what it belongs to, e.g. the request of a plan."""
    name: str = ""
    data: JsonObject = {}
    created_at: float = 0.0
    """Unix time; 0: the store fills it in."""
    updated_at: float = 0.0
    """Unix time of the last `put_record`, by the store."""
    version: int = 0
    """1 for a new one, and one more with each `put_record`; by the store."""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Entry of the audit trail: who did what. `seq`, `previous` and `digest` make it a link of the store's chain."""

    at: float = 0.0
    """Unix time; 0: the store fills it in."""
    tenant: str = ""
    user: str = ""
    action: str = ""
    """e.g. `run.started`, `step.approved`, `key.created`."""
    subject: str = ""
    """Id of what it was done to."""
    data: JsonObject = {}
    """Whatever else is worth knowing, redacted by the caller."""
    seq: int = 0
    """From 1 without gaps over all tenants."""
    previous: str = ""
    """Digest of the entry before; empty for the first."""
    digest: str = ""
    """Of all other fields."""


class AuditRow(msgspec.Struct, frozen=True):
    """An entry of the trail as a store has it: what it says beside the entry's text is part of no digest."""

    seq: int
    tenant: str
    data: bytes

    def entry(self) -> AuditEntry:
        """The entry. Raises `StoreError`, naming it, where its text is none."""
        try:
            return msgspec.json.decode(self.data, type=AuditEntry)
        except (ValueError, RecursionError) as error:
            raise StoreError(
                f"Entry {self.seq} of the audit trail cannot be read: {error}.",
                hint="It was damaged after it was written; see `toolpath audit verify`, and restore it from a backup.",
            ) from None


def audit_row(seq: object, tenant: object, data: object) -> AuditRow:
    """The row of these columns, whatever somebody has put there."""
    number = seq if isinstance(seq, int) else -1
    text = data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogateescape")
    return AuditRow(number, tenant if isinstance(tenant, str) else repr(tenant), text)


def linked(entry: AuditEntry, last: AuditEntry | None) -> AuditEntry:
    """The entry as the next link after `last`."""
    seq, previous = (1, "") if last is None else (last.seq + 1, last.digest)
    placed = msgspec.structs.replace(entry, seq=seq, previous=previous, digest="")
    return msgspec.structs.replace(placed, digest=digest_of(placed))


def digest_of(entry: AuditEntry) -> str:
    """The digest that the entry must have. Fields with their default do not count, so later ones may be added."""
    # Through JSON, because that is how a store gives it back.
    bare = msgspec.json.encode(msgspec.structs.replace(entry, digest=""))
    return digest(msgspec.json.decode(bare))


def broken_row(row: AuditRow, entry: AuditEntry) -> str:
    """The difference between the row and the entry in it, in words; empty where there is none."""
    if row.seq != entry.seq:
        return f"Entry {row.seq} holds entry {entry.seq}: it was moved."
    if row.tenant != entry.tenant:
        return f"Entry {row.seq} is listed for the tenant {row.tenant!r}, and is of {entry.tenant!r}: it was changed."
    return ""


def broken_link(entry: AuditEntry, last: AuditEntry | None) -> str:
    """The fault of the entry as the one after `last`, in words; empty where it has none."""
    seq, previous = (1, "") if last is None else (last.seq + 1, last.digest)
    if entry.seq != seq:
        return f"Entry {entry.seq} comes after entry {seq - 1}: entries were taken out or put in."
    if entry.previous != previous:
        return f"Entry {entry.seq} does not follow from the entry before: one of the two was changed."
    if entry.digest != digest_of(entry):
        return f"Entry {entry.seq} was changed after it was written."
    return ""


made_ready(AuditEntry)
