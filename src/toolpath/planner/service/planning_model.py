"""The model that plans: the one that is asked where nobody names another."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Literal, Protocol, runtime_checkable

from toolpath.access.acting import who_acts
from toolpath.errors import ConfigError
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.ports import Chat

Planner = Literal["offline", "model"]


@runtime_checkable
class Opens(Protocol):
    """A chat that has something to load before its first answer."""

    async def open(self) -> None:
        """Load it. Raises `ConfigError` where it is not installed."""
        ...


class PlanningModel:
    """The model of one Toolpath. `models` gives the chat of a tenant; None where it has none."""

    def __init__(self, models: Callable[[str], Awaitable[Chat | None]]) -> None:
        self._models = models
        self.is_known = False
        """Whether a model was found when something was planned last."""

    async def chat(self, planner: Planner | None = None, *, opened: bool = False) -> Chat | None:
        """The model; None where there is none, or where planning goes by rules.

        `opened`: what it needs is loaded now, so that its first answer takes no longer than others. Raises
        `ConfigError` where that is not installed, or where a model is wanted and none is configured.
        """
        if planner == "offline":
            return None
        caller = who_acts()
        chat = await self._models("" if caller is None else caller.tenant)
        self.is_known = chat is not None
        if chat is None and planner == "model":
            raise _no_model()
        if opened and isinstance(chat, Opens):
            await chat.open()
        return chat


class NoChat:
    """Model where none is configured: each request of it fails."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Fail."""
        raise _no_model()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """Fail."""
        raise _no_model()
        yield  # an asynchronous generator, as the port wants it


def _no_model() -> ConfigError:
    return ConfigError(
        "No model is configured for planning.",
        hint="Set TOOL_PLANNER_LLM and the provider's key, or take the offline planner.",
    )
