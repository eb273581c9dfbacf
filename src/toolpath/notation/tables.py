"""Tables of the notation: the fields of a plan, of each kind of step, of what stands inside them, and of composites.

Reader, printer and JSON Schema follow these tables; the page on plans is compared with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import msgspec

from toolpath.model import plan as model
from toolpath.model.plan import Block, Flow, Step
from toolpath.model.tool import Tool
from toolpath.notation.attempt_types import (
    CacheSwitch,
    Condition,
    Exclusive,
    FailurePolicy,
    FallbackList,
    MaxRetries,
    VariableMap,
)
from toolpath.notation.field_types import (
    UNSET,
    AnyJson,
    Around,
    AsIs,
    Choice,
    ChoiceOrNull,
    Duration,
    Entry,
    Flag,
    NestedMapping,
    Number,
    Object,
    Table,
    Text,
    TextList,
    Whole,
)
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.notes import below
from toolpath.notation.step_types import (
    Columns,
    FormFields,
    LoopVariable,
    OptionList,
    Over,
    Parameters,
    StepId,
    ToolName,
)
from toolpath.values import Json, JsonObject

INPUT_ALIASES = ("parameters", "arguments", "args", "with")
FLOWS: tuple[str, ...] = get_args(model.Flow)


# Policies of a step.

RETRY = Table(
    model.Retry,
    Entry("max_retries", MaxRetries(), "Attempts after the first (3).", aliases=("max_attempts",), is_always=True),
    Entry("backoff", Choice(), "How the delay grows."),
    Entry("initial_delay", Duration(zero=True), "Before the first retry (1s)."),
    Entry("factor", Number(), "By which an exponential delay grows (2)."),
    Entry("max_delay", Duration(zero=True), "The longest delay (60s)."),
    Entry("jitter", Flag(), "Vary the delays by chance."),
    Entry("retry_on", TextList(), "Codes of errors that are retried; if not given, all that may be."),
    what="A retry",
    title="Retry",
)
FALLBACK = Table(
    model.Fallback,
    Entry("tool", Text(), "The tool to ask instead.", is_required=True),
    Entry("inputs", Object(), "If not given, the step's own.", aliases=INPUT_ALIASES),
    Entry("condition", Choice(), "When it is asked."),
    Entry("threshold", Number(most=1), "Confidence below which a result is low (0.5)."),
    what="A fallback",
    title="Fallback",
)
CACHE = Table(
    model.Cache,
    Entry("ttl", Duration(zero=True), "How long the result may be reused (300s)."),
    Entry("key", Text(), "Template whose value replaces the inputs in the key."),
    what="A cache",
)
ON_SUCCESS = Table(
    model.OnSuccess,
    Entry(
        "map_outputs",
        VariableMap(),
        "Field of the output → variable of the state.",
        hint="Write map_outputs: {field: variable}.",
    ),
    Entry("transform", Object(), "Variable → template, in order, after map_outputs."),
    Entry("next", Text(), "Id of the step to go on with; end: none."),
    what="on_success",
)
ON_FAILURE = Table(
    model.OnFailure,
    Entry(
        "action",
        Choice(words=("stop", "retry", "continue"), message="Unknown failure action", shows="stop"),
        "Stop, retry, or go on.",
    ),
    Entry("max_retries", Whole(), "With 'action: retry': attempts after the first (3).", attribute=None),
    Entry("continue_on_max_retries", Flag(), "With 'action: retry': go on after the last one.", attribute=None),
    Entry("next", Text(), "Id of the step to go on with; end: none."),
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


class InlineBlock(msgspec.Struct, frozen=True, kw_only=True):
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


_BLOCK_FLOW = Entry("flow", Choice(shows=""), "As that of the block around it, if not given.")
_BLOCK_STEPS = Entry("steps", StepList(), is_required=True)
BRANCH = Table(
    Block,
    Entry("id", Text(ref="id"), "Unique among the branches."),
    _BLOCK_FLOW,
    _BLOCK_STEPS,
    what="A branch with 'steps'",
    title="Branch with several steps",
)
_BODY = Table(Block, Entry("id", Text(), "Name of the body."), _BLOCK_FLOW, _BLOCK_STEPS)


# Kinds of steps.


# Kinds of steps. A new one has its record in `model/plan.py`, and its row here.

_INPUTS = "What the tool is given; templates anywhere in it."
FIELD = Table(
    model.Field,
    Entry("name", Text(least=1), "Name of the answer.", takes_null=False, is_always=True),
    Entry("label", Text(), "What the person reads."),
    Entry("type", Choice(), "Kind of the field."),
    Entry("required", Flag(), "The person must answer."),
    Entry("options", OptionList(), "What can be chosen."),
    Entry("placeholder", Text(), "Shown while it is empty."),
    Entry("default", AnyJson(), "Answer where none is given."),
    Entry("accept", TextList(unique=True), "Endings that a file may have, as csv; if not given, any."),
    Entry("max_bytes", Whole(least=1), "The most bytes that a file may have."),
    what="A field of a form",
    title="Field of a form",
)


class StepKind(NamedTuple):
    """Kind of step as it is written: under its word, the tag of its record."""

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


_SPENT = (
    Entry("calls", Whole(), "Attempts of calls."),
    Entry("cost", Number(), "USD."),
    Entry("tokens", Whole(), "Tokens of models."),
)
_AGENT_BUDGET = Table(model.AgentBudget, *_SPENT, Entry("time", Duration(), "Time."), what="The budget of an agent")

STEP_KINDS = (
    StepKind(
        Table(
            model.Call,
            Entry(
                "tool",
                ToolName(),
                "The tool to call: group.name, an alias, or a bare name.",
                takes_null=False,
                is_always=True,
            ),
            Entry("inputs", Object(), _INPUTS, aliases=INPUT_ALIASES),
            Entry("inherit_memory", Flag(), "Where the tool is a plan: it knows the conversation before the run."),
        ),
        is_inline=True,
        is_timed=True,
    ),
    StepKind(
        Table(
            model.Agent,
            Entry("requirement", Text(), "What is to be reached.", is_required=True),
            Entry("tools", TextList(), "Keys of the tools it may call."),
            Entry("model", Text(), "Model; if not given, that of the settings."),
            Entry("output", Columns(), "Columns of its result, each 'name' or 'name: type'; if not given, a text."),
            Entry("max_rounds", Whole(least=1), "Rounds of thinking; if not given, as the settings say (30)."),
            Entry("budget", NestedMapping(table=_AGENT_BUDGET), "The most that it may spend."),
            Entry("instructions", Text(), "How it is to go about it."),
            Entry("context", AnyJson(), "What it is told besides, marked as data: what earlier steps gave."),
            Entry("require_tool_call", Flag(), "Whether text alone ends nothing (true); false: it is the result."),
            Entry("approve_writes", Flag(), "A person has to allow each of its calls that writes."),
            what="An agent",
            title="Agent",
        ),
        tells="Let a model reach a goal.",
        is_timed=True,
    ),
    StepKind(
        Table(
            model.Parallel,
            Entry("wait_for", Choice(), "Which branches decide."),
            Entry(
                "parallel",
                Branches(),
                "Branches that run side by side.",
                attribute="branches",
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
                "over",
                Over(),
                "The items: a list, or a template that gives one.",
                is_required=True,
                hint='Name the list to go over: over: "{{ state.items }}".',
            ),
            Entry("as", LoopVariable(ref="id"), "Name of the item in the steps (item).", attribute="item"),
            Entry("body", InlineBlock(), inlined=_BODY),
            Entry("concurrency", Whole(least=1), "Items at a time (1)."),
            Entry(
                "collect", AnyJson(), "Template of what an item gives; if not given, the body's output, called 'last'."
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
            Entry("title", Text(), "Title of the form."),
            Entry("description", Text(), "What it is for."),
            Entry("inputs", FormFields(table=FIELD), "The fields of the form.", attribute="fields"),
            Entry("timeout", Duration(), "How long the person has; if not given, as long as it takes."),
            what="A form",
            title="Form",
        ),
        tells="Let a person fill in a form.",
        hint="Write ask: {title: …, inputs: [{name: …}]}.",
    ),
)
ACTIONS = tuple(kind.word for kind in STEP_KINDS)
KIND_OF_WORD = {kind.word: kind for kind in STEP_KINDS}
_KIND_OF_RECORD = {kind.table.record: kind for kind in STEP_KINDS}

_CACHE = Entry(
    "cache", CacheSwitch(table=CACHE), "Keep and reuse the result.", hint="Write cache: true or cache: {ttl: 5m}."
)
STEP = Table(
    model.Common,
    Entry("id", StepId(ref="id"), "Unique in the plan; made from the tool's name if not given.", is_always=True),
    Entry("derived_id", Flag(), "The id was made from the tool's name, so a reference by it may be ambiguous."),
    Entry(
        "depends_on",
        TextList(unique=True),
        "Ids of steps that end before this one starts.",
        aliases=("dependsOn", "dependencies", "needs"),
    ),
    Entry("when", Condition(), "Expression; false: the step is skipped."),
    Entry("exclusive", Exclusive(), "Nothing runs beside this step.", aliases=("executionMode", "execution_mode")),
    Entry("timeout", Duration(limits=None), "Time for one attempt."),
    Entry(
        "retry",
        NestedMapping(table=RETRY, ref="retry"),
        "How a failed attempt is made again.",
        hint="Write retry: {max_retries: 3}.",
    ),
    Entry(
        "fallback",
        FallbackList(table=FALLBACK),
        "Other tools to ask, in order, when this one failed or was not sure.",
        hint="Write fallback: {tool: name}.",
    ),
    Entry("critical", Flag(), "A failure fails the run."),
    _CACHE,
    Entry("requires_approval", Condition(), "A person must approve first: true, or an expression."),
    Entry(
        "on_success", NestedMapping(table=ON_SUCCESS), "What follows a success.", hint="Write on_success: {next: ID}."
    ),
    Entry(
        "on_failure",
        FailurePolicy(table=ON_FAILURE),
        "What follows a failure after all attempts and fallbacks.",
        hint="Write on_failure: {action: continue}.",
    ),
    Entry("on_unresolved", ChoiceOrNull(), "As the plan's."),
    Entry("output_validation", Choice(), "How strictly the result is held to the tool's schema."),
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
    Entry("name", Text(numbers=True), "Name of the plan.", is_always=True),
    Entry("description", Text(), "What it does, for people and for those who choose among plans."),
    Entry("version", Text(numbers=True), "Version, 1.0.0 if not given."),
    Entry("composite", Flag(), "The plan is the body of a composite: its output is its state, and it retries nothing."),
    Entry("inputs", Parameters(), "JSON Schema of an object: what a run is given.", aliases=("parameters",)),
)
#: What a plan and the body of a composite say after their flow and before their steps: how they run.
SETTINGS = Table(
    model.Plan,
    Entry(
        "initial_state",
        Object(),
        "Variables that a chain starts with, besides its inputs.",
        attribute="state",
        aliases=("state",),
    ),
    Entry("failure_mode", Choice(), "What a failure stops: everything, its dependents, nothing."),
    Entry("concurrency", Whole(least=1), "Calls that run side by side (5)."),
    Entry("timeout", Duration(limits=True, named=False), "Time for the whole run, without waiting for people."),
    Entry(
        "budget", NestedMapping(table=Table(model.Budget, *_SPENT, what="A budget")), "The most that a run may spend."
    ),
    Entry(
        "limits",
        NestedMapping(
            table=Table(
                model.Limits,
                Entry("step_visits", Whole(least=1), "Visits of one step of a chain (100)."),
                Entry("steps", Whole(least=1), "Steps that a run makes (1,000,000)."),
                Entry("depth", Whole(least=1), "Plans within plans (10)."),
                what="Limits",
            )
        ),
        "Bounds that end a run which would not end by itself.",
    ),
    Entry("on_unresolved", ChoiceOrNull(), "What a reference without a value does to its step."),
)
OUTPUTS = Table(
    model.Plan, Entry("outputs", AnyJson(), "Template of the result; if not given, the output of the last steps.")
)
TAIL = Table(
    model.Plan,
    Entry(
        "origin",
        NestedMapping(
            table=Table(
                model.Origin,
                Entry("request", Text(), "The request in words."),
                Entry("reasoning", Text(), "Why these steps."),
                Entry("confidence", Number(most=1), "How sure the planner is."),
                Entry(
                    "questions",
                    TextList(),
                    "What the planner could not know; while there is one, nothing runs the plan.",
                ),
                Entry("uncovered", TextList(), "What the request says and no step does."),
                Entry("rests_on", Object(), "What each argument of each call rests on."),
                Entry("estimates", Object(), "Expected duration and cost."),
                what="An origin",
            )
        ),
        "What a planner says of the plan it made.",
    ),
    Entry("policy", Object(), "`requires`: what callers must have. The rest is kept, and does nothing yet."),
    Entry("metadata", Object(), "Anything; kept, and does nothing."),
)
#: How the steps of a plan are written; `read_flow` reads both.
BODY = Table(
    model.Plan,
    Entry("flow", Choice(), "graph: by dependencies; chain: in order, with jumps."),
    Entry(
        "steps",
        StepList(),
        "What is done. In a graph each step starts as soon as those it needs have ended.",
        is_required=True,
    ),
)


# Tools that are made of a plan.

TRAITS = Table(
    Tool,
    Entry("effect", Choice()),
    Entry("idempotent", Flag()),
    Entry("verify", Text()),
    Entry("cost", Number()),
    Entry("max_concurrency", Whole(least=1)),
    Entry("capabilities", TextList()),
    Entry("limitations", TextList()),
    Entry("aliases", TextList()),
    _CACHE,
    Entry("output_validation", Choice()),
)
