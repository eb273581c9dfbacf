"""Rules on what a tool is given: its inputs are known, complete, and of types that fit. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toolpath.checks.context import Context
from toolpath.checks.kinds import Kinds
from toolpath.checks.readings import Argument, InputSlot
from toolpath.checks.remarks import error, remark, warning
from toolpath.checks.shapes import Type
from toolpath.checks.template_types import argument, type_of_given
from toolpath.checks.views import StepView, TemplatePlace, has_template
from toolpath.errors import Finding, SchemaError
from toolpath.json_schema.coerce import types_of
from toolpath.json_schema.describe import type_text
from toolpath.json_schema.fits import SchemaFit, fits
from toolpath.json_schema.locate import Located, locate
from toolpath.json_schema.validate import Validator
from toolpath.model.plan import Agent, Plan
from toolpath.model.tool import Tool
from toolpath.values import JsonObject, key_pointer, pointer

_LIST: JsonObject = {"type": "array"}


class ToolUse(msgspec.Struct, frozen=True, eq=False):
    """One tool with the inputs that a step gives it."""

    view: StepView
    tool: Tool
    template: TemplatePlace
    """The inputs; a fallback without inputs of its own gets the step's."""
    path: str
    """Where a finding about the inputs as a whole belongs."""


def uses_of(context: Context, view: StepView) -> list[ToolUse]:
    """Every tool that the step may call, with what it is given."""
    own = None
    for template in view.templates:
        if template.use == "input":
            own = template
            break
    uses = [ToolUse(view, view.tool, own, own.path)] if view.tool is not None and own is not None else []
    if view.step.fallback:
        uses += _of_fallbacks(context, view, own)
    return uses


def _of_fallbacks(context: Context, view: StepView, own: TemplatePlace | None) -> Iterator[ToolUse]:
    is_agent = isinstance(view.step, Agent)
    if own is None and not is_agent:
        return
    given = {template.path: template for template in view.templates if template.use == "fallback"}
    for number, fallback in enumerate(view.step.fallback):
        tool = context.catalog.get(fallback.tool)
        at = f"{view.path}/fallback/{number}"
        if tool is not None:
            # Empty inputs have no template of their own, and are not the step's either.
            # What an agent is given is no tool's input.
            mine = None if is_agent else own
            template = mine if fallback.inputs is None else given.get(f"{at}/inputs")
            if template is not None:
                yield ToolUse(view, tool, template, f"{at}/inputs" if fallback.inputs is not None else f"{at}/tool")


def inputs_are_known(context: Context) -> Iterator[Finding]:
    """missing_input, unknown_input: a call has all the inputs that its tool requires, and no other."""
    for view in context.views.steps:
        for use in uses_of(context, view):
            yield from _missing(use)
            yield from _surplus(context, use)


def _missing(use: ToolUse) -> Iterator[Finding]:
    schema, given = use.tool.input_schema, use.template.value
    properties = _properties(schema)
    for name in schema.get("required", ()):
        if name in given or (isinstance(use.tool.body, Plan) and "default" in (properties.get(name) or {})):
            continue
        kind = type_text(properties.get(name))
        yield error(
            "missing_input",
            use.path,
            f"'{use.tool.key}' needs the input '{name}' ({kind}), which step '{use.view.step.id}' does not give.",
            hint=f"Add {name} to its inputs.",
        )


def _surplus(context: Context, use: ToolUse) -> Iterator[Finding]:
    schema = use.tool.input_schema
    properties = _properties(schema)
    is_closed = schema.get("additionalProperties") is False
    if not is_closed and ("properties" not in schema or schema.get("additionalProperties")):
        return
    for name in use.template.value:
        if name in properties or locate(schema, (name,)).found == "found":
            continue
        yield remark(
            "error" if is_closed else "warning",
            "unknown_input",
            use.template.path + pointer(name),
            f"'{use.tool.key}' has no input '{name}'; it has {_with_types(properties)}.",
            suggestions=context.suggest(name, properties),
        )


def _with_types(properties: JsonObject) -> str:
    shown = [f"{name} ({type_text(schema)})" for name, schema in list(properties.items())[:8]]
    if len(properties) > 8:
        shown.append(f"{len(properties) - 8} more")
    return ", ".join(shown) if shown else "none"


def values_fit(context: Context) -> Iterator[Finding]:
    """wrong_literal, never_fits, may_not_fit, bad_schema: what is given fits what the tool accepts."""
    for view in context.views.steps:
        for use in uses_of(context, view):
            if use.tool.input_schema:
                yield from _Arguments(context, use).findings()
        for template in view.templates:
            if template.use == "over":
                yield from _list(context, template)


def _list(context: Context, template: TemplatePlace) -> Iterator[Finding]:
    """The finding for a loop that goes over something that may be no list."""
    if not isinstance(template.value, str) or not has_template(template.value) or template.has_fault(""):
        return
    found = type_of_given(context.types, template, "", template.value, drops_null=False)
    if found is None:
        context.note_unknown(template, "")
        return
    wanted = locate(_LIST, ())
    fit = context.memory.fits(found, wanted)
    if fit.verdict == "unknown":
        context.note_unknown(template, "")
    elif fit.verdict != "fits":
        given = argument(context.types, template, "", template.value, found)
        yield _unfitting(context, fit, given, wanted, template.path, what="The loop")


