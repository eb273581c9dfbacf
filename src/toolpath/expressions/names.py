"""Meaning of a bare name at one place of a plan: step, loop variable, variable of the state. Pure.

One answer for checker and compiler, so that they cannot disagree. `Frame` is the run-time twin: where the values of
these names are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from toolpath.expressions.templates import expressions_of
from toolpath.expressions.work import Work
from toolpath.model.plan import Block, Call, Flow, Plan, Step, blocks_of, every_step
from toolpath.values import Json, JsonObject

RootKind = Literal["output", "state", "inputs", "steps", "item", "last", "run", "secrets"]

#: Names that mean the same everywhere and may be no step's id.
RESERVED = frozenset({"state", "inputs", "steps", "run", "secrets", "last", "end"})
#: Words of the expression language; no step's id either.
KEYWORDS = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "null", "True", "False", "None", "lambda"}
)
#: Variables that a composite's state holds from the start; read-only.
CHAIN_VARIABLES = ("chain_id", "chain_name", "started_at")
_RETRY_COUNT = re.compile(r"\bstep_\d{1,9}_retry_count\b")


class Root(msgspec.Struct, frozen=True, gc=False):
    """Meaning of a name: its kind, its key there, and how many frames up it is."""

    kind: RootKind
    key: str = ""
    up: int = 0


class Ambiguous(msgspec.Struct, frozen=True):
    """A name that could stand for several things; `candidates` are ids or descriptions."""

    candidates: tuple[str, ...]


class Names(msgspec.Struct, frozen=True, eq=False):
    """The names visible in one block (or in `collect`, `outputs`, … of it)."""

    flow: Flow
    ids: Mapping[str, str]
    """Visible name → step id in this block: ids, and names of tools that one step alone uses."""
    shared: Mapping[str, tuple[str, ...]]
    """Names of tools that several steps of this block use → their ids."""
    outer: Names | None = None
    item: str | None = None
    """The loop variable, in the body of a loop."""
    in_chain: bool = False
    """The block is a chain or lies in one: variables of the state are known by their bare names too."""
    variables: frozenset[str] = frozenset()
    """Variables of the state that are known before the run: inputs, initial state, all that steps write. A graph has a
    state where one of its steps writes one, read as `state.x` alone."""
    has_last: bool = False
    """`last` is visible: in `collect`."""

    def root(self, name: str) -> Root | Ambiguous | None:
        """The root that a bare name stands for here; None where it means nothing.

        Graph: loop variable → step id → tool name that one step alone uses. Chain: loop variable → state → step id.
        A name that a block in between cannot answer is looked up in the block around it.
        """
        if name in ("inputs", "state", "steps", "run", "secrets"):
            return None if name == "state" and not self.has_state else Root(name, "", 0)  # type: ignore[arg-type]
        if name == "last":
            return Root("last") if self.has_last else None
        return self._look_up(name, 0)

    @property
    def has_state(self) -> bool:
        """There is a state to read here."""
        return self.in_chain or bool(self.variables)

    def _look_up(self, name: str, up: int) -> Root | Ambiguous | None:
        if name == self.item:
            return Root("item", name, up)
        if up == 0 and self.in_chain and name in self.variables:
            return Root("state", name, 0)
        if name in self.ids:
            return Root("output", self.ids[name], up)
        if name in self.shared:
            return Ambiguous(self.shared[name])
        return self.outer._look_up(name, up + 1) if self.outer is not None else None

    def step(self, step_id: str) -> Root | None:
        """The step of that id (or unambiguous tool name) as `steps.ID` means it, here or in a block around."""
        up, names = 0, self
        while True:
            if step_id in names.ids:
                return Root("output", names.ids[step_id], up)
            if names.outer is None:
                return None
            up, names = up + 1, names.outer

    def visible(self) -> tuple[str, ...]:
        """Every name that means something here, for 'did you mean'."""
        found: list[str] = []
        names: Names | None = self
        while names is not None:
            found += names.ids
            if names.item:
                found.append(names.item)
            names = names.outer
        return tuple(dict.fromkeys([*found, *(self.variables if self.in_chain else ())]))

    def collecting(self) -> Names:
        """The names of a loop's body, with `last`."""
        return msgspec.structs.replace(self, has_last=True)


def plan_names(plan: Plan) -> Names:
    """The names visible in the plan's own steps."""
    written = written_variables(plan.block)
    variables = frozenset[str]()
    if plan.flow == "chain" or written:
        counts = retry_counts(plan)
        variables = frozenset([*plan.inputs.get("properties", {}), *plan.state, *written, *CHAIN_VARIABLES, *counts])
    return _names(plan.block, None, None, plan.flow == "chain", variables)


