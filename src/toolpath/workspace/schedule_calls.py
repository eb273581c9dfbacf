"""Schedules as running tools ask for them: fields in, records as JSON out."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.model.schedule import Schedule
from toolpath.values import JsonObject, made_ready
from toolpath.workspace.schedules import ScheduleDraft, Schedules

#: What nobody but the store and the server has to know.
_OWN: Final = ("tenant", "permissions", "since", "ticks")
_TICKS: Final = 10


class ScheduleCalls:
    """The schedules of one Toolpath, for its tools."""

    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules

    async def create(self, fields: JsonObject, *, tenant: str, user: str, permissions: tuple[str, ...]) -> JsonObject:
        """Keep a new one, which runs for this user with these permissions. Raises as `Schedules.create`."""
        draft = msgspec.convert(fields, ScheduleDraft)
        return _row(await self._schedules.create(draft, tenant=tenant, user=user, permissions=permissions))

    async def listed(self, *, tenant: str, limit: int) -> list[JsonObject]:
        """The newest first."""
        return [_row(schedule) for schedule in await self._schedules.newest(tenant=tenant, limit=limit)]

    async def shown(self, schedule_id: str, *, tenant: str) -> JsonObject:
        """One of them, with its latest ticks. Raises `RecordNotFound`."""
        schedule = await self._schedules.get(schedule_id, tenant=tenant)
        return {**_row(schedule), "ticks": msgspec.to_builtins(schedule.ticks[-_TICKS:])}

    async def change(
        self, schedule_id: str, fields: JsonObject, *, tenant: str, user: str, permissions: tuple[str, ...]
    ) -> JsonObject:
        """Change what it says; it runs for this user from now on. Raises as `Schedules.change`."""
        schedule = await self._schedules.get(schedule_id, tenant=tenant)
        draft = msgspec.convert(fields, ScheduleDraft)
        return _row(await self._schedules.change(schedule, draft, user=user, permissions=permissions))

    async def delete(self, schedule_id: str, *, tenant: str, user: str) -> None:
        """Forget it. Raises `RecordNotFound`."""
        await self._schedules.delete(await self._schedules.get(schedule_id, tenant=tenant), user=user)


def _row(schedule: Schedule) -> JsonObject:
    row: JsonObject = msgspec.to_builtins(schedule)
    return {name: value for name, value in row.items() if name not in _OWN}


made_ready(ScheduleDraft)
