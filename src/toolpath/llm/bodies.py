"""Body of a server's answer while it comes: no longer than any model's, and a stream with its end."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Final

import httpx2

from toolpath.errors import ChatFailed

#: Bytes of an answer: many times what a model writes, with all that is said around each word of a stream.
MOST_BYTES: Final = 20_000_000
#: Bytes of one that is compressed: they become many times as many.
MOST_COMPRESSED: Final = 400_000
#: Words that end a stream, in the languages of OpenAI, Anthropic and Google.
_END: Final = re.compile(
    rb"\[DONE\]|\"finish_reason\"\s*:\s*\"|\"error\"\s*:|response\.(?:completed|incomplete|failed)"
    rb"|message_stop|\"(?:finishReason|blockReason)\""
)
_OVERLAP: Final = 64


async def bounded(response: httpx2.Response) -> None:
    """Have the body fail where it grows too long, or is a stream that breaks off. A hook of the client that asks."""
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    is_plain = response.headers.get("content-encoding", "identity") == "identity"
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    most = MOST_BYTES if is_plain else MOST_COMPRESSED
    response.stream = _Body(response.stream, most, ends=is_plain and is_stream and response.is_success)


class _Body(httpx2.AsyncByteStream):
    """The bytes of an answer as they come."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int, *, ends: bool) -> None:
        self._inner = inner
        self._most = most
        self._ends = ends

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, last, is_ended = 0, b"", not self._ends
        async for piece in self._inner:
            size += len(piece)
            if size > self._most:
                message = f"The answer has more than {self._most:,} bytes; it is not read further."
                raise ChatFailed(message, kind="malformed")
            is_ended = is_ended or _END.search(last + piece) is not None
            last = (last + piece)[-_OVERLAP:]
            yield piece
        if size and not is_ended:
            raise ChatFailed("The stream broke off before its end.", kind="connection", retryable=True)

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._inner.aclose()
