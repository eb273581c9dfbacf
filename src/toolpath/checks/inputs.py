"""Rules on the inputs that a plan declares: a JSON Schema describes them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import error
from toolpath.errors import Finding
from toolpath.json_schema.document import SchemaNode, subschemas
from toolpath.json_schema.validate import schema_faults
from toolpath.notation.reading.parameters import TYPES
from toolpath.values import JsonObject


def inputs_are_described(context: Context) -> Iterator[Finding]:
    """not_a_schema: the plan's inputs are described by a JSON Schema."""
    faults = schema_faults(context.plan.inputs) if context.plan.inputs else ()
    misnamed = [*_misnamed_types(context.plan.inputs)] if faults else []
    yield from misnamed
    for at, fault in () if misnamed else faults:
        yield error(
            "not_a_schema",
            f"/inputs{at}",
            f"The plan's inputs are not described by a JSON Schema: {fault}.",
            hint="Write {type: object, properties: {name: {type: string}}, required: [name]}.",
        )


def _misnamed_types(schema: JsonObject) -> Iterator[Finding]:
    """Types by names that other languages have for them."""
    for node in subschemas(SchemaNode(schema)):
        said = node.get("type")
        for index, word in enumerate(said) if isinstance(said, list) else [(-1, said)]:
            known = TYPES.get(word.lower(), "") if isinstance(word, str) else ""
            if known and word != known:
                at = f"/inputs{node.at}/type" + (f"/{index}" if index >= 0 else "")
                yield error("not_a_schema", at, f"{word!r} is no type of a JSON Schema.", suggestions=(known,))
