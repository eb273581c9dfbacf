"""`explain(plan, catalog)`: what waits for what, what runs side by side, how long, how dear, to what effect. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.context import Context
from toolpath.checks.dependencies import StepWait, ancestors
from toolpath.checks.explanation import BASES, Estimate, ExplainedBlock, ExplainedStep, Explanation, Waiting
from toolpath.checks.jumps import edges_of
from toolpath.checks.views import BlockView, StepView
from toolpath.model.plan import Agent, Call, Loop, Parallel, Plan, Step
from toolpath.model.tool import Tool, called_inside

#: Nested plans that are shown inside one another.
MAX_SHOWN_DEPTH = 3
_MOST_BESIDE = 20


class _Path(msgspec.Struct, frozen=True):
    """The steps that decide how long a block takes."""

    steps: tuple[int, ...] = ()
    duration: Estimate = Estimate()


def explain(plan: Plan, catalog: Catalog, *, depth: int = MAX_SHOWN_DEPTH) -> Explanation:
    """The account of what the plan will do, whether or not it checks. `depth`: of how many plans inside one another."""
    context = Context(plan, catalog)
    block, path, cost = _Explainer(context, depth, ()).plan()
    context.let_go()
    named = list(_named(block, ""))
    leaves: dict[str, tuple[str, ...]] = {}
    for name, step in named:
        if step.leaves_to:
            leaves[step.leaves_to] = (*leaves.get(step.leaves_to, ()), name)
    return Explanation(
        name=plan.name,
        description=plan.description,
        block=block,
        critical_path=tuple(block.steps[index].id for index in path.steps),
        duration=path.duration,
        cost=cost,
        writes=tuple(name for name, step in named if step.effect == "write"),
        destroys=tuple(name for name, step in named if step.effect == "destructive"),
        approvals=tuple(name for name, step in named if step.approval),
        asks=tuple(name for name, step in named if step.kind == "ask"),
        leaves=leaves,
        rests_on=_rests_on(plan),
    )


def _rests_on(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Basis, as the planner gave it → the arguments; words that are none are left out."""
    found: dict[str, tuple[str, ...]] = {}
    for step, arguments in plan.origin.rests_on.items():
        for name, basis in arguments.items() if isinstance(arguments, dict) else ():
            if basis in BASES:
                found[basis] = (*found.get(basis, ()), f"{step}.{name}")
    return {basis: found[basis] for basis in BASES if basis in found}


def _named(block: ExplainedBlock, prefix: str) -> Iterator[tuple[str, ExplainedStep]]:
    """Every leaf with its ids from the outside in; a nested plan stands for itself only where it is not shown."""
    for step in block.steps:
        name = prefix + step.id
        yield name, step
        for tool in step.may_call:
            # Of an agent it is known what it may do, not what it will.
            yield f"{name}/{tool.id}", tool
        for inner in step.blocks:
            yield from _named(inner, f"{name}/")


