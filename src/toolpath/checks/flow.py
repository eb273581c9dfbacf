"""Rules on order: cycles, jumps, what can be reached, what has ended when it is read, who writes a variable. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.dependencies import StepWait, ancestors, find_cycles, writers_of
from toolpath.checks.jumps import can_end, edges_of, reached, target_of
from toolpath.checks.remarks import error, listed, warning
from toolpath.checks.views import BlockView, StepView
from toolpath.errors import Finding
from toolpath.expressions.names import CHAIN_VARIABLES
from toolpath.model.plan import Loop, Parallel


def dependencies_exist(context: Context) -> Iterator[Finding]:
    """unknown_dependency, ambiguous_dependency, self_dependency, not_upstream: `depends_on` names steps beside it."""
    for view in context.views.steps:
        names = view.block.names
        for number, name in enumerate(view.step.depends_on):
            path = f"{view.path}/depends_on/{number}"
            source = view.block.positions.get(names.ids.get(name, ""))
            if name in names.shared:
                yield error(
                    "ambiguous_dependency",
                    path,
                    f"'{name}' could be any of the steps {listed(names.shared[name])}.",
                    hint="Name one of them.",
                    suggestions=names.shared[name][:3],
                )
            elif source is None:
                hint = ""
                if name in context.views.hidden:
                    hint = "It stands in another block: let the step that holds this one depend on what is beside it."
                yield error(
                    "unknown_dependency",
                    path,
                    f"There is no step '{name}' beside '{view.step.id}'.",
                    hint=hint,
                    suggestions=() if hint else context.suggest(name, view.block.positions.keys() - {view.step.id}),
                )
            elif source == view.index:
                yield error("self_dependency", path, f"Step '{view.step.id}' depends on itself.", hint="Take it out.")
            elif view.block.is_chain and not _may_have_ended(context, view, source):
                yield error(
                    "not_upstream",
                    path,
                    f"Step '{name}' comes after '{view.step.id}' in its chain and cannot have ended before it.",
                    hint="A chain runs in its order: take the dependency out, or move the step.",
                )


def _may_have_ended(context: Context, view: StepView, source: int) -> bool:
    facts = context.history.at(view)
    return facts is None or bool(facts.may_end >> source & 1)


def graphs_have_no_cycles(context: Context) -> Iterator[Finding]:
    """cycle, self_dependency: no step of a graph waits, however indirectly, for itself."""
    for block in context.views.blocks():
        if block.is_chain:
            continue
        waits = context.waits[block]
        for wait in waits:
            if wait.step == wait.source and wait.reason != "depends_on":
                view = block.steps[wait.step]
                yield error(
                    "self_dependency",
                    wait.path,
                    f"Step '{view.step.id}' reads its own output, '{wait.reason}', before it has one.",
                    hint="Read another step, or an input of the plan.",
                )
        for cycle in find_cycles(len(block.steps), waits):
            yield _cycle(block, cycle, waits)


def _cycle(block: BlockView, cycle: list[int], waits: list[StepWait]) -> Finding:
    pairs = list(itertools.pairwise(cycle))
    wanted = set(pairs)
    reasons = {(wait.step, wait.source): wait for wait in reversed(waits) if (wait.step, wait.source) in wanted}
    told = [f"{block.steps[step].step.id} waits for {reasons[step, source].reason}" for step, source in pairs[:6]]
    return error(
        "cycle",
        block.steps[cycle[0]].path,
        f"Circular dependency detected between tools: {_way([block.steps[index].step.id for index in cycle])}",
        hint=f"Take one of these out: {'; '.join(told)}.",
    )


def _way(names: list[str]) -> str:
    shown = names if len(names) <= 20 else [*names[:10], "…", *names[-9:]]
    return " → ".join(shown)


def jumps_lead_somewhere(context: Context) -> Iterator[Finding]:
    """unknown_jump, ambiguous_jump, jump_in_graph: `next` names one step of the same chain, or `end`."""
    for view in context.views.steps:
        for field, name in (
            ("on_success", view.step.on_success.next),
            ("on_failure", view.step.on_failure.next),
        ):
            if name is not None:
                yield from _jump(context, view, name, f"{view.path}/{field}/next")


def _jump(context: Context, view: StepView, name: str, path: str) -> Iterator[Finding]:
    if not view.block.is_chain:
        yield error(
            "jump_in_graph",
            path,
            f"'{view.step.id}' jumps to '{name}', but its block is a graph, which has no order to jump in.",
            hint="Write 'flow: chain', or use 'when' and 'depends_on'.",
        )
        return
    target = target_of(view.block, name)
    if isinstance(target, tuple):
        yield error(
            "ambiguous_jump",
            path,
            f"'{name}' could be any of the steps {listed(target)}.",
            hint="Name one of them by its id.",
            suggestions=target[:3],
        )
    elif target is None:
        hidden = name in context.views.hidden
        yield error(
            "unknown_jump",
            path,
            f"There is no step '{name}' in this chain.",
            hint="A jump stays within its chain." if hidden else "",
            suggestions=() if hidden else context.suggest(name, [*view.block.positions, "end"]),
        )


def chains_come_to_an_end(context: Context) -> Iterator[Finding]:
    """endless_jump, unreachable, fall_through: control gets to every step of a chain, and out of it."""
    for block in context.views.blocks():
        if not block.is_chain or not block.steps:
            continue
        edges = edges_of(block, context.plan)
        here = reached(edges)
        ends = can_end(edges)
        endless = [index for index in sorted(here) if index not in ends and edges[index]]
        if endless:
            ids = [block.steps[index].step.id for index in endless]
            yield error(
                "endless_jump",
                block.steps[endless[0]].path,
                f"From '{ids[0]}' control never gets to the end of the chain: {_way([*ids, ids[0]])}.",
                hint="Give one of them a 'next: end', a 'when', or an 'on_failure' that leads out.",
            )
        yield from _unreachable(block, here)
        yield from _fall_through(block)


def _unreachable(block: BlockView, here: set[int]) -> Iterator[Finding]:
    for view in block.steps:
        # One finding for a run of steps that nothing gets to.
        if view.index not in here and (view.index - 1 in here or view.index == 0):
            yield warning(
                "unreachable",
                view.path,
                f"Control never gets to step '{view.step.id}'.",
                hint="Jump to it, or take it out.",
            )


def _fall_through(block: BlockView) -> Iterator[Finding]:
    """Steps that are there for a failure, and into which control also runs when nothing has failed."""
    said: set[int] = set()
    for view in block.steps:
        step = view.step
        target = None if step.on_failure.next is None else target_of(block, step.on_failure.next)
        if not isinstance(target, int) or not view.index < target < len(block.steps) or target in said:
            continue
        before = block.steps[target - 1].step
        meet = step.on_success.next is not None and target_of(block, step.on_success.next) == target
        if meet or before.on_success.next is not None:
            continue
        said.add(target)
        handler = block.steps[target].step.id
        yield warning(
            "fall_through",
            block.steps[target - 1].path,
            f"After '{before.id}' control runs on into '{handler}', to which '{step.id}' branches when it fails.",
            hint=f"Give '{before.id}' an 'on_success' with 'next': the step after '{handler}', or 'end'.",
        )


def writers_are_ordered(context: Context) -> Iterator[Finding]:
    """unordered_writers, two_writers, reserved_variable: one variable, one writer at a time."""
    for view in context.views.steps:
        yield from _reserved(view)
        if isinstance(view.step, Parallel):
            yield from _branches(view)
        elif isinstance(view.step, Loop) and view.step.concurrency != 1:
            yield from _items(view)
    for block in context.views.blocks():
        if not block.is_chain:
            yield from _graph_writers(context, block)


def _reserved(view: StepView) -> Iterator[Finding]:
    on_success = view.step.on_success
    for field, variable in on_success.map_outputs.items():
        if variable in CHAIN_VARIABLES:
            yield _read_only(f"{view.path}/on_success/map_outputs/{field}", variable)
    for variable in on_success.transform:
        if variable in CHAIN_VARIABLES:
            yield _read_only(f"{view.path}/on_success/transform/{variable}", variable)


def _read_only(path: str, variable: str) -> Finding:
    return error(
        "reserved_variable",
        path,
        f"'{variable}' is set by the engine and can only be read.",
        hint="Choose another name.",
        suggestions=(f"my_{variable}",),
    )


def _branches(view: StepView) -> Iterator[Finding]:
    if not isinstance(view.step, Parallel) or view.step.wait_for != "all":
        return
    writers: dict[str, list[str]] = {}
    for branch in view.blocks:
        for variable in writers_of(branch):
            writers.setdefault(variable, []).append(branch.name or "a branch")
    for variable, branches in writers.items():
        if len(branches) > 1:
            yield warning(
                "two_writers",
                view.path,
                f"The branches {listed(branches)} of '{view.step.id}' all write '{variable}': "
                "the last of them in the order of the plan wins.",
                hint="Give each its own variable.",
            )


def _items(view: StepView) -> Iterator[Finding]:
    written = [variable for block in view.blocks for variable in writers_of(block)]
    if written:
        yield warning(
            "two_writers",
            view.path,
            f"Items of '{view.step.id}' run side by side and all write {listed(written)}: the last item wins.",
            hint="Use 'collect', or 'concurrency: 1'.",
        )


def _graph_writers(context: Context, block: BlockView) -> Iterator[Finding]:
    shared = {variable: steps for variable, steps in writers_of(block).items() if len(steps) > 1}
    if not shared:
        return
    before = ancestors(len(block.steps), context.waits[block])
    for variable, steps in shared.items():
        # In an order of ever more ancestors, each writer must have the one before it among its own.
        ordered = sorted(steps, key=lambda index: before[index].bit_count())
        for first, second in itertools.pairwise(ordered):
            if not before[second] >> first & 1:
                ids = (block.steps[first].step.id, block.steps[second].step.id)
                yield error(
                    "unordered_writers",
                    block.steps[max(first, second)].path,
                    f"'{ids[0]}' and '{ids[1]}' both write '{variable}', and neither waits for the other.",
                    hint=f"Let one of them depend on the other, e.g. depends_on: [{ids[0]}] in '{ids[1]}'.",
                )
                break
