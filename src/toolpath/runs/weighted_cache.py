"""Cache bounded by weight, for what was made of plans: so much of it all together, however large each is."""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class WeightedCache(Generic[Key, Value]):
    """The latest values by key, with a weight each. What weighs more than a part of the whole is not kept."""

    def __init__(self, *, number: int, weight: int) -> None:
        self._number = number
        self._most = weight
        self._weight = 0
        self._values: dict[Key, tuple[Value, int]] = {}

    def get(self, key: Key) -> Value | None:
        """The value, or None."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def weight(self, key: Key) -> int:
        """The weight of the value; where there is none, too much to be kept."""
        found = self._values.get(key)
        return self._most if found is None else found[1]

    def put(self, key: Key, value: Value, weight: int) -> None:
        """Keep the value in place of what was there; the oldest ones make room."""
        self.drop(key)
        if weight > self._most // 2:
            return
        self._values[key] = (value, weight)
        self._weight += weight
        while self._weight > self._most or len(self._values) > self._number:
            self.drop(next(iter(self._values)))

    def drop(self, key: Key) -> None:
        """Forget the value, where there is one."""
        found = self._values.pop(key, None)
        if found is not None:
            self._weight -= found[1]
