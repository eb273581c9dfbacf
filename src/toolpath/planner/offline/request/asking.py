"""Parameters as the questions for them tell them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from toolpath.json_schema.faults import listed
from toolpath.values import Json


def about(described: str, options: Sequence[Json]) -> str:
    """Its description with the values that it may take: who answers is not to guess them."""
    if not options:
        return described
    return f"one of {listed(options)}" if described == "enum" else f"{described}; one of {listed(options)}"
