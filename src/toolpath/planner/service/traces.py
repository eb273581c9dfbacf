"""Traces of decisions, the newest of each tenant kept in the store: how requests were planned, how they were routed."""

from __future__ import annotations

from typing import Final

from toolpath.errors import RecordConflict
from toolpath.machine import new_id
from toolpath.model.record import Record
from toolpath.ports import Clock, Store
from toolpath.values import JsonObject

#: Traces of one kind that a tenant has.
KEPT: Final = 500
#: So many more may pile up before the oldest go.
_SLACK: Final = 50
_NAME: Final = 100
_TRIES: Final = 5


class TraceLog:
    """The traces of one kind in a store."""

    def __init__(self, store: Store, clock: Clock, kind: str) -> None:
        self._store = store
        self._clock = clock
        self._kind = kind
        self._since: dict[str, int] = {}
        """Tenant → traces kept since the oldest went."""

    def new_id(self) -> str:
        """An id for a trace that is going to be kept; later ones sort behind it."""
        return new_id(self._kind, self._clock.time())

    async def keep(self, trace_id: str, data: JsonObject, tenant: str, *, name: str, plan: str = "") -> None:
        """Keep a trace. `plan`: digest of the plan that came of it."""
        record = Record(kind=self._kind, id=trace_id, tenant=tenant, parent=plan, name=name[:_NAME], data=data)
        await self._store.put_record(record, expected=0)
        since = self._since.get(tenant, _SLACK) + 1
        self._since[tenant] = since if since <= _SLACK else 0
        if since > _SLACK:
            await self._forget_oldest(tenant)

    async def _forget_oldest(self, tenant: str) -> None:
        known = await self._store.list_records(self._kind, tenant=tenant, limit=KEPT + 4 * _SLACK)
        for record in known[KEPT:]:
            await self._store.delete_record(self._kind, record.id)

    async def change(self, trace_id: str, more: JsonObject) -> None:
        """Add to what a trace says; one that is gone stays gone."""
        for _ in range(_TRIES):
            known = await self._store.get_record(self._kind, trace_id)
            if known is None:
                return
            changed = Record(
                kind=known.kind,
                id=known.id,
                tenant=known.tenant,
                parent=known.parent,
                name=known.name,
                data={**known.data, **more},
                created_at=known.created_at,
            )
            try:
                await self._store.put_record(changed, expected=known.version)
            except RecordConflict:
                continue
            return

    async def get(self, trace_id: str) -> Record | None:
        """The trace; None where there is none."""
        return await self._store.get_record(self._kind, trace_id)

    async def of_plan(self, plan: str, tenant: str) -> Record | None:
        """The newest trace that a plan of this digest came of."""
        found = await self._store.list_records(self._kind, tenant=tenant, parent=plan, limit=1)
        return found[0] if found else None

    async def newest(self, tenant: str | None, limit: int, before: str | None = None) -> list[Record]:
        """The newest first. `tenant` None: of all tenants."""
        # One more than a page may have says that there is a next one.
        return await self._store.list_records(self._kind, tenant=tenant, limit=min(limit, KEPT + 1), before=before)
