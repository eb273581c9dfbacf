"""Large parts of an event, which stand beside the journal by a handle, wherever in a value they are. Pure.

A part is put aside where what would be left of it in the text is larger than the limit. A list of a few large results
so stays a list of handles, and a long list of small things goes aside as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import msgspec

from toolpath.engine.state.weights import WEIGHTY
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.values import HANDLE_KEY, Handle, Json, JsonObject, encode

#: What a handle takes in the text, about.
HANDLE = 400
#: What a part of a large object weighs at least to be put aside for the sum of them.
WORTH = 10 * HANDLE
#: Bytes of what stands by handle in a part, up to which the part goes aside as a whole, and is written out for that. Of
#: many results, or of one many times over, the handles stay in the event.
MOST_BEHIND = 16_000_000

#: Bytes of text up to which a member of a list or object is measured by its text, which takes a fraction of a walk
#: through it. What goes aside is larger.
SMALL = 4_000
#: Members from which a list or object is worth to be measured so.
_MANY = 8
#: Bytes that one look may write out in vain: of members that turned out to be larger.
_MOST_IN_VAIN = 1_000_000

#: Events whose values stay whole: they are read where no store is at hand.
_WHOLE = frozenset({ev.RunStarted, ev.InputRequested, ev.InputReceived})
#: Events whose values go by handles, with the name of the value.
PARTED = {event: name for event, name in WEIGHTY.items() if event not in _WHOLE}
#: Names of values that stay the objects that they are: what is in them goes aside.
_OBJECTS = frozenset({"inputs", "values"})
_text_of = msgspec.json.Encoder().encode
#: What the text of a handle has in it.
_MARK = HANDLE_KEY.encode()
#: What has no parts.
_FLAT = frozenset({str, int, float, bool, type(None)})


class Shelf(Protocol):
    """Shelf that the parts go to."""

    def known(self, value: Json) -> Handle | None:
        """The handle of a value that is aside already, or that is one."""
        ...

    def put(self, value: Json) -> Handle:
        """Put the value aside."""
        ...


class _Part:
    """A part that may be stored apart; not where the value around it is."""

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
    if _is_short(value, most):
        return event
    digests: dict[str, None] = {}

    def handle_of(part: Any) -> JsonObject:
        handle = part if type(part) is Handle else shelf.put(part.value)
        digests[handle.digest] = None
        return {"$blob": handle.digest, "size": handle.size, "preview": handle.preview}

    looked = _Parting(shelf, most)
    found = looked.object(value) if name in _OBJECTS and type(value) is dict else looked.part(value).value
    if found is value:
        return event
    if isinstance(event, ev.StepSucceeded) and isinstance(found, _Part | Handle):
        handle = found if isinstance(found, Handle) else shelf.put(found.value)
        return msgspec.structs.replace(event, output=handle, large=True)
    changed = {name: _placed(found, handle_of, {})}
    return msgspec.structs.replace(event, **changed, aside=tuple(digests))


def _is_short(value: Json, most: int) -> bool:
    """Whether the text of it all is within the limit, whatever it takes in memory, and nothing in it is a handle."""
    try:
        data = _text_of(value)
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        # What is no JSON is told where it is put aside.
        return False
    return len(data) <= most and _MARK not in data


def _placed(value: Any, handle_of: Callable[[Any], JsonObject], known: dict[int, Json]) -> Json:
    """The value with handles; `known`: the outcome of parts of it, by their identity."""
    if id(value) in known:
        return known[id(value)]
    placed: Json
    match value:
        case _Part() | Handle():
            placed = handle_of(value)
        case dict():
            placed = {key: _placed(item, handle_of, known) for key, item in value.items()}
        case list():
            placed = [_placed(item, handle_of, known) for item in value]
        case _:
            return value
    known[id(value)] = placed
    return placed


class _Found(NamedTuple):
    """A part of a value that was walked through."""

    value: Any
    """It, with parts in it to go aside."""
    left: int
    """Bytes that are left of it in the text."""
    behind: int = 0
    """Bytes of what stands by handle in it, each as often as it occurs."""


class _Parting:
    """A walk through one value, to each part of it once: it may share them, and would be endless written out."""

    def __init__(self, shelf: Shelf, most: int) -> None:
        self._shelf = shelf
        self._most = most
        self._walked: dict[int, _Found] = {}
        """By the identity of what is in the value, which lives as long."""
        self._small = min(most, SMALL)
        self._in_vain = 0
        """Bytes that were written out of what is not small."""

    def part(self, value: Json) -> _Found:
        """The value with its large parts to go aside."""
        match value:
            case str():
                size = len(value) + 2 if value.isascii() and len(value) < HANDLE else len(encode(value))
                if size <= self._most:
                    return _Found(value, size)
                if id(value) not in self._walked:
                    self._walked[id(value)] = self._known(value) or _Found(_Part(value), HANDLE, size)
                return self._walked[id(value)]
            case dict() | list() | Handle():
                if id(value) not in self._walked:
                    self._walked[id(value)] = self._known(value) or self._container(value)
                return self._walked[id(value)]
            case _:
                return _Found(value, 8)

    def _known(self, value: Json) -> _Found | None:
        handle = self._shelf.known(value)
        return None if handle is None else _Found(handle, HANDLE, handle.size)

    def _flat(self, values: Any, whole: Json) -> _Found | None:
        """The form of texts and numbers alone, measured at once; None where something in them may be large."""
        kinds = set(map(type, values))
        if not kinds <= _FLAT or (str in kinds and max(len(one) for one in values if type(one) is str) >= HANDLE):
            return None
        size = len(encode(whole))
        return _Found(whole, size) if size <= self._most else _Found(_Part(whole), HANDLE, size)

    def _of_small(self, values: Iterable[Json], names: int) -> int | None:
        """Bytes of text of members that are all small, whatever is in them; None where one of them has to be walked.

        What has handles in it is walked: the event names them. `names`: bytes of the members' names.
        """
        size, small = 2 + names, self._small
        try:
            for data in map(_text_of, values):
                if len(data) > small or _MARK in data:
                    self._in_vain += size + len(data)
                    return None
                size += len(data) + 1
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            # What is no JSON is told where it is put aside.
            return None
        return size

    def _container(self, value: Any) -> _Found:
        if type(value) is not Handle:
            whole = self._flat(value.values() if type(value) is dict else value, value) or self._of_many(value)
            if whole is not None:
                return whole
        return self._by_parts(value)

    def _of_many(self, value: Any) -> _Found | None:
        """A container of many small values, taken as one; None: it has to be walked."""
        if len(value) < _MANY or self._in_vain > _MOST_IN_VAIN:
            return None
        is_object = type(value) is dict
        names = sum(map(len, value)) + 4 * len(value) if is_object else 0
        size = self._of_small(value.values() if is_object else value, names)
        if size is None:
            return None
        return _Found(value, size) if size <= self._most else _Found(_Part(value), HANDLE, size)

    def _by_parts(self, value: Any) -> _Found:
        """The container with each of its parts placed by itself."""
        if type(value) is dict:
            walked = {key: self.part(item) for key, item in value.items()}
            left = 2 + sum(len(key) + 4 + found.left for key, found in walked.items())
            parts: Iterable[_Found] = walked.values()
            same = all(walked[key].value is item for key, item in value.items())
            placed: Any = value if same else {key: found.value for key, found in walked.items()}
        elif type(value) is list:
            parts = items = [self.part(item) for item in value]
            left = 2 + sum(found.left + 1 for found in items)
            same = all(found.value is item for found, item in zip(items, value, strict=True))
            placed = value if same else [found.value for found in items]
        else:
            return _Found(value, HANDLE)
        behind = sum(found.behind for found in parts)
        if left > self._most and behind <= MOST_BEHIND:
            return _Found(_Part(value), HANDLE, left + behind)
        return _Found(placed, left, behind)

    def object(self, value: JsonObject) -> JsonObject:
        """The same of arguments and variables, which keep their names: the largest go aside until few are left."""
        walked = {key: self.part(item) for key, item in value.items()}
        left = sum(len(key) + 4 + found.left for key, found in walked.items())
        changed = any(walked[key].value is not item for key, item in value.items())
        for key, (_, size, behind) in sorted(walked.items(), key=lambda entry: -entry[1].left):
            if left <= self._most or size <= WORTH:
                break
            if behind > MOST_BEHIND:
                continue
            walked[key] = _Found(_Part(value[key]), HANDLE, size + behind)
            left += HANDLE - size
            changed = True
        return {key: found.value for key, found in walked.items()} if changed else value
