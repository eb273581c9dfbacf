"""Answers to a browser that come late, each by a time of its own, so that they overtake one another."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from random import Random

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The variable that asks for it; its value is the seed of all times.
LATE = "TOOLPATH_LATE"
#: Seconds by which a request, and then its answer, is held back at most.
LONGEST = 0.3


class Late:
    """An app for which a browser's requests and its answers are under way for a while.

    How long is the same for the n-th request of a route, whatever came between: a seed that finds a fault mostly finds
    it again.
    """

    def __init__(self, app: ASGIApp, seed: str) -> None:
        self._app = app
        self._seed = seed
        self._asked: Counter[str] = Counter()

    @classmethod
    def asked_for(cls, app: ASGIApp) -> ASGIApp:
        """The app as it is, or late where that is asked for."""
        seed = os.environ.get(LATE)
        return app if seed is None else cls(app, seed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # What a test asks by itself comes at once: browsers alone say how they ask.
        if scope["type"] != "http" or b"sec-fetch-mode" not in dict(scope["headers"]):
            await self._app(scope, receive, send)
            return
        # Ids are of chance, too: a route is the same without them.
        route = f"{scope['method']} {re.sub(r'_[0-9a-z]+', '', scope['path'])}"
        self._asked[route] += 1
        chance = Random(f"{self._seed} {route} {self._asked[route]}")
        out, back = (max(0.0, chance.uniform(-LONGEST, LONGEST)) for _ in range(2))

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start":
                await asyncio.sleep(back)
            await send(message)

        await asyncio.sleep(out)
        await self._app(scope, receive, later)
