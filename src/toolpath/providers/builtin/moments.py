"""The tools `time.now` and `util.uuid`: what no plan can work out, told once and kept in the journal."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import msgspec

from toolpath.errors import SchemaError, ToolFailed
from toolpath.model.time_zone import zone_of
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject


class MomentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The groups `time` and `util` have no options."""


def time_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tool `time.now`. Raises `ConfigError`."""
    options_of("time", given, MomentOptions)

    async def now(inputs: JsonObject, context: Any) -> Json:
        zone = inputs.get("time_zone") or "UTC"
        try:
            known = zone_of(zone)
        except SchemaError as error:
            raise ToolFailed(error.message, hint=error.hint) from None
        at = surroundings.now()
        local = datetime.fromtimestamp(at, known)
        return {
            "iso": local.isoformat(timespec="seconds"),
            "date": local.date().isoformat(),
            "time": local.time().isoformat(timespec="seconds"),
            "weekday": local.strftime("%A"),
            "unix": at,
            "time_zone": zone,
        }

    text: JsonObject = {"type": "string"}
    names = ("iso", "date", "time", "weekday", "time_zone")
    return BuiltinGroup(
        (
            Tool(
                name="now",
                group="time",
                description="The date and time of this moment, in a time zone.",
                input_schema={
                    "type": "object",
                    "properties": {
                        "time_zone": {"type": "string", "maxLength": 100, "description": "As Europe/Berlin; else UTC."}
                    },
                    "additionalProperties": False,
                },
                output_schema={
                    "type": "object",
                    "properties": {**dict.fromkeys(names, text), "unix": {"type": "number"}},
                    "required": [*names, "unix"],
                },
                output_validation="strict",
                effect="read",
                body=Body(invoke=now),
            ),
        )
    )


def util_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tool `util.uuid`. Raises `ConfigError`."""
    options_of("util", given, MomentOptions)

    async def make(inputs: JsonObject, context: Any) -> Json:
        return {"uuid": str(uuid.uuid4())}

    return BuiltinGroup(
        (
            Tool(
                name="uuid",
                group="util",
                description="A new UUID.",
                input_schema={"type": "object", "properties": {}, "additionalProperties": False},
                output_schema={"type": "object", "properties": {"uuid": {"type": "string"}}, "required": ["uuid"]},
                output_validation="strict",
                effect="read",
                body=Body(invoke=make),
            ),
        )
    )