class _Explainer:
    """One plan: its views, and how deep it is inside others."""

    __slots__ = ("_context", "_depth", "_inside")

    def __init__(self, context: Context, depth: int, inside: tuple[str, ...]) -> None:
        self._context = context
        self._depth = depth
        self._inside = inside

    def plan(self) -> tuple[ExplainedBlock, _Path, Estimate]:
        """The plan's own block, its critical path, and what it costs."""
        return self.block(self._context.views.root)

    def block(self, block: BlockView) -> tuple[ExplainedBlock, _Path, Estimate]:
        """A block, its critical path, and what it costs."""
        waits = self._waits(block)
        steps = [self._step(view) for view in block.steps]
        path = _critical_path(steps, waits, is_chain=block.is_chain)
        beside = {} if block.is_chain else _side_by_side(len(steps), waits)
        reasons = _reasons(block, waits)
        shown = tuple(
            msgspec.structs.replace(
                step,
                waits=reasons.get(index, ()),
                critical=index in path.steps and len(steps) > 1,
                beside=tuple(block.steps[other].step.id for other in beside.get(index, ())),
            )
            for index, step in enumerate(steps)
        )
        cost = _sum(step.cost for step in steps)
        return ExplainedBlock(name=block.name, flow=block.block.flow, steps=shown), path, cost

    def _waits(self, block: BlockView) -> list[StepWait]:
        found = [wait for wait in self._context.waits[block] if wait.step != wait.source]
        if block.is_chain:
            edges = edges_of(block, self._context.plan)
            found += [
                StepWait(edge.target, edge.source, (_reason_of(edge.cause, edge.target - edge.source), ""))
                for steps in edges
                for edge in steps
                if edge.target < len(block.steps)
            ]
        return found

    def _step(self, view: StepView) -> ExplainedStep:
        step, tool = view.step, view.tool
        found = self._alone(view, self._inner(view))
        if view.blocks:
            return self._with_blocks(view, found)
        if isinstance(step, Agent):
            return self._agent(step, found)
        if tool is not None and isinstance(tool.body, Plan):
            return self._with_plan(tool, tool.body, found)
        if tool is None:
            unknown = (found.tool or step.id,)
            cost = Estimate(unknown=unknown) if step.shape.spends else Estimate()
            return msgspec.structs.replace(found, duration=Estimate(unknown=unknown), cost=cost)
        return msgspec.structs.replace(found, duration=self._duration(tool), cost=_cost(tool))

    def _alone(self, view: StepView, inner: Tool | None) -> ExplainedStep:
        """The step, without what is in it and without what it takes. `inner`: the tool that its tool calls for it."""
        step, tool = view.step, view.tool
        is_plan = tool is not None and isinstance(tool.body, Plan)
        return ExplainedStep(
            id=step.id,
            path="" if self._inside else view.path,
            kind="plan" if is_plan else step.shape.kind,
            tool=tool.key if tool is not None else step.tool if isinstance(step, Call) else "",
            effect="" if tool is None or is_plan else tool.effect,
            approval=bool(step.requires_approval) or any(one.requires.approval for one in (tool, inner) if one),
            when="" if step.when is None else str(step.when),
            leaves_to="" if tool is None else _destination(inner or tool),
            note=_note(step) or (f"calls {inner.key}" if inner is not None else ""),
        )

    def _inner(self, view: StepView) -> Tool | None:
        """The tool that the step's tool calls in turn, where the step says which."""
        if view.tool is None or not isinstance(view.step, Call):
            return None
        return called_inside(view.tool, view.step.inputs, self._context.catalog.get)

    def _agent(self, step: Agent, found: ExplainedStep) -> ExplainedStep:
        catalog = self._context.catalog
        tools = [tool for name in step.tools if (tool := catalog.get(name))] if step.tools else catalog.selectable()
        may_call = tuple(
            ExplainedStep(
                id=tool.key,
                path="",
                kind="plan" if isinstance(tool.body, Plan) else "call",
                tool=tool.key,
                effect=tool.effect,
                approval=tool.requires.approval,
                leaves_to=_destination(tool),
            )
            for tool in tools
        )
        unknown = Estimate(unknown=(step.id,))
        return msgspec.structs.replace(found, may_call=may_call, duration=unknown, cost=unknown)

    def _duration(self, tool: Tool) -> Estimate:
        stats = self._context.catalog.stats.get(tool.key)
        average = None if stats is None else stats.average_duration
        return Estimate(unknown=(tool.key,)) if average is None else Estimate(value=average)

    def _with_blocks(self, view: StepView, found: ExplainedStep) -> ExplainedStep:
        inner = [self.block(block) for block in view.blocks]
        durations = [path.duration for _, path, _ in inner]
        cost = _sum(cost for _, _, cost in inner)
        if isinstance(view.step, Loop):
            items = len(view.step.over) if isinstance(view.step.over, list) else None
            rounds = 1 if items is None else -(-items // max(1, view.step.concurrency))
            durations = [_times(duration, rounds, per_item=items is None) for duration in durations]
            cost = _times(cost, 1 if items is None else items, per_item=items is None)
        duration = max(durations, key=lambda d: d.value, default=Estimate())
        unknown = tuple(dict.fromkeys(name for d in durations for name in d.unknown))
        duration = msgspec.structs.replace(duration, unknown=unknown, per_item=any(d.per_item for d in durations))
        blocks = tuple(block for block, _, _ in inner)
        return msgspec.structs.replace(found, blocks=blocks, duration=duration, cost=cost)

    def _with_plan(self, tool: Tool, body: Plan, found: ExplainedStep) -> ExplainedStep:
        if len(self._inside) >= self._depth or tool.key in self._inside:
            unknown = Estimate(unknown=(tool.key,))
            cut = ExplainedBlock(flow=body.flow, cut=True)
            return msgspec.structs.replace(found, blocks=(cut,), duration=unknown, cost=unknown, effect=tool.effect)
        context = Context(body, self._context.catalog)
        block, path, cost = _Explainer(context, self._depth, (*self._inside, tool.key)).plan()
        context.let_go()
        return msgspec.structs.replace(found, blocks=(block,), duration=path.duration, cost=cost)


def _note(step: Step) -> str:
    match step:
        case Agent() as agent:
            asked = f"asks {agent.model}" if agent.model else "asks the model of the settings"
            first = "; a person allows each write" if agent.approve_writes else ""
            rounds = f"at most {agent.max_rounds} rounds" if agent.max_rounds else "rounds as the settings allow"
            return f"{asked}, {rounds}{first}"
        case Loop(concurrency=1):
            return "one item after the other"
        case Loop() as loop:
            return f"{loop.concurrency} items at a time"
        case Parallel(wait_for="all"):
            return "waits for all"
        case Parallel() as parallel:
            return f"waits for {parallel.wait_for.replace('_', ' ')}"
        case _:
            return "nothing beside it" if step.exclusive else ""


def _destination(tool: Tool) -> str:
    """Where the inputs of an external tool go: its server, else its group."""
    if tool.server:
        return tool.server
    return tool.group or tool.name if tool.category == "external" else ""


def _cost(tool: Tool) -> Estimate:
    return Estimate(unknown=(tool.key,)) if tool.cost is None else Estimate(value=tool.cost)


def _sum(estimates: Iterable[Estimate]) -> Estimate:
    found = list(estimates)
    return Estimate(
        value=sum(estimate.value for estimate in found),
        unknown=tuple(dict.fromkeys(name for estimate in found for name in estimate.unknown)),
        per_item=any(estimate.per_item for estimate in found),
    )


def _times(estimate: Estimate, count: int, *, per_item: bool) -> Estimate:
    return Estimate(value=estimate.value * count, unknown=estimate.unknown, per_item=estimate.per_item or per_item)


def _reason_of(cause: str, distance: int) -> str:
    return "order" if distance == 1 and cause != "failure" else {"failure": "on failure"}.get(cause, "jump")


def _reasons(block: BlockView, waits: list[StepWait]) -> dict[int, tuple[Waiting, ...]]:
    found: dict[int, dict[int, dict[str, None]]] = {}
    for wait in waits:
        found.setdefault(wait.step, {}).setdefault(wait.source, {})[wait.reason] = None
    return {
        step: tuple(
            Waiting(step=block.steps[source].step.id, because=tuple(reasons)) for source, reasons in sources.items()
        )
        for step, sources in found.items()
    }


def _critical_path(steps: list[ExplainedStep], waits: list[StepWait], *, is_chain: bool) -> _Path:
    """The longest way through the block; a step of unknown duration counts as one unit."""
    sources: list[list[int]] = [[] for _ in steps]
    for wait in waits:
        # Jumps back are no part of one way through.
        if not is_chain or wait.source < wait.step:
            sources[wait.step].append(wait.source)
    longest: dict[int, float] = {}
    before: dict[int, int | None] = {}
    for index in _in_order(sources):
        best = max(sources[index], key=lambda source: longest.get(source, 0.0), default=None)
        before[index] = best
        own = steps[index].duration
        longest[index] = (longest.get(best, 0.0) if best is not None else 0.0) + (
            own.value or (1.0 if own.unknown else 0.0)
        )
    if not longest:
        return _Path()
    here: int | None = max(longest, key=lambda index: longest[index])
    way: list[int] = []
    while here is not None and here in before:
        way.append(here)
        here = before[here]
    way.reverse()
    took = _sum(steps[index].duration for index in way)
    # Where nothing is known of how long anything takes, the way with the most steps says nothing.
    return _Path(tuple(way) if took.value else (), took)


def _in_order(sources: list[list[int]]) -> list[int]:
    """Each step after what it waits for; steps in a cycle are left out."""
    followers: list[list[int]] = [[] for _ in sources]
    left = [len(set(found)) for found in sources]
    for index, found in enumerate(sources):
        for source in set(found):
            followers[source].append(index)
    ready = [index for index, count in enumerate(left) if not count]
    for here in ready:
        for follower in followers[here]:
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    return ready


def _side_by_side(size: int, waits: list[StepWait]) -> dict[int, list[int]]:
    """For each step the first steps of its block that neither wait for it nor are waited for."""
    before = ancestors(size, waits)
    after = ancestors(size, [StepWait(wait.source, wait.step, ("", "")) for wait in waits])
    every = (1 << size) - 1
    found: dict[int, list[int]] = {}
    for index in range(size):
        others = every & ~before[index] & ~after[index] & ~(1 << index)
        found[index] = []
        while others and len(found[index]) < _MOST_BESIDE:
            lowest = others & -others
            found[index].append(lowest.bit_length() - 1)
            others ^= lowest
    return found
