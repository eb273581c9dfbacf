"""History at the start of a step: steps that may have ended, that surely succeeded, variables that are set.

Pure; reports nothing. Sets are bits of integers, so that a chain of 10,000 steps stays cheap.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import msgspec

from toolpath.checks.jumps import Edge, edges_of, goes_on_after_failure, may_skip, reached
from toolpath.checks.kinds import Kinds
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.shapes import Type, field_of, ways_to
from toolpath.checks.views import BlockView, ReferenceUse, StepView, Views, called_tools, container
from toolpath.expressions.names import CHAIN_VARIABLES
from toolpath.model.plan import Loop, Parallel, Plan
from toolpath.model.tool import Tool

#: Times that each step of a chain is looked at, on average, before its jumps are too many to follow.
_MOST_PASSES = 20
#: Steps of a chain with jumps back up to which these are followed: what holds at each is kept for all, a bit a step.
_MOST_FOLLOWED = 10_000
#: Steps of a chain without jumps back of which one is kept what holds there; from there it is found again.
_STRIDE = 64


class BlockFacts(msgspec.Struct):
    """Facts that hold at one place of a block, as bits: steps by index, variables by number."""

    may_end: int = 0
    """Steps that may have ended."""
    sure: int = 0
    """Steps whose latest visit surely succeeded."""
    may_set: int = 0
    sure_set: int = 0
    failed: int = 0
    """Steps whose latest visit surely failed."""
    last: int = 0
    """Steps whose success may be the latest of the chain; the bit after the last step: there was none."""

    def join(self, other: BlockFacts) -> bool:
        """Let this place be reached from the other way too; True where that changes anything."""
        before = msgspec.structs.astuple(self)
        self.may_end |= other.may_end
        self.sure &= other.sure
        self.may_set |= other.may_set
        self.sure_set &= other.sure_set
        self.failed &= other.failed
        self.last |= other.last
        return before != msgspec.structs.astuple(self)


class Writes(msgspec.Struct, frozen=True):
    """The variables that a step may set, and those that it surely sets when it succeeds, as bits."""

    may: int = 0
    sure: int = 0


_NO_WRITES = Writes()


class History:
    """The facts of every block of a plan."""

    __slots__ = ("_catalog", "_facts", "_given", "_kinds", "_numbers")

    def __init__(self, views: Views, memory: SchemaMemory | None = None) -> None:
        self._catalog = views.catalog
        self._kinds = Kinds(memory or SchemaMemory())
        self._numbers: dict[str, int] = {}
        self._facts: dict[BlockView, list[BlockFacts | None] | Forward] = {}
        plan = views.plan
        self._given = frozenset(
            [*plan.inputs.get("properties", {}), *plan.state, *CHAIN_VARIABLES, *views.retry_counts]
        )
        # Inner blocks come after those that hold them: reversed, each block finds its inner ones done.
        for block in reversed(list(views.blocks())):
            writes = [self._writes(view) for view in block.steps]
            find = _chain_facts if block.is_chain else _graph_facts
            self._facts[block] = find(block, plan, writes)

    def at(self, view: StepView) -> BlockFacts | None:
        """The facts when the step starts, of its own block alone; None: control never gets there."""
        return self._facts[view.block][view.index]

    def end(self, block: BlockView) -> BlockFacts | None:
        """The facts when the block has ended well; None: it never does."""
        return self._facts[block][-1]

    def variable(self, name: str, read: ReferenceUse) -> tuple[bool, bool]:
        """Whether the variable may be set where it is read, and whether it surely is."""
        if name in self._given:
            return True, True
        return self.written(name, read)

    def written(self, name: str, read: ReferenceUse) -> tuple[bool, bool]:
        """Whether a step may have set the variable where it is read, and whether one surely has."""
        bit = self._bit(name)
        may = sure = False
        for facts in self._around(read):
            may |= bool(facts.may_set & bit)
            sure |= bool(facts.sure_set & bit)
        own_may, own_sure = self._set_by_own_step(name, read)
        return may or own_may, sure or own_sure

    def step(self, read: ReferenceUse) -> tuple[bool, bool]:
        """Whether the step that is read may have ended, and whether it surely succeeded."""
        source = read.source
        if source is None:
            return True, True
        block, index, step = source.block, source.index, read.template.step
        holder: StepView | None = step
        if step is not None and step.block is block:
            facts = self._facts[block][step.index]
        else:
            facts = self._before(read, block)
            holder = None if step is None else container(step, block)
        if facts is None:
            return True, True
        if holder is not None and holder.index == index:
            if holder is step and read.template.use == "transform":
                # A step's transformations are computed when it has succeeded.
                return True, True
            if not block.is_chain:
                return False, False
        return facts.may_end >> index & 1 == 1, facts.sure >> index & 1 == 1

    def surely_failed(self, read: ReferenceUse) -> bool:
        """Whether the step that is read has surely failed."""
        source = read.source
        facts = None if source is None else self._before(read, source.block)
        return source is not None and facts is not None and bool(facts.failed >> source.index & 1)

    def _before(self, read: ReferenceUse, block: BlockView) -> BlockFacts | None:
        """The facts in the block when the template is evaluated."""
        template = read.template
        step = template.step
        if (template.use == "collect" and block is template.block) or step is None:
            return self.end(block)
        holder = step if step.block is block else container(step, block)
        return None if holder is None else self.at(holder)

    def _around(self, read: ReferenceUse) -> Iterator[BlockFacts]:
        """The facts where the template is evaluated, in its block and in those around it."""
        block: BlockView | None = read.template.block
        while block is not None:
            facts = self._before(read, block)
            if facts is not None:
                yield facts
            owner = block.owner
            if owner is not None and isinstance(owner.step, Loop) and owner.step.concurrency == 1:
                # One item after the other: a later one reads what an earlier one wrote.
                last = self.end(block)
                yield BlockFacts(may_set=0 if last is None else last.may_set)
            block = None if owner is None else owner.block

    def _set_by_own_step(self, name: str, read: ReferenceUse) -> tuple[bool, bool]:
        """As `written`, of what the step's mappings and earlier transformations set before this one is computed."""
        step = read.template.step
        if read.template.use != "transform" or step is None:
            return False, False
        on_success = step.step.on_success
        for variable in on_success.transform:
            if read.template.variable == variable:
                break
            if variable == name:
                return True, True
        fields = [field for field, variable in on_success.map_outputs.items() if variable == name]
        return bool(fields), any(self._maps_surely(step, field) for field in fields)

    def _bit(self, name: str) -> int:
        return 1 << self._numbers.setdefault(name, len(self._numbers))

    def _bits(self, names: Iterator[str]) -> int:
        found = 0
        for name in names:
            found |= self._bit(name)
        return found

    def _writes(self, view: StepView) -> Writes:
        on_success = view.step.on_success
        if not on_success.map_outputs and not on_success.transform and not view.blocks:
            return _NO_WRITES
        own = self._bits(iter(on_success.map_outputs.values())) | self._bits(iter(on_success.transform))
        sure = self._bits(
            variable for field, variable in on_success.map_outputs.items() if self._maps_surely(view, field)
        ) | self._bits(iter(on_success.transform))
        inner = [self.end(block) or BlockFacts() for block in view.blocks]
        for facts in inner:
            own |= facts.may_set
        if isinstance(view.step, Parallel) and inner:
            merged = inner[0].sure_set
            for facts in inner[1:]:
                merged = merged | facts.sure_set if view.step.wait_for == "all" else merged & facts.sure_set
            sure |= merged
        return Writes(own, sure)

    def _maps_surely(self, view: StepView, field: str) -> bool:
        """The step's results always have the field, as far as their schema tells."""
        match view.step:
            case Parallel(wait_for="all"):
                return any(block.name == field.split(".", maxsplit=1)[0] for block in view.blocks)
            case Parallel():
                return field.split(".", maxsplit=1)[0] in ("winner", "output")
            case _:
                return all(_has_field(self._kinds, tool, field) for _, tool in called_tools(self._catalog, view))


