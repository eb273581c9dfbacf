"""The JSON Schema of a plan file, for editors: completion, descriptions, and a first check while typing.

It refuses what the reader refuses by shape; what needs the tools or the whole plan is for the checks.
"""

from __future__ import annotations

import json
import sys

from toolpath.notation.reading.durations import PATTERN as DURATION
from toolpath.notation.reading.ids import FORBIDDEN, MAX_LENGTH
from toolpath.notation.reading.ids import PATTERN as ID
from toolpath.notation.tables import (
    ACTIONS,
    BODY,
    BRANCH,
    FALLBACK,
    FIELD,
    HEAD,
    OUTPUTS,
    RETRY,
    SETTINGS,
    STEP,
    STEP_KINDS,
    TAIL,
)
from toolpath.values import JsonObject

#: Where the shipped copy says it lives; nothing is fetched from there.
IDENTITY = "urn:toolpath:plan"


def plan_json_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the plan notation."""
    properties: JsonObject = {"$schema": {"type": "string"}}
    for table in (HEAD, BODY, OUTPUTS, SETTINGS, TAIL):
        properties |= table.properties()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": IDENTITY,
        "title": "Toolpath plan",
        "description": "A plan of tool calls: what is called, with what, in which order, and what follows a failure.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": ["steps"],
        "$defs": {
            "step": _step(),
            "block": BRANCH.schema(),
            "branch": {
                "title": "Branch",
                "if": {"type": "object", "required": ["steps"]},
                "then": {"$ref": "#/$defs/block"},
                "else": {"$ref": "#/$defs/step"},
            },
            **{kind.word: kind.table.schema() for kind in STEP_KINDS if not kind.is_inline},
            "field": FIELD.schema(),
            "retry": RETRY.schema(),
            "fallback": FALLBACK.schema(),
            "duration": {
                "title": "Duration",
                "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION}],
                "examples": ["30s", "2m", "1h30m", 5],
            },
            "id": {
                "title": "Id",
                "type": "string",
                "pattern": ID,
                "maxLength": MAX_LENGTH,
                "not": {"enum": sorted(FORBIDDEN)},
            },
            "texts": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
    }


def _step() -> JsonObject:
    properties: JsonObject = {}
    needs: JsonObject = {}
    for kind in STEP_KINDS:
        if not kind.is_inline:
            properties[kind.word] = {"description": kind.tells, "$ref": f"#/$defs/{kind.word}"}
            continue
        own = kind.table.properties()
        properties |= own
        needs |= {name: [kind.word] for name in own if name != kind.word}
    return {
        "title": "Step",
        "description": f"Exactly one of {', '.join(ACTIONS)}.",
        "type": "object",
        "properties": properties | STEP.properties(),
        "additionalProperties": False,
        "oneOf": [{"required": [word]} for word in ACTIONS],
        "dependentRequired": needs,
    }


def main() -> None:
    """Write the schema as it is shipped."""
    sys.stdout.write(json.dumps(plan_json_schema(), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
