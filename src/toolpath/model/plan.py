"""A plan and its steps, as frozen records: the one representation of every front end. Pure data, no behaviour.

The contract is the page on the plan format in `docs/`; a field's default is the field's meaning when it is absent.
Times are seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

import msgspec

from toolpath.errors import Finding
from toolpath.model.forms import FieldWord
from toolpath.values import Json, JsonObject, made_ready

Flow = Literal["graph", "chain"]
FailureMode = Literal["stop", "isolate", "continue"]
OnUnresolved = Literal["error", "keep", "null", "skip"]
WaitFor = Literal["all", "any", "first_success"]
OutputValidation = Literal["strict", "warn", "off"]
Kind = Literal["call", "parallel", "loop", "agent", "ask"]
#: What a template of a kind of step is for. `collect` is read inside the step's block, the others beside the step.
TemplateUse = Literal["input", "over", "collect", "text"]

#: `next: end` ends the chain.
END = "end"


class Source:
    """Source of a plan: its text's positions and the remarks of its reader.

    Equal to every other source, since where a plan came from is no part of what it is.
    """

    __slots__ = ("file", "findings", "positions")

    def __init__(
        self,
        file: str = "",
        positions: dict[str, tuple[int, int]] | None = None,
        findings: tuple[Finding, ...] = (),
    ) -> None:
        self.file = file
        self.positions = positions or {}
        """JSON pointer into the plan's canonical form → (line, column), both from 1."""
        self.findings = findings
        """What the reader found: unknown fields, wrong types, aliases that clash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source)

    def __hash__(self) -> int:
        return hash(Source)

    def __repr__(self) -> str:
        return f"Source({self.file!r})"

    def position(self, path: str) -> tuple[int, int] | None:
        """The position of the pointer, or of the nearest thing that encloses it."""
        while path:
            if path in self.positions:
                return self.positions[path]
            path = path.rpartition("/")[0]
        return self.positions.get("")


class Retry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Retry: how often, how and after what a failed attempt is made again."""

    max_retries: int = 3
    """Attempts after the first."""
    backoff: Literal["exponential", "fixed", "none"] = "exponential"
    initial_delay: float = 1.0
    factor: float = 2.0
    max_delay: float = 60.0
    jitter: bool = False
    retry_on: tuple[str, ...] | None = None
    """Error codes that are retried; None: all that may be."""


