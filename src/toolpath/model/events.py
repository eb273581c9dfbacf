"""The journal's events: one frozen record each, dotted names in the past tense. Pure data.

A step instance is named by its path, `id[item]#visit~entry/child`. `seq` numbers the events of a run from 1; `at` is
Unix time in seconds. Values larger than the size limit are `Handle`s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from toolpath.values import Json, JsonObject

#: How paths are made in runs that begin now.
PATHS = 3


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a step, a branch or a run failed."""

    type: str
    """Name of the exception or of the kind of fault."""
    message: str
    code: str = "tool_failed"
    """Stable: timeout, connection, rate_limit, server_error, validation, unresolved, not_found, permission, policy,
    cancelled, invalid_output, tool_failed, denied, budget, …"""
    retryable: bool = False
    in_doubt: bool = False
    """A write that may have happened."""
    details: Json = None
    hint: str = ""
    retry_after: float | None = None
    where: str = ""
    """The tool's own line that raised: `file:line in function`."""


class Event(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True, gc=False):
    """Base of every event."""

    seq: int
    at: float


class RunStarted(Event, frozen=True, tag="run.started", kw_only=True, gc=False):
    """The run exists; freezes plan, bodies, tools, inputs and context."""

    run_id: str
    plan: JsonObject
    bodies: dict[str, JsonObject] = {}
    """Plans that are bodies of tools in it, by tool key."""
    tools: dict[str, str] = {}
    """Fingerprints by tool key."""
    inputs: JsonObject = {}
    context: JsonObject = {}
    secrets: tuple[str, ...] = ()
    """Names, never values."""
    sources: JsonObject = {}
    """Where the tools came from, so that another process can load them."""
    parent: JsonObject = {}
    """The run that this one was forked from, with the step and what was changed."""
    approval: str | None = None
    """Digest that was approved, for a plan that was."""
    replan: JsonObject = {}
    """How far it may be planned anew when it fails; empty: it may not."""
    settings: JsonObject = {}
    """Stored settings that it began with: it goes on with these, whatever is stored then."""
    paths: int = 1
    """How calls of tools are named: 2 since those of a fallback, and those under different keys, always differ; 3 since
    a key like `round[3]/act[1]` stands in the path as it is."""


class RunPaused(Event, frozen=True, tag="run.paused", gc=False):
    """Pause of the run: nothing new starts until it is resumed."""

    reason: str = ""


class RunResumed(Event, frozen=True, tag="run.resumed", gc=False):
    """A driver took the run; `epoch` fences all earlier ones."""

    epoch: int = 0
    reason: str = ""
    accepted: dict[str, str] = {}
    """Fingerprints of changed tools that a person accepted."""


class RunAuthorized(Event, frozen=True, tag="run.authorized", gc=False):
    """Authority of somebody else who had the run go on: what it calls from here on must be allowed to them as well."""

    permissions: tuple[str, ...]
    """Theirs, as they were then. A `*` stands for all."""
    by: str = ""


class ToolsFrozen(Event, frozen=True, tag="tools.frozen", gc=False):
    """A running tool calls one that no step names: it, and what it may call in turn, as they are from here on."""

    tools: dict[str, str]
    """Fingerprints by tool key."""
    bodies: dict[str, JsonObject] = {}
    """Plans that are bodies among them."""


class RunCompleted(Event, frozen=True, tag="run.completed", gc=False):
    """The run ended well, perhaps with failures that were continued."""

    status: Literal["completed", "completed_with_errors"] = "completed"
    outputs: Json = None
    warnings: int = 0
    aside: tuple[str, ...] = ()


class RunFailed(Event, frozen=True, tag="run.failed", gc=False):
    """The run ended with a critical failure, or was stopped by a limit."""

    reason: str = ""
    error: Failure | None = None
    outputs: Json = None
    aside: tuple[str, ...] = ()


class RunCancelled(Event, frozen=True, tag="run.cancelled", gc=False):
    """The run was cancelled."""

    reason: str = ""
    outputs: Json = None
    aside: tuple[str, ...] = ()


