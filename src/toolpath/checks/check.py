"""`check(plan, catalog)`: every finding about a plan at once. The rules are the visible list `RULES`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks import (
    agents,
    arguments,
    blocks,
    budgets,
    effects,
    flow,
    ids,
    inputs,
    markup,
    reads,
    references,
    tools,
)
from toolpath.checks.check_result import Checked
from toolpath.checks.context import Context
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.nested import Bodies, nested_plans_are_sound
from toolpath.errors import Finding, Severity
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool

Rule = Callable[[Context], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    ids.ids_are_usable,
    inputs.inputs_are_described,
    tools.tools_exist,
    agents.agents_have_their_tools,
    agents.agents_have_their_models,
    agents.agents_can_end,
    tools.fields_belong,
    tools.verify_tools_exist,
    tools.reserved_fields,
    references.expressions_are_sound,
    references.names_are_known,
    markup.texts_are_meant,
    flow.dependencies_exist,
    flow.graphs_have_no_cycles,
    flow.jumps_lead_somewhere,
    flow.chains_come_to_an_end,
    flow.writers_are_ordered,
    reads.reads_come_after,
    reads.paths_are_there,
    reads.mappings_are_there,
    arguments.inputs_are_known,
    arguments.values_fit,
    reads.types_are_known,
    effects.writes_are_made_once,
    blocks.blocks_hold_something,
    budgets.budgets_can_hold,
)
"""In the order in which a reader of the findings wants them where two stand at one place."""

_WEIGHT: dict[Severity, int] = {"error": 0, "warning": 1, "information": 2}


def check(
    plan: Plan, catalog: Catalog, *, secrets: Collection[str] | None = None, memory: SchemaMemory | None = None
) -> tuple[Finding, ...]:
    """All that is wrong with the plan, and all that may go wrong: errors block a start, the rest does not.

    `secrets` are the names of the secrets that there are; None: not known, so that none is missed. In the order of the
    text, errors first where several stand at one place. `memory`: what earlier checks found of schemas; this one adds
    to it.
    """
    return checked(plan, catalog, secrets=secrets, memory=memory).findings


def checked(
    plan: Plan, catalog: Catalog, *, secrets: Collection[str] | None = None, memory: SchemaMemory | None = None
) -> Checked:
    """As `check`, and the expressions that were read, for the compiler of the plan."""
    memory = memory or SchemaMemory()
    bodies = Bodies(catalog, secrets, plan.limits.depth, memory)
    context = Context(plan, catalog, secrets=secrets, body_of=bodies.body, memory=memory)
    findings = _check(plan, context, bodies, {})
    inner = {key: body.views.expressions for key, body in bodies.contexts.items()}
    found = Checked(findings, context.views.expressions, inner)
    for seen in (context, *bodies.contexts.values()):
        seen.let_go()
    return found


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any of them blocks a start."""
    return any(finding.severity == "error" for finding in findings)


def _check(plan: Plan, context: Context, bodies: Bodies, done: dict[str, tuple[Finding, ...]]) -> tuple[Finding, ...]:
    def check_body(tool: Tool, body: Plan) -> tuple[Finding, ...]:
        if tool.key not in done:
            done[tool.key] = _check(body, bodies.context(tool, body), bodies, done)
        return done[tool.key]

    found = [*plan.source.findings, *nested_plans_are_sound(context, bodies, check_body)]
    for rule in RULES:
        found += rule(context)
    return _ordered(plan, found)


def _ordered(plan: Plan, findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of the text, each once, with the place in the file it was read from."""
    placed = [_placed(plan, finding) for finding in dict.fromkeys(findings)]
    return tuple(sorted(placed, key=_rank))


def _placed(plan: Plan, finding: Finding) -> Finding:
    if finding.line is not None:
        return finding
    position = plan.source.position(finding.path)
    if position is None:
        return finding
    return msgspec.structs.replace(finding, line=position[0], column=position[1])


def _rank(finding: Finding) -> tuple[int, int, tuple[tuple[int, str], ...], int]:
    parts = finding.path.split("/")
    natural = tuple([(int(part), "") if part.isdigit() and len(part) < 10 else (0, part) for part in parts])
    return finding.line or 0, finding.column or 0, natural, _WEIGHT[finding.severity]