class Fallback(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Another tool to ask when the step's own has failed or was not sure."""

    tool: str
    inputs: JsonObject | None = None
    """None: the step's own inputs."""
    condition: Literal["on_error", "on_low_confidence"] = "on_error"
    threshold: float = 0.5


class Cache(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The step's result may be kept and reused for `ttl` seconds."""

    ttl: float | None = None
    """Seconds; None: as the settings say (300); 0: never."""
    key: str | None = None
    """A template whose value replaces the inputs in the cache key."""


class OnSuccess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Consequences of a success: fields to variables, then transformations in order, then a jump."""

    map_outputs: dict[str, str] = {}
    transform: JsonObject = {}
    next: str | None = None


class OnFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Consequences of a failure after all attempts and fallbacks. `retry` lives in the step's `retry`."""

    action: Literal["stop", "continue"] | None = None
    """None with `next`: branch there; None without: as the plan's failure mode says."""
    next: str | None = None


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of step as the checks, the compiler and the views see it. Each kind's record holds its own.

    Attributes are those of the record; pointers lead from the step in the notation.
    """

    kind: Kind
    """Its name in explanations, previews and the engine."""
    templates: tuple[tuple[TemplateUse, str, str], ...] = ()
    """What each of its own templates is for, the pointer to it, and the attribute with it."""
    gist: str = ""
    """Attribute that says most about what the step will do: a preview shows it."""
    blocks: str = ""
    """Attribute with its block, or with a tuple of blocks."""
    item: str = ""
    """Attribute with the name of the loop variable that its block reads."""
    spends: bool = True
    """Whether the step itself may cost something, or take time that nobody can estimate."""


class Common(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Fields that every kind of step has."""

    shape: ClassVar[Shape]

    id: str
    derived_id: bool = False
    """The id was made from the tool's name, not written."""
    depends_on: tuple[str, ...] = ()
    when: str | bool | None = None
    exclusive: bool = False
    timeout: float | None = None
    retry: Retry | None = None
    fallback: tuple[Fallback, ...] = ()
    critical: bool = True
    cache: Cache | None = None
    requires_approval: bool | str = False
    on_success: OnSuccess = OnSuccess()
    on_failure: OnFailure = OnFailure()
    on_unresolved: OnUnresolved | None = None
    output_validation: OutputValidation | None = None


class Call(Common, frozen=True, kw_only=True, omit_defaults=True, tag="tool", tag_field="kind", gc=False):
    """Call one tool."""

    shape: ClassVar[Shape] = Shape(kind="call", templates=(("input", "/inputs", "inputs"),), gist="inputs")

    tool: str
    inputs: JsonObject = {}
    inherit_memory: bool = False
    """Where the tool is a plan: its agents and tools know what was said in the conversation before the run."""


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Steps that run together: a branch, the body of a loop. Its ids are visible only inside it."""

    id: str = ""
    flow: Flow = "graph"
    steps: tuple[Step, ...] = ()


class Parallel(Common, frozen=True, kw_only=True, omit_defaults=True, tag="parallel", tag_field="kind"):
    """Run branches side by side. A branch written as a step is a block of that one step, with its id."""

    shape: ClassVar[Shape] = Shape(kind="parallel", blocks="branches")

    branches: tuple[Block, ...] = ()
    wait_for: WaitFor = "all"


class Loop(Common, frozen=True, kw_only=True, omit_defaults=True, tag="loop", tag_field="kind"):
    """Run the body once for each item of `over`."""

    shape: ClassVar[Shape] = Shape(
        kind="loop",
        templates=(("over", "/loop/over", "over"), ("collect", "/loop/collect", "collect")),
        gist="over",
        blocks="body",
        item="item",
    )

    over: Json = None
    item: str = "item"
    """Name of the loop variable; `as` in the notations."""
    body: Block = Block()
    concurrency: int = 1
    collect: Json = None
    """Template for what an item gives; None: the body's output."""


class AgentBudget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The most that an agent may spend, within what the run may. None: no limit of its own."""

    calls: int | None = None
    """Calls of models and tools."""
    cost: float | None = None
    """USD."""
    tokens: int | None = None
    time: float | None = None
    """Seconds of its calls; what it waits for people is not counted."""


class Agent(Common, frozen=True, kw_only=True, omit_defaults=True, tag="agent", tag_field="kind"):
    """Let a model reach a goal with the tools named."""

    shape: ClassVar[Shape] = Shape(
        kind="agent",
        templates=(
            ("text", "/agent/requirement", "requirement"),
            ("text", "/agent/instructions", "instructions"),
            ("text", "/agent/context", "context"),
        ),
        gist="requirement",
    )

    requirement: str = ""
    tools: tuple[str, ...] = ()
    """Names of those it may call. None given: all that are selectable; `none`: none."""
    model: str | None = None
    output: tuple[str, ...] = ()
    """Columns of its result, each `name` or `name: type`. None: it gives a text."""
    max_rounds: int | None = None
    """None: as the settings say (30)."""
    budget: AgentBudget = AgentBudget()
    instructions: str = ""
    """How it is to go about it."""
    context: Json = None
    """Template of what it is told besides, marked as data: what earlier steps gave. None: nothing."""
    require_tool_call: bool = True
    """An answer without a call ends nothing; false: its text is the result."""
    approve_writes: bool = False
    """A person has to allow each of its calls that writes."""


class Field(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field of a form."""

    name: str
    label: str = ""
    type: FieldWord = "text"
    required: bool = True
    options: tuple[Json, ...] = ()
    placeholder: str = ""
    default: Json = None
    accept: tuple[str, ...] = ()
    """Endings that a file may have, as `csv`; empty: any."""
    max_bytes: int | None = None
    """The most that a file may have; None: as uploads may."""


class Ask(Common, frozen=True, kw_only=True, omit_defaults=True, tag="ask", tag_field="kind"):
    """Let a person fill in a form. `Common.timeout` is how long they have; None: as long as it takes."""

    shape: ClassVar[Shape] = Shape(kind="ask", templates=(("text", "/ask", "form"),), gist="title", spends=False)

    title: str = ""
    description: str = ""
    fields: tuple[Field, ...] = ()

    @property
    def form(self) -> JsonObject:
        """The form as the journal and the surfaces show it."""
        fields = [msgspec.to_builtins(field) for field in self.fields]
        return {"title": self.title, "description": self.description, "inputs": fields}


Step = Call | Parallel | Loop | Agent | Ask


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The most that a run may spend. None: no limit."""

    calls: int | None = None
    cost: float | None = None
    """USD."""
    tokens: int | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bounds that end a run which would not end by itself."""

    step_visits: int = 100
    steps: int = 1_000_000
    depth: int = 10


Basis = Literal["request", "output", "input", "default", "result", "description", "nothing"]
"""What a value rests on: what the request says, a reference to an output or an input, the tool's default; a text that a
result of an earlier step holds, one that a tool's description holds, or nothing that is known."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Origin of a plan: what a planner says of the plan it made."""

    request: str = ""
    reasoning: str = ""
    confidence: float | None = None
    questions: tuple[str, ...] = ()
    """While there is one, nothing runs the plan."""
    uncovered: tuple[str, ...] = ()
    """What the request says and no step does, in its own words."""
    rests_on: JsonObject = {}
    """Id of a call → its argument → the `Basis` of its value; the weakest, where it is made of several."""
    estimates: JsonObject = {}


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A checked or checkable plan of tool calls."""

    name: str = "plan"
    description: str = ""
    version: str = "1.0.0"
    inputs: JsonObject = {}
    """JSON Schema of an object; {}: the plan takes none that it declares."""
    flow: Flow = "graph"
    steps: tuple[Step, ...] = ()
    outputs: Json = None
    """Template; None: the output of the flow."""
    failure_mode: FailureMode = "stop"
    concurrency: int | None = None
    """None: as the settings say (5)."""
    timeout: float | None = None
    budget: Budget = Budget()
    limits: Limits = Limits()
    on_unresolved: OnUnresolved = "error"
    origin: Origin = Origin()
    composite: bool = False
    """Read from a composite: a chain whose output is its final state and whose retry default is 0."""
    state: JsonObject = {}
    """`initial_state`: variables that a chain starts with, besides its inputs."""
    policy: JsonObject = {}
    """`requires` is enforced (`model/policy.py`); the rest is reserved, and kept when read."""
    metadata: JsonObject = {}
    source: Source = Source()

    @property
    def block(self) -> Block:
        """The plan's steps as a block."""
        return Block(id="", flow=self.flow, steps=self.steps)

    @property
    def confidence(self) -> float | None:
        """How sure the planner was, 0 to 1; None: no planner made it."""
        return self.origin.confidence

    @property
    def reasoning(self) -> str:
        """Why the planner chose these steps."""
        return self.origin.reasoning

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that the planner could not answer."""
        return self.origin.questions


def blocks_of(step: Step) -> tuple[Block, ...]:
    """The blocks inside a step: branches or the loop's body."""
    name = step.shape.blocks
    if not name:
        return ()
    found = getattr(step, name)
    return found if type(found) is tuple else (found,)


def block_pointers(step: Step) -> tuple[str, ...]:
    """The pointer from the step to each of its blocks, in the order of `blocks_of`: `/parallel/0`, `/loop`."""
    name = step.shape.blocks
    if not name:
        return ()
    word, found = step.__struct_config__.tag, getattr(step, name)
    return tuple([f"/{word}/{number}" for number in range(len(found))]) if type(found) is tuple else (f"/{word}",)


def with_calls(steps: tuple[Step, ...], change: Callable[[Call], Step]) -> tuple[Step, ...]:
    """The steps with each call in them, however deep, as `change` makes it."""
    return tuple([_with_calls(step, change) for step in steps])


def _with_calls(step: Step, change: Callable[[Call], Step]) -> Step:
    if isinstance(step, Call):
        return change(step)
    name = step.shape.blocks
    if not name:
        return step
    found = [msgspec.structs.replace(block, steps=with_calls(block.steps, change)) for block in blocks_of(step)]
    return msgspec.structs.replace(step, **{name: tuple(found) if type(getattr(step, name)) is tuple else found[0]})


def every_step(block: Block, at: str = "") -> Iterator[tuple[str, Step]]:
    """Every step of the block, however deep, with its JSON pointer below `at`."""
    for index, step in enumerate(block.steps):
        here = f"{at}/steps/{index}"
        yield here, step
        if step.shape.blocks:
            for inner, where in zip(blocks_of(step), block_pointers(step), strict=True):
                yield from every_step(inner, here + where)


def freeze(plan: Plan) -> JsonObject:
    """The plan as plain JSON for journals and digests: `thaw` gives an equal plan back."""
    frozen: JsonObject = msgspec.to_builtins(msgspec.structs.replace(plan, source=_NOWHERE), enc_hook=_no_source)
    frozen.pop("source", None)
    return frozen


def thaw(frozen: JsonObject) -> Plan:
    """The plan that `freeze` wrote. Raises `msgspec.ValidationError` for anything else."""
    return msgspec.convert(frozen, Plan)


_NOWHERE = Source()


def _no_source(value: object) -> None:
    if not isinstance(value, Source):
        raise TypeError(f"A plan holds {type(value).__name__}, which is no JSON.")


made_ready(Plan)
