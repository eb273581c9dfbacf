"""Composite notation → `Tool` whose body is a plan: tools made of other tools, written as YAML.

Faults are findings in `tool.body.source.findings`. Nothing here evaluates anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from toolpath.expressions.names import CHAIN_VARIABLES, retry_counts, written_variables
from toolpath.expressions.templates import expressions_of
from toolpath.model.plan import Plan
from toolpath.model.tool import Example, Tool
from toolpath.notation.implementations import plan_of_parts, read_implementation
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.plan import refuse_other_notation
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.ids import is_id
from toolpath.notation.reading.notes import Notes, below, shown
from toolpath.notation.reading.parameters import read_inputs, read_parameters, read_schema
from toolpath.notation.reading.rules import read_rules
from toolpath.notation.tables import TRAITS
from toolpath.notation.tree import read_tree
from toolpath.values import Json, JsonObject

COMPOSITE_FIELDS = (
    "name",
    "group",
    "display_name",
    "description",
    "category",
    "version",
    "tags",
    "metadata",
    "parameters",
    "returns",
    "outputs",
    "implementation",
    "business_rules",
    "session_policies",
    "casefile_policies",
    "audit_events",
    "examples",
    "error_scenarios",
    "documentation",
    *TRAITS.names,
    "undo",
    "reads",
    "sends",
)
_RESERVED = ("undo", "reads", "sends")
#: What says how a composite is written into the audit trail.
AUDITED = ("audit_events", "session_policies")


def read_composite(source: str | bytes | dict[str, Any], *, file: str = "") -> Tool:
    """The tool that a composite describes; its body is a plan with `composite` set, and with the reader's findings.

    Raises `ReadError` where there is no composite at all.
    """
    tree = read_tree(source, file=file)
    refuse_other_notation(tree, file)
    return tool_of(tree, file)


def tool_of(tree: DocumentNode, file: str = "") -> Tool:
    """The tool of a composite's tree."""
    notes = Notes(file)
    notes.place("", tree)
    fields = Fields(tree, "", notes)
    fields.ignore("$schema")
    group, name = _names(fields)
    described: dict[str, Any] = {
        "title": fields.text("display_name", "title", default=title_case(name)),
        "description": fields.text("description"),
        "version": fields.text("version", default="1.0.0"),
    }
    declared = _declared(fields)
    parts = read_implementation(fields, declared or {})
    rules = read_rules(fields)
    outer = fields.json("outputs")
    if outer is not None:
        parts = {**parts, "outputs": outer}
    body = plan_of_parts(
        {"timeout": None, **parts}, name=name, description=described["description"], version=described["version"]
    )
    body = msgspec.structs.replace(body, timeout=body.timeout or rules.timeout)
    body = _with_inputs(body, declared, notes)
    returned = _returned(fields)
    body = _with_outputs(body, returned)
    examples = _mappings(fields, "examples")
    tool = Tool(
        name=name,
        group=group,
        category=fields.text("category", default="general"),
        input_schema=body.inputs,
        output_schema=returned,
        requires=rules.requires,
        timeout=rules.timeout,
        rate=rules.rate,
        examples=tuple(_example(item) for item in examples),
        metadata=_metadata(fields, examples) | rules.metadata,
        **described,
        **_traits(fields),
    )
    fields.finish("A composite", COMPOSITE_FIELDS, {"steps": "Write them under implementation: composite: steps."})
    # Where the body is run as itself there is no step of the tool: what the trail is to keep of it goes along.
    audited = {name: rules.metadata[name] for name in AUDITED if name in rules.metadata}
    metadata = audited if "audit_events" in audited else {}
    return msgspec.structs.replace(tool, body=msgspec.structs.replace(body, source=notes.source(), metadata=metadata))


def title_case(name: str) -> str:
    """`gmail_to_drive` as `Gmail To Drive`."""
    return " ".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_") if word)


def _names(fields: Fields) -> tuple[str, str]:
    """Group and name; the name may be the whole key `group.name`."""
    node = fields.require("name")
    written = fields.text_in(node, "/name") if node is not None else None
    group = fields.text("group")
    before, _, name = (written or "").rpartition(".")
    for part, path in ((name, "/name"), (before or group, "/group")):
        if part and not is_id(part):
            fields.notes.error(
                "bad_id",
                f"{shown(part)} cannot name a tool.",
                path,
                node,
                hint="Use letters, digits, '_' and '-', for example archive_messages.",
            )
    group = before or group
    return group if is_id(group) else "", name if is_id(name) else "composite"


def _declared(fields: Fields) -> JsonObject | None:
    """The schema of the inputs; None where none is declared."""
    node = fields.node_of("parameters", "inputs")
    if node is None:
        return None
    if isinstance(node.value, dict) and "properties" not in node.value and "type" not in node.value:
        schema = read_parameters(node, "/parameters", fields.notes)
    else:
        schema = read_inputs(node, "/inputs", fields.notes, "/parameters")
    for name in CHAIN_VARIABLES:
        if name in schema.get("properties", {}):
            fields.notes.error(
                "reserved_name",
                f"Every chain has a variable {name!r} of its own.",
                below("/inputs/properties", name),
                node,
                hint="Rename the parameter.",
            )
    return schema


