"""What of an event stands beside the journal: each large part by a handle, wherever in a value it is. Pure.

A part is put aside where what would be left of it in the text is larger than the limit. A list of a few large results
so stays a list of handles, and a long list of small things goes aside as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.values import Handle, Json, JsonObject, encode

#: What a handle takes in the text, about.
HANDLE = 400
#: What a part of a large object weighs at least to be put aside for the sum of them.
WORTH = 10 * HANDLE

#: Events whose values go by handles, with the name of the value.
PARTED: dict[type, str] = {
    ev.StepStarted: "inputs",
    ev.StepSucceeded: "output",
    ev.FallbackStarted: "output",
    ev.StateWritten: "values",
    ev.ApprovalRequested: "inputs",
    ev.RunCompleted: "outputs",
    ev.RunFailed: "outputs",
    ev.RunCancelled: "outputs",
}
#: Names of values that stay the objects that they are: what is in them goes aside.
_OBJECTS = frozenset({"inputs", "values"})


class Shelf(Protocol):
    """Where the parts go."""

    def known(self, value: Json) -> Handle | None:
        """The handle of a value that is aside already, or that is one."""
        ...

    def put(self, value: Json) -> Handle:
        """Put the value aside."""
        ...


class _Part:
    """A part that goes aside, unless what it is in does."""

    __slots__ = ("value",)

    def __init__(self, value: Json) -> None:
        self.value = value


def parted(event: AnyEvent, shelf: Shelf, most: int) -> AnyEvent:
    """The event with handles for its large parts; the same one where it has none."""
    name = PARTED.get(type(event))
    if name is None:
        return event
    value = getattr(event, name)
    if name == "output" and type(value) is Handle:
        return event
    digests: dict[str, None] = {}

    def handle_of(part: Any) -> JsonObject:
        handle = part if type(part) is Handle else shelf.put(part.value)
        digests[handle.digest] = None
        return {"$blob": handle.digest, "size": handle.size, "preview": handle.preview}

    looked = _Parting(shelf, most)
    found = looked.object(value) if name in _OBJECTS and type(value) is dict else looked.part(value)[0]
    if found is value:
        return event
    if isinstance(event, ev.StepSucceeded) and isinstance(found, _Part | Handle):
        handle = found if isinstance(found, Handle) else shelf.put(found.value)
        return msgspec.structs.replace(event, output=handle, large=True)
    changed = {name: _placed(found, handle_of)}
    return msgspec.structs.replace(event, **changed, aside=tuple(digests))


def _placed(value: Any, handle_of: Callable[[Any], JsonObject]) -> Json:
    match value:
        case _Part() | Handle():
            return handle_of(value)
        case dict():
            return {key: _placed(item, handle_of) for key, item in value.items()}
        case list():
            return [_placed(item, handle_of) for item in value]
        case _:
            return value


class _Parting:
    """A walk through one value."""

    def __init__(self, shelf: Shelf, most: int) -> None:
        self._shelf = shelf
        self._most = most

    def part(self, value: Json) -> tuple[Any, int]:
        """The value with parts in it to go aside, and what is left of it in the text."""
        match value:
            case str():
                size = len(value) + 2 if value.isascii() and len(value) < HANDLE else len(encode(value))
                if size <= self._most:
                    return value, size
                return self._shelf.known(value) or _Part(value), HANDLE
            case dict() | list() | Handle():
                known = self._shelf.known(value)
                if known is not None:
                    return known, HANDLE
                return self._container(value)
            case _:
                return value, 8

    def _container(self, value: Any) -> tuple[Any, int]:
        if type(value) is dict:
            walked = {key: self.part(item) for key, item in value.items()}
            size = 2 + sum(len(key) + 4 + found[1] for key, found in walked.items())
            if size > self._most:
                return _Part(value), HANDLE
            if all(walked[key][0] is item for key, item in value.items()):
                return value, size
            return {key: found[0] for key, found in walked.items()}, size
        if type(value) is list:
            parts = [self.part(item) for item in value]
            size = 2 + sum(found[1] + 1 for found in parts)
            if size > self._most:
                return _Part(value), HANDLE
            if all(found[0] is item for found, item in zip(parts, value, strict=True)):
                return value, size
            return [found[0] for found in parts], size
        return value, HANDLE

    def object(self, value: JsonObject) -> JsonObject:
        """The same of arguments and variables, which keep their names: the largest go aside until few are left."""
        walked = {key: self.part(item) for key, item in value.items()}
        left = sum(len(key) + 4 + found[1] for key, found in walked.items())
        changed = any(walked[key][0] is not item for key, item in value.items())
        for key, (_, size) in sorted(walked.items(), key=lambda entry: -entry[1][1]):
            if left <= self._most or size <= WORTH:
                break
            walked[key] = (_Part(value[key]), HANDLE)
            left += HANDLE - size
            changed = True
        return {key: found[0] for key, found in walked.items()} if changed else value
