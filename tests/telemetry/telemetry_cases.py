"""What the tests of telemetry share: tools of every fate, and a plan that meets them."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolpath import Settings, Toolpath
from toolpath.model.tool import ToolResult

PLAN = textwrap.dedent(
    """
    name: letter
    steps:
      - {id: read, tool: desk.read, inputs: {name: ann}}
      - {id: flaky, tool: desk.flaky, inputs: {text: "{{ read.text }}"}, retry: {max_attempts: 2, initial_delay: 0}}
      - {id: model, tool: desk.model, inputs: {text: "{{ flaky.text }}"}}
      - {id: lost, tool: desk.lost, on_failure: {action: continue}, retry: {max_attempts: 1}, depends_on: [model]}
    """
)
ASKING = textwrap.dedent(
    """
    name: asking
    steps:
      - {id: read, tool: desk.read, inputs: {name: ann}}
      - {id: send, tool: desk.send, inputs: {text: "{{ read.text }}"}, requires_approval: true}
    """
)


class Desk:
    """Tools, and what they saw."""

    def __init__(self) -> None:
        self.failures = 1
        self.seen: list[Any] = []

    def tools(self) -> list[tuple[Any, str]]:
        return [
            (self.read, "read"),
            (self.flaky, "read"),
            (self.model, "read"),
            (self.lost, "read"),
            (self.send, "write"),
        ]

    async def read(self, name: str) -> dict[str, str]:
        """Read a letter."""
        return {"text": f"dear {name}"}

    async def flaky(self, text: str) -> dict[str, str]:
        """Fails at first."""
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the line is busy")
        return {"text": text.upper()}

    async def model(self, text: str) -> ToolResult:
        """Ask a model."""
        return ToolResult(output={"text": text}, tokens=120, cost=0.25)

    async def lost(self) -> None:
        """Never works."""
        raise ValueError("it is lost")

    async def send(self, text: str) -> dict[str, str]:
        """Send it."""
        return {"sent": text}


@asynccontextmanager
async def desk_of(
    store: Path | None, observer: Any, desk: Desk | None = None, **options: Any
) -> AsyncIterator[Toolpath]:
    """A Toolpath with these tools that is looked at."""
    async with Toolpath(store, settings=Settings(), observer=observer, **options) as tp:
        for function, effect in (desk or Desk()).tools():
            tp.add(function, group="desk", effect=effect)
        yield tp
