"""Routings of requests, kept in the store so that every decision can be read afterwards."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.ids import new_id
from toolpath.model.record import Record
from toolpath.model.redaction import Redactor
from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.rank import candidate
from toolpath.planner.router.calls import filled_from_request
from toolpath.planner.router.records import RouteRecord
from toolpath.ports import Clock, Store
from toolpath.values import JsonObject, plain

KIND: Final = "route"
#: Routings of one tenant that are kept, and characters of each text.
KEPT: Final = 500
_LONGEST: Final = 10_000
#: So many more may pile up before the oldest go.
_SLACK: Final = 50


def filled_by_rules(key: str, request: str, catalog: Catalog) -> JsonObject | None:
    """The inputs of the tool as the request says them; None where it does not say all that the tool needs."""
    tool = catalog.tools[key]
    one = candidate(tool)
    # The tool's own name is no value.
    words = request.replace(key, " ").replace(tool.name, " ")
    filling = fill(one.slots, words, about=one.name | one.description)
    if filling.missing or len(filling.calls) != 1:
        return filled_from_request(key, request, catalog)
    return {name: found.value for name, found in filling.calls[0].items()}


class Routes:
    """The routings of a store."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor) -> None:
        self._store = store
        self._clock = clock
        self._redactor = redactor
        self._since = _SLACK

    async def keep(self, record: RouteRecord, tenant: str) -> str:
        """Keep it; gives its id."""
        text = self._redactor.text
        request = text(record.request)
        cut = msgspec.structs.replace(
            record,
            request=request[:_LONGEST],
            answers=tuple(text(answer)[:_LONGEST] for answer in record.answers),
        )
        data = self._redactor.value(plain(msgspec.to_builtins(cut))[0])
        route_id = new_id("route", self._clock.time())
        await self._store.put_record(
            Record(kind=KIND, id=route_id, tenant=tenant, name=request[:100], data=data), expected=0
        )
        self._since += 1
        if self._since > _SLACK:
            self._since = 0
            await self._forget_oldest(tenant)
        return route_id

    async def _forget_oldest(self, tenant: str) -> None:
        known = await self._store.list_records(KIND, tenant=tenant, limit=KEPT + 4 * _SLACK)
        for record in known[KEPT:]:
            await self._store.delete_record(KIND, record.id)

    async def newest(self, tenant: str, limit: int) -> list[RouteRecord]:
        """The newest first."""
        known = await self._store.list_records(KIND, tenant=tenant, limit=min(limit, KEPT))
        return [msgspec.convert(record.data, RouteRecord, strict=False) for record in known]