def _unfitting(context: Context, fit: SchemaFit, given: Argument, schema: Located, path: str, *, what: str) -> Finding:
    memory = context.memory
    is_error = fit.verdict == "never" and given.sure is not None and memory.fits(given.sure, schema).verdict == "never"
    mark = (id(memory.kept(given.schema)), id(schema.schema), given.reads)
    hint = memory.ways_out.get(mark)
    if hint is None:
        hint = memory.ways_out[mark] = _way_out(context.types.kinds, given, schema)
    if not hint and not is_error and fit.verdict == "never":
        hint = "The tool's results are not held to its output schema."
    return remark(
        "error" if is_error else "warning",
        "never_fits" if is_error else "may_not_fit",
        path,
        f"{what} is given {given.text}: {fit.reason}.",
        hint=hint,
    )


def _way_out(kinds: Kinds, given: Argument, schema: Located) -> str:
    """How what is given becomes what is asked for, where there is one usual way; empty: there is none."""
    if not isinstance(schema.schema, dict):
        return ""
    rest = kinds.without_null(given.schema)
    if rest is not None and fits(rest, schema.schema, input_root=schema.root).verdict == "fits":
        if given.reads == "inputs":
            return "Put the input under 'required', give it a default, or write {{ … | default('…') }}."
        return "Where it may be null, write {{ … | default('…') }}."
    have = {kind for flat in kinds.flats(rest) or () for kind in types_of(flat)}
    match types_of(schema.schema):
        case ("array",) if "object" in have and (lists := _lists_in(given.schema)):
            return f"Name the list in it: {' or '.join(lists)}."
        case ("array",) if have:
            return "Put it into a list: [ … ]."
        case ("string",) if have & {"array", "object"}:
            return "Name a part of it that is text, or write `| json` to have all of it as text."
        case ("integer",) | ("number",) if "string" in have:
            return "Write `| int` or `| float` for text that holds a number."
        case _:
            return ""


def _lists_in(schema: Type) -> list[str]:
    """The first fields of an object that are lists."""
    fields = _properties(schema or {}).items()
    return [f"'{name}'" for name, field in fields if isinstance(field, dict) and "array" in types_of(field)][:3]


class _Arguments:
    """One call's inputs against its tool's schema."""

    __slots__ = ("_context", "_memory", "_use")

    def __init__(self, context: Context, use: ToolUse) -> None:
        self._context = context
        self._memory = context.memory
        self._use = use

    def findings(self) -> Iterator[Finding]:
        use = self._use
        validator = self._context.validator(use.tool)
        if isinstance(validator, SchemaError):
            yield warning(
                "bad_schema", use.path, f"The input schema of '{use.tool.key}' is no usable JSON Schema: {validator}"
            )
            return
        values = use.template.value
        literals = {name: value for name, value in values.items() if not use.template.holds_template(name)}
        if literals:
            yield from self._literals(validator, literals)
        for name, value in values.items():
            if name not in literals:
                slot = self._memory.slot(use.tool.input_schema, name)
                if slot.place.found == "found" and slot.place.schema:
                    yield from self._template(name, value, slot)

    def _literals(self, validator: Validator, literals: JsonObject) -> Iterator[Finding]:
        use = self._use
        required = use.tool.input_schema.get("required", ())
        # Null for what is optional is left out of the call.
        given = {name: value for name, value in literals.items() if value is not None or name in required}
        in_part = self._memory.validator_in_part(use.tool.input_schema, formats=use.tool.strict_formats)
        if in_part is not None and in_part.is_valid(given):
            return
        try:
            validator.accept(given)
        except SchemaError as fault:
            for where, what in fault.faults:
                name = where.split("/")[1].replace("~1", "/").replace("~0", "~") if where else ""
                if name in given and locate(use.tool.input_schema, (name,)).found == "found":
                    yield error(
                        "wrong_literal",
                        use.template.path + where,
                        f"'{name}' of '{use.tool.key}' does not fit: {what}.",
                    )

    def _template(self, name: str, value: object, slot: InputSlot) -> Iterator[Finding]:
        use, context = self._use, self._context
        at = key_pointer(name)
        if use.template.has_fault(at):
            return
        found = type_of_given(context.types, use.template, at, value, drops_null=slot.drops_null)
        if found is None:
            context.note_unknown(use.template, at)
            return
        fit = self._memory.fits(found, slot.place)
        if fit.verdict == "fits":
            return
        if fit.verdict == "unknown" and not fit.by_input:
            context.note_unknown(use.template, at)
            return
        given = argument(context.types, use.template, at, value, found)
        what = f"'{name}' of '{use.tool.key}'"
        yield _unfitting(context, fit, given, slot.place, use.template.path + at, what=what)


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
