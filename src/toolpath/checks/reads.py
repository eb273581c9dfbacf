"""Rules on what is read: that it has happened by then, is surely there, and lies inside its schema. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from toolpath.checks.arguments import uses_of
from toolpath.checks.context import Context
from toolpath.checks.dependencies import is_own
from toolpath.checks.judge import Fault
from toolpath.checks.judged_templates import mode_of
from toolpath.checks.jumps import goes_on_after_failure, may_skip
from toolpath.checks.misnamed import path_hint
from toolpath.checks.remarks import error, listed, remark, warning
from toolpath.checks.roots import described_by, is_lone
from toolpath.checks.shapes import HELD, field_of
from toolpath.checks.views import ReferenceUse, StepView, TemplatePlace, read_of
from toolpath.errors import Finding
from toolpath.values import pointer


def reads_come_after(context: Context) -> Iterator[Finding]:
    """not_upstream, maybe_missing: what is read may have happened by then, and surely has."""
    for template in context.views.templates:
        for read in template.reads:
            if read.source is not None:
                may, sure = context.history.step(read)
                if not (may and sure):
                    yield from _step(context, read, read.source, may)
            elif read.kind == "state" and read.key in template.names.variables:
                yield from _variable(context, read)


def _step(context: Context, read: ReferenceUse, source: StepView, may: bool) -> Iterator[Finding]:
    """Findings on a step that has not surely succeeded when it is read."""
    reader = read.template.step
    if reader is not None and is_own(read, reader, source.block):
        return
    if not may:
        # In a graph that is a step that waits for itself, of which the rule on cycles speaks.
        if source.block.is_chain:
            yield error(
                "not_upstream",
                read.path,
                f"'{read.text}' is read where step '{source.step.id}' cannot have ended yet.",
                hint="Move that step up, or this one down.",
            )
    elif read.kind == "output" and not _is_covered(context, read, source):
        yield warning(
            "maybe_missing",
            read.path,
            f"'{read.text}' is null where step '{source.step.id}' {_why(context, source)}.",
            hint=f"Read it with a default, e.g. {{{{ {read.text} | default('') }}}}, or give both one condition.",
        )


def _is_covered(context: Context, read: ReferenceUse, source: StepView) -> bool:
    """The expression, the step's own condition or the place that the value goes to makes null harmless."""
    if read.reference.guarded or takes_null(context, read):
        return True
    reader = read.template.step
    return reader is not None and _shares_condition(context, reader, source)


def _shares_condition(context: Context, reader: StepView, source: StepView) -> bool:
    """Both run under one and the same condition, so that where one is skipped the other is too."""
    when = source.step.when
    if when is None or reader.block is not source.block or source.block.is_chain or reader.step.when != when:
        return False
    if (source.step.on_unresolved or context.plan.on_unresolved) == "skip":
        return False
    return not goes_on_after_failure(source.step, context.plan.failure_mode)


def takes_null(context: Context, read: ReferenceUse) -> bool:
    """The reference is all that stands there, and what it goes to has a use for null."""
    template = read.template
    if not is_lone(read):
        return False
    match template.use:
        case "outputs" | "collect" | "transform" | "when" | "approval" | "cache_key":
            return True
        case "input" | "fallback":
            names = read.reference.pointer.split("/")[1:]
            if len(names) != 1:
                return False
            uses = uses_of(context, template.step) if template.step is not None else ()
            schemas = [use.tool.input_schema for use in uses if use.template is template]
            return all(context.memory.slot(schema, names[0]).drops_null for schema in schemas)
        case _:
            return False


def _why(context: Context, source: StepView) -> str:
    if may_skip(source.step, context.plan.on_unresolved):
        return "is skipped"
    if goes_on_after_failure(source.step, context.plan.failure_mode) or not source.step.critical:
        return "has failed"
    return "is not visited"


def _variable(context: Context, read: ReferenceUse) -> Iterator[Finding]:
    may, _ = context.history.variable(read.key, read)
    if not may:
        yield error(
            "not_upstream",
            read.path,
            f"The variable '{read.key}' is read where nothing can have set it yet.",
            hint="Write it in an earlier step, or give it a first value under 'state'.",
        )


