"""Roots of references: the type of what a name stands for, and what messages call it. Pure."""

from __future__ import annotations

from typing import get_args

from toolpath.checks.shapes import Type
from toolpath.checks.type_source import TypeSource
from toolpath.checks.views import ReferenceUse, StepView, has_template
from toolpath.expressions.tree import Path
from toolpath.model.plan import Call
from toolpath.model.run import StepStatus
from toolpath.values import JsonObject

_TEXT: JsonObject = {"type": "string"}
_ASPECTS: dict[str, JsonObject] = {
    "status": {"type": "string", "enum": list(get_args(StepStatus))},
    "duration": {"type": "number"},
    "error": {
        "type": ["object", "null"],
        "properties": {"type": _TEXT, "message": _TEXT, "code": _TEXT, "retryable": {"type": "boolean"}},
        "required": ["type", "message", "code", "retryable"],
        "additionalProperties": False,
    },
}


def root_type(types: TypeSource, read: ReferenceUse) -> Type:
    """The type of what the name at the begin of a reference stands for."""
    match read.kind:
        case "output":
            return None if read.source is None else types.output(read.source)
        case "steps":
            return _ASPECTS.get(read.reference.aspect)
        case "state" if read.key:
            _, written = types.history.written(read.key, read)
            return types.variable(read.key, written=written)
        case "inputs" if read.key:
            return types.input(read.key)
        case "item":
            return _item(types, read)
        case "last":
            return types.block(read.template.block)
        case "run" | "secrets":
            return _TEXT
        case _:
            return None


def _item(types: TypeSource, read: ReferenceUse) -> Type:
    block = read.template.block.climb(read.up)
    owner = None if block is None else block.owner
    over = next((t for t in owner.templates if t.use == "over"), None) if owner is not None else None
    found = None if over is None else types.template(over)
    if over is not None and isinstance(over.value, list) and not has_template(over.value):
        return types.memory.one({"enum": over.value}) if over.value else None
    return types.kinds.items(found)


def is_lone(read: ReferenceUse) -> bool:
    """Whether the reference is all that stands in its text, so that its value goes on as it is."""
    return isinstance(read.template.tree(read.reference.pointer), Path)


def describer(read: ReferenceUse) -> str:
    """Name of what would have to say what the reference gives, e.g. `the output of 'web.search'`."""
    return described_by(read) or f"'{read.text}'"


def described_by(read: ReferenceUse) -> str:
    """Name of what has the schema that tells of what is read, for messages; empty: nothing has."""
    match read.kind:
        case "output" if read.source is not None:
            return _describer(read.source)
        case "state" if read.key:
            return f"what is written to '{read.key}'"
        case "inputs" if read.key:
            return "the plan's inputs"
        case "item":
            return "the list of the loop"
        case "last":
            return "the body of the loop"
        case "steps" | "run" | "secrets":
            return "the engine"
        case _:
            return ""


def _describer(source: StepView) -> str:
    match source.step:
        case Call() if source.tool is not None:
            return f"the output of '{source.tool.key}'"
        case _:
            return f"the output of '{source.step.id}'"
