"""The state of a run, and `apply(state, event)`: deterministic, in place, no expression is evaluated here. Pure.

Folding the journal again gives the live state. A scope is one instance of a block; it is also the frame that the
block's expressions read. What an event changes costs the same however large the plan is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from toolpath.engine.nodes import BlockProgram, Node, with_optional
from toolpath.engine.paths import Segment, parse_segment, scope_name, step_name
from toolpath.engine.program import Program
from toolpath.language.names import Frame, plan_names
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.plan import Call, Plan
from toolpath.model.plan import Loop as LoopStep
from toolpath.model.run import RunContext
from toolpath.values import Json, JsonObject, is_redacted


class Loop:
    """How far a loop is."""

    __slots__ = ("active", "failure", "items", "next", "results", "writes")

    def __init__(self, items: list[Json]) -> None:
        self.items = items
        self.next = 0
        self.active = 0
        self.results: list[Json] = [None] * len(items)
        self.failure: Failure | None = None
        self.writes: dict[int, JsonObject] = {}
        """What concurrent items wrote to the state, by item, until the loop ends."""


class StepState:
    """One step instance. Class attributes are what most instances never change."""

    status = "pending"
    entered = False
    """It has started at least once: it counts among what runs in its block until it ends."""
    inputs: Json = None
    given: JsonObject | None = None
    """What a running tool gave to the call it makes."""
    attempt = 0
    target = 0
    """Which tool is asked: 0 its own, then its fallbacks."""
    entry = 1
    """How often its block was begun."""
    output: Json = None
    error: Failure | None = None
    started_at: float | None = None
    duration = 0.0
    confidence: float | None = None
    continued = False
    spreads = False
    tick = 0
    """Its place among steps of equal weight, once it was ready."""
    due: float | None = None
    """When the next attempt may start, after a retry was decided."""
    approved: str | None = None
    """Digest that a person has allowed."""
    asked: ev.ApprovalRequested | ev.InputRequested | None = None
    denied = False
    doubt: ev.FallbackStarted | None = None
    """The answer that was not sure enough."""
    loop: Loop | None = None
    scopes: list[Scope] | None = None
    """Open blocks inside it, and the closed ones that a retry may need."""
    answers: dict[str, JsonObject] | None = None
    """What people answered to questions that a running tool asked."""
    question: str = ""
    children: Scope | None = None
    """Calls that the running tool made."""
    winner: str = ""
    key = ""

    def __init__(self, node: Node, scope: Scope, path: str, visit: int) -> None:
        self.node = node
        self.scope = scope
        self.path = path
        self.visit = visit


class Scope(Frame):
    """One instance of a block: its steps, and the values that its expressions read."""

    failure: Failure | None = None
    active = 0
    """Steps that have begun and not ended."""
    stopping = False
    """A critical failure: nothing new starts in it."""
    trouble = False
    """Some step of it did not succeed: what depends on steps has to look at how they ended."""
    halted = ""
    """Why nothing new starts in it, where the cause lies in a block around it."""
    done = False
    position = -1
    """Of a chain: the step it has come to."""
    visits: dict[int, int] | None = None
    held: list[StepState] | None = None
    """Steps that an exclusive one keeps waiting."""
    writes: JsonObject | None = None
    """Variables written in it, to be merged when it ends."""
    owns_state = False
    base = 0.0
    """How long the way is from its end to the run's end."""
    depth = 0
    """How many plans deep: 0 in the plan that was started."""

    def __init__(
        self, block: BlockProgram, owner: StepState | None, path: str, *, branch: int = 0, hidden: bool = False
    ) -> None:
        # What Frame's own __init__ would set is set by `State._open`: this runs once per item of every loop.
        self.block = block
        self.owner = owner
        self.path = path
        self.prefix = "" if not path else f"{path.rpartition('/')[0]}/" if hidden else f"{path}/"
        self.branch = branch
        """Number of the loop's item or of the parallel's branch."""
        self.steps: dict[int, StepState] = {}
        self.missing = block.missing.copy()
        self.left = len(block.nodes)
        self.outputs = {}
        self.last = None
        self.item = None

    def step_record(self, step_id: str) -> JsonObject:
        """What `steps.ID` reads."""
        step = self._latest(step_id)
        if step is None:
            return {"output": None, "status": "pending", "error": None, "duration": 0.0}
        error = step.error
        return {
            "output": self.outputs.get(step_id),
            "status": step.status,
            "error": None
            if error is None
            else {"type": error.type, "message": error.message, "code": error.code, "retryable": error.retryable},
            "duration": step.duration,
        }

    def void(self, step_id: str) -> bool:
        """The step was skipped, continued after failure or never visited."""
        step = self._latest(step_id)
        return step is None or step.status != "succeeded"

    def _latest(self, step_id: str) -> StepState | None:
        index = self.block.index_of.get(step_id)
        return None if index is None else self.steps.get(index)


