"""Limits of tools and servers: calls at once, and calls in a time; shared by all runs of a process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from toolpath.model.tool import Rate, Tool
from toolpath.ports import Clock


class Limit:
    """A number of places, and a number of starts per time."""

    def __init__(self, clock: Clock, places: int | None, rate: Rate | None) -> None:
        self._clock = clock
        self._places = places
        self._rate = rate
        self._starts: deque[float] = deque()
        self._waiting: deque[Callable[[], None]] = deque()
        self._returning: deque[Callable[[], None]] = deque()
        """Who has begun already, has waited for something else, and needs a place to go on."""
        self._armed = False
        self.taken = 0

    def blocked(self) -> bool:
        """Whether a call would have to wait now."""
        return self.is_full() or (self._rate is not None and self._rate_wait(self._rate) > 0)

    def is_full(self) -> bool:
        """Whether no place is free now."""
        return self._places is not None and self.taken >= self._places

    def take(self) -> None:
        """A call begins."""
        self.taken += 1
        if self._rate is not None:
            self._starts.append(self._clock.monotonic())

    def retake(self) -> None:
        """A call that had given its place back goes on."""
        self.taken += 1

    def release(self) -> None:
        """A call has ended, or waits for something else."""
        self.taken -= 1
        self._wake()

    async def close(self) -> None:
        """Release what is shared with other processes."""

    def wait(self, again: Callable[[], None], *, first: bool = False) -> None:
        """Call `again` once a call may be tried. `first`: it has begun already, and only needs a place."""
        (self._returning if first else self._waiting).append(again)
        self._arm()

    @property
    def lacking(self) -> int:
        """How many wait."""
        return len(self._waiting) + len(self._returning)

    def _rate_wait(self, rate: Rate) -> float:
        now = self._clock.monotonic()
        while self._starts and self._starts[0] <= now - rate.seconds:
            self._starts.popleft()
        return 0.0 if len(self._starts) < rate.calls else self._starts[0] + rate.seconds - now

    def _arm(self) -> None:
        if self._armed or self._rate is None:
            return
        pause = self._rate_wait(self._rate)
        if pause > 0:
            self._armed = True
            self._clock.call_at(self._clock.monotonic() + pause, self._due)

    def _due(self) -> None:
        self._armed = False
        self._wake()

    def _wake(self) -> None:
        # Each one woken asks again: it may have been cancelled, or find the place taken.
        for waiting, hindered in ((self._returning, self.is_full), (self._waiting, self.blocked)):
            while waiting and not hindered():
                count = len(waiting)
                waiting.popleft()()
                if len(waiting) >= count:
                    break
        if self._waiting:
            # What keeps them may be another bound by now.
            self._arm()


class CallLimits:
    """The limits of every tool and server, by name."""

    def __init__(self, clock: Clock, servers: Mapping[str, int] | None = None) -> None:
        self._clock = clock
        self._servers = dict(servers or {})
        self.share: Callable[[str, int, Rate | None], Limit] | None = None
        """Makes a limit that holds across processes; None: each process has its own."""
        self._limits: dict[str, Limit] = {}

    def of(self, tool: Tool) -> tuple[Limit, ...]:
        """The limits that a call of the tool is under."""
        found: list[Limit] = []
        if tool.max_concurrency is not None or tool.rate is not None:
            found.append(self._limit(f"tool {tool.key}", tool.max_concurrency, tool.rate))
        if tool.server and tool.server in self._servers:
            found.append(self._limit(f"server {tool.server}", self._servers[tool.server], None))
        return tuple(found)

    def of_tenant(self, tenant: str, places: int) -> Limit | None:
        """The limit of all calls made for a tenant, where there is one."""
        return self._limit(f"tenant {tenant}", places, None) if places else None

    async def close(self) -> None:
        """Release what is shared with other processes."""
        for limit in self._limits.values():
            await limit.close()

    def set_server(self, server: str, places: int) -> None:
        """At most so many calls at once of all tools of the server."""
        self._servers[server] = places

    def _limit(self, name: str, places: int | None, rate: Rate | None) -> Limit:
        limit = self._limits.get(name)
        if limit is None:
            # A server is most often a process of this one's own.
            if self.share is None or places is None or name.startswith("server "):
                limit = Limit(self._clock, places, rate)
            else:
                limit = self.share(name, places, rate)
            self._limits[name] = limit
        return limit
