"""A language model as `ports.Chat`: one request, its attempts and its time limit.

pydantic-ai is loaded by the first request.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import msgspec

from toolpath.errors import ChatFailed, ConfigError
from toolpath.llm.choice import ModelChoice
from toolpath.machine import SystemClock
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.redaction import Redactor
from toolpath.ports import Clock

if TYPE_CHECKING:
    import httpx2

    from toolpath.llm.requests import Client

_LONGEST_PAUSE: Final = 60.0


class ChatLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one request. Times are seconds."""

    timeout: float = 60.0
    """For a request with all its attempts and pauses."""
    max_retries: int = 2
    """Attempts after the first."""
    initial_delay: float = 1.0
    """Before the second attempt; doubled each time. What the provider asks for wins."""
    max_prompt: int = 400_000
    """Characters of a request; a longer one is never sent."""
    max_tokens: int = 8_000
    """Of an answer, where the request does not say."""


class ModelChat:
    """Asks one model. Close it, or use it with `async with`, to let go of its connections."""

    def __init__(
        self,
        choice: ModelChoice,
        *,
        limits: ChatLimits | None = None,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
        redactor: Redactor | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.choice = choice
        self._transport = transport
        """What carries the requests; None: the usual."""
        self.limits = limits or ChatLimits()
        self._clock: Clock = clock or SystemClock()
        self._chance = chance
        self._redactor = redactor
        """Takes secrets out of what is sent."""
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"ModelChat({self.choice!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Load what it needs, so that the first answer takes no longer than others. Raises `ConfigError`."""
        await self._opened()

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                self._client = await _open(self.choice, self._clock, self._transport)
            return self._client

    async def close(self) -> None:
        """Let go of all connections. It may be asked again; new ones are opened then."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises `ChatFailed`, saying of which kind and whether asking again may help."""
        limit = self._time(request)
        client, request = await self._prepared(request)
        try:
            async with asyncio.timeout(limit):
                return await self._ask(client, request, limit)
        except TimeoutError:
            raise self._too_slow(limit) from None

    async def _ask(self, client: Client, request: ChatRequest, limit: float) -> ChatReply:
        attempt = 1
        while True:
            try:
                return await client.reply(request, timeout=limit, attempts=attempt)
            except ChatFailed as failure:
                await self._pause(failure, attempt)
                attempt += 1

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The answer while it is being written; the last piece carries the reply. Raises `ChatFailed`.

        A stream that fails before its first piece is begun again; later it cannot be.
        """
        limit = self._time(request)
        client, request = await self._prepared(request)
        ends_at = asyncio.get_running_loop().time() + limit
        attempt = 1
        while True:
            begun = False
            try:
                async with aclosing(client.stream(request, timeout=limit, attempts=attempt)) as pieces:
                    # A time limit around a `yield` would also stop the reader; so each piece has its own.
                    while (piece := await self._next(pieces, ends_at, limit)) is not None:
                        begun = True
                        yield piece
                return
            except ChatFailed as failure:
                if begun:
                    raise
                await self._pause(failure, attempt)
                attempt += 1

    async def _next(self, pieces: AsyncIterator[ChatDelta], ends_at: float, limit: float) -> ChatDelta | None:
        try:
            async with asyncio.timeout_at(ends_at):
                return await anext(pieces, None)
        except TimeoutError:
            raise self._too_slow(limit) from None

    async def _pause(self, failure: ChatFailed, attempt: int) -> None:
        """Wait until the next attempt may be made; raises the failure where none may."""
        if not failure.retryable or attempt > self.limits.max_retries:
            if attempt > 1:
                failure.message = f"{failure.message} (asked {attempt} times)"
            raise failure from None
        delay = self.limits.initial_delay * 2 ** (attempt - 1)
        # Chance keeps many callers that were refused together from coming back together.
        pause = delay * (0.75 + 0.5 * self._chance()) if failure.retry_after is None else failure.retry_after
        if pause > min(_LONGEST_PAUSE, self.limits.timeout):
            raise failure from None
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        timer = self._clock.call_at(self._clock.monotonic() + pause, wake)
        try:
            await woken
        finally:
            timer.cancel()

    async def _prepared(self, request: ChatRequest) -> tuple[Client, ChatRequest]:
        size = prompt_size(request)
        if size > self.limits.max_prompt:
            raise ChatFailed(
                f"The request has {size:,} characters; at most {self.limits.max_prompt:,} are sent to a model.",
                kind="too_long",
                hint="Offer fewer tools, or give a shorter request.",
            )
        if self._redactor:
            request = _without_secrets(request, self._redactor)
        if request.max_tokens is None:
            request = msgspec.structs.replace(request, max_tokens=self.limits.max_tokens)
        return await self._opened(), request

    def _time(self, request: ChatRequest) -> float:
        return self.limits.timeout if request.timeout is None else min(request.timeout, self.limits.timeout)

    def _too_slow(self, limit: float) -> ChatFailed:
        return ChatFailed(
            f"{self.choice.api}'s {self.choice.model!r} did not answer within {limit:.3g} s.",
            kind="timeout",
            retryable=True,
            hint="Give it more time, or choose a faster model.",
        )


def prompt_size(request: ChatRequest) -> int:
    """Characters that the request sends, schemas included."""
    sizes = [len(request.system), len(json.dumps(request.output_schema or {}))]
    for message in request.messages:
        sizes += [len(message.text), *(len(str(call.arguments)) for call in message.tool_calls)]
    for tool in request.tools:
        sizes += [len(tool.name), len(tool.description), len(json.dumps(tool.input_schema))]
    return sum(sizes)


def _without_secrets(request: ChatRequest, redactor: Redactor) -> ChatRequest:
    messages = tuple(
        msgspec.structs.replace(
            message,
            text=redactor.text(message.text),
            tool_calls=tuple(
                msgspec.structs.replace(call, arguments=redactor.value(call.arguments)) for call in message.tool_calls
            ),
        )
        for message in request.messages
    )
    return msgspec.structs.replace(request, system=redactor.text(request.system), messages=messages)


async def _open(choice: ModelChoice, clock: Clock, transport: httpx2.AsyncBaseTransport | None) -> Client:
    try:
        # Importing pydantic-ai takes seconds, and most runs ask no model; in a thread the loop goes on meanwhile.
        client: Client = await asyncio.to_thread(_load, choice, clock, transport)
    except ImportError as error:
        raise ConfigError(
            f"A model is configured, but {error.name or 'its library'} is not installed.",
            hint="pip install 'toolpath[llm]'",
        ) from None
    return client


def _load(choice: ModelChoice, clock: Clock, transport: httpx2.AsyncBaseTransport | None) -> Client:
    from toolpath.llm.requests import Client

    return Client(choice, clock, transport)
