"""Implementation of a composite: a chain of steps, one registered tool, one HTTP request, or one expression.

Each becomes the parts of a plan. Source code is refused: nothing here is ever evaluated.
"""

from __future__ import annotations

import re
from typing import Any

from toolpath.model.plan import Call, Flow, Plan, Step
from toolpath.notation.bodies import read_flow, read_settings
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import alike, below, shown
from toolpath.notation.reading.requests import read_request
from toolpath.notation.tables import INPUT_ALIASES, OUTPUTS, SETTINGS
from toolpath.values import Json, JsonObject

TYPES = ("composite", "simple", "api_call", "data_transform")
IMPLEMENTATION_FIELDS = ("flow", "steps", *OUTPUTS.names, *SETTINGS.names)
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\w+\]|\[(?:'[^']*'|\"[^\"]*\")\])*")
# A text in quotes, or the name `source` that is no member of something else.
_SOURCE_NAME = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|(?<![\w.])source(?!\w)""")


def read_implementation(fields: Fields, inputs: JsonObject) -> dict[str, Any]:
    """The parts of the plan that the `implementation` of a composite describes, by the names of `Plan`."""
    node = fields.require("implementation", hint="Say how: implementation: {type: composite, composite: {steps: […]}}.")
    if node is None:
        return {"flow": "chain", "steps": ()}
    inner = Fields.of(node, "/implementation", fields.notes)
    if inner is None:
        return {"flow": "chain", "steps": ()}
    kind = inner.text("type", "template", default="simple")
    if kind not in TYPES:
        fields.notes.error(
            "unsupported_type",
            f"Unsupported implementation type: {shown(kind).strip(chr(39))}",
            "/implementation/type",
            inner.members.get("type") or inner.members.get("template"),
            hint=f"Use one of: {', '.join(TYPES)}.",
            suggestions=alike(kind, TYPES),
        )
        inner.ignore(*inner.members)
        return {"flow": "chain", "steps": ()}
    part = inner.require(
        kind, hint=f"Put what it is made of under it: implementation: {{type: {kind}, {kind}: {{…}}}}."
    )
    inner.finish("An implementation", ("type", "template", kind))
    # The body of a chain is the plan itself, so its pointers start at the plan.
    found = (
        None
        if part is None
        else Fields.of(part, "" if kind == "composite" else f"/implementation/{kind}", fields.notes)
    )
    if found is None:
        return {"flow": "chain", "steps": ()}
    match kind:
        case "composite":
            return _composite(found)
        case "simple":
            return _simple(found, inputs)
        case "api_call":
            return read_request(found, inputs)
        case _:
            return _transform(found, inputs)


def _composite(fields: Fields) -> dict[str, Any]:
    default: Flow = "chain"
    flow, steps = read_flow(fields, default)
    found = read_settings(fields)
    fields.finish("A composite", IMPLEMENTATION_FIELDS)
    return {**found, "flow": flow, "steps": steps}


def _simple(fields: Fields, inputs: JsonObject) -> dict[str, Any]:
    """One call of a registered tool, with the composite's own inputs unless it says others."""
    for name in ("logic", "code"):
        node = fields.node_of(name)
        if node is not None:
            fields.notes.error(
                "source_code",
                "Source code in a composite is not run.",
                below(fields.path, name),
                node,
                hint="Register the function as a tool and name it: simple: {function: group.name}.",
            )
            fields.ignore(*fields.members)
            return {"flow": "chain", "steps": (Call(id="step", derived_id=True, tool=""),)}
    node = fields.require("tool", "function", hint="Name a registered tool: simple: {function: group.name}.")
    tool = (fields.text_in(node, below(fields.path, "tool")) or "") if node is not None else ""
    given = fields.node_of("inputs", *INPUT_ALIASES)
    arguments = fields.mapping("inputs", *INPUT_ALIASES) if given is not None else forwarded(inputs)
    outputs = fields.json("outputs")
    fields.finish("A simple implementation", ("function", "tool", "inputs", "outputs"))
    steps: tuple[Step, ...] = (Call(id="step", derived_id=True, tool=tool, inputs=arguments),)
    return {"flow": "chain", "steps": steps, "outputs": "{{ steps.step.output }}" if outputs is None else outputs}


def forwarded(inputs: JsonObject) -> JsonObject:
    """Every declared input under its own name."""
    return {name: f"{{{{ {reference(name)} }}}}" for name in inputs.get("properties", {})}


def reference(name: str) -> str:
    """The expression for the value of an input."""
    return f"inputs.{name}" if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f"inputs[{name!r}]"


def _transform(fields: Fields, inputs: JsonObject) -> dict[str, Any]:
    """No calls: the output is an expression, in which `source` stands for what the field `source` names."""
    source = fields.json("source")
    transform = fields.json("transform", "transform_logic")
    fields.finish("A data transformation", ("source", "transform"))
    if source is None and transform is None:
        fields.notes.missing(below(fields.path, "transform"), "transform", fields.node)
        return {"flow": "chain", "steps": ()}
    names = inputs.get("properties", {})
    outputs = transformed(transform, _expression(source, names) if isinstance(source, str) else None)
    return {"flow": "chain", "steps": (), "outputs": source if transform is None else outputs}


def _expression(source: str, names: JsonObject) -> str:
    """The expression in a template, or in a path whose root may be an input by its bare name."""
    text = source.strip()
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        return text[2:-2].strip()
    root = re.match(r"\w+", text)
    return f"inputs.{text}" if root is not None and root.group() in names and _PATH.fullmatch(text) else text


def transformed(transform: Json, source: str | None) -> Json:
    """The transformation with `source` put in, as templates; a bare text is an expression, `| filter` continues it."""
    match transform:
        case dict():
            return {key: transformed(item, source) for key, item in transform.items()}
        case list():
            return [transformed(item, source) for item in transform]
        case str() if "{{" in transform:
            return re.sub(r"\{\{.*?\}\}", lambda found: _with_source(found.group(), source), transform, flags=re.DOTALL)
        case str() if transform.lstrip().startswith("|"):
            return f"{{{{ ({source or 'source'}) {transform.strip()} }}}}"
        case str():
            return f"{{{{ {_with_source(transform.strip(), source)} }}}}"
        case _:
            return transform


def _with_source(expression: str, source: str | None) -> str:
    if source is None:
        return expression
    return _SOURCE_NAME.sub(lambda found: found.group(1) or f"({source})", expression)


def plan_of_parts(parts: dict[str, Any], **rest: Any) -> Plan:
    """The plan that these parts make, as the body of a composite."""
    return Plan(**{**parts, **rest}, composite=True)
