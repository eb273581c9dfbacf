"""One call in flight: its progress and its questions go to the caller's context, in the caller's own task."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, TypeVar

from toolpath.errors import ToolFailed
from toolpath.model.traceparent import trace_in
from toolpath.providers.mcp.forms import answer_of, form_of
from toolpath.providers.mcp.http import HttpFault
from toolpath.values import JsonObject

_T = TypeVar("_T")
#: More questions than this in one call are put to nobody.
_MOST_QUESTIONS = 50


class Flight:
    """A call that has been sent and not been answered."""

    def __init__(self, server: str, context: Any) -> None:
        self.fault = HttpFault()
        self.server = server
        self._context = context
        self._questions: list[tuple[JsonObject, asyncio.Future[JsonObject]]] = []
        self._bell: asyncio.Future[None] | None = None
        self._asked = 0
        self._answered = 0
        self._ended = False

    @property
    def run_id(self) -> str:
        """The run that the call belongs to."""
        return str(getattr(self._context, "run_id", ""))

    @property
    def trace(self) -> dict[str, str]:
        """The trace that the run belongs to, as its caller said."""
        return trace_in(getattr(self._context, "metadata", None) or {})

    async def follow(self, request: asyncio.Task[_T]) -> _T:
        """Wait for the request, and meanwhile ask the caller's context what the server wants to know.

        What the context raises beyond a plain exception ends the call.
        """
        while not request.done():
            self._bell = bell = asyncio.get_running_loop().create_future()
            if not self._questions:
                await asyncio.wait({request, bell}, return_when=asyncio.FIRST_COMPLETED)
            while self._questions and not request.done():
                params, answer = self._questions.pop(0)
                value = await self._answer(params)
                if not answer.done():
                    answer.set_result(value)
        return request.result()

    async def ask(self, params: JsonObject) -> JsonObject:
        """The answer to a question of the server, as an elicitation result; called from any task."""
        if self._context is None or self._ended or self._asked >= _MOST_QUESTIONS:
            return {"action": "cancel"}
        self._asked += 1
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._questions.append((params, answer))
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)
        return await answer

    async def _answer(self, params: JsonObject) -> JsonObject:
        self._answered += 1
        try:
            values = await self._context.ask(form_of(params, self.server), key=f"elicitation/{self._answered}")
        except (ToolFailed, TimeoutError):
            # They would not answer, or not in time: the server decides what it does without.
            return {"action": "cancel"}
        return answer_of(params, values)

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell the caller's context how far the call is."""
        if self._context is not None and not self._ended:
            self._context.progress(progress, total, message or "")

    def end(self) -> None:
        """Answer what is still open: nobody will."""
        self._ended = True
        # Never cancelled: a cancelled task inside the library would take the connection with it.
        for _, answer in self._questions:
            if not answer.done():
                answer.set_result({"action": "cancel"})
        self._questions.clear()


#: The call that the running request belongs to.
current_flight: ContextVar[Flight | None] = ContextVar("current_flight", default=None)
