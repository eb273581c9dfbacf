"""OpenTelemetry spans of runs: one per run, one per attempt at a call, named as the conventions for generative AI say.

Spans are made when they end, of the events that tell of them; their ids follow from the run, so that the
run's next driver continues its trace. Meanwhile the span of a call is current in the call, so that the tool's own
requests belong to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry import context as otel
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Tracer, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from toolpath.errors import ChatFailed
from toolpath.model import events as ev
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.model_providers import MODEL_PROVIDERS
from toolpath.model.traceparent import trace_in
from toolpath.telemetry import conventions as names
from toolpath.telemetry.calls import End, OpenAttempts
from toolpath.values import Json, encode

_SCOPE = "toolpath"
#: Characters of an error's message, and of arguments and results where they are wanted.
_LONGEST_MESSAGE = 500
_LONGEST_VALUE = 8_000
_FAILED = frozenset({"failed", "timed_out", "retried", "replaced"})


class Traces:
    """An observer that makes spans. `content`: with arguments and results, as the journal has them."""

    def __init__(self, provider: TracerProvider, *, content: bool = False) -> None:
        tracer = provider.get_tracer(_SCOPE)
        self._tracer: Tracer | None = None
        if isinstance(tracer, Tracer):
            # This tracer alone is told its ids; others of the provider draw theirs.
            self._ids = _given_ids(tracer)
            self._tracer = tracer
        self._content = content
        self._chats = ChatSpans(provider)
        self._runs: dict[str, _Run] = {}

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """Follow the run from here."""
        started = events[0] if events else None
        if self._tracer is not None and isinstance(started, ev.RunStarted):
            self._runs[run_id] = _Run(started, events, self._tracer)

    def left(self, run_id: str) -> None:
        """Forget it; its next driver has all that is needed from its journal."""
        self._runs.pop(run_id, None)

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """The call's span becomes current."""
        run = self._runs.get(run_id)
        if run is None:
            return _nothing
        token = otel.attach(_within(run.context_of(run.span_id(path, attempt))))
        return lambda: otel.detach(token)

    def asking(self, request: ChatRequest, provider: str, model: str) -> Callable[[ChatReply | BaseException], None]:
        """A span for the request to a model."""
        return self._chats.asking(request, provider, model)

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """Make the spans that end with these events."""
        run = self._runs.get(run_id)
        if run is None:
            return
        for event in events:
            match run.calls.follow(event):
                case End() as end if end.call.tool and end.call.started_at is not None:
                    if run.sampled:
                        self._end_call(run, end)
                case _:
                    self._of_run(run, event)

    def _of_run(self, run: _Run, event: AnyEvent) -> None:
        match event:
            case ev.RunResumed() if run.since is None:
                run.since = event.at
            case ev.RunCompleted():
                self._end_run(run, event.at, event.status, None)
            case ev.RunFailed():
                self._end_run(run, event.at, "failed", event.error)
            case ev.RunCancelled():
                self._end_run(run, event.at, "cancelled", None)
            case _:
                pass

    def _end_run(self, run: _Run, at: float, status: str, error: Failure | None) -> None:
        if run.sampled and self._tracer is not None:
            self._ids.trace_id, self._ids.span_id = run.span.trace_id, run.span.span_id
            since = run.started.at if run.since is None else run.since
            span = self._tracer.start_span(
                f"{names.INVOKE_WORKFLOW} {run.name}".rstrip(),
                context=run.parent,
                kind=SpanKind.INTERNAL,
                attributes={**run.attributes, names.RUN_STATUS: status},
                start_time=_nanoseconds(since),
            )
            _close(span, at, error, failed=status == "failed")
        run.begin_again()

    def _end_call(self, run: _Run, end: End) -> None:
        call, event = end.call, end.event
        attributes: dict[str, Any] = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL_NAME: call.tool,
            names.TOOL_TYPE: "extension" if call.tool.partition(".")[0] in run.servers else "function",
            names.TOOL_CALL_ID: call.key or f"{run.started.run_id}/{call.path}",
            names.RUN_ID: run.started.run_id,
            names.STEP_PATH: call.path,
            names.STEP_ATTEMPT: call.attempt,
            names.STEP_STATUS: end.status,
        }
        if isinstance(event, ev.StepSucceeded):
            extra = {names.STEP_CACHED: event.cached or None, names.COST: event.cost, names.TOKENS: event.tokens}
            attributes |= {name: value for name, value in extra.items() if value is not None}
        if self._content:
            attributes[names.TOOL_CALL_ARGUMENTS] = _text(call.started_inputs)
            if isinstance(event, ev.StepSucceeded):
                attributes[names.TOOL_CALL_RESULT] = _text(event.output)
        assert self._tracer is not None
        assert call.started_at is not None
        self._ids.span_id = run.span_id(call.path, call.attempt)
        span = self._tracer.start_span(
            f"{names.EXECUTE_TOOL} {call.tool}",
            context=_within(run.context_of(run.parent_of(call.path))),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=_nanoseconds(call.started_at),
        )
        _close(span, end.at, end.failure, failed=end.status in _FAILED and end.failure is not None)


