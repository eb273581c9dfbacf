"""The tools of `schedules`: have a template or a stored plan run at times, with the rights of who made the schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from toolpath.errors import ToolFailed, ToolpathError
from toolpath.model.plan import Retry
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject

_MOST: Final = 100


class ScheduleDoor(Protocol):
    """The side of a Toolpath's schedules that these tools need."""

    async def create(self, fields: JsonObject, *, tenant: str, user: str, permissions: tuple[str, ...]) -> JsonObject:
        """Keep a new one."""
        ...

    async def listed(self, *, tenant: str, limit: int) -> list[JsonObject]:
        """The newest first."""
        ...

    async def shown(self, schedule_id: str, *, tenant: str) -> JsonObject:
        """One of them."""
        ...

    async def change(
        self, schedule_id: str, fields: JsonObject, *, tenant: str, user: str, permissions: tuple[str, ...]
    ) -> JsonObject:
        """Change what it says."""
        ...

    async def delete(self, schedule_id: str, *, tenant: str, user: str) -> None:
        """Forget it."""
        ...


class SchedulesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The group `schedules` has no options."""


_Act = Callable[[ScheduleDoor, JsonObject, Any], Any]


def schedules_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools. Raises `ConfigError`."""
    options_of("schedules", given, SchedulesOptions)

    def tool(name: str, description: str, act: _Act, properties: JsonObject, *required: str, effect: Any) -> Tool:
        async def invoke(inputs: JsonObject, context: Any) -> Json:
            if surroundings.schedules is None:
                raise ToolFailed("There are no schedules here.", hint="Call the tool in a run of a Toolpath.")
            try:
                found: Json = await act(surroundings.schedules(), inputs, context)
            except ToolpathError as error:
                raise error if isinstance(error, ToolFailed) else ToolFailed(str(error)) from None
            return found

        return Tool(
            name=name,
            group="schedules",
            description=description,
            category="workflow",
            input_schema={
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
            output_schema={"type": "object"},
            output_validation="strict",
            effect=effect,
            retry=Retry(max_retries=0) if effect != "read" else None,
            body=Body(invoke=invoke, wants_context=True),
        )

    which: JsonObject = {"schedule_id": {"type": "string", "maxLength": 200}}
    return BuiltinGroup(
        (
            tool(
                "create",
                "Have a template or a stored plan run by a cron line or once. It runs with the rights of who asks now.",
                _create,
                _FIELDS,
                effect="write",
            ),
            tool("list", "The schedules, newest first.", _list, {}, effect="read"),
            tool("show", "One schedule, and what came of its ticks.", _show, which, "schedule_id", effect="read"),
            tool("pause", "Let a schedule rest.", _paused(True), which, "schedule_id", effect="write"),
            tool("resume", "Let a schedule that rests go on.", _paused(False), which, "schedule_id", effect="write"),
            tool("delete", "Forget a schedule; its runs stay.", _delete, which, "schedule_id", effect="destructive"),
        )
    )


_FIELDS: Final[JsonObject] = {
    "title": {"type": "string", "maxLength": 200},
    "template_id": {"type": "string", "description": "Id or name of a template; or plan_id."},
    "plan_id": {"type": "string", "description": "Id of a stored plan; or template_id."},
    "inputs": {"type": "object", "description": "What it is run with."},
    "cron": {"type": "string", "maxLength": 200, "description": "Five fields, as `0 9 * * 1-5`; or once."},
    "once": {"type": "number", "description": "Unix time of the only run; or cron."},
    "time_zone": {"type": "string", "maxLength": 100, "description": "As Europe/Berlin; UTC where none is given."},
    "overlap": {"enum": ["skip", "allow"], "description": "What a tick does while the run of the last one goes on."},
    "missed": {"enum": ["skip", "last", "all"], "description": "Which ticks that nobody was there for are made up."},
}


async def _create(schedules: ScheduleDoor, inputs: JsonObject, context: Any) -> Json:
    return await schedules.create(
        inputs, tenant=context.tenant, user=context.user, permissions=tuple(sorted(context.permissions))
    )


async def _list(schedules: ScheduleDoor, inputs: JsonObject, context: Any) -> Json:
    found: list[Json] = list(await schedules.listed(tenant=context.tenant, limit=_MOST))
    return {"schedules": found}


async def _show(schedules: ScheduleDoor, inputs: JsonObject, context: Any) -> Json:
    return await schedules.shown(inputs["schedule_id"], tenant=context.tenant)


def _paused(paused: bool) -> _Act:  # which of two tools it is
    async def act(schedules: ScheduleDoor, inputs: JsonObject, context: Any) -> Json:
        return await schedules.change(
            inputs["schedule_id"],
            {"paused": paused},
            tenant=context.tenant,
            user=context.user,
            permissions=tuple(sorted(context.permissions)),
        )

    return act


async def _delete(schedules: ScheduleDoor, inputs: JsonObject, context: Any) -> Json:
    await schedules.delete(inputs["schedule_id"], tenant=context.tenant, user=context.user)
    return {"deleted": inputs["schedule_id"]}