def _has_field(kinds: Kinds, tool: Tool, field: str) -> bool:
    """The tool's results always have the field; of one whose schema does not say, another rule tells."""
    if field_of(tool.output_schema, field).found == "unknown":
        return True
    return any(_leads_somewhere(kinds, tool.output_schema, way) for way in ways_to(field))


def _leads_somewhere(kinds: Kinds, of: Type, way: tuple[str | int, ...]) -> bool:
    for key in way:
        if not kinds.has(of, key):
            return False
        of = kinds.child(of, key)
    return True


def _graph_facts(block: BlockView, plan: Plan, writes: list[Writes]) -> list[BlockFacts | None]:
    """In a graph a reference is a dependency: what is read has ended, since it is read."""
    all_steps = BlockFacts()
    may_twice = sure_twice = 0
    for view, wrote in zip(block.steps, writes, strict=True):
        all_steps.may_end |= 1 << view.index
        may_twice |= all_steps.may_set & wrote.may
        all_steps.may_set |= wrote.may
        if not may_skip(view.step, plan.on_unresolved) and not goes_on_after_failure(view.step, plan.failure_mode):
            all_steps.sure |= 1 << view.index
            sure_twice |= all_steps.sure_set & wrote.sure
            all_steps.sure_set |= wrote.sure
    facts: list[BlockFacts | None] = []
    for wrote in writes:
        if not wrote.may:
            facts.append(all_steps)
            continue
        # What the step writes itself it finds only where another one writes it too.
        others = msgspec.structs.replace(all_steps)
        others.may_set &= ~wrote.may | may_twice
        others.sure_set &= ~wrote.sure | sure_twice
        facts.append(others)
    ended = msgspec.structs.replace(all_steps, sure_set=0)
    for view, wrote in zip(block.steps, writes, strict=True):
        if not view.step.critical:
            # It may fail and the plan still completes, without what it writes.
            ended.sure &= ~(1 << view.index)
        elif all_steps.sure >> view.index & 1:
            ended.sure_set |= wrote.sure
    return [*facts, ended]


