"""A composite alone: its inner tools are stand-ins that answer what an example of it expects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from toolpath.app import Toolpath
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import ToolFailed
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Requires, Tool
from toolpath.notation.composite import read_composite
from toolpath.runs.opening import tools_of
from toolpath.testing.scripted import ScriptedTool, scripted
from toolpath.values import Json, JsonObject, made_ready

Test = Callable[[Toolpath], Awaitable[None]]


def stand_ins(
    composite: JsonObject, *, tools: JsonObject | None = None, gives: Json = None, fails: str = ""
) -> list[ScriptedTool]:
    """A scripted tool for each one that the composite calls.

    `tools`: name → `{key, input_schema, output_schema, effect, output_validation, requires}` of those that are known:
    such a stand-in takes and gives only what these do. `gives`: the output that is expected of the composite; each
    field that a step keeps in one of its variables answers that variable's value. `fails`: every call fails with this
    text instead.
    """
    plan = read_composite(composite).body
    assert isinstance(plan, Plan)
    expected = gives if isinstance(gives, dict) else {}
    known = tools or {}
    answers: dict[str, Json] = {name: _answer(known.get(name), expected) for name in sorted(tools_of(plan))}
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            _keep(answers[step.tool], step, known.get(step.tool), expected)
    return [
        scripted(_described(name, known)["key"], then=ToolFailed(fails) if fails else answer, **_fields(name, known))
        for name, answer in answers.items()
    ]


def _answer(described: JsonObject | None, expected: JsonObject) -> Json:
    schema = (described or {}).get("output_schema")
    if schema is None:
        return dict(expected)
    found = sample(schema)
    if isinstance(found, dict):
        found.update({name: value for name, value in expected.items() if name in schema.get("properties", {})})
    return found


def _keep(answer: Json, step: Call, described: JsonObject | None, expected: JsonObject) -> None:
    """Have the answer hold what the step keeps of it, as far as its tool gives it."""
    if not isinstance(answer, dict):
        return
    schema = (described or {}).get("output_schema")
    for field, variable in step.on_success.map_outputs.items():
        if schema is None:
            answer[field] = expected.get(variable, [])
        elif field in answer and variable in expected:
            answer[field] = expected[variable]


def _described(name: str, known: JsonObject) -> JsonObject:
    return {"key": name, **known.get(name, {})}


def _fields(called: str, known: JsonObject) -> dict[str, Any]:
    """The fields of a tool that are known of it."""
    described = known.get(called)
    if described is None:
        return {}
    fields = {
        key: described[key] for key in ("input_schema", "output_schema", "effect", "idempotent") if key in described
    }
    # A sample is of the types that the schema names, and cannot know its patterns.
    fields["output_validation"] = "warn"
    return fields | {"requires": msgspec.convert(described.get("requires", {}), Requires)}


def faults_of(composite: JsonObject, tools: JsonObject | None = None) -> list[str]:
    """The faults of the composite by what is known of its tools: errors, and fields that no tool gives."""
    read = read_composite(composite)
    assert isinstance(read.body, Plan)
    known = tools or {}
    offered: dict[str, Tool] = {}
    for stand_in in stand_ins(composite, tools=tools):
        offered[stand_in.key] = stand_in
    for described in known.values():
        validation = described.get("output_validation", "warn")
        offered[described["key"]] = msgspec.structs.replace(offered[described["key"]], output_validation=validation)
    findings = check(read.body, Catalog(offered))
    return [str(found) for found in findings if found.severity == "error" or found.code == "outside_schema"]


def offline(
    composite: JsonObject, *, tools: JsonObject | None = None, gives: Json = None, fails: str = ""
) -> Callable[[Test], Callable[[], None]]:
    """Makes an `async` test of an open `Toolpath` one that any runner runs: in memory, the tools being `stand_ins`."""

    def decorated(test: Test) -> Callable[[], None]:
        async def opened() -> None:
            async with Toolpath() as tp:
                tp.add(*stand_ins(composite, tools=tools, gives=gives, fails=fails))
                await test(tp)

        def run() -> None:
            asyncio.run(opened())

        # Not `wraps`: a test runner would look for a fixture of the name of the test's parameter.
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorated


_DEEPEST = 12
_OF_TYPE: dict[str, Json] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


def sample(schema: Any) -> Json:
    """A value of the schema: its first example, default or word, else one of its type with all described fields."""
    return _sample(schema, schema, 0)


def _sample(schema: Any, root: Any, depth: int) -> Json:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    for name in ("const", "default"):
        if name in schema:
            found: Json = schema[name]
            return found
    for name in ("examples", "enum"):
        if isinstance(schema.get(name), list) and schema[name]:
            first: Json = schema[name][0]
            return first
    if isinstance(schema.get("$ref"), str):
        return _sample(_pointed(root, schema["$ref"]), root, depth + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _sample(schema[name][0], root, depth + 1)
    return _of_kind(schema, root, depth)


def _of_kind(schema: dict[str, Any], root: Any, depth: int) -> Json:
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    if kind == "object" or (kind is None and "properties" in schema):
        parts = schema.get("properties") or {}
        return {name: _sample(part, root, depth + 1) for name, part in parts.items()}
    if kind == "array":
        return [_sample(schema.get("items"), root, depth + 1)] * min(int(schema.get("minItems", 1)), 20)
    found: Json = _OF_TYPE.get(kind) if isinstance(kind, str) else None
    if kind in ("integer", "number") and isinstance(schema.get("minimum"), int | float):
        found = schema["minimum"]
    elif kind == "string" and isinstance(schema.get("minLength"), int):
        found = "text".ljust(min(schema["minLength"], 1000), "x")
    return found


def _pointed(root: Any, reference: str) -> Any:
    found = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ():
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found


made_ready(Requires)
