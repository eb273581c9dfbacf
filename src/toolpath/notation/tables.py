"""Tables of the plan notation: the fields of a plan, of each kind of step, and of what stands inside them.

Reader, printer and JSON Schema follow these tables; the page on plans is compared with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import msgspec

from toolpath.model import plan as model
from toolpath.model.plan import Block, Flow, Step
from toolpath.notation.field_types import (
    UNSET,
    AnyJson,
    Around,
    AsIs,
    Choice,
    Duration,
    Entry,
    Flag,
    Number,
    Object,
    Part,
    Table,
    Text,
    Texts,
    Unresolved,
    Whole,
)
from toolpath.notation.policy_types import (
    CacheSwitch,
    Condition,
    Exclusive,
    FailurePolicy,
    FallbackList,
    MaxRetries,
    Variables,
)
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.notation.step_types import FormFields, LoopVariable, Options, Over, Parameters, StepId, ToolName
from toolpath.values import Json, JsonObject

INPUT_ALIASES = ("parameters", "arguments", "args", "with")
FLOWS: tuple[str, ...] = get_args(model.Flow)
_ON_UNRESOLVED: tuple[str, ...] = get_args(model.OnUnresolved)


def _words(record: type[Any], name: str) -> tuple[str, ...]:
    """The words of a record's field."""
    wanted = next(field.type for field in msgspec.structs.fields(record) if field.name == name)
    return get_args(wanted)


# Policies of a step.

RETRY = Table(
    model.Retry,
    Entry(
        name="max_retries",
        type=MaxRetries(),
        aliases=("max_attempts",),
        tells="Attempts after the first (3).",
        is_always=True,
    ),
    Entry(
        name="backoff",
        type=Choice(words=_words(model.Retry, "backoff")),
        tells="How the delay grows.",
    ),
    Entry(name="initial_delay", type=Duration(zero=True), tells="Before the first retry (1s)."),
    Entry(name="factor", type=Number(), tells="By which an exponential delay grows (2)."),
    Entry(name="max_delay", type=Duration(zero=True), tells="The longest delay (60s)."),
    Entry(name="jitter", type=Flag(), tells="Vary the delays by chance."),
    Entry(name="retry_on", type=Texts(), tells="Codes of errors that are retried; if not given, all that may be."),
    what="A retry",
    title="Retry",
)
FALLBACK = Table(
    model.Fallback,
    Entry(name="tool", type=Text(), tells="The tool to ask instead.", is_required=True),
    Entry(name="inputs", type=Object(), aliases=INPUT_ALIASES, tells="If not given, the step's own."),
    Entry(name="condition", type=Choice(words=_words(model.Fallback, "condition")), tells="When it is asked."),
    Entry(name="threshold", type=Number(most=1), tells="Confidence below which a result is low (0.5)."),
    what="A fallback",
    title="Fallback",
)
CACHE = Table(
    model.Cache,
    Entry(name="ttl", type=Duration(zero=True), tells="How long the result may be reused (300s)."),
    Entry(name="key", type=Text(), tells="Template whose value replaces the inputs in the key."),
    what="A cache",
)
ON_SUCCESS = Table(
    model.OnSuccess,
    Entry(
        name="map_outputs",
        type=Variables(),
        tells="Field of the output → variable of the state.",
        hint="Write map_outputs: {field: variable}.",
    ),
    Entry(name="transform", type=Object(), tells="Variable → template, in order, after map_outputs."),
    Entry(name="next", type=Text(), tells="Id of the step to go on with; end: none."),
    what="on_success",
)
ON_FAILURE = Table(
    model.OnFailure,
    Entry(
        name="action",
        type=Choice(words=("stop", "retry", "continue"), message="Unknown failure action", shows="stop"),
        tells="Stop, retry, or go on.",
    ),
    Entry(
        name="max_retries",
        type=Whole(),
        attribute=None,
        tells="With 'action: retry': attempts after the first (3).",
    ),
    Entry(
        name="continue_on_max_retries",
        type=Flag(),
        attribute=None,
        tells="With 'action: retry': go on after the last one.",
    ),
    Entry(name="next", type=Text(), tells="Id of the step to go on with; end: none."),
    what="on_failure",
    hints={"retry": "Write retry beside on_failure, or action: retry."},
)


# Blocks of steps.


class Branches(msgspec.Struct, frozen=True, kw_only=True):
    """A list of branches: steps, and blocks of steps."""

    def read(self, fields: Fields, entry: Entry, around: Around) -> Any:
        node = fields.node_of(entry.name)
        path = below(fields.path, entry.name)
        if node is not None and isinstance(node.value, list):
            return around.reader.branches(node, path, around.flow)
        if node is not None:
            fields.notes.wrong_type(path, node, "A list of branches", entry.hint)
        return UNSET

    def written(self, value: Any, flow: Flow) -> Json:
        return [_branch_written(branch, flow) for branch in value]

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "array", "items": {"$ref": "#/$defs/branch"}}