class Forward:
    """The facts at each step of a chain that only goes forward, and at its end.

    They are found again from those kept of a few steps: all of them would be as many bits as the square of its length.
    """

    __slots__ = ("_at", "_edges", "_end", "_kept", "_known", "_size", "_writes")

    def __init__(self, edges: list[list[Edge]], writes: list[Writes]) -> None:
        self._edges = edges
        self._writes = writes
        self._size = len(edges)
        self._kept: list[dict[int, BlockFacts]] = []
        """What is known on the way at every so many steps, of those that are still to come."""
        ahead = {0: BlockFacts(last=1 << self._size)}
        for here in range(self._size):
            if here % _STRIDE == 0:
                self._kept.append({target: msgspec.structs.replace(facts) for target, facts in ahead.items()})
            self._pass(here, ahead)
        self._end = ahead.get(self._size)
        self._at = -1
        """Of which part the facts are at hand."""
        self._known: list[BlockFacts | None] = []

    def __getitem__(self, index: int) -> BlockFacts | None:
        """The facts at the step; at -1: at the end."""
        if index in (-1, self._size):
            return self._end
        part, number = divmod(index, _STRIDE)
        if part != self._at:
            ahead = {target: msgspec.structs.replace(facts) for target, facts in self._kept[part].items()}
            begin = part * _STRIDE
            self._known = [self._pass(here, ahead) for here in range(begin, min(begin + _STRIDE, self._size))]
            self._at = part
        return self._known[number]

    def _pass(self, here: int, ahead: dict[int, BlockFacts]) -> BlockFacts | None:
        """Go through the step; gives what holds there."""
        before = ahead.pop(here, None)
        for edge in self._edges[here] if before is not None else ():
            assert before is not None
            after = _after(before, edge, self._writes[here])
            known = ahead.get(edge.target)
            if known is None:
                ahead[edge.target] = after
            else:
                known.join(after)
        return before


def _chain_facts(block: BlockView, plan: Plan, writes: list[Writes]) -> list[BlockFacts | None] | Forward:
    """The facts at each step and at the end."""
    edges = edges_of(block, plan)
    if not any(edge.target <= edge.source for leading in edges for edge in leading):
        return Forward(edges, writes)
    return _least_known(edges, writes) if len(edges) > _MOST_FOLLOWED else followed(edges, writes)


def followed(edges: list[list[Edge]], writes: list[Writes]) -> list[BlockFacts | None]:
    """The facts at each step of a chain and at its end, to the fixed point where jumps go back."""
    size = len(edges)
    facts: list[BlockFacts | None] = [None] * (size + 1)
    facts[0] = BlockFacts(last=1 << size)
    waiting = [0] if edges else []
    visits = 0
    while waiting:
        here = heapq.heappop(waiting)
        before = facts[here]
        if before is None or (waiting and waiting[0] == here):
            continue
        visits += 1
        if visits > _MOST_PASSES * size + 1000:
            return _least_known(edges, writes)
        for edge in edges[here]:
            if _enter(facts, edge, _after(before, edge, writes[here])) and edge.target < size:
                heapq.heappush(waiting, edge.target)
    return facts


def _least_known(edges: list[list[Edge]], writes: list[Writes]) -> list[BlockFacts | None]:
    """The facts that are certain in a chain with too many jumps to follow: anything may be, nothing is sure."""
    size = len(edges)
    may_set = 0
    for wrote in writes:
        may_set |= wrote.may
    least = BlockFacts(may_end=(1 << size) - 1, may_set=may_set, last=(1 << (size + 1)) - 1)
    here = reached(edges)
    return [least if index in here else None for index in range(size + 1)]


def _enter(facts: list[BlockFacts | None], edge: Edge, after: BlockFacts) -> bool:
    known = facts[edge.target]
    if known is None:
        facts[edge.target] = after
        return True
    return known.join(after)


def _after(before: BlockFacts, edge: Edge, wrote: Writes) -> BlockFacts:
    bit = 1 << edge.source
    is_success, is_failure = edge.cause == "success", edge.cause == "failure"
    return BlockFacts(
        may_end=before.may_end | bit,
        sure=before.sure | bit if is_success else before.sure & ~bit,
        # A block that failed may have written something before.
        may_set=before.may_set | (wrote.may if is_success or is_failure else 0),
        sure_set=before.sure_set | (wrote.sure if is_success else 0),
        failed=before.failed | bit if is_failure else before.failed & ~bit,
        last=bit if is_success else before.last,
    )
