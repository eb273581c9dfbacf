"""A collector of spans: takes what OTLP over HTTP sends, as a real one does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    """What was sent, and where to send it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.headers: list[dict[str, str]] = []
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def one(self, name: str) -> Span:
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def service(self) -> str:
        attributes = self.requests[0].resource_spans[0].resource.attributes
        return next(a.value.string_value for a in attributes if a.key == "service.name")


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.headers.append(dict(self.headers.items()))
            collector.requests.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