def _branch_written(branch: Block, flow: Flow) -> JsonObject:
    if len(branch.steps) == 1 and branch.flow == flow and branch.steps[0].id == branch.id:
        return step_written(branch.steps[0], flow)
    return _block_written(branch, flow)


def _block_written(block: Block, around: Flow) -> JsonObject:
    found: JsonObject = {"id": block.id} if block.id else {}
    found |= {} if block.flow == around else {"flow": block.flow}
    return {**found, "steps": [step_written(step, block.flow) for step in block.steps]}


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """A block whose fields stand among those of the step."""

    def read(self, fields: Fields, entry: Entry, around: Around) -> Any:
        return around.reader.block(fields, fields.text("id"), around.flow)

    def written(self, value: Any, flow: Flow) -> Any:
        return _block_written(value, flow)

    def schema(self, entry: Entry) -> JsonObject:
        return {}


class StepList(AsIs, frozen=True, kw_only=True):
    """A list of steps; `BlockReader` reads it."""

    def read(self, fields: Fields, entry: Entry, around: Any) -> Any:
        return UNSET

    def schema(self, entry: Entry) -> JsonObject:
        return {"type": "array", "items": {"$ref": "#/$defs/step"}}


_BLOCK_FLOW = Entry(
    name="flow",
    type=Choice(words=FLOWS, shows=""),
    tells="As that of the block around it, if not given.",
)
_BLOCK_STEPS = Entry(name="steps", type=StepList(), is_required=True)
BRANCH = Table(
    Block,
    Entry(name="id", type=Text(ref="id"), tells="Unique among the branches."),
    _BLOCK_FLOW,
    _BLOCK_STEPS,
    what="A branch with 'steps'",
    title="Branch with several steps",
)
_BODY = Table(Block, Entry(name="id", type=Text(), tells="Name of the body."), _BLOCK_FLOW, _BLOCK_STEPS)


# Kinds of steps.


# Kinds of steps. A new one has its record in `model/plan.py`, and its row here.

_INPUTS = "What the tool is given; templates anywhere in it."
FIELD = Table(
    model.Field,
    Entry(name="name", type=Text(least=1), tells="Name of the answer.", takes_null=False, is_always=True),
    Entry(name="label", type=Text(), tells="What the person reads."),
    Entry(name="type", type=Choice(words=_words(model.Field, "type")), tells="Kind of the field."),
    Entry(name="required", type=Flag(), tells="The person must answer."),
    Entry(name="options", type=Options(), tells="What can be chosen."),
    Entry(name="placeholder", type=Text(), tells="Shown while it is empty."),
    Entry(name="default", type=AnyJson(), tells="Answer where none is given."),
    what="A field of a form",
    title="Field of a form",
)


class StepKind(NamedTuple):
    """How a kind of step is written: under its word, the tag of its record."""

    table: Table
    tells: str = ""
    hint: str = ""
    """What to write where a mapping is expected under the word."""
    is_inline: bool = False
    """Its fields stand in the step itself; else in a mapping under its word."""
    is_timed: bool = False
    """The step's `timeout` ends an attempt that hangs; else it is what a person or the steps inside have."""

    @property
    def word(self) -> str:
        """The field that says that a step is of this kind."""
        return str(self.table.record.__struct_config__.tag)


