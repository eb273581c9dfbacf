"""Rates of requests for each caller. Counted in this process: several processes allow as many each."""

from __future__ import annotations

import math
import time
from urllib.parse import quote

from limits import RateLimitItem, parse_many
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from toolpath.errors import ConfigError
from toolpath.server.problems import Problem

OFF = "off"
#: Wrong credentials from one address: nobody types so fast; a program that tries keys does.
WRONG = "60/minute"


class Rates:
    """Counts requests by caller, and wrong credentials by address. Raises `ConfigError` for a rate that is none."""

    def __init__(self, rate: str) -> None:
        self._items = _parsed(rate)
        self._wrong = _parsed(WRONG)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def count(self, tenant: str, caller: str) -> None:
        """Count a request. Raises `Problem` 429 where it is one too many."""
        whose = ("caller", quote(tenant, safe=""), quote(caller, safe=""))
        for item in self._items:
            if not await self._limiter.hit(item, *whose):
                raise await self._problem(item, *whose)

    async def count_wrong(self, address: str) -> None:
        """Count wrong credentials. Raises `Problem` 429 for an address that has shown too many."""
        for item in self._wrong:
            if not await self._limiter.hit(item, "wrong", address):
                raise await self._problem(item, "wrong", address)

    async def _problem(self, item: RateLimitItem, *whose: str) -> Problem:
        stats = await self._limiter.get_window_stats(item, *whose)
        wait = max(1, math.ceil(stats.reset_time - time.time()))
        return Problem(
            429,
            "too_many_requests",
            f"More than {item} is not allowed.",
            hint=f"Try again in {wait} s.",
            headers={"Retry-After": str(wait)},
        )


def _parsed(rate: str) -> list[RateLimitItem]:
    if rate == OFF:
        return []
    try:
        return parse_many(rate)
    except ValueError:
        raise ConfigError(
            f"rate_limit is {rate!r}, which is no rate.", hint="For example 100/second, or off."
        ) from None