class State:
    """A run as its journal tells it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.run_id = ""
        self.seq = 0
        self.status = "pending"
        self.reason = ""
        self.started_at = 0.0
        self.inputs: JsonObject = {}
        self.context = RunContext()
        self.root: Scope | None = None
        self.steps: dict[str, StepState] = {}
        self.scopes: dict[str, Scope] = {}
        self.unblocked: list[tuple[Scope, int]] = []
        """Steps that may start now since something ended; whoever applies events takes them away."""
        self.finished: list[Scope] = []
        """Blocks of which nothing is left to run; taken away likewise."""
        self.calls = 0
        self.cost = 0.0
        self.tokens = 0
        self.step_count = 0
        self.warnings: list[ev.Warned] = []
        self.errors = 0
        """Failures that were continued or not critical."""
        self.secrets: Mapping[str, str] = {}
        self.fingerprints: dict[str, str] = {}
        self.approval: str | None = None
        self.plan_question: ev.ApprovalRequested | None = None
        self.outputs: Json = None
        self.error: Failure | None = None
        self.active_since = 0.0
        self.active_time = 0.0
        self.last_at = 0.0
        self.epoch = 0
        self.run_frame: JsonObject = {}

    # What follows finds things; it changes nothing that the journal does not imply.

    def step_of(self, scope: Scope, index: int, visit: int = 1) -> StepState:
        """The step instance, made when it is first spoken of."""
        step = scope.steps.get(index)
        if step is not None and step.visit == visit:
            return step
        node = scope.block.nodes[index]
        step = StepState(node, scope, scope.prefix + (node.id if visit == 1 else f"{node.id}#{visit}"), visit)
        scope.steps[index] = step
        scope.position = index
        self.steps[step.path] = step
        return step

    def find(self, path: str) -> StepState:
        """The step instance of a path, made when the journal first speaks of it. Raises `KeyError`."""
        step = self.steps.get(path)
        return step if step is not None else self._make(path)

    def _make(self, path: str) -> StepState:
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        scope = self.scopes.get(head)
        if scope is None:
            owner = self._parallel(head)
            # A branch that was written as one step: its own id stands for both.
            scope = self.scope_at(head) if owner is None else self._branch(owner, segment.id)
        index = scope.block.index_of.get(segment.id)
        if index is None:
            if scope.block is not EMPTY or scope.owner is None:
                raise KeyError(path)
            return self.child(scope.owner, last, "")
        return self.step_of(scope, index, segment.visit)

    def scope_at(self, path: str) -> Scope:
        """The scope under whose path steps stand, made when the journal first speaks of it. Raises `KeyError`."""
        scope = self.scopes.get(path)
        if scope is not None:
            return scope
        head, _, last = path.rpartition("/")
        owner = self._parallel(head)
        if owner is not None:
            return self._branch(owner, parse_segment(last).id)
        return self._inside(*self._owner(path))

    def _parallel(self, path: str) -> StepState | None:
        """The `parallel` step under whose path branches stand, or None where another kind of step does."""
        if not path:
            return None
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        step = self.steps.get((f"{head}/" if head else "") + step_name(segment.id, segment.visit))
        if step is None or step.node.kind != "parallel":
            return None
        step.entry = segment.entry
        return step

    def _branch(self, owner: StepState, branch_id: str) -> Scope:
        number = _branch_of(owner, branch_id)
        return self.open(owner, owner.node.blocks[number], branch=number)

    def _owner(self, path: str) -> tuple[StepState, Segment]:
        """The step whose block has that path, and what the path says of the block."""
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        owner = self.find((f"{head}/" if head else "") + step_name(segment.id, segment.visit))
        owner.entry = segment.entry
        return owner, segment

    def _inside(self, owner: StepState, at: Segment) -> Scope:
        if owner.node.kind == "loop":
            return self.open(owner, owner.node.blocks[0], branch=at.item or 0)
        targets = owner.node.targets
        plan = targets[owner.target].plan if targets else None
        return self.children_of(owner) if plan is None else self.open(owner, plan)

    def children_of(self, owner: StepState) -> Scope:
        """The scope of the calls that a running tool makes itself."""
        if owner.children is None:
            owner.children = Scope(EMPTY, owner, owner.path)
            self.scopes[owner.path] = owner.children
            self._frame(owner.children, owner.scope)
        return owner.children

    def child(self, owner: StepState, key: str, tool: str) -> StepState:
        """The step instance of a call that a running tool makes; `tool` is empty where the journal does not say yet."""
        path = f"{owner.path}/{key}"
        step = self.steps.get(path)
        if step is None:
            step = self.steps[path] = StepState(_UNNAMED, self.children_of(owner), path, 1)
        if tool and not step.node.targets:
            step.node = self.program.dynamic(tool)
        return step

    def open(self, owner: StepState, block: BlockProgram, *, branch: int = 0) -> Scope:
        """The scope of a block inside a step: loop item, branch, or nested plan."""
        node, outer = owner.node, owner.scope
        hidden = node.kind == "parallel" and block.single
        # A call that a tool made goes by the key it was made under.
        ident = owner.path.rpartition("/")[2] if outer.block is EMPTY else node.id
        if node.kind == "parallel":
            name = f"{scope_name(ident, None, owner.visit, owner.entry)}/{block.id}"
        else:
            name = scope_name(ident, branch if node.kind == "loop" else None, owner.visit, owner.entry)
        path = outer.prefix + name
        known = self.scopes.get(path)
        if known is not None:
            return known
        scope = Scope(block, owner, path, branch=branch, hidden=hidden)
        self.scopes[path] = scope
        if owner.scopes is None:
            owner.scopes = []
        owner.scopes.append(scope)
        rank = outer.block.rank
        scope.base = outer.base + (rank[node.index] if rank and node.index < len(rank) else 0.0)
        if node.kind in ("call", "nested"):
            self._open_plan(scope, owner)
        else:
            self._frame(scope, outer)
            if owner.loop is not None:
                scope.item = owner.loop.items[branch]
                owner.loop.active += 1
                if branch >= owner.loop.next:
                    owner.loop.next = branch + 1
            if block.has_state:
                self._inherit_state(scope, owner)
        return scope

    def _inherit_state(self, scope: Scope, owner: StepState) -> None:
        step = owner.node.step
        if owner.node.kind == "parallel" or (isinstance(step, LoopStep) and step.concurrency != 1):
            # Branches and concurrent items read a snapshot; what they write is merged when they have ended.
            scope.owns_state = True
            scope.state = dict(scope.state)

    def _frame(self, scope: Scope, outer: Scope) -> None:
        scope.inputs, scope.run, scope.state = outer.inputs, outer.run, outer.state
        scope.secrets, scope.up, scope.depth = outer.secrets, outer, outer.depth

    def _open_plan(self, scope: Scope, owner: StepState) -> None:
        target = owner.node.targets[owner.target]
        inputs = owner.inputs
        if owner.given is None and (target.inputs.uses_secrets or is_redacted(inputs)):
            # Secrets are in no journal: what a nested plan was given of them is found anew.
            inputs = target.inputs.evaluate(owner.scope)
        scope.inputs = with_optional(inputs or {}, scope.block)
        scope.run, scope.secrets, scope.up = self.run_frame, {}, None
        scope.depth = owner.scope.depth + 1
        self._own_state(scope, f"{self.run_id}/{owner.path}", owner.started_at or self.started_at)

    def _own_state(self, scope: Scope, chain_id: str, at: float) -> None:
        scope.owns_state = True
        scope.state = {}
        if scope.block.has_state:
            plan = scope.block.plan
            scope.state = {
                **(plan.state if plan else {}),
                **scope.inputs,
                "chain_id": chain_id,
                "chain_name": plan.name if plan else None,
                "started_at": datetime.fromtimestamp(at, UTC).isoformat(),
            }

    def open_root(self) -> Scope:
        """The scope of the plan itself."""
        scope = Scope(self.program.root, None, "")
        scope.inputs = with_optional(self.inputs, scope.block)
        scope.run = self.run_frame
        scope.up = None
        scope.secrets = self.secrets
        scope.depth = 0
        self._own_state(scope, self.run_id, self.started_at)
        self.root = scope
        self.scopes[""] = scope
        return scope

    def state_owner(self, scope: Scope) -> Scope:
        """The scope whose variables a step of this scope writes."""
        while not scope.owns_state and scope.owner is not None:
            scope = scope.owner.scope
        return scope

    def drop(self, scope: Scope) -> None:
        """Forget a block that has ended well: it costs no memory from here on."""
        for step in scope.steps.values():
            self.steps.pop(step.path, None)
            for inner in step.scopes or ():
                self.drop(inner)
            if step.children is not None:
                self.scopes.pop(step.path, None)
        self.scopes.pop(scope.path, None)


def _branch_of(owner: StepState, branch_id: str) -> int:
    for number, block in enumerate(owner.node.blocks):
        if block.id == branch_id:
            return number
    raise KeyError(f"{owner.path}/{branch_id}")


EMPTY = BlockProgram(
    id="", flow="graph", nodes=(), index_of={}, missing=[], roots=(), sinks=(), names=plan_names(Plan())
)

#: Of a child call whose start, and with it its tool, the journal has not told.
_UNNAMED = Node(id="", index=0, kind="call", step=Call(id="call", tool=""))
