"""The body of a request while it arrives: not more than may be, and not slower."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from starlette.types import Message, Receive

from toolpath.config import Settings
from toolpath.server.problems import Problem

#: What stands before or between the values of a JSON text.
_MARKS = (b",", b"[", b"{")
#: Where files are brought.
_FILES = re.compile(r"/api/v1/files(/[^/]+)?|/api/v1/runs/[^/]+/files/.+|/api/file-upload/upload")
#: Bytes of a body of files that are not of the files.
_AROUND_FILES = 1_000_000
#: Bytes a second that a client of files is given time for.
_SLOWEST = 50_000
_MAX_BODY = "the setting max_body"
_UPLOADS = "the settings upload_bytes and upload_count"


def check_length(headers: Mapping[str, str], limits: BodyLimits) -> None:
    """Raise `Problem` where the request says that its body is too large."""
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal()):
        raise Problem(400, "bad_length", "The length of the body is no number.")
    if len(length) > 18 or int(length) > limits.most:
        raise _too_large(limits.most, limits.setting)


def check_message(message: str | bytes, *, most: int, parts: int) -> None:
    """Raise `Problem` where a message of a WebSocket is larger than a body may be, or has more values in it."""
    data = message.encode("utf-8", "replace") if isinstance(message, str) else message
    if len(data) > most:
        raise _too_large(most)
    if sum(map(data.count, _MARKS)) > parts:
        raise _too_many(parts)


class BodyLimits(NamedTuple):
    """Limits of a body."""

    most: int
    """Bytes."""
    parts: int | None
    """Values in its JSON; None: it is none."""
    seconds: float
    """For all of it to arrive."""
    setting: str = _MAX_BODY
    """The settings that its size follows from."""


def body_limits(settings: Settings, method: str, path: str) -> BodyLimits:
    """The limits on the body of a request. Files are larger than what is read at once, and take longer."""
    if method in ("POST", "PUT") and _FILES.fullmatch(path):
        most = settings.upload_bytes * settings.upload_count + _AROUND_FILES
        return BodyLimits(most, None, max(settings.request_timeout, most / _SLOWEST), _UPLOADS)
    return BodyLimits(settings.max_body, settings.max_body_values, settings.request_timeout)


class BoundedBody:
    """Hands the parts of a body on as they come. What is too much or too slow ends it.

    Then `refuse` is called, once, and the reader of the body is told that the client has gone.
    """

    def __init__(
        self,
        receive: Receive,
        *,
        limits: BodyLimits,
        refuse: Callable[[Problem], Awaitable[None]],
    ) -> None:
        self._receive = receive
        self._most = limits.most
        self._setting = limits.setting
        self._most_parts = limits.parts
        self._parts = 0
        self._seconds = limits.seconds
        self._refuse = refuse
        self._size = 0
        self._until: float | None = None
        self._whole = False
        self._over = False

    async def receive(self) -> Message:
        """The next part."""
        if self._over:
            return {"type": "http.disconnect"}
        if self._whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        if self._until is None:
            self._until = loop.time() + self._seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            return await self._end(Problem(408, "too_slow", f"The body took longer than {self._seconds:g} s."))
        if message["type"] != "http.request":
            self._whole = True
            return message
        data = message.get("body", b"")
        self._size += len(data)
        if self._size > self._most:
            return await self._end(_too_large(self._most, self._setting))
        if self._most_parts is None:
            self._whole = not message.get("more_body", False)
            return message
        # Each value takes time and memory, whatever is made of it: a number of two bytes no less than a text.
        self._parts += sum(map(data.count, _MARKS))
        if self._parts > self._most_parts:
            return await self._end(_too_many(self._most_parts))
        self._whole = not message.get("more_body", False)
        return message

    async def _end(self, problem: Problem) -> Message:
        self._over = True
        await self._refuse(problem)
        return {"type": "http.disconnect"}


def _too_many(most: int) -> Problem:
    return Problem(
        413,
        "too_large",
        f"The body has more than {most:,} values.",
        hint="Send large data as text or in parts, or raise the setting max_body_values.",
    )


def _too_large(most: int, setting: str = _MAX_BODY) -> Problem:
    return Problem(413, "too_large", f"The body is larger than {most:,} bytes.", hint=f"It follows from {setting}.")