KINDS = (
    StepKind(
        Table(
            model.Call,
            Entry(
                name="tool",
                type=ToolName(),
                tells="The tool to call: group.name, an alias, or a bare name.",
                takes_null=False,
                is_always=True,
            ),
            Entry(name="inputs", type=Object(), aliases=INPUT_ALIASES, tells=_INPUTS),
        ),
        is_inline=True,
        is_timed=True,
    ),
    StepKind(
        Table(
            model.Agent,
            Entry(name="requirement", type=Text(), tells="What is to be reached.", is_required=True),
            Entry(name="tools", type=Texts(), tells="Keys of the tools it may call."),
            Entry(name="model", type=Text(), tells="Model; if not given, that of the settings."),
            Entry(name="output", type=Texts(), tells="Names of the fields of its result."),
            Entry(name="max_rounds", type=Whole(least=1), tells="Rounds of thinking (30)."),
            what="An agent",
            title="Agent",
        ),
        tells="Let a model reach a goal.",
        is_timed=True,
    ),
    StepKind(
        Table(
            model.Parallel,
            Entry(name="wait_for", type=Choice(words=get_args(model.WaitFor)), tells="Which branches decide."),
            Entry(
                name="parallel",
                type=Branches(),
                attribute="branches",
                tells="Branches that run side by side.",
                takes_null=False,
                is_always=True,
                hint="Write a dash before each branch: - {id: a, tool: …}.",
            ),
        ),
        is_inline=True,
    ),
    StepKind(
        Table(
            model.Loop,
            Entry(
                name="over",
                type=Over(),
                tells="The items: a list, or a template that gives one.",
                is_required=True,
                hint='Name the list to go over: over: "{{ state.items }}".',
            ),
            Entry(
                name="as", type=LoopVariable(ref="id"), attribute="item", tells="Name of the item in the steps (item)."
            ),
            Entry(name="body", type=Body(), inlined=_BODY),
            Entry(name="concurrency", type=Whole(least=1), tells="Items at a time (1)."),
            Entry(
                name="collect",
                type=AnyJson(),
                tells="Template of what an item gives; if not given, the body's output, called 'last'.",
            ),
            what="A loop",
            title="Loop",
            hints={
                **dict.fromkeys(
                    ("items", "in", "list", "each", "foreach"), 'Name the list to go over: over: "{{ a.items }}".'
                ),
                **dict.fromkeys(("item", "var", "variable", "name"), "Name the loop variable: as: item."),
                **dict.fromkeys(
                    ("tool", "inputs"), "Write the call as a step of the loop: steps: [{tool: …, inputs: …}]."
                ),
            },
        ),
        tells="Steps for each item of a list.",
    ),
    StepKind(
        Table(
            model.Ask,
            Entry(name="title", type=Text(), tells="Title of the form."),
            Entry(name="description", type=Text(), tells="What it is for."),
            Entry(name="inputs", type=FormFields(table=FIELD), attribute="fields", tells="The fields of the form."),
            Entry(
                name="timeout",
                type=Duration(),
                tells="How long the person has; if not given, as long as it takes.",
            ),
            what="A form",
            title="Form",
        ),
        tells="Let a person fill in a form.",
        hint="Write ask: {title: …, inputs: [{name: …}]}.",
    ),
)
ACTIONS = tuple(kind.word for kind in KINDS)
KIND_OF_WORD = {kind.word: kind for kind in KINDS}
_KIND_OF_RECORD = {kind.table.record: kind for kind in KINDS}

STEP_CACHE = Entry(
    name="cache",
    type=CacheSwitch(table=CACHE),
    tells="Keep and reuse the result.",
    hint="Write cache: true or cache: {ttl: 5m}.",
)
STEP = Table(
    model.Common,
    Entry(
        name="id",
        type=StepId(ref="id"),
        tells="Unique in the plan; made from the tool's name if not given.",
        is_always=True,
    ),
    Entry(
        name="derived_id",
        type=Flag(),
        tells="The id was made from the tool's name, so a reference by it may be ambiguous.",
    ),
    Entry(
        name="depends_on",
        type=Texts(unique=True),
        aliases=("dependsOn", "dependencies", "needs"),
        tells="Ids of steps that end before this one starts.",
    ),
    Entry(name="when", type=Condition(), tells="Expression; false: the step is skipped."),
    Entry(
        name="exclusive",
        type=Exclusive(),
        aliases=("executionMode", "execution_mode"),
        tells="Nothing runs beside this step.",
    ),
    Entry(name="timeout", type=Duration(limits=None), tells="Time for one attempt."),
    Entry(
        name="retry",
        type=Part(table=RETRY, ref="retry"),
        tells="How a failed attempt is made again.",
        hint="Write retry: {max_retries: 3}.",
    ),
    Entry(
        name="fallback",
        type=FallbackList(table=FALLBACK),
        tells="Other tools to ask, in order, when this one failed or was not sure.",
        hint="Write fallback: {tool: name}.",
    ),
    Entry(name="critical", type=Flag(), tells="A failure fails the run."),
    STEP_CACHE,
    Entry(
        name="requires_approval",
        type=Condition(),
        tells="A person must approve first: true, or an expression.",
    ),
    Entry(
        name="on_success",
        type=Part(table=ON_SUCCESS),
        tells="What follows a success.",
        hint="Write on_success: {next: ID}.",
    ),
    Entry(
        name="on_failure",
        type=FailurePolicy(table=ON_FAILURE),
        tells="What follows a failure after all attempts and fallbacks.",
        hint="Write on_failure: {action: continue}.",
    ),
    Entry(name="on_unresolved", type=Unresolved(words=_ON_UNRESOLVED), tells="As the plan's."),
    Entry(
        name="output_validation",
        type=Choice(words=get_args(model.OutputValidation)),
        tells="How strictly the result is held to the tool's schema.",
    ),
)
COMMON_FIELDS = STEP.names


