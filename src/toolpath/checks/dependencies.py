"""Dependencies of each step of a block, and why; cycles and order among steps. Pure; reports nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolpath.checks.views import BlockView, ReferenceUse, StepView, Views, container
from toolpath.expressions.names import variables_of


class StepWait(msgspec.Struct, frozen=True):
    """A step waits for another one of its block."""

    step: int
    source: int
    """Index of the step waited for."""
    why: ReferenceUse | tuple[str, str]
    """What it reads, or the reason and where that is written."""

    @property
    def reason(self) -> str:
        """`depends_on`, or what it reads, e.g. `author._id`."""
        return self.why[0] if isinstance(self.why, tuple) else self.why.text

    @property
    def path(self) -> str:
        """Where that is written."""
        return self.why[1] if isinstance(self.why, tuple) else self.why.path


def waits_of(views: Views) -> dict[BlockView, list[StepWait]]:
    """The waits of every block. A step inside a block makes the step that holds it wait."""
    found: dict[BlockView, list[StepWait]] = {block: [] for block in views.blocks()}
    writers = {block: _writers(block) for block in views.blocks()}
    for view in views.steps:
        if view.step.depends_on:
            found[view.block] += _declared(view)
        for template in view.templates:
            for read in template.reads:
                if read.source is not None:
                    wait = _for_step(read, view, read.source)
                    if wait is not None:
                        found[read.source.block].append(wait)
                elif read.kind == "state" and read.key:
                    for block, wait in _for_variable(read, view, writers):
                        found[block].append(wait)
    return found


def _declared(view: StepView) -> Iterator[StepWait]:
    for number, name in enumerate(view.step.depends_on):
        source = view.block.positions.get(view.block.names.ids.get(name, ""))
        if source is not None:
            yield StepWait(view.index, source, ("depends_on", f"{view.path}/depends_on/{number}"))


def _for_step(read: ReferenceUse, view: StepView, source: StepView) -> StepWait | None:
    block = source.block
    holder = view if view.block is block else container(view, block)
    # What `collect` reads of the body has no holder there: the body has ended.
    if holder is None or is_own(read, view, block):
        return None
    return StepWait(holder.index, source.index, read)


def _for_variable(
    read: ReferenceUse, view: StepView, writers: dict[BlockView, dict[str, list[int]]]
) -> Iterator[tuple[BlockView, StepWait]]:
    here: StepView | None = view
    while here is not None:
        block = here.block
        if not block.is_chain:
            for writer in writers[block].get(read.key, ()):
                if writer != here.index:
                    yield block, StepWait(here.index, writer, read)
        here = block.owner


def is_own(read: ReferenceUse, view: StepView, block: BlockView) -> bool:
    """The step's transformation reads the step's own output, which is there by then."""
    return read.template.use == "transform" and block is view.block and read.key == view.step.id


def _writers(block: BlockView) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for view in block.steps:
        for variable in variables_of(view.step):
            found.setdefault(variable, []).append(view.index)
    return found


def writers_of(block: BlockView) -> dict[str, list[int]]:
    """Variable → the block's steps that write it, themselves or in blocks inside them."""
    return _writers(block)


def find_cycles(size: int, waits: Iterable[StepWait]) -> list[list[int]]:
    """One cycle, as a closed walk `[a, b, a]`, for each knot of steps that wait for one another."""
    sources: list[list[int]] = [[] for _ in range(size)]
    for wait in waits:
        if wait.step != wait.source:
            sources[wait.step].append(wait.source)
    return [_walk(knot, sources) for knot in _knots(sources)]


def _walk(knot: list[int], sources: list[list[int]]) -> list[int]:
    """The shortest way from the knot's first step back to itself, in the direction of waiting."""
    inside = set(knot)
    start = min(knot)
    came_from: dict[int, int] = {}
    queue = [start]
    for here in queue:
        for there in sources[here]:
            if there == start:
                return [start, *_back(here, came_from), start]
            if there in inside and there not in came_from:
                came_from[there] = here
                queue.append(there)
    return [start, start]


def _back(here: int, came_from: dict[int, int]) -> list[int]:
    way = []
    while here in came_from:
        way.append(here)
        here = came_from[here]
    return way[::-1]


def _knots(sources: list[list[int]]) -> list[list[int]]:
    """Groups of two or more steps each of which waits for all others: Tarjan's algorithm without recursion."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    knots: list[list[int]] = []
    for root in range(len(sources)):
        if root in order:
            continue
        calls: list[tuple[int, Iterator[int]]] = [(root, iter(sources[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while calls:
            here, rest = calls[-1]
            for there in rest:
                if there not in order:
                    order[there] = low[there] = len(order)
                    stack.append(there)
                    on_stack.add(there)
                    calls.append((there, iter(sources[there])))
                    break
                if there in on_stack:
                    low[here] = min(low[here], order[there])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[here])
                if low[here] == order[here]:
                    knots += _taken(here, stack, on_stack)
    return knots


def _taken(root: int, stack: list[int], on_stack: set[int]) -> list[list[int]]:
    knot: list[int] = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        knot.append(member)
        if member == root:
            return [knot] if len(knot) > 1 else []


def ancestors(size: int, waits: Iterable[StepWait]) -> list[int]:
    """For each step the set, as bits, of the steps that have ended when it starts. Steps in a cycle have few."""
    sources: list[set[int]] = [set() for _ in range(size)]
    followers: list[list[int]] = [[] for _ in range(size)]
    for wait in waits:
        if wait.source not in sources[wait.step]:
            sources[wait.step].add(wait.source)
            followers[wait.source].append(wait.step)
    left = [len(steps) for steps in sources]
    before = [0] * size
    ready = [step for step in range(size) if not left[step]]
    while ready:
        here = ready.pop()
        for follower in followers[here]:
            before[follower] |= before[here] | (1 << here)
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    return before
