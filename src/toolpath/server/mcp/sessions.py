"""MCP sessions over HTTP, counted for each caller. The library closes those that nobody uses."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Seconds after which a session that nobody uses is closed.
IDLE = 600.0
_numbers = itertools.count()


class Sessions:
    """Counts them. `clock` gives seconds that never go back."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._used: dict[str, dict[str, float]] = {}
        """When each was last used, by whom and by its id."""
        self._under_way: Counter[tuple[str, str]] = Counter()
        """Requests that are being answered in each."""

    @contextmanager
    def using(self, owner: str, session_id: str) -> Iterator[None]:
        """Use the session from now until the end of the scope: a stream may be open for hours."""
        held = owner, session_id
        self._under_way[held] += 1
        try:
            yield
        finally:
            self._under_way[held] -= 1
            if not self._under_way[held]:
                del self._under_way[held]
            own = self._used.get(owner, {})
            if session_id in own:
                own[session_id] = self._clock()

    def begin(self, owner: str) -> str | None:
        """A place for one more, for `name` or `end`; None: they have as many as may be."""
        now = self._clock()
        own = self._used.setdefault(owner, {})
        for session_id in [known for known, used in own.items() if now - used > IDLE]:
            # The session that has a place gives it back.
            if (owner, session_id) not in self._under_way and not session_id.startswith("?"):
                del own[session_id]
        if len(own) >= self._most:
            return None
        place = f"?{next(_numbers)}"
        own[place] = now
        return place

    def name(self, owner: str, place: str, session_id: str) -> None:
        """The session in that place has this id."""
        self.end(owner, place)
        self._used.setdefault(owner, {})[session_id] = self._clock()

    def end(self, owner: str, session_id: str) -> None:
        """Forget the session, which is not open any more."""
        own = self._used.get(owner, {})
        own.pop(session_id, None)
        if not own:
            self._used.pop(owner, None)
