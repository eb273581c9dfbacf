"""Turns of conversations as streams: parts as they come, heartbeats in between, an end when the server stops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from starlette.requests import Request

from toolpath.errors import ToolpathError
from toolpath.model.conversation import Part
from toolpath.server.feeds import HEARTBEAT

#: What a stream of Server-Sent Events is answered with.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def paced(parts: AsyncIterator[Part], request: Request) -> AsyncGenerator[Part | ToolpathError | None]:
    """The parts as they come; None for a heartbeat; an error where it went wrong, which is the last.

    Ends early when the server stops. The turn goes on without its reader.
    """
    stopping: asyncio.Event = request.app.state.stopping
    stop = asyncio.create_task(stopping.wait())
    following: asyncio.Task[Part | None] | None = None
    try:
        while True:
            following = following or asyncio.create_task(_next(parts))
            await asyncio.wait({following, stop}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                part, following = following.result(), None
                if part is None:
                    return
                yield part
            elif stop.done():
                return
            else:
                yield None
    except ToolpathError as error:
        yield error
    finally:
        stop.cancel()
        if following is not None:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError, ToolpathError):
                await following
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()


async def _next(parts: AsyncIterator[Part]) -> Part | None:
    return await anext(parts, None)
