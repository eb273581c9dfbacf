"""OpenTelemetry spans of requests to language models. What was said, either way, is in none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from toolpath.errors import ChatFailed
from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.telemetry import conventions as names

#: Our names of providers → those of the conventions, where they differ.
_PROVIDERS = {"openai-responses": "openai", "google": "gcp.gemini"}


class ChatSpans:
    """Makes a span of each request, in the trace of whatever is current where the model is asked."""

    def __init__(self, provider: TracerProvider) -> None:
        # A scope of its own: the ids of the spans of runs are given, these are drawn.
        self._tracer = provider.get_tracer("toolpath.models")

    def asking(self, request: ChatRequest, provider: str, model: str) -> Callable[[ChatReply | BaseException], None]:
        """Begin the span; what is given back ends it."""
        asked: dict[str, Any] = {
            names.OPERATION: names.CHAT,
            names.PROVIDER: _PROVIDERS.get(provider, provider) or "unknown",
            names.REQUEST_MODEL: model or None,
            names.REQUEST_TEMPERATURE: request.temperature,
            names.REQUEST_MAX_TOKENS: request.max_tokens,
        }
        attributes = {name: value for name, value in asked.items() if value is not None}
        name = f"{names.CHAT} {model}".rstrip()
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        return lambda came: _end(span, came)


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
