"""The state of a run, as `fold.py` makes it of the journal: what is found by path, and what is opened. Pure.

Folding the journal again gives the live state. What an event changes costs the same however large the plan is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from toolpath.engine.compile.nodes import BlockProgram, with_optional
from toolpath.engine.compile.program import Program
from toolpath.engine.state.accounts import Account, account_of
from toolpath.engine.state.instances import EMPTY, UNNAMED, LoopProgress, Scope, StepState
from toolpath.engine.state.paths import InRound, in_round, parse_segment, scope_name, step_name
from toolpath.engine.state.resolve import resolve_inputs
from toolpath.expressions.names import Frame
from toolpath.expressions.work import Work
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.plan import Agent, Plan
from toolpath.model.plan import Loop as LoopStep
from toolpath.model.redaction import is_redacted
from toolpath.model.run import RunContext
from toolpath.values import Json, JsonObject


def _as_it_is(value: Any) -> Any:
    return value


class State:
    """A run as its journal tells it."""

    __slots__ = (
        "active_since",
        "active_time",
        "approval",
        "began",
        "calls",
        "context",
        "cost",
        "epoch",
        "error",
        "errors",
        "fingerprints",
        "finished",
        "inputs",
        "last_at",
        "lost",
        "outputs",
        "paths",
        "program",
        "reason",
        "restore",
        "root",
        "run_frame",
        "run_id",
        "scopes",
        "secrets",
        "seq",
        "staged",
        "started_at",
        "status",
        "step_count",
        "steps",
        "tokens",
        "unblocked",
        "view",
        "warnings",
        "work",
        "written_by",
    )

    def __init__(
        self,
        program: Program,
        *,
        restore: Callable[[Json], Json] = _as_it_is,
        view: Callable[[Scope], Frame] = _as_it_is,
        secrets: Mapping[str, str] | None = None,
        work: Work | None = None,
    ) -> None:
        self.program = program
        self.restore = restore
        """Puts large values in the place of what stands for them in the journal."""
        self.view = view
        """The frame that a block's expressions read."""
        self.secrets = {} if secrets is None else secrets
        self.work = work
        """Counts what the expressions of the run do."""
        self.run_id = ""
        self.seq = 0
        self.status = "pending"
        self.reason = ""
        self.started_at = 0.0
        self.inputs: JsonObject = {}
        self.context = RunContext()
        """The authority of calls: of who began the run, limited to that of who last had it go on."""
        self.began = self.context
        self.root: Scope | None = None
        self.steps: dict[str, StepState] = {}
        self.scopes: dict[str, Scope] = {}
        self.unblocked: list[tuple[Scope, int]] = []
        """Steps that may start now since something ended; the caller of `apply` takes them away."""
        self.finished: list[Scope] = []
        """Blocks of which nothing is left to run; taken away likewise."""
        self.calls = self.tokens = self.step_count = 0
        self.cost = 0.0
        self.warnings: list[ev.Warned] = []
        self.errors = 0
        """Failures that were continued or not critical."""
        self.lost: list[tuple[StepState, Failure]] = []
        """Nested plans of which a secret that they were given is not to be found any more."""
        self.fingerprints: dict[str, str] = {}
        self.approval: str | None = None
        self.outputs: Json = None
        self.error: Failure | None = None
        self.active_since = self.active_time = self.last_at = 0.0
        self.epoch = 0
        self.run_frame: JsonObject = {}
        self.paths = 1
        """How paths are made: `run.started` says it."""
        self.staged: list[ev.StateWritten] = []
        """Variables that are set as soon as the step which writes them has succeeded."""
        self.written_by: dict[str, dict[str, Json]] = {}
        """Each variable of the plan: what its steps have written to it, the latest last."""

    # What follows finds things; it changes nothing that the journal does not imply.

    def step_of(self, scope: Scope, index: int, visit: int = 1) -> StepState:
        """The step instance, made when it is first spoken of."""
        step = scope.steps.get(index)
        if step is not None and step.visit == visit:
            return step
        node = scope.block.nodes[index]
        path = scope.prefix + (node.id if visit == 1 else f"{node.id}#{visit}")
        scope.steps[index] = self.steps[path] = step = StepState(node, scope, path, visit)
        scope.position = index
        return step

    def find(self, path: str) -> StepState:
        """The step instance of a path, made when the journal first speaks of it. Raises `KeyError`."""
        step = self.steps.get(path)
        if step is None:
            return self._make(path)
        # A chain comes again to what a retry has taken back.
        step.scope.position = step.node.index
        return step

    def _make(self, path: str) -> StepState:
        called = _in_round(self, path)
        if called is not None:
            return self._child(self.scope_at(called.calls), called.key)
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        scope = self._holder(head, segment.id)
        index = scope.block.index_of.get(segment.id)
        if index is None:
            if scope.block is not EMPTY or scope.owner is None:
                raise KeyError(path)
            return self._child(scope, last)
        return self.step_of(scope, index, segment.visit)

    def _holder(self, head: str, step_id: str) -> Scope:
        """The scope whose step of that id stands below `head`, made when the journal first speaks of it."""
        scope = self.scopes.get(head)
        if scope is not None:
            return scope
        parallel = self._parallel(head)
        return self.scope_at(head) if parallel is None else self._branch(parallel, step_id)

    def scope_at(self, path: str) -> Scope:
        """The scope of that path, made when the journal first speaks of it. Raises `KeyError`."""
        scope = self.scopes.get(path)
        if scope is not None:
            return scope
        called = _in_round(self, path)
        if called is not None:
            step = self.find(called.step)
            step.entry = max(step.entry, called.entry)
            return self._inside(step, 0, path)
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        parallel = self._parallel(head)
        if parallel is not None:
            number = _branch_of(parallel, segment.id)
            if not parallel.node.blocks[number].single:
                return self.open(parallel, parallel.node.blocks[number], branch=number)
        owner = self.find((f"{head}/" if head else "") + step_name(segment.id, segment.visit))
        owner.entry = max(owner.entry, segment.entry)
        return self._branch(owner, segment.branch) if segment.branch else self._inside(owner, segment.item or 0, path)

    def ended_item(self, path: str) -> tuple[StepState, int] | None:
        """The loop and the number of the item of that path, where it has ended."""
        head, _, last = path.rpartition("/")
        if not last:
            return None
        segment = parse_segment(last)
        owner = self.steps.get((f"{head}/" if head else "") + step_name(segment.id, segment.visit))
        if owner is None or owner.loop is None or segment.item is None or segment.item >= owner.loop.next:
            return None
        return owner, segment.item

    def written_at(self, path: str) -> Scope:
        """The scope whose variables a `state.written` of that path sets. Raises `KeyError`."""
        head, _, last = path.rpartition("/")
        parallel = self._parallel(head)
        # Journals written earlier name a branch that is one step like this step.
        return self.scope_at(path) if parallel is None else self._branch(parallel, parse_segment(last).id)

    def _parallel(self, path: str) -> StepState | None:
        """The `parallel` step below whose path branches stand, or None where another kind of step does."""
        if not path:
            return None
        head, _, last = path.rpartition("/")
        segment = parse_segment(last)
        step = self.steps.get((f"{head}/" if head else "") + step_name(segment.id, segment.visit))
        if step is None or step.node.kind != "parallel" or segment.item is not None or segment.branch:
            return None
        step.entry = segment.entry
        return step

    def _branch(self, owner: StepState, branch_id: str) -> Scope:
        number = _branch_of(owner, branch_id)
        return self.open(owner, owner.node.blocks[number], branch=number)

    def _inside(self, owner: StepState, item: int, path: str) -> Scope:
        if owner.node.kind == "loop":
            return self.open(owner, owner.node.blocks[0], branch=item)
        return self._calls_at(owner, path) if owner.nested is None else self.open(owner, owner.nested)

    def calls_of(self, owner: StepState) -> Scope:
        """The scope of the calls that the tool which the step asks now makes itself."""
        scope = (owner.calls or {}).get(self._family(owner))
        if scope is not None:
            return scope
        while (path := f"{owner.path}~{owner.entry}" if owner.entry > 1 else owner.path) in self.scopes:
            owner.entry += 1
        return self._calls_at(owner, path)

    def _calls_at(self, owner: StepState, path: str) -> Scope:
        scope = Scope(EMPTY, owner, path)
        self.scopes[path] = scope
        owner.calls = {**(owner.calls or {}), self._family(owner): scope}
        self.frame(scope, owner.scope)
        scope.depth = owner.scope.depth + 1
        if isinstance(owner.node.step, Agent):
            scope.account = Account(Plan(), owner, scope.account)
        return scope

    def _family(self, owner: StepState) -> int:
        # In earlier journals the calls of a step's fallback stand among those of its first tool.
        return owner.target if self.paths > 1 else 0

    def child(self, owner: StepState, key: str, tool: str) -> StepState:
        """The step instance of a call that a running tool makes, under its key."""
        step = self._child(self.calls_of(owner), key)
        if not step.node.targets:
            step.node = self.program.dynamic(tool)
        return step

    def _child(self, scope: Scope, key: str) -> StepState:
        path = scope.prefix + key
        step = self.steps.get(path)
        if step is None:
            step = self.steps[path] = StepState(UNNAMED, scope, path, 1)
            scope.steps[len(scope.steps)] = step
        return step

    def open(self, owner: StepState, block: BlockProgram, *, branch: int = 0) -> Scope:
        """The scope of a block inside a step: loop item, branch, or nested plan."""
        node, outer = owner.node, owner.scope
        path, prefix = self._place(owner, block, branch)
        known = self.scopes.get(path)
        if known is not None:
            return known
        scope = Scope(block, owner, path, branch=branch, prefix=prefix)
        self.scopes[path] = scope
        if owner.scopes is None:
            owner.scopes = []
        owner.scopes.append(scope)
        rank = outer.block.rank
        scope.base = outer.base + (rank[node.index] if rank and node.index < len(rank) else 0.0)
        if node.kind in ("call", "nested"):
            self._open_plan(scope, owner)
        else:
            self.frame(scope, outer)
            if owner.loop is not None:
                self._open_item(scope, owner.loop)
            if block.has_state:
                self._inherit_state(scope, owner)
        return scope

    def _place(self, owner: StepState, block: BlockProgram, branch: int) -> tuple[str, str]:
        """Path of a block, and what the paths of its steps begin with. No two blocks of a run have the same."""
        node, outer, visit = owner.node, owner.scope, owner.visit
        # A call that a tool made goes by the key it was made under.
        ident = owner.path[len(outer.prefix) :] if outer.block is EMPTY else node.id
        if node.kind == "loop":
            path = outer.prefix + scope_name(ident, branch, visit, owner.entry)
            return path, f"{path}/"
        path = outer.prefix + scope_name(ident, None, visit, owner.entry)
        if node.kind == "parallel":
            if block.single:
                return outer.prefix + scope_name(ident, block.id, visit, owner.entry), f"{path}/"
            return f"{path}/{block.id}", f"{path}/{block.id}/"
        while (known := self.scopes.get(path)) is not None and known.block is not block:
            # Calls that another tool of the step made itself.
            owner.entry += 1
            path = outer.prefix + scope_name(ident, None, visit, owner.entry)
        return path, f"{path}/"

    def _open_item(self, scope: Scope, loop: LoopProgress) -> None:
        scope.item = loop.items[scope.branch]
        loop.active += 1
        loop.next = max(loop.next, scope.branch + 1)
        if loop.halted:
            # It had begun, and the journal did not speak of it, when nothing new was to start any more.
            scope.stopping = scope.trouble = True
            scope.halted = loop.halted

    def _inherit_state(self, scope: Scope, owner: StepState) -> None:
        step = owner.node.step
        if owner.node.kind == "parallel" or (isinstance(step, LoopStep) and step.concurrency != 1):
            # Branches and concurrent items read a snapshot; what they write is merged when they have ended.
            scope.owns_state = True
            before = owner.loop.before if owner.loop is not None else None
            scope.state = dict(scope.state if before is None else before)

    def frame(self, scope: Scope, outer: Scope) -> None:
        """Let the scope's expressions read what those of the block around it read."""
        scope.inputs, scope.run, scope.state = outer.inputs, outer.run, outer.state
        scope.secrets, scope.up, scope.depth, scope.account = outer.secrets, outer, outer.depth, outer.account
        scope.work = self.work

    def _open_plan(self, scope: Scope, owner: StepState) -> None:
        target = owner.node.targets[owner.target]
        inputs = owner.inputs
        if owner.given is None and (target.inputs.uses_secrets or is_redacted(inputs)):
            # Secrets are in no journal: what a nested plan was given of them is found anew.
            found = resolve_inputs(target, self.view(owner.scope), owner.node.on_unresolved)
            inputs = found.value if found.failure is None else inputs
            if found.failure is not None:
                self.lost.append((owner, found.failure))
        scope.inputs = with_optional(inputs or {}, scope.block)
        scope.run, scope.secrets, scope.up, scope.work = self.run_frame, {}, None, self.work
        scope.depth = owner.scope.depth + (owner.scope.block is not EMPTY)
        scope.account = account_of(scope.block.plan, owner, owner.scope.account)
        self._own_state(scope, f"{self.run_id}/{owner.path}", owner.started_at or self.started_at)

    def _own_state(self, scope: Scope, chain_id: str, at: float) -> None:
        scope.owns_state = True
        scope.state = {}
        if scope.block.has_state:
            plan = scope.block.plan
            scope.state = {
                **(plan.state if plan else {}),
                **scope.inputs,
                **dict.fromkeys(scope.block.retry_counts.values(), 0),
                "chain_id": chain_id,
                "chain_name": plan.name if plan else None,
                "started_at": datetime.fromtimestamp(at, UTC).isoformat(),
            }

    def open_root(self) -> Scope:
        """The scope of the plan itself."""
        scope = Scope(self.program.root, None, "")
        scope.inputs = with_optional(self.inputs, scope.block)
        scope.run = self.run_frame
        scope.up, scope.work = None, self.work
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
            for calls in (step.calls or {}).values():
                self.drop(calls)
        self.scopes.pop(scope.path, None)


def _branch_of(owner: StepState, branch_id: str) -> int:
    for number, block in enumerate(owner.node.blocks):
        if block.id == branch_id:
            return number
    raise KeyError(f"{owner.path}/{branch_id}")


def _in_round(state: State, path: str) -> InRound | None:
    """The parts of the path of a call that an agent makes in a round, or of a block in it; None for any other."""
    called = in_round(path) if state.paths > 2 else None
    if called is None:
        return None
    # A loop may be called `round`, too.
    agent = state.steps.get(called.agent)
    return called if agent is not None and agent.node.kind == "call" else None