class StepReady(Event, frozen=True, tag="step.ready", gc=False):
    """The step may start as soon as it gets a slot."""

    path: str


class StepStarted(Event, frozen=True, tag="step.started", gc=False):
    """An attempt began: with what, for how long at most, under which idempotency key."""

    path: str
    attempt: int = 1
    tool: str = ""
    inputs: Json = None
    """As resolved; secrets stay templates. Of a loop: `{over: [...]}`."""
    timeout: float | None = None
    key: str = ""
    aside: tuple[str, ...] = ()
    """Digests of the values that stand by handle in it; anything else that looks like a handle is data."""


class StepProgress(Event, frozen=True, tag="step.progress", gc=False):
    """Progress of a call, as the tool reports it."""

    path: str
    progress: float = 0.0
    total: float | None = None
    message: str = ""


class StepRetrying(Event, frozen=True, tag="step.retrying", gc=False):
    """The attempt failed; the next one is due `delay` seconds after `at`."""

    path: str
    attempt: int
    delay: float
    error: Failure
    duration: float = 0.0


class StepSucceeded(Event, frozen=True, tag="step.succeeded", gc=False):
    """The step is finished and will never be called again."""

    path: str
    output: Json = None
    duration: float = 0.0
    cached: bool = False
    confidence: float | None = None
    sources: tuple[Any, ...] = ()
    cost: float | None = None
    tokens: int | None = None
    settled_by: str = ""
    large: bool = False
    """The output is a handle that the engine made; anything else that looks like one is data of the tool."""
    aside: tuple[str, ...] = ()


class StepFailed(Event, frozen=True, tag="step.failed", gc=False):
    """All attempts and fallbacks have failed."""

    path: str
    error: Failure
    duration: float = 0.0
    continued: bool = False
    """The plan goes on as if it were not critical."""


class StepTimedOut(Event, frozen=True, tag="step.timed_out", gc=False):
    """The last attempt took longer than it may."""

    path: str
    error: Failure
    duration: float = 0.0
    continued: bool = False


class StepSkipped(Event, frozen=True, tag="step.skipped", gc=False):
    """The step will not run: `when` was false, or something upstream failed."""

    path: str
    reason: str = ""
    spreads: bool = False
    """Because something upstream failed: what needs its output is skipped too."""


class StepCancelled(Event, frozen=True, tag="step.cancelled", gc=False):
    """The step was stopped before its end."""

    path: str
    reason: str = ""
    in_doubt: bool = False
    duration: float = 0.0


class StepUnknown(Event, frozen=True, tag="step.unknown", gc=False):
    """A write was in flight when its driver died: whether it happened is not known."""

    path: str
    tool: str = ""
    key: str = ""


class StepWaiting(Event, frozen=True, tag="step.waiting", gc=False):
    """The step waits for a person."""

    path: str
    reason: Literal["approval", "input", "settle", "tool_changed"] | str = ""


class FallbackStarted(Event, frozen=True, tag="fallback.started", gc=False):
    """The step goes on with another tool; `index` counts the step's fallbacks from 1."""

    path: str
    index: int
    tool: str
    error: Failure | None = None
    output: Json = None
    """What the tool before it gave, where that was not sure enough; it stands if no fallback does better."""
    confidence: float | None = None
    sources: tuple[Any, ...] = ()
    duration: float = 0.0
    aside: tuple[str, ...] = ()


class StateWritten(Event, frozen=True, tag="state.written", gc=False):
    """Variables of the chain whose path this is are set: when `source` has succeeded."""

    path: str
    values: JsonObject
    source: str = ""
    """The step that writes them: they are set when it has succeeded. Empty, in earlier journals: at once."""
    aside: tuple[str, ...] = ()


class BranchTaken(Event, frozen=True, tag="branch.taken", gc=False):
    """In the block whose path this is, control went to a step other than the next one, or to the end."""

    path: str
    source: str
    target: str
    cause: str = ""


