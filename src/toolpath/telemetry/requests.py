"""Every request of the server: counted, logged, and the parent of what it starts. Plain ASGI."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import structlog
from opentelemetry import context as otel
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from toolpath.model.traceparent import trace_in
from toolpath.telemetry import conventions as names
from toolpath.telemetry.metrics import Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Asked by machines every few seconds: logged as details, and no trace of theirs.
_OPERATION = frozenset({"/health", "/ready", "/metrics"})
_UNKNOWN = "unknown"
_CARRIED = (b"traceparent", b"tracestate")


class Requests:
    """Wraps the app. What is started in a request belongs to the trace that its `traceparent` names."""

    def __init__(self, app: Application, *, metrics: Metrics | None = None, tracer: Tracer | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._tracer = tracer
        self._log = structlog.get_logger("toolpath.http")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and tell how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        begun, since = time.monotonic(), time.time_ns()
        parent = _parent(scope)
        span = None
        if self._tracer is not None and scope["path"] not in _OPERATION:
            span = self._tracer.start_span(scope["method"], context=parent, kind=SpanKind.SERVER, start_time=since)
        token = otel.attach(parent if span is None else set_span_in_context(span, parent))
        try:
            await self._app(scope, receive, noted)
        finally:
            otel.detach(token)
            route, seconds = _route(scope), time.monotonic() - begun
            # What was never answered was the client's going, or our fault: the server answers 500 then.
            status = status or 500
            if span is not None:
                _finish(span, scope, route, status)
            if self._metrics is not None:
                self._metrics.request(route, scope["method"], status, seconds)
            self._tell(scope, route, status, seconds)

    def _tell(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        caller = scope.get("state", {}).get("caller")
        who = {name: value for name in ("tenant", "user") if (value := getattr(caller, name, ""))}
        level = "error" if status >= 500 else "debug" if route in _OPERATION else "info"
        # Of known routes alone: anybody can put anything into a path or a query.
        if route != _UNKNOWN:
            who["path"] = scope["path"][:500]
        getattr(self._log, level)(
            "http.request",
            method=scope["method"],
            route=route,
            status=status,
            seconds=round(seconds, 6),
            **who,
        )


def _parent(scope: Scope) -> Context:
    carried = {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _CARRIED}
    return TraceContextTextMapPropagator().extract(trace_in(carried), Context())


def _route(scope: Scope) -> str:
    """The pattern that the path fits; paths themselves are without number."""
    pattern = str(getattr(scope.get("route"), "path", ""))
    if not pattern:
        # What is mounted as a whole has no routes that we know; its place is of our own making.
        return str(scope.get("root_path") or _UNKNOWN)
    # A route knows itself without the prefix under which its router was included.
    given, known = scope["path"].split("/"), pattern.split("/")
    return "/".join(given[: len(given) - len(known) + 1]) + pattern if ":path}" not in pattern else pattern


def _finish(span: Any, scope: Scope, route: str, status: int) -> None:
    span.update_name(f"{scope['method']} {route}")
    span.set_attributes(
        {
            names.HTTP_METHOD: scope["method"],
            names.HTTP_ROUTE: route,
            names.HTTP_STATUS: status,
            names.URL_SCHEME: scope.get("scheme", "http"),
        }
    )
    if route != _UNKNOWN:
        span.set_attribute(names.URL_PATH, scope["path"][:500])
    if status >= 500:
        span.set_attribute(names.ERROR_TYPE, str(status))
        span.set_status(Status(StatusCode.ERROR))
    span.end()
