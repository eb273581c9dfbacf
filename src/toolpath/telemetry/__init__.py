"""Telemetry: structured logs, Prometheus metrics and OpenTelemetry traces of what the engine shows."""