class ApprovalRequested(Event, frozen=True, tag="approval.requested", gc=False):
    """A person has to allow the step. This has no end: only forms have a deadline."""

    path: str
    digest: str
    tool: str = ""
    inputs: Json = None
    aside: tuple[str, ...] = ()


class ApprovalDecided(Event, frozen=True, tag="approval.decided", gc=False):
    """A person has decided."""

    path: str
    digest: str
    approved: bool
    by: str = ""
    comment: str = ""


class InputRequested(Event, frozen=True, tag="input.requested", gc=False):
    """A form waits for a person until `deadline` (Unix time; None: for ever)."""

    path: str
    form: JsonObject
    deadline: float | None = None
    question: str = ""
    """Set where a running tool asks, not an `ask` step: names the question inside the step."""


class InputReceived(Event, frozen=True, tag="input.received", gc=False):
    """A person has answered the form."""

    path: str
    values: JsonObject
    by: str = ""
    question: str = ""
    declined: bool = False
    timed_out: bool = False
    """Nobody answered in time: then `declined` is true as well."""


class BudgetExceeded(Event, frozen=True, tag="budget.exceeded", gc=False):
    """The run would spend more than it may."""

    budget: str
    used: float
    limit: float
    path: str = ""


class PlanRevised(Event, frozen=True, tag="plan.revised", gc=False):
    """Replan: what is unfinished was planned anew."""

    plan: JsonObject
    """The plan as a whole, with the steps that are finished."""
    bodies: dict[str, JsonObject] = {}
    tools: dict[str, str] = {}
    reason: str = ""
    kept: tuple[str, ...] = ()
    """Ids of its steps that are finished: their outputs stand, they are not called again."""
    planner: str = ""
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    """USD; this and the two before it are what planning it took."""


class Warned(Event, frozen=True, tag="warning", gc=False):
    """Something to know that stops nothing."""

    path: str
    code: str
    message: str


AnyEvent = (
    RunStarted
    | RunPaused
    | RunResumed
    | RunAuthorized
    | ToolsFrozen
    | RunCompleted
    | RunFailed
    | RunCancelled
    | StepReady
    | StepStarted
    | StepProgress
    | StepRetrying
    | StepSucceeded
    | StepFailed
    | StepTimedOut
    | StepSkipped
    | StepCancelled
    | StepUnknown
    | StepWaiting
    | FallbackStarted
    | StateWritten
    | BranchTaken
    | ApprovalRequested
    | ApprovalDecided
    | InputRequested
    | InputReceived
    | BudgetExceeded
    | PlanRevised
    | Warned
)

_NAMES = "run_id path tool key digest aside plan bodies tools kept planner source target question budget status"
_NUMBERS = "seq at attempt timeout delay duration epoch deadline index seconds used limit"
#: Fields that the engine goes by, none of them made of what a tool or a person gave. All others, of events and of the
#: records in them, are searched for secrets before an event is written.
NEVER_SECRET = frozenset(f"{_NAMES} {_NUMBERS} accepted".split())

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def event_type(event: AnyEvent) -> str:
    """The event's dotted name, e.g. `step.succeeded`."""
    return str(type(event).__struct_config__.tag)


def encode_event(event: AnyEvent) -> bytes:
    """The event as JSON text with its dotted name under `type`."""
    return _encoder.encode(event)


def encode_events(events: Sequence[AnyEvent]) -> bytes:
    """The events as JSON texts, a line each: in one call, which takes a fraction of one for each."""
    return _encoder.encode_lines(events)


def decode_events(lines: bytes) -> list[AnyEvent]:
    """The events of JSON texts, a line each. Raises `msgspec.ValidationError` (a `ValueError`) for what is none."""
    return _decoder.decode_lines(lines)


def decode_event(data: bytes | str) -> AnyEvent:
    """The event of JSON text. Raises `msgspec.ValidationError` (a `ValueError`) for what is none."""
    event: AnyEvent = _decoder.decode(data)
    return event