class _Run:
    """A run whose spans are to be made."""

    def __init__(self, started: ev.RunStarted, events: Sequence[AnyEvent], tracer: Tracer) -> None:
        self.started = started
        self.calls = OpenAttempts(events)
        self.name = str(started.plan.get("name", ""))
        self.servers = _servers(started)
        self.since: float | None = started.at
        """When what ends next began; None: with the next event that says so."""
        self.attributes: dict[str, Any] = {names.OPERATION: names.INVOKE_WORKFLOW, names.RUN_ID: started.run_id}
        if self.name:
            self.attributes[names.WORKFLOW_NAME] = self.name
        if conversation := started.context.get("conversation_id"):
            self.attributes[names.CONVERSATION_ID] = str(conversation)
        self.parent = _parent(started.context.get("metadata") or {})
        above = get_current_span(self.parent).get_span_context()
        trace_id = above.trace_id if above.is_valid else _number(f"trace {started.run_id}", 16)
        kind = SpanKind.INTERNAL
        decision = tracer.sampler.should_sample(self.parent, trace_id, names.INVOKE_WORKFLOW, kind, self.attributes, ())
        self.sampled = decision.decision is Decision.RECORD_AND_SAMPLE
        self._generation = 0
        self._trace_id, self._state = trace_id, above.trace_state if above.is_valid else None
        for event in events:
            if isinstance(event, ev.RunCompleted | ev.RunFailed | ev.RunCancelled):
                self._generation += 1
                self.since = None
        self.span = self.context_of(self._run_span())

    def _run_span(self) -> int:
        return _number(f"{self.started.run_id} {self._generation}", 8)

    def begin_again(self) -> None:
        """A run that ended may be retried: that is a span of its own in the same trace."""
        self._generation += 1
        self.since = None
        self.span = self.context_of(self._run_span())

    def span_id(self, path: str, attempt: int) -> int:
        """The id of the span of an attempt."""
        return _number(f"{self.started.run_id} {self._generation} {path} {attempt}", 8)

    def parent_of(self, path: str) -> int:
        """The id of the span around a call: of the tool that it is a part of, or the run's."""
        above = path
        while "/" in above:
            above = above.rpartition("/")[0]
            call = self.calls.open.get(above)
            if call is not None and call.tool:
                return self.span_id(above, call.attempt)
        return self.span.span_id

    def context_of(self, span_id: int) -> SpanContext:
        """The span of this id in the run's trace."""
        flags = TraceFlags(TraceFlags.SAMPLED if self.sampled else TraceFlags.DEFAULT)
        return SpanContext(self._trace_id, span_id, is_remote=False, trace_flags=flags, trace_state=self._state)


