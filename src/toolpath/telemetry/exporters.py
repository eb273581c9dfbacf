"""Exporters of spans, as the standard `OTEL_*` variables say. Without one of them there is no tracing and no cost."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from toolpath.errors import ConfigError, closest, needs_extra

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORTERS = ("otlp", "console", "none")


def traces_wanted(env: Mapping[str, str]) -> tuple[str, ...]:
    """The exporters that the environment asks for, of `otlp` and `console`. Raises `ConfigError` for others."""
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ()
    named = env.get("OTEL_TRACES_EXPORTER", "").strip()
    if not named:
        named = "otlp" if endpoint(env) else "none"
    wanted = tuple(name.strip().lower() for name in named.split(",") if name.strip())
    for name in wanted:
        if name not in _EXPORTERS:
            raise ConfigError(
                f"OTEL_TRACES_EXPORTER names the exporter {name!r}, which is not one of {', '.join(_EXPORTERS)}.",
                suggestions=closest(name, _EXPORTERS),
            )
    if "otlp" in wanted and protocol(env) != "http/protobuf":
        raise ConfigError(
            f"Spans are sent as http/protobuf; OTEL_EXPORTER_OTLP_PROTOCOL says {protocol(env)!r}.",
            hint="Set it to http/protobuf, and the endpoint to the collector's HTTP port, which is 4318 mostly.",
        )
    return tuple(name for name in wanted if name != "none")


def endpoint(env: Mapping[str, str]) -> str:
    """The collector's address as the environment says it; empty where it does not."""
    return next((env[name].strip() for name in _ENDPOINTS if env.get(name, "").strip()), "")


def protocol(env: Mapping[str, str]) -> str:
    """How spans are to be sent."""
    return next((env[name].strip() for name in _PROTOCOLS if env.get(name, "").strip()), "http/protobuf")


def make_provider(wanted: tuple[str, ...], env: Mapping[str, str]) -> TracerProvider:
    """A provider of tracers that exports as wanted; sampling, headers and the like follow their own variables.

    Raises `ConfigError` where the packages are not installed.
    """
    with needs_extra("telemetry", "Tracing"):
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    named = env.get("OTEL_SERVICE_NAME", "").strip() or _service_of(env.get("OTEL_RESOURCE_ATTRIBUTES", ""))
    resource = Resource.create({SERVICE_NAME: named or "toolpath", SERVICE_VERSION: version("toolpath")})
    provider = TracerProvider(resource=resource)
    for name in wanted:
        provider.add_span_processor(BatchSpanProcessor(_exporter(name)))
    return provider


def _service_of(attributes: str) -> str:
    pairs = (pair.partition("=") for pair in attributes.split(","))
    return next((value.strip() for name, _, value in pairs if name.strip() == "service.name"), "")


def _exporter(name: str) -> SpanExporter:
    if name == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: span.to_json(indent=None) + "\n")
    with needs_extra("telemetry", "Tracing"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    return OTLPSpanExporter()
