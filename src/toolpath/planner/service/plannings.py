"""Plannings: what was asked for and what came of it, at hand for this process and kept in the store for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from toolpath.model.plan import Plan, freeze
from toolpath.model.record import Record
from toolpath.model.redaction import Redactor
from toolpath.planner.records import Ground, PlanningRecord, PlanningResult, PlanRequest, Round
from toolpath.planner.service.traces import TraceLog
from toolpath.ports import Clock, Store
from toolpath.values import JsonObject, digest, encode, made_ready, plain

KIND: Final = "planning"
#: How many plannings a process has at hand, and characters of each request.
AT_HAND: Final = 256
LONGEST_REQUEST: Final = 10_000
#: Characters of an answer, and bytes of the plan that was read from it.
_LONGEST_ANSWER: Final = 10_000
_LARGEST_PLAN: Final = 50_000


class PastPlanning(msgspec.Struct, frozen=True):
    """One planning of a request, afterwards."""

    asked: PlanRequest
    ground: Ground
    planned: PlanningResult
    tenant: str
    """Who asked for it."""


class Plannings:
    """The newest plannings, by the plan that came of them."""

    def __init__(self, store: Store, clock: Clock, redactor: Redactor) -> None:
        self._traces = TraceLog(store, clock, KIND)
        self._redactor = redactor
        self._at_hand: dict[str, PastPlanning] = {}

    def hold(self, planning: PastPlanning) -> None:
        """Have it at hand, and let go of the oldest where there are too many."""
        while len(self._at_hand) >= AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        planned = planning.planned
        record = msgspec.structs.replace(planned.record, request=planned.record.request[:LONGEST_REQUEST])
        self._at_hand[digest(freeze(planned.plan))] = msgspec.structs.replace(
            planning,
            asked=msgspec.structs.replace(planning.asked, text=planning.asked.text[:LONGEST_REQUEST]),
            planned=msgspec.structs.replace(planned, record=record),
        )

    async def keep(self, planning: PastPlanning) -> PastPlanning:
        """Keep it in the store and at hand; gives it with its id. Raises `StoreError`."""
        planned = planning.planned
        record = msgspec.structs.replace(planned.record, id=self._traces.new_id(), asker=planning.asked.asker)
        planning = msgspec.structs.replace(planning, planned=msgspec.structs.replace(planned, record=record))
        self.hold(planning)
        # What is cut first would leave the first half of a secret.
        cut = _cut(record, self._redactor.text)
        data = self._redactor.value(plain(msgspec.to_builtins(cut))[0])
        name = self._redactor.text(record.request)
        await self._traces.keep(record.id, data, planning.tenant, name=name, plan=digest(freeze(planned.plan)))
        return planning

    def of(self, plan: Plan) -> PastPlanning | None:
        """The planning that the plan came of; None where it was not planned here, or long ago."""
        return self._at_hand.get(digest(freeze(plan)))

    async def kept_of(self, plan: Plan, tenant: str) -> PlanningRecord | None:
        """The record of the planning that the plan came of, in whichever process."""
        found = await self._traces.of_plan(digest(freeze(plan)), tenant)
        return None if found is None else _read(found)

    async def learned(self, planning_id: str, *, success: bool, run_id: str) -> None:
        """Note what became of the plan."""
        more: JsonObject = {"success": success}
        await self._traces.change(planning_id, more | ({"run_id": run_id} if run_id else {}))

    async def newest(self, tenant: str | None, limit: int, before: str | None = None) -> list[PlanningRecord]:
        """The newest first."""
        return [_read(record) for record in await self._traces.newest(tenant, limit, before)]

    async def get(self, planning_id: str, tenant: str | None) -> PlanningRecord | None:
        """The planning of this id, where it is the tenant's; None: whichever's."""
        found = await self._traces.get(planning_id)
        return None if found is None or tenant not in (None, found.tenant) else _read(found)


def _read(record: Record) -> PlanningRecord:
    return msgspec.convert({**record.data, "id": record.id}, PlanningRecord, strict=False)


def _cut(record: PlanningRecord, redacted: Callable[[str], str]) -> PlanningRecord:
    return msgspec.structs.replace(
        record,
        request=redacted(record.request)[:LONGEST_REQUEST],
        rounds=tuple(_cut_round(one, redacted) for one in record.rounds),
    )


def _cut_round(one: Round, redacted: Callable[[str], str]) -> Round:
    is_large = one.plan is not None and len(encode(one.plan)) > _LARGEST_PLAN
    answer = redacted(one.answer)[:_LONGEST_ANSWER]
    return msgspec.structs.replace(one, answer=answer, plan=None if is_large else one.plan)


made_ready(PlanningRecord)