class _GivenIds(IdGenerator):
    """Gives the ids that were put here; draws others where none were."""

    def __init__(self, others: IdGenerator) -> None:
        self._others = others
        self.trace_id = 0
        self.span_id = 0

    def generate_trace_id(self) -> int:
        """The trace that was put here, once."""
        given, self.trace_id = self.trace_id, 0
        return given or self._others.generate_trace_id()

    def generate_span_id(self) -> int:
        """The span that was put here, once."""
        given, self.span_id = self.span_id, 0
        return given or self._others.generate_span_id()


def _given_ids(tracer: Tracer) -> _GivenIds:
    # A provider gives the same tracer to all who ask under one name.
    if not isinstance(tracer.id_generator, _GivenIds):
        tracer.id_generator = _GivenIds(tracer.id_generator)
    return tracer.id_generator


def _servers(started: ev.RunStarted) -> frozenset[str]:
    providers = started.sources.get("providers") or ()
    return frozenset(str(source["mcp"]) for source in providers if isinstance(source, dict) and "mcp" in source)


def _parent(metadata: Mapping[str, Json]) -> Context:
    # An empty context, not None: the span that happens to be current here has nothing to do with the run.
    return TraceContextTextMapPropagator().extract(trace_in(metadata), Context())


def _within(span: SpanContext) -> Context:
    return set_span_in_context(NonRecordingSpan(span))


def _close(span: Any, at: float, error: Failure | None, *, failed: bool) -> None:
    if failed:
        if error is not None:
            span.set_attribute(names.ERROR_TYPE, error.type if error.code == "tool_failed" else error.code)
        span.set_status(Status(StatusCode.ERROR, error.message[:_LONGEST_MESSAGE] if error is not None else ""))
    span.end(_nanoseconds(at))


def _text(value: Any) -> str:
    return encode(value).decode()[:_LONGEST_VALUE]


def _number(text: str, size: int) -> int:
    """So many bytes that follow from the text, as a number other than zero."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "big") or 1


def _nanoseconds(at: float) -> int:
    return int(at * 1_000_000_000)


def _nothing() -> None:
    """Nothing was made current."""


class ChatSpans:
    """Makes a span of each request, in the trace of whatever is current where the model is asked."""

    def __init__(self, provider: TracerProvider) -> None:
        # A scope of its own: the ids of the spans of runs are given, these are drawn.
        self._tracer = provider.get_tracer("toolpath.models")

    def asking(self, request: ChatRequest, provider: str, model: str) -> Callable[[ChatReply | BaseException], None]:
        """Begin the span; what is given back ends it."""
        asked: dict[str, Any] = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: _conventional(provider),
            names.REQUEST_MODEL: model or None,
            names.REQUEST_TEMPERATURE: request.temperature,
            names.REQUEST_MAX_TOKENS: request.max_tokens,
        }
        attributes = {name: value for name, value in asked.items() if value is not None}
        name = f"{names.CHAT} {model}".rstrip()
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        return lambda came: _end(span, came)


def _conventional(provider: str) -> str:
    known = MODEL_PROVIDERS.get(provider)
    return (known.conventional_name if known is not None else "") or provider or "unknown"


def _end(span: Span, came: ChatReply | BaseException) -> None:
    match came:
        case ChatReply():
            span.set_attribute(names.FINISH_REASONS, (came.finish_reason,))
            if came.model:
                span.set_attribute(names.RESPONSE_MODEL, came.model)
            if came.usage.total:
                span.set_attribute(names.INPUT_TOKENS, came.usage.input_tokens)
                span.set_attribute(names.OUTPUT_TOKENS, came.usage.output_tokens)
            if came.cost is not None:
                span.set_attribute(names.COST, came.cost)
        case ChatFailed():
            # Its message may hold what the provider said of the request; its kind says enough.
            span.set_attribute(names.ERROR_TYPE, came.kind)
            span.set_status(Status(StatusCode.ERROR))
        case _:
            span.set_attribute(names.ERROR_TYPE, type(came).__name__)
            span.set_status(Status(StatusCode.ERROR))
    span.end()
