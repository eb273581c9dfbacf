"""The instances of a run: a step, a block, and how far a loop is. Records that events change. Pure.

A scope is one instance of a block; it is also the frame that the block's expressions read.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from toolpath.engine.compile.nodes import BlockProgram, Node
from toolpath.expressions.names import Frame, plan_names
from toolpath.model import events as ev
from toolpath.model.events import Failure
from toolpath.model.plan import Call, Plan
from toolpath.values import Json, JsonObject

#: What a step is when nothing more will come of it, unless a retry takes it back.
ENDED = frozenset({"succeeded", "failed", "timed_out", "skipped", "cancelled"})


class ItemCaller(Protocol):
    """Caller of a loop's items: they are one call each, and need no block and no step of their own."""

    @property
    def room(self) -> int:
        """How many more items may begin now."""
        ...

    def queue(self) -> None:
        """Stand among what is ready, as long as an item may begin."""
        ...

    def take(self) -> Any:
        """The next item's call, or None."""
        ...

    def close(self) -> None:
        """Give every item under way its step."""
        ...


class LoopProgress:
    """Progress of a loop."""

    __slots__ = ("active", "before", "failure", "halted", "items", "next", "results", "writes")

    def __init__(self, items: list[Json]) -> None:
        self.items = items
        self.next = 0
        self.active = 0
        self.results: list[Json] = [None] * len(items)
        self.before: JsonObject | None = None
        """Variables as they were when it began, for items that run side by side."""
        self.failure: Failure | None = None
        self.halted = ""
        """Why no more items begin, where the cause lies around the loop."""
        self.writes: dict[int, JsonObject] = {}
        """Variables that concurrent items wrote, by item, until the loop ends."""


class StepState(msgspec.Struct, eq=False):
    """One step instance. A record made in C: one is made with each step, and looked at many times."""

    node: Node
    scope: Scope
    path: str
    visit: int
    status: str = "pending"
    entered: bool = False
    """It has started at least once: it counts among what runs in its block until it ends."""
    inputs: Json = None
    given: JsonObject | None = None
    """Inputs that a running tool gave to the call it makes."""
    attempt: int = 0
    target: int = 0
    """Which tool is asked: 0 its own, then its fallbacks."""
    entry: int = 1
    """How often its block was begun."""
    output: Json = None
    error: Failure | None = None
    started_at: float | None = None
    duration: float = 0.0
    confidence: float | None = None
    continued: bool = False
    spreads: bool = False
    loop_items: ItemCaller | None = None
    """How its items are called, where each is one call."""
    watched: bool = False
    """A timer is set for it: a pause before a retry, the time to answer, or a block's time limit."""
    tick: int = 0
    """Its place among steps of equal weight, once it was ready."""
    needs: int = 0
    """Number of the last event of those that set it free: a durable journal has to have it before the call."""
    due: float | None = None
    """When the next attempt may start, after a retry was decided."""
    approved: str | None = None
    """Digest that a person has allowed."""
    asked: ev.ApprovalRequested | ev.InputRequested | None = None
    denied: bool = False
    stands: bool = False
    """Its failure was told to the tool that made the call, in an attempt of that one which has not ended."""
    held: bool = False
    """It waits for a person to accept its tool, which has changed."""
    doubt: ev.FallbackStarted | None = None
    """The answer that was not sure enough."""
    loop: LoopProgress | None = None
    scopes: list[Scope] | None = None
    """Open blocks inside it, and the closed ones that a retry may need."""
    answers: dict[str, JsonObject] | None = None
    """People's answers to questions that a running tool asked."""
    question: str = ""
    calls: dict[int, Scope] | None = None
    """Calls that its tools made themselves, by the tool's `target`."""
    winner: str = ""
    key: str = ""

    @property
    def nested(self) -> BlockProgram | None:
        """The plan that is the body of the tool it asks now, if it is one.

        A step that was done before its run was planned anew stands in the new plan without its fallbacks; the journal
        of a fork still tells of the one that did it.
        """
        targets = self.node.targets
        return targets[self.target].plan if self.target < len(targets) else None

    def children(self) -> list[StepState]:
        """The calls that its tools made themselves."""
        return [child for scope in (self.calls or {}).values() for child in scope.steps.values()]


class Scope(Frame):
    """One instance of a block: its steps, and the values that its expressions read."""

    __slots__ = (
        "account",
        "active",
        "base",
        "block",
        "branch",
        "depth",
        "done",
        "failure",
        "halted",
        "left",
        "missing",
        "owner",
        "owns_state",
        "path",
        "position",
        "prefix",
        "steps",
        "stopping",
        "trouble",
        "visits",
        "writes",
    )

    def __init__(
        self, block: BlockProgram, owner: StepState | None, path: str, *, branch: int = 0, prefix: str | None = None
    ) -> None:
        # What Frame's own __init__ would set is set by `State._open`: this runs once per item of every loop.
        self.block = block
        self.owner = owner
        self.path = path
        self.prefix = prefix if prefix is not None else f"{path}/" if path else ""
        """The begin of the paths of its steps."""
        self.branch = branch
        """Number of the loop's item or of the parallel's branch."""
        self.steps: dict[int, StepState] = {}
        self.missing = block.missing.copy()
        self.left = len(block.nodes)
        self.active = 0
        """Steps that have begun and not ended."""
        self.done = self.stopping = self.trouble = self.owns_state = False
        """`stopping`: a critical failure, so that nothing new starts in it. `trouble`: some step of it did not succeed,
        so that what depends on steps has to look at how they ended."""
        self.halted = ""
        """Why nothing new starts in it, where the cause lies in a block around it."""
        self.failure: Failure | None = None
        self.position = -1
        """Of a chain: the step it has come to."""
        self.visits: dict[int, int] | None = None
        self.writes: JsonObject | None = None
        """Variables written in it, to be merged when it ends."""
        self.base = 0.0
        """How long the way is from its end to the run's end."""
        self.account: Any = None
        """Counts what is spent of the bounds of the nested plan that it is in; None: that has none of its own."""
        self.depth = 0
        """How many plans deep: 0 in the plan that was started."""
        self.outputs = {}
        self.last = self.item = None
        # Large values stand by their handles in it.
        self.shares = False

    def step_record(self, step_id: str) -> JsonObject:
        """The record that `steps.ID` reads."""
        step = self.latest(step_id)
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
        step = self.latest(step_id)
        return step is None or step.status != "succeeded"

    def latest(self, step_id: str) -> StepState | None:
        """The last visit of a step of the block."""
        index = self.block.index_of.get(step_id)
        return None if index is None else self.steps.get(index)


EMPTY = BlockProgram(
    id="", flow="graph", nodes=(), index_of={}, missing=[], roots=(), sinks=(), names=plan_names(Plan())
)

#: Of a child call whose start, and with it its tool, the journal has not told.
UNNAMED = Node(id="", index=0, kind="call", step=Call(id="call", tool=""))
