"""The model that plans: the one that the caller gave, else the one that the settings name, opened when it is needed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Literal

from toolpath.config import Settings
from toolpath.errors import ConfigError
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.redaction import Redactor
from toolpath.ports import Chat, ChatObserver, Clock

if TYPE_CHECKING:
    from toolpath.llm.chat import ModelChat
from contextlib import aclosing

Planner = Literal["offline", "model"]


class PlanningModel:
    """The model of one Toolpath, whose requests `observer` sees."""

    def __init__(
        self, settings: Settings, clock: Clock, redactor: Redactor, given: Chat | None, observer: ChatObserver | None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._redactor = redactor
        self._observer = observer
        self._given = None if given is None else self._watched(given)
        self._own: ModelChat | None = None
        """The one that the settings name; None before it was asked for."""

    @property
    def is_known(self) -> bool:
        """Whether a model was found when something was planned last."""
        return self._given is not None or self._own is not None

    async def chat(self, planner: Planner | None = None, *, opened: bool = False) -> Chat | None:
        """The model; None where there is none, or where planning goes by rules.

        `opened`: what it needs is loaded now, so that its first answer takes no longer than others. Raises
        `ConfigError` where that is not installed, or where a model is wanted and none is configured.
        """
        if planner == "offline":
            return None
        if self._given is not None:
            return self._given
        if self._own is None:
            from toolpath.llm.chat import ModelChat  # the providers' libraries are heavy: only who has a model pays
            from toolpath.llm.choice import choose_model

            choice = choose_model(self._settings)
            if choice is None:
                if planner == "model":
                    raise _no_model()
                return None
            self._own = ModelChat(choice, clock=self._clock, redactor=self._redactor)
        if opened:
            await self._own.open()
        return self._watched(self._own)

    def _watched(self, chat: Chat) -> Chat:
        if self._observer is None:
            return chat
        # A model of the caller's own making need not say which it is.
        choice = getattr(chat, "choice", None)
        provider, model = getattr(choice, "api", ""), getattr(choice, "model", "")
        return WatchedChat(chat, self._observer, provider=provider, model=model)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._own is not None:
            await self._own.close()


class NoChat:
    """Model of whoever has none configured: each request of it fails."""

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


class WatchedChat:
    """Asks `chat` and tells `observer`. `provider` and `model` are what is asked where the request names no model."""

    def __init__(self, chat: Chat, observer: ChatObserver, *, provider: str = "", model: str = "") -> None:
        self._chat = chat
        self._observer = observer
        self._provider = provider
        self._model = model

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises `ChatFailed`."""
        over = self._observer.asking(request, self._provider, request.model or self._model)
        try:
            reply = await self._chat(request)
        except BaseException as failure:
            over(failure)
            raise
        over(reply)
        return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The answer while it is being written; the last piece carries the reply. Raises `ChatFailed`."""
        over = self._observer.asking(request, self._provider, request.model or self._model)
        # Whoever has read enough leaves off: then there is an answer, of which nobody knows the end.
        came: ChatReply | BaseException = ChatReply()
        try:
            async with aclosing(self._chat.stream(request)) as pieces:
                async for piece in pieces:
                    came = piece.reply or came
                    yield piece
        except GeneratorExit:
            raise
        except BaseException as failure:
            came = failure
            raise
        finally:
            over(came)
