"""Guesses at what an unknown name was meant to be: other words for the same, names with a dash. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from toolpath.checks.context import Context
from toolpath.checks.remarks import error
from toolpath.checks.views import ReferenceUse, TemplatePlace
from toolpath.errors import ExpressionError, Finding
from toolpath.expressions.names import CHAIN_VARIABLES
from toolpath.model.plan import Loop

_DASHED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)+")


def name_hint(context: Context, read: ReferenceUse) -> str:
    """The hint for a name that means nothing here; empty where none is known."""
    written = read.reference.name
    dashed = _dashed(read)
    if dashed is not None:
        return f"A dash is read as minus: write steps['{dashed}'].output."
    if written in context.plan.inputs.get("properties", {}):
        return f"For the plan's input write 'inputs.{written}'."
    if written == "last":
        has_variable = any("last" in view.step.on_success.map_outputs.values() for view in context.views.steps)
        other = " The variable of that name is read as 'state.last'." if has_variable else ""
        return f"'last' is the output of a loop's body, in its 'collect' alone.{other}"
    for view in context.views.steps:
        if isinstance(view.step, Loop) and view.step.item == written:
            return f"It is the loop variable of '{view.step.id}', which is known inside that loop alone."
    if written in ("loop", "item", "each", "it", "current") and (item := _item_here(read)):
        return f"The loop variable here is '{item}'."
    if written in CHAIN_VARIABLES:
        return "Only a composite has it; write 'run.id' or 'run.started_at'."
    return ROOTS.get(written, "")


def path_hint(read: ReferenceUse, available: tuple[str, ...]) -> str:
    """The hint for a path that leads out of the schema; empty where none is known."""
    keys = read.reference.path
    if keys and keys[0] in ("output", "result", "outputs", "response", "data") and f"{keys[0]}:" not in str(available):
        rest = "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in keys[1:])
        return f"'{read.reference.name}' is the output itself: write '{read.reference.name}{rest}'."
    last = keys[-1] if keys else None
    return PATHS.get(last, "") if isinstance(last, str) else ""


def is_rest_of_dashed(read: ReferenceUse) -> bool:
    """The name is what follows the dash in the id of a step."""
    return any(
        found.start() < read.reference.offset < found.end() and found.group() in _step_ids(read)
        for found in _DASHED.finditer(_source(read))
    )


def _dashed(read: ReferenceUse) -> str | None:
    """The id with a dash of which the name is the beginning."""
    found = _DASHED.match(_source(read), read.reference.offset)
    return found.group() if found is not None and found.group() in _step_ids(read) else None


def _source(read: ReferenceUse) -> str:
    leaf = read.template.leaves.get(read.reference.pointer)
    return "" if leaf is None else leaf.source


def _step_ids(read: ReferenceUse) -> Iterator[str]:
    names = read.template.names
    while True:
        yield from names.ids.values()
        if names.outer is None:
            return
        names = names.outer


def _item_here(read: ReferenceUse) -> str:
    names = read.template.names
    while names.item is None and names.outer is not None:
        names = names.outer
    return names.item or ""


def fault_at(context: Context, template: TemplatePlace, pointer: str, fault: ExpressionError) -> Finding:
    """The finding about what is no expression, at the character where it stands."""
    path = template.path + pointer
    found = error(fault.code, path, fault.message, hint=fault.hint, suggestions=fault.suggestions)
    return at_character(context, template, pointer, fault.offset, found)


def at_character(context: Context, template: TemplatePlace, pointer: str, offset: int, finding: Finding) -> Finding:
    """The finding with the line and column of a character of a text that stands on one line."""
    leaf = template.leaves.get(pointer)
    position = context.plan.source.positions.get(template.path + pointer)
    if leaf is None or position is None or "\n" in leaf.source:
        return finding
    # What begins with braces stands in quotes.
    column = position[1] + offset + (1 if leaf.source.startswith("{{") else 0)
    return msgspec.structs.replace(finding, line=position[0], column=column)


_INPUT = "For an input of the plan write 'inputs.NAME'."
_STEP = "Read a step's output by its id, e.g. {{ a.field }}, or {{ steps.ID.output }}."
_SECRET = "Write {{ secrets.NAME }}, in the inputs of a step."  # noqa: S105 - no secret, but how one is named
_OTHER_SYSTEM = "That is of another system: read inputs as 'inputs.NAME', and a step's output by its id."

#: First names of a path.
ROOTS: Final[dict[str, str]] = {
    **dict.fromkeys(("input", "params", "parameters", "args", "arguments", "vars", "variables", "context"), _INPUT),
    **dict.fromkeys(("step", "outputs", "output", "results", "result", "tools", "nodes", "prev", "previous"), _STEP),
    **dict.fromkeys(("env", "secret", "credentials", "config"), _SECRET),
    "undefined": "Ask `x is defined`, or `x is none`.",
    "nil": "Write `none`.",
    "this": _STEP,
    "self": _STEP,
    "loop": "Only inside a loop is there an item, by the name under its 'as'.",
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON", "y", "TRUE"), "Write true; 'yes' and 'on' are text."),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF", "n", "FALSE"), "Write false; 'no' and 'off' are text."),
    **dict.fromkeys(("github", "matrix", "needs", "jobs", "workflow"), _OTHER_SYSTEM),
    "now": "Only 'run.started_at' tells of time; use a tool for others.",
}
#: Last names of a path.
PATHS: Final[dict[str, str]] = {
    **dict.fromkeys(("length", "size", "count"), "Write `| length`."),
    **dict.fromkeys(("first", "last"), "Write `| first` or `| last`, or an index."),
    **dict.fromkeys(("upper", "toUpperCase"), "Write `| upper`."),
    **dict.fromkeys(("lower", "toLowerCase"), "Write `| lower`."),
    **dict.fromkeys(("keys", "values"), "Write `| keys` or `| values`."),
}
