"""Echoes as a provider: one tool a name, which gives back its input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolpath.model.tool import Tool
from toolpath.providers.functions import tool_from_function
from toolpath.values import JsonObject


class EchoProvider:
    """One tool that gives its input back."""

    is_local = True

    def __init__(self, name: str) -> None:
        self.name = f"echo-{name}"
        self._tool = name

    async def list_tools(self) -> Sequence[Tool]:
        """The one tool."""

        def echo(text: str) -> str:
            """Give the text back."""
            return text

        return [tool_from_function(echo, name=self._tool, effect="read")]

    async def close(self) -> None:
        """There is nothing to let go of."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Nothing changes."""

    def describe(self) -> JsonObject:
        """`{"echo": name}`."""
        return {"echo": self._tool}


def echo_providers(name: str) -> list[EchoProvider]:
    """The provider of this name."""
    return [EchoProvider(name)]
