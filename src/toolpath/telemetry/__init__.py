"""Telemetry: structured logs, Prometheus metrics and OpenTelemetry traces of what the engine shows.

`conventions.py` has the names of spans and their attributes.
"""
