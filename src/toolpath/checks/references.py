"""Rules on names: that each expression is of the language and every name in it means something there. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toolpath.checks.context import Context
from toolpath.checks.misnamed import at_character, fault_at, is_rest_of_dashed, name_hint
from toolpath.checks.remarks import error, listed, warning
from toolpath.checks.views import ReferenceUse
from toolpath.errors import Finding
from toolpath.expressions.names import Ambiguous, Names

_RUN_KEYS = ("id", "started_at")


def expressions_are_sound(context: Context) -> Iterator[Finding]:
    """The codes of the language: what stands in {{ }} is an expression, and secrets stand only where they may."""
    for template in context.views.templates:
        for pointer, fault in template.faults:
            if fault.code == "ambiguous_name":
                continue  # of which the rule on names speaks
            yield fault_at(context, template, pointer, fault)


def names_are_known(context: Context) -> Iterator[Finding]:
    """unknown_step, unknown_variable, unknown_input, unknown_reference, unknown_secret, ambiguous_name: all known."""
    for template in context.views.templates:
        for read in template.reads:
            if read.source is not None or read.kind == "item":
                continue
            reference = read.reference
            for finding in _name(context, read):
                yield at_character(context, template, reference.pointer, reference.offset, finding)


def _name(context: Context, read: ReferenceUse) -> Iterator[Finding]:
    match read.kind:
        case "unknown" if is_rest_of_dashed(read):
            pass  # the part before the dash tells of both
        case "unknown":
            found = _unknown(context, read)
            # A default stands in at run time, though it is hardly what was meant.
            yield msgspec.structs.replace(found, severity="warning") if read.reference.guarded else found
        case "ambiguous":
            yield _ambiguous(read, read.reference.root.candidates if isinstance(read.reference.root, Ambiguous) else ())
        case "inputs" if read.key:
            yield from _input(context, read)
        case "state" if read.key:
            yield from _variable(context, read)
        case "secrets":
            if context.secrets is not None and read.key and read.key not in context.secrets:
                yield error(
                    "unknown_secret",
                    read.path,
                    f"There is no secret '{read.key}'.",
                    suggestions=context.suggest(read.key, context.secrets),
                )
        case "run":
            key = read.key or (read.reference.path[0] if read.reference.path else None)
            if key is not None and key not in _RUN_KEYS:
                yield error(
                    "unknown_reference",
                    read.path,
                    f"'run' has no '{key}': it has 'id' and 'started_at'.",
                    suggestions=context.suggest(str(key), _RUN_KEYS),
                )
        case _:
            pass


def _unknown(context: Context, read: ReferenceUse) -> Finding:
    names = read.template.names
    written = read.reference.name
    space, rest = _split(written)
    if space == "steps":
        step_id = rest.rpartition(".")[0]
        shared = _shared(names, step_id)
        if shared:
            return _ambiguous(read, shared)
        return error(
            "unknown_step",
            read.path,
            f"There is no step '{step_id}' here.",
            hint=_inside_hint(context, step_id),
            suggestions=context.suggest(step_id, [name for name in _step_ids(read) if name not in _own_ids(read)]),
        )
    if space == "state" and not names.has_state:
        rest = rest or next((key for key in read.reference.path if isinstance(key, str)), "")
        known = rest in context.plan.inputs.get("properties", {})
        return error(
            "unknown_variable",
            read.path,
            f"'{written}': a graph in which no step writes a variable has no state.",
            hint=f"For the plan's input write 'inputs.{rest}'." if known else "Read a step's output by the step's id.",
        )
    if space == "state" or names.in_chain:
        name = rest if space == "state" else written
        return error(
            "unknown_variable",
            read.path,
            f"Nothing sets the variable '{name}'.",
            hint=name_hint(context, read) or _inside_hint(context, name),
            suggestions=context.suggest(name, _others(read)),
        )
    hint = name_hint(context, read)
    return error(
        "unknown_reference",
        read.path,
        f"'{written}' means nothing here.",
        hint=hint or _inside_hint(context, written),
        suggestions=() if hint else context.suggest(written, _others(read)),
    )


def _ambiguous(read: ReferenceUse, candidates: tuple[str, ...]) -> Finding:
    return error(
        "ambiguous_name",
        read.path,
        f"'{read.reference.name}' could be any of {listed(candidates)}.",
        hint="Give the steps ids and name one of them.",
        suggestions=candidates[:3],
    )


def _others(read: ReferenceUse) -> list[str]:
    """The names that mean something here, but for those of the very step that reads, and of what it is inside of."""
    own = _own_ids(read)
    return [name for name in read.template.names.visible() if read.template.names.ids.get(name, name) not in own]


def _own_ids(read: ReferenceUse) -> set[str]:
    own: set[str] = set()
    step = None if read.template.use == "transform" else read.template.step
    while step is not None:
        own.add(step.step.id)
        step = step.block.owner
    return own


def _shared(names: Names, name: str) -> tuple[str, ...]:
    """The steps that a tool's name could mean, here or in a block around."""
    around: Names | None = names
    while around is not None:
        if name in around.shared:
            return around.shared[name]
        around = around.outer
    return ()


def _split(written: str) -> tuple[str, str]:
    """`steps.a.status` as `steps` and `a.status`; `state['a-b']` as `state` and `a-b`."""
    space, _, rest = written.partition(".") if "[" not in written.partition(".")[0] else written.partition("[")
    return space, rest.replace("']", "").lstrip("'")


def _step_ids(read: ReferenceUse) -> list[str]:
    found: list[str] = []
    names = read.template.names
    while True:
        found += dict.fromkeys(names.ids.values())
        if names.outer is None:
            return found
        names = names.outer


def _inside_hint(context: Context, step_id: str) -> str:
    """A step of that id that stands where it cannot be seen."""
    view = context.views.hidden.get(step_id)
    if view is None or view.block.owner is None:
        return ""
    return (
        f"The step '{step_id}' is inside '{view.block.owner.step.id}' and seen only there: read what that step gives."
    )


def _input(context: Context, read: ReferenceUse) -> Iterator[Finding]:
    declared = context.plan.inputs.get("properties", {})
    if read.key in declared:
        return
    if context.plan.inputs.get("additionalProperties") in (None, False):
        yield error(
            "unknown_input",
            read.path,
            f"The plan has no input '{read.key}'; it has {listed(declared)}.",
            hint="Declare it under 'inputs'.",
            suggestions=context.suggest(read.key, declared),
        )
    elif not read.reference.guarded:
        yield warning(
            "maybe_missing",
            read.path,
            f"The plan's inputs admit '{read.key}', but do not declare it: it may not be given.",
            hint="Declare it under 'inputs', or read it with default(…).",
        )


def _variable(context: Context, read: ReferenceUse) -> Iterator[Finding]:
    names = read.template.names
    if read.key not in names.variables:
        yield error(
            "unknown_variable",
            read.path,
            f"Nothing sets the variable '{read.key}'.",
            suggestions=context.suggest(read.key, names.variables),
        )
    elif read.reference.name == read.key and read.key in names.ids:
        yield warning(
            "ambiguous_name",
            read.path,
            f"'{read.key}' is a variable of the state and a step: the variable is read.",
            hint=f"Write 'state.{read.key}' or 'steps.{read.key}.output'.",
        )
