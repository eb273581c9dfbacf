"""Labels of metrics that cannot grow without bound."""

from __future__ import annotations


class Labels:
    """The first so many names as they are, every later one as `other`."""

    __slots__ = ("_known", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, name: str) -> str:
        """The label for a name."""
        if name in self._known:
            return name
        if len(self._known) >= self._most:
            return "other"
        self._known.add(name)
        return name