def _with_inputs(body: Plan, declared: JsonObject | None, notes: Notes) -> Plan:
    """The body with its inputs: declared, else every variable that it reads and no step writes."""
    if declared is not None:
        return msgspec.structs.replace(body, inputs=declared)
    missing = undeclared_variables(body)
    if not missing:
        return msgspec.structs.replace(body, inputs={"type": "object", "properties": {}})
    for name, path in missing.items():
        line, column = notes.source().position(path) or (0, 0)
        notes.warning(
            "undeclared_input",
            f"{name!r} is read and never written, so it is a required input of unknown type.",
            path,
            DocumentNode(None, line, column),
            hint=f"Declare it: parameters: [{{name: {name}, type: string, required: true}}].",
        )
    schema = {"type": "object", "properties": {name: {} for name in missing}, "required": list(missing)}
    return msgspec.structs.replace(body, inputs=schema)


def _returned(fields: Fields) -> JsonObject | None:
    node = fields.node_of("returns")
    return read_schema(node, "/returns", fields.notes) or None if node is not None else None


def _with_outputs(body: Plan, returned: JsonObject | None) -> Plan:
    """The body giving what `returns` names, where each of these is a variable of the chain; else all of the state."""
    names = (returned or {}).get("properties") or {}
    known = {*written_variables(body.block), *body.state, *body.inputs.get("properties", {})}
    if body.outputs is not None or not names or not known.issuperset(names):
        return body
    needed = (returned or {}).get("required", [])
    outputs = {name: f"{{{{ state[{name!r}]{'' if name in needed else ' | default(none)'} }}}}" for name in names}
    return msgspec.structs.replace(body, outputs=outputs)


def _example(item: JsonObject) -> Example:
    arguments = item.get("input", item.get("parameters"))
    return Example(
        query=str(item.get("description") or item.get("query") or ""),
        parameters=arguments if isinstance(arguments, dict) else {},
        expected_result=item.get("expected_output", item.get("expected_result")),
    )


def _mappings(fields: Fields, name: str) -> list[JsonObject]:
    """A list of mappings of any JSON values; what is no mapping is noted and left out."""
    node = fields.node_of(name)
    if node is None:
        return []
    path = below("", name)
    if not isinstance(node.value, list):
        fields.notes.wrong_type(path, node, "A list of mappings")
        return []
    found: list[JsonObject] = []
    for index, item in enumerate(node.value):
        if isinstance(item.value, dict):
            found.append(fields.notes.value(below(path, index), item))
        else:
            fields.notes.wrong_type(below(path, index), item, "A mapping")
    return found


def _metadata(fields: Fields, examples: list[JsonObject]) -> JsonObject:
    """The fields that describe the tool and change nothing: kept as they are written."""
    found: JsonObject = fields.mapping("metadata")
    described: dict[str, Json] = {
        "tags": list(fields.texts("tags")),
        "documentation": fields.json("documentation"),
        "examples": examples,
        "error_scenarios": _mappings(fields, "error_scenarios"),
    }
    return {**found, **{name: value for name, value in described.items() if value}}


def _traits(fields: Fields) -> dict[str, Any]:
    """The fields that a composite may have as any tool may."""
    found = TRAITS.values(fields)
    reserved = {name: fields.json(name) for name in _RESERVED}
    for name, value in reserved.items():
        if value is not None:
            fields.notes.information(
                "reserved_field", f"'{name}' is kept, and does nothing yet.", below("", name), fields.members[name]
            )
    return found | reserved


_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_VARIABLE = re.compile(r"(?<![\w.\]])(?:state|inputs)\.([A-Za-z_]\w*)")
_SUBSCRIPT = re.compile(r"(?<![\w.\]])(?:state|inputs)\[\s*(?:'([^'\\]+)'|\"([^\"\\]+)\")\s*\]")


def undeclared_variables(plan: Plan) -> dict[str, str]:
    """Each variable that is read as `state.x` or `inputs.x` and that no step writes → pointer to its first use."""
    known = {*written_variables(plan.block), *plan.state, *plan.inputs.get("properties", {}), *CHAIN_VARIABLES}
    known |= retry_counts(plan).keys()
    found: dict[str, str] = {}
    for path, expression in expressions_of(plan):
        for name in _read_in(expression):
            if name not in known:
                found.setdefault(name, path)
    return found


def _read_in(expression: str) -> Iterator[str]:
    for match in _SUBSCRIPT.finditer(expression):
        yield match[1] or match[2]
    for match in _VARIABLE.finditer(_QUOTED.sub("''", expression)):
        yield match[1]
