"""A server counts its requests, logs them, and makes them part of the caller's trace."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import httpx
import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings, Toolpath
from toolpath.access.caller import Caller
from toolpath.server.asgi import create_app
from toolpath.telemetry.metrics import Metrics
from toolpath.telemetry.telemetry import Telemetry
from toolpath.telemetry.traces import Traces
from toolpath.telemetry.watch import Watch

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Watched:
    """A server that is looked at, without the global state of a process."""

    def __init__(self, store: Path | None = None) -> None:
        self.spans = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.spans))
        metrics = Metrics()
        self.telemetry = Telemetry(Watch(metrics, Traces(provider)), metrics=metrics, provider=provider)
        self.tp = Toolpath(store, settings=Settings(), observer=self.telemetry.observer)

        async def hello(name: str) -> str:
            """Greet."""
            return f"hello {name}"

        self.tp.add(hello, effect="read")


async def scraped(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    response = await client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(response.text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


async def test_requests_are_counted_by_the_pattern_of_their_path() -> None:
    watched = Watched()
    async with serving(create_app(watched.tp, telemetry=watched.telemetry)) as client:
        for number in range(3):
            await client.get(f"/api/v1/runs/run_{number}")
        await client.get("/api/v1/no/such/thing?token=s3cr3t")
        await client.get("/ready")
        found = await scraped(client)
    requests = {key[1:]: value for key, value in found.items() if key[0] == "toolpath_http_requests_total"}
    assert requests == {
        ("GET", "/api/v1/runs/{run_id}", "404"): 3,
        ("GET", "unknown", "404"): 1,
        ("GET", "/ready", "200"): 1,
    }
    assert found["toolpath_http_request_duration_seconds_count", "GET", "/ready"] == 1
    assert found["toolpath_runs_open", "running"] == 0


async def test_a_run_of_a_request_belongs_to_the_callers_trace() -> None:
    watched = Watched()
    app = create_app(watched.tp, telemetry=watched.telemetry)

    @app.post("/greet/{name}")
    async def greet(name: str) -> str:
        return str(await watched.tp.call("hello", {"name": name}))

    async with serving(app) as client:
        answer = await client.post("/greet/ann", headers={"traceparent": PARENT})
        assert answer.json() == "hello ann"
    spans = {span.name: span for span in watched.spans.get_finished_spans()}
    request = spans["POST /greet/{name}"]
    run = next(span for name, span in spans.items() if name.startswith("invoke_workflow"))
    assert f"{request.context.trace_id:032x}" == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert f"{request.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert run.parent.span_id == request.context.span_id
    assert dict(request.attributes)["http.response.status_code"] == 200


async def test_a_line_a_request_without_its_query(caplog: pytest.LogCaptureFixture) -> None:

    structlog.configure(
        processors=[structlog.processors.JSONRenderer()], logger_factory=structlog.stdlib.LoggerFactory()
    )
    watched = Watched()
    try:
        with caplog.at_level(logging.INFO):
            async with serving(create_app(watched.tp, telemetry=watched.telemetry)) as client:
                await client.get("/api/v1/runs/run_1?key=s3cr3t", headers={"authorization": "Bearer s3cr3t"})
                await client.get("/s3cr3t")
    finally:
        structlog.reset_defaults()
    lines = [json.loads(record.message) for record in caplog.records if '"http.request"' in record.message]
    assert [(line["route"], line.get("path"), line["status"]) for line in lines] == [
        ("unknown", None, 401),
        ("unknown", None, 404),
    ]
    assert "s3cr3t" not in str(lines)


@pytest.mark.parametrize("scope", ["read", "admin", "*"])
async def test_the_figures_of_all_are_not_for_a_tenant(scope: str) -> None:
    watched = Watched()
    tenant = Caller(tenant="acme", scopes=frozenset({scope}))
    async with serving(create_app(watched.tp, telemetry=watched.telemetry, caller=tenant)) as client:
        assert_problem(await client.get("/metrics"), 403, "scope")
    async with serving(create_app(Toolpath(settings=Settings()))) as client:
        assert_problem(await client.get("/metrics"), 404, "not_found")


async def test_figures_come_though_the_store_does_not(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "runs.db")
    async with serving(create_app(watched.tp, telemetry=watched.telemetry)) as client:
        assert ("toolpath_runs_open", "waiting") in await scraped(client)
        await watched.tp.store.close()
        found = await scraped(client)
    assert ("toolpath_runs_open", "waiting") not in found
    assert ("toolpath_runs_driven",) in found