def retry_counts(plan: Plan) -> dict[str, int]:
    """`step_N_retry_count`, as far as the plan reads it → N, the place of a step of its own that is retried.

    A variable that the plan has itself is none of these.
    """
    if plan.flow != "chain":
        return {}
    found = {f"step_{index}_retry_count": index for index, step in enumerate(plan.steps) if step.retry is not None}
    if not found:
        return {}
    own = {*plan.inputs.get("properties", {}), *plan.state, *written_variables(plan.block)}
    read = {name for _, text in expressions_of(plan) for name in _RETRY_COUNT.findall(text)}
    return {name: index for name, index in found.items() if name in read and name not in own}


def block_names(block: Block, outer: Names, item: str | None = None) -> Names:
    """The names visible in a branch or loop body of a step whose own names are `outer`."""
    in_chain = outer.in_chain or block.flow == "chain"
    written = written_variables(block)
    # A plan knows what its blocks write: a copy for each of them would cost the square of the plan.
    known = outer.variables
    variables = known if known.issuperset(written) else known | frozenset(written)
    return _names(block, outer, item, in_chain, variables)


def _names(block: Block, outer: Names | None, item: str | None, in_chain: bool, variables: frozenset[str]) -> Names:
    ids = {step.id: step.id for step in block.steps}
    users: dict[str, list[str]] = {}
    for step in block.steps:
        if isinstance(step, Call):
            # A call is known by its tool's full key and by its bare name.
            for name in {step.tool, step.tool.rpartition(".")[2]}:
                users.setdefault(name, []).append(step.id)
    shared: dict[str, tuple[str, ...]] = {}
    derived = {step.id for step in block.steps if step.derived_id}
    for name, steps in users.items():
        if len(steps) == 1:
            ids.setdefault(name, steps[0])
        elif name not in ids or name in derived:
            # A derived id that equals a name which several steps share could mean any of them.
            ids.pop(name, None)
            shared[name] = tuple(steps)
    return Names(
        flow=block.flow, ids=ids, shared=shared, outer=outer, item=item, in_chain=in_chain, variables=variables
    )


def written_variables(block: Block) -> tuple[str, ...]:
    """Every variable that a step of the block, however deep, may write."""
    found: dict[str, None] = {}
    for _, step in every_step(block):
        effects = step.on_success
        if effects.map_outputs or effects.transform:
            _add_variables(step, found)
    return tuple(found)


def variables_of(step: Step) -> tuple[str, ...]:
    """Every variable that the step, or one inside it, may write."""
    if blocks_of(step):
        return written_variables(Block(steps=(step,)))
    found: dict[str, None] = {}
    _add_variables(step, found)
    return tuple(found)


def _add_variables(step: Step, found: dict[str, None]) -> None:
    for variable in step.on_success.map_outputs.values():
        found[variable] = None
    for variable in step.on_success.transform:
        found[variable] = None


def inner_names(step: Step, names: Names) -> tuple[Names, ...]:
    """The names visible in each block inside the step, in the order of `blocks_of`."""
    shape = step.shape
    if not shape.blocks:
        return ()
    item = getattr(step, shape.item) if shape.item else None
    return tuple(block_names(block, names, item) for block in blocks_of(step))


class Frame:
    """Values of one block instance's names while it runs.

    The engine fills these dictionaries; expressions only read them.
    """

    __slots__ = (
        "inputs",
        "item",
        "last",
        "outputs",
        "run",
        "secrets",
        "shares",
        "state",
        "step_record",
        "up",
        "void",
        "work",
    )

    def __init__(  # noqa: PLR0913  # a record that is filled once
        self,
        *,
        inputs: JsonObject,
        run: JsonObject,
        outputs: JsonObject | None = None,
        state: JsonObject | None = None,
        item: Json = None,
        up: Frame | None = None,
        secrets: Mapping[str, str] | None = None,
        step_record: Callable[[str], JsonObject] | None = None,
        void: Callable[[str], bool] | None = None,
    ) -> None:
        self.inputs = inputs
        self.run = run
        """`id` and `started_at`."""
        self.outputs: JsonObject = {} if outputs is None else outputs
        """Output by step id, of the steps that have ended; null for those skipped or continued after failure."""
        self.state: JsonObject = {} if state is None else state
        self.item = item
        self.last: Json = None
        self.up = up
        self.secrets: Mapping[str, str] = {} if secrets is None else secrets
        self.step_record: Callable[[str], JsonObject] = step_record or _no_record
        """Step id → `{output, status, error, duration}`."""
        self.shares = False
        """Values in it may share parts, so that they are small in memory and endless in text."""
        self.work: Work | None = None
        """Counts what the expressions of the run do; None: each is bounded for itself alone."""
        self.void: Callable[[str], bool] = void or _never
        """Whether a step has no output because it was skipped, continued after failure or never visited: a path into
        it is null."""

    def climb(self, up: int) -> Frame:
        """The frame so many blocks around this one."""
        frame = self
        for _ in range(up):
            if frame.up is None:
                raise LookupError("The frame has no frame around it.")
            frame = frame.up
        return frame


def _no_record(step_id: str) -> JsonObject:
    raise KeyError(step_id)


def _never(step_id: str) -> bool:
    return False
