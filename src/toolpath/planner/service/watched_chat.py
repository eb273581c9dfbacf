"""A model whose requests an onlooker sees: each from when it is asked until its answer, or its failure, is there."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.ports import Chat, ChatObserver


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