def paths_are_there(context: Context) -> Iterator[Finding]:
    """outside_schema, may_not_fit, maybe_missing, never_fits: what expressions read is there, and is what they need."""
    for template in context.views.templates:
        for at, leaf in template.leaves.items():
            if leaf.faults:
                continue
            judged = context.types.judged(template, at)
            if not judged.faults and not judged.unknown:
                continue
            for reference in judged.unknown:
                context.note_unknown_read(read_of(template, reference))
            for fault in judged.faults:
                yield from _fault(context, template, at, fault)


def _fault(context: Context, template: TemplatePlace, at: str, fault: Fault) -> Iterator[Finding]:
    read = None if fault.reference is None else read_of(template, fault.reference)
    path = template.path + at
    match fault.flaw:
        case "outside" if read is not None:
            yield _outside(context, read)
        case "unset" if read is not None and not _is_forgiven(context, template):
            yield warning(
                "maybe_missing",
                path,
                f"The variable '{read.key}' may not be set: not every way to here sets it.",
                hint=f"Read it with a default, e.g. {{{{ state.{read.key} | default('') }}}}.",
            )
        case "absent" if not _is_forgiven(context, template):
            yield _absent(context, path, read, fault)
        case "mismatch":
            yield remark(
                "error" if fault.sure else "warning",
                "never_fits" if fault.sure else "may_not_fit",
                path,
                f"{fault.message[:1].upper()}{fault.message[1:]}.",
                hint=fault.hint,
            )
        case _:
            pass


def _absent(context: Context, path: str, read: ReferenceUse | None, fault: Fault) -> Finding:
    if read is None:
        hint = "Read it with a default, e.g. {{ … | default('') }}."
        return warning("maybe_missing", path, f"{fault.message}.", hint=hint)
    hint = f"Read it with a default, e.g. {{{{ {read.text} | default('') }}}}."
    if read.kind == "steps":
        return warning(
            "maybe_missing", path, f"'{read.text}' is not there where '{read.key}' has not failed.", hint=hint
        )
    described = described_by(read)
    return warning(
        "maybe_missing", path, f"'{read.text}' may not be there: {described} does not promise it.", hint=hint
    )


def _outside(context: Context, read: ReferenceUse) -> Finding:
    reading = context.types.reading(read)
    place = reading.place
    return remark(
        "error" if reading.held else "warning",
        "outside_schema" if reading.held else "may_not_fit",
        read.path,
        f"'{read.text}' is not in {described_by(read)}: {place.reason}.",
        hint=path_hint(read, place.available)
        or (f"It has {', '.join(place.available[:8])}." if place.available else ""),
        suggestions=context.suggest(_last_key(read), [name.partition(":")[0] for name in place.available]),
    )


def _last_key(read: ReferenceUse) -> str:
    return next((key for key in read.reference.path if isinstance(key, str)), "")


def _is_forgiven(context: Context, template: TemplatePlace) -> bool:
    """True where a missing value skips the step, or is null: then the type says whether that does harm."""
    return mode_of(context.types, template) in ("skip", "null")


def mappings_are_there(context: Context) -> Iterator[Finding]:
    """outside_schema, may_not_fit: the fields that `map_outputs` takes are in the step's output."""
    for view in context.views.steps:
        for field in view.step.on_success.map_outputs:
            schema = context.types.output(view)
            place = field_of(schema, field)
            if place.found == "missing" and schema is not None:
                held = bool(schema.get(HELD))
                yield remark(
                    "error" if held else "warning",
                    "outside_schema" if held else "may_not_fit",
                    f"{view.path}/on_success/map_outputs{pointer(field)}",
                    f"The output of '{view.step.id}' has no field '{field}': {place.reason}.",
                    hint=f"It has {', '.join(place.available[:8])}." if place.available else "",
                    suggestions=context.suggest(field, [name.partition(":")[0] for name in place.available]),
                )


def types_are_known(context: Context) -> Iterator[Finding]:
    """unknown_type: one finding for each output, input or variable of which nobody says what it is."""
    for source, reads in context.unknown.items():
        texts = list(dict.fromkeys(read.text for read in reads))
        yield warning(
            "unknown_type",
            reads[0].path,
            f"Nothing says the type of {listed(texts, 4)}, so it cannot be checked."
            if reads[0].kind == "inputs"
            else f"{source[:1].upper()}{source[1:]} is not described, so {listed(texts, 4)} cannot be checked.",
            hint="Give it a type in the plan's inputs, as name: {type: string}."
            if reads[0].kind == "inputs"
            else "Declare an output schema, or read it with a default.",
        )