def step_written(step: Step, flow: Flow) -> JsonObject:
    """One step in the notation; `flow` is that of the block around it, which the blocks inside it need not repeat."""
    kind = _KIND_OF_RECORD[type(step)]
    own = kind.table.written(step, flow)
    common = STEP.written(step, without=own if not kind.is_inline else ())
    head: JsonObject = {name: common.pop(name) for name in ("id", "derived_id") if name in common}
    return {**head, **(own if kind.is_inline else {kind.word: own}), **common}


# The plan.

HEAD = Table(
    model.Plan,
    Entry(name="name", type=Text(numbers=True), tells="Name of the plan.", is_always=True),
    Entry(name="description", type=Text(), tells="What it does, for people and for those who choose among plans."),
    Entry(name="version", type=Text(numbers=True), tells="Version, 1.0.0 if not given."),
    Entry(
        name="composite",
        type=Flag(),
        tells="The plan is the body of a composite: its output is its state, and it retries nothing.",
    ),
    Entry(
        name="inputs",
        type=Parameters(),
        aliases=("parameters",),
        tells="JSON Schema of an object: what a run is given.",
    ),
)
#: What a plan and the body of a composite say after their flow and before their steps: how they run.
SETTINGS = Table(
    model.Plan,
    Entry(
        name="initial_state",
        type=Object(),
        attribute="state",
        aliases=("state",),
        tells="Variables that a chain starts with, besides its inputs.",
    ),
    Entry(
        name="failure_mode",
        type=Choice(words=get_args(model.FailureMode)),
        tells="What a failure stops: everything, its dependents, nothing.",
    ),
    Entry(name="concurrency", type=Whole(least=1), tells="Calls that run side by side (5)."),
    Entry(
        name="timeout",
        type=Duration(limits=True, named=False),
        tells="Time for the whole run, without waiting for people.",
    ),
    Entry(
        name="budget",
        type=Part(
            table=Table(
                model.Budget,
                Entry(name="calls", type=Whole(), tells="Attempts of calls."),
                Entry(name="cost", type=Number(), tells="USD."),
                Entry(name="tokens", type=Whole(), tells="Tokens of models."),
                what="A budget",
            )
        ),
        tells="The most that a run may spend.",
    ),
    Entry(
        name="limits",
        type=Part(
            table=Table(
                model.Limits,
                Entry(name="step_visits", type=Whole(least=1), tells="Visits of one step of a chain (100)."),
                Entry(name="steps", type=Whole(least=1), tells="Steps that a run makes (1,000,000)."),
                Entry(name="depth", type=Whole(least=1), tells="Plans within plans (10)."),
                what="Limits",
            )
        ),
        tells="Bounds that end a run which would not end by itself.",
    ),
    Entry(
        name="on_unresolved",
        type=Unresolved(words=_ON_UNRESOLVED),
        tells="What a reference without a value does to its step.",
    ),
)
OUTPUTS = Table(
    model.Plan,
    Entry(
        name="outputs",
        type=AnyJson(),
        tells="Template of the result; if not given, the output of the last steps.",
    ),
)
TAIL = Table(
    model.Plan,
    Entry(
        name="origin",
        type=Part(
            table=Table(
                model.Origin,
                Entry(name="request", type=Text(), tells="The request in words."),
                Entry(name="reasoning", type=Text(), tells="Why these steps."),
                Entry(name="confidence", type=Number(most=1), tells="How sure the planner is."),
                Entry(
                    name="questions",
                    type=Texts(),
                    tells="What the planner could not know; while there is one, nothing runs the plan.",
                ),
                Entry(name="uncovered", type=Texts(), tells="What the request says and no step does."),
                Entry(name="estimates", type=Object(), tells="Expected duration and cost."),
                what="An origin",
            )
        ),
        tells="What a planner says of the plan it made.",
    ),
    Entry(
        name="policy",
        type=Object(),
        tells="`requires`: what callers must have. The rest is kept, and does nothing yet.",
    ),
    Entry(name="metadata", type=Object(), tells="Anything; kept, and does nothing."),
)
#: How the steps of a plan are written; `read_flow` reads both.
BODY = Table(
    model.Plan,
    Entry(name="flow", type=Choice(words=FLOWS), tells="graph: by dependencies; chain: in order, with jumps."),
    Entry(
        name="steps",
        type=StepList(),
        tells="What is done. In a graph each step starts as soon as those it needs have ended.",
        is_required=True,
    ),
)
