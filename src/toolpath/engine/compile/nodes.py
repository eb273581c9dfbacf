"""The compiled form of a plan: targets, nodes and blocks, as records. Pure; how they are made is in `program.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from toolpath.expressions.compile import Compiled
from toolpath.expressions.names import Names
from toolpath.json_schema.validate import Validator
from toolpath.model.plan import Kind as StepKind
from toolpath.model.plan import OutputValidation, Plan, Retry, Step
from toolpath.model.tool import Body, Tool
from toolpath.values import Json, JsonObject

Kind = StepKind | Literal["nested"]

#: Where a jump to the end of a chain goes.
TO_END = -1


class CallTarget(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A tool that a step may call: its own, or a fallback."""

    tool: Tool
    key: str
    body: Body | None
    plan: BlockProgram | None
    """The tool's body, where that is a plan."""
    inputs: Compiled
    droppable: tuple[str, ...]
    """Arguments that are left out where they come to null."""
    accepts: Validator
    returns: Validator | None
    validation: OutputValidation
    timeout: float | None
    """Seconds; None: adaptive or the default."""
    retry: Retry
    explicit_retry: bool
    """The plan or the tool asked for retries: they repeat more than transient errors."""
    condition: Literal["", "on_error", "on_low_confidence"] = ""
    threshold: float = 0.5
    repeatable: bool = False
    guarded: bool = False
    """The tool asks something of its caller."""
    asks: bool = False
    """A person has to allow its calls."""
    reads: bool = False
    """It changes nothing."""
    is_valid: Callable[[JsonObject], bool]
    """Whether the inputs fit as they are. Raises `ValueError` or `TypeError` where something in them is no JSON."""
    gives: Callable[[Json], bool] | None = None
    """Whether a result fits `returns` as it is. None: no result is looked at."""
    wants_context: bool = False
    runs: Literal["loop", "thread", "process"] = "loop"
    invoke: Callable[[JsonObject, object], object] | None = None


class Node(msgspec.Struct, eq=False, kw_only=True):
    """One step, compiled. `index` is its place in its block; deps and dependents are indices too."""

    id: str
    index: int
    kind: Kind
    step: Step
    targets: tuple[CallTarget, ...] = ()
    when: Compiled | None = None
    approval: Compiled | None = None
    always_approve: bool = False
    over: Compiled | None = None
    concurrency: int = 1
    """Items of a loop that may be under way at once."""
    collect: Compiled | None = None
    form: Compiled | None = None
    """The form that an `ask` step shows: `{title, description, inputs}`."""
    blocks: tuple[BlockProgram, ...] = ()
    may_call: tuple[Node, ...] = ()
    """The calls that an agent may make."""
    deps: tuple[int, ...] = ()
    """Steps whose success it needs."""
    soft: tuple[int, ...] = ()
    """Steps whose end it needs, whatever the end."""
    dependents: tuple[int, ...] = ()
    map_outputs: tuple[tuple[str, str], ...] = ()
    transform: tuple[tuple[str, Compiled], ...] = ()
    writes: bool = False
    """Its success sets variables, by one of these two."""
    after_success: int | None = None
    after_failure: int | None = None
    continues: bool = False
    """A failure is taken as handled."""
    critical: bool = True
    exclusive: bool = False
    cached: bool = False
    cache_ttl: float = 300.0
    cache_key: Compiled | None = None
    plain: bool = False
    """Nothing but a call: no condition, approval, mapping, jump, retry in progress; the engine's fast way."""
    light: bool = False
    """A loop of which each item is one call, with nothing besides but attempts and a time limit."""
    on_unresolved: Literal["error", "keep", "null", "skip"] = "error"
    timeout: float | None = None


class BlockProgram(msgspec.Struct, eq=False, kw_only=True):
    """Nodes that run together."""

    id: str
    flow: Literal["graph", "chain"]
    nodes: tuple[Node, ...]
    index_of: Mapping[str, int]
    missing: list[int]
    """Per node: how many steps have to end before it may start."""
    roots: tuple[int, ...]
    sinks: tuple[int, ...]
    names: Names
    is_chain: bool = False
    single: bool = False
    """A branch that was written as one step: its id does not show in paths."""
    outputs: Compiled | None = None
    composite: bool = False
    by_id: bool = False
    """The block's output is every step's output by id: the preset of the chaining system."""
    mode: Literal["stop", "isolate", "continue"] = "stop"
    initial: JsonObject = {}
    has_state: bool = False
    retry_counts: Mapping[int, str] = {}
    """Place of a step → the variable that counts its retries, where the plan reads it."""
    max_visits: int = 100
    plan: Plan | None = None
    timeout: float | None = None
    optional: tuple[str, ...] = ()
    """Declared inputs that read null where they are not given."""
    defaults: JsonObject = {}
    """Values of declared inputs that are not given."""
    nullable: frozenset[str] = frozenset()
    """Those of them that stay null where null is given."""
    rank: list[float] = []
    """Per node: the longest way from it to the block's end, in seconds; set by `Program.rank`."""


def with_optional(inputs: JsonObject, block: BlockProgram) -> JsonObject:
    """The inputs, with its default or null for each declared one that is not given."""
    absent = [
        name
        for name in block.optional
        if name not in inputs or (inputs[name] is None and name in block.defaults and name not in block.nullable)
    ]
    return {**inputs, **{name: block.defaults.get(name) for name in absent}} if absent else inputs
