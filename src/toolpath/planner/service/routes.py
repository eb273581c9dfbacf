"""Routings of requests, kept in the store so that every decision can be read afterwards."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.access.acting import who_acts
from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Plan, freeze
from toolpath.model.record import Record
from toolpath.model.redaction import Redactor
from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.rank import candidate
from toolpath.planner.router.calls import filled_from_request
from toolpath.planner.router.routing_records import Routed, RouteRecord
from toolpath.planner.service.traces import TraceLog
from toolpath.ports import Clock, Store
from toolpath.values import JsonObject, digest, made_ready, plain

KIND: Final = "route"
#: Characters of each text, and of what a model was asked.
_LONGEST: Final = 10_000
_LONGEST_PROMPT: Final = 60_000


def filled_by_rules(key: str, request: str, catalog: Catalog) -> JsonObject | None:
    """The inputs of the tool as the request says them; None where it does not say all that the tool needs."""
    tool = catalog.tools[key]
    one = candidate(tool)
    # The tool's own name is no value; where it stands again, it may be one.
    named = re.search(rf"(?<![\w.]){re.escape(key)}(?!\w)", request) or re.search(
        rf"(?<![\w.]){re.escape(tool.name)}(?!\w)", request
    )
    words = request if named is None else f"{request[: named.start()]} {request[named.end() :]}"
    filling = fill(one.slots, words, about=one.name | one.description)
    if filling.missing or len(filling.calls) != 1:
        return filled_from_request(key, request, catalog)
    return {name: found.value for name, found in filling.calls[0].items()}


class Routes:
    """The routings of a store."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor) -> None:
        self._traces = TraceLog(store, clock, KIND)
        self._redactor = redactor

    async def keep(self, routed: Routed, tenant: str) -> Routed:
        """Keep its record; gives it with the record's id."""
        caller = who_acts()
        user = "" if caller is None else caller.user
        record = msgspec.structs.replace(routed.record, id=self._traces.new_id(), user=user)
        text = self._redactor.text
        request = text(record.request)
        cut = msgspec.structs.replace(
            record,
            request=request[:_LONGEST],
            prompt=text(record.prompt)[:_LONGEST_PROMPT],
            answers=tuple(text(answer)[:_LONGEST] for answer in record.answers),
        )
        data = self._redactor.value(plain(msgspec.to_builtins(cut))[0])
        plan = "" if routed.plan is None else digest(freeze(routed.plan))
        await self._traces.keep(record.id, data, tenant, name=request, plan=plan)
        return msgspec.structs.replace(routed, record=record)

    async def learned(self, plan: Plan, *, run_id: str, tenant: str) -> None:
        """Note which run the plan of a routing had."""
        found = await self._traces.of_plan(digest(freeze(plan)), tenant)
        if found is not None:
            await self._traces.change(found.id, {"run_id": run_id})

    async def newest(self, tenant: str | None, limit: int, before: str | None = None) -> list[RouteRecord]:
        """The newest first."""
        return [_read(record) for record in await self._traces.newest(tenant, limit, before)]

    async def get(self, route_id: str, tenant: str | None) -> RouteRecord | None:
        """The routing of this id, where it is the tenant's; None: whichever's."""
        found = await self._traces.get(route_id)
        return None if found is None or tenant not in (None, found.tenant) else _read(found)


def _read(record: Record) -> RouteRecord:
    return msgspec.convert({**record.data, "id": record.id, "at": record.created_at}, RouteRecord, strict=False)


made_ready(RouteRecord)
