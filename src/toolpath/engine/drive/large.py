"""Large values, kept aside as blobs, and brought back where an expression reads them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from toolpath.engine.state.instances import Scope
from toolpath.engine.state.large_parts import PARTED
from toolpath.engine.state.results import Done
from toolpath.engine.state.weights import weight_of_text
from toolpath.expressions.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.ports import Blob, Store
from toolpath.values import HANDLE_KEY, Handle, Json, JsonObject, as_handle, decode, encode, handle_of


class _Outputs(dict[str, Json]):
    """Outputs by step id, each restored when it is first read: an expression reads few of many."""

    def __init__(self, outputs: JsonObject, restored: Callable[[Json], Json]) -> None:
        super().__init__()
        self._outputs = outputs
        self._restored = restored

    def __missing__(self, key: str) -> Json:
        value = self[key] = self._restored(self._outputs[key])
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._outputs


class LargeValues:
    """The large values of one run that are at hand."""

    def __init__(self) -> None:
        self.values: dict[str, Json] = {}
        """By digest."""
        self.weight = 0
        """Their weight together."""
        self.blobs: list[Blob] = []
        """Values that the journal does not have yet."""
        self._handles: dict[int, Handle] = {}
        """By the identity of the value, which lives as long as this does."""

    def keep(self, done: Done) -> None:
        """Put the output aside: in the journal its handle stands for it."""
        assert done.handle is not None
        # The identity of one that was let go of would soon be that of something else.
        done.output = self._shelve(done.handle, done.output, done.blob)

    def put(self, value: Json) -> Handle:
        """Put a part of what the journal is to say aside."""
        value = self.restored(value)
        data = encode(value)
        handle = handle_of(data)
        self._shelve(handle, value, data)
        return handle

    def known(self, value: Json) -> Handle | None:
        """The handle of a value that is aside already, or that is one."""
        found = self._handles.get(id(value))
        if found is None and (type(value) is Handle or type(value) is dict):
            found = as_handle(value)
            if found is not None and found.digest not in self.values:
                found = None
        return found

    def _shelve(self, handle: Handle, value: Json, data: bytes) -> Json:
        known = self.values.get(handle.digest)
        if known is not None:
            return known
        self.weight += weight_of_text(data)
        self.values[handle.digest] = value
        self._handles[id(value)] = handle
        self.blobs.append(Blob(handle.digest, data))
        return value

    async def load(self, events: Iterable[AnyEvent], store: Store, *, only: Container[str] | None = None) -> None:
        """Bring back the values whose handles are in these events; with `only`, those with these digests."""
        for event in events:
            for digest in digests_aside(event):
                if digest in self.values or (only is not None and digest not in only):
                    continue
                blob = await store.get_blob(digest)
                value = self.values[digest] = decode(blob)
                self.weight += weight_of_text(blob)
                self._handles[id(value)] = handle_of(blob, digest)

    def view(self, scope: Scope) -> Frame:
        """The frame as expressions read it: values where the state has handles. The scope itself where it has none."""
        if not self.values:
            return scope
        frame = Frame(
            inputs=self.restored(scope.inputs),
            run=scope.run,
            outputs=_Outputs(scope.outputs, self.restored),
            state={key: self.restored(value) for key, value in scope.state.items()},
            item=self.restored(scope.item),
            up=None if scope.up is None else self._outer(scope.up),
            secrets=scope.secrets,
            step_record=lambda step_id: self.restored(scope.step_record(step_id)),
            void=scope.void,
        )
        frame.last = self.restored(scope.last)
        frame.work, frame.shares = scope.work, True
        return frame

    def _outer(self, frame: Frame) -> Frame:
        return self.view(frame) if isinstance(frame, Scope) else frame

    def restored(self, value: Json) -> Json:
        """The value with every handle at hand replaced by what it stands for; the same object where it has none."""
        if not self.values:
            return value
        # What is aside itself has no handles in it.
        return self._restored(value, {})

    def _restored(self, value: Json, done: dict[int, Json]) -> Json:
        """`done`: the outcome of parts of the value, by their identity; each is looked at once."""
        if type(value) is Handle:
            return self.values.get(value.digest, value)
        if (type(value) is not dict and type(value) is not list) or id(value) in self._handles:
            return value
        if id(value) not in done:
            done[id(value)] = self._rebuilt(value, done)
        return done[id(value)]

    def _rebuilt(self, value: Any, done: dict[int, Json]) -> Json:
        if type(value) is dict:
            handle = as_handle(value) if HANDLE_KEY in value else None
            if handle is not None and handle.digest in self.values:
                return self.values[handle.digest]
            found = {key: self._restored(item, done) for key, item in value.items()}
            return value if all(found[key] is item for key, item in value.items()) else found
        items = [self._restored(item, done) for item in value]
        return value if all(one is item for one, item in zip(items, value, strict=True)) else items


def digests_aside(event: AnyEvent) -> tuple[str, ...]:
    """The digests of the values that stand by handle in the event. What a tool made to look like a handle is none."""
    if isinstance(event, ev.StepSucceeded) and event.large:
        handle = as_handle(event.output)
        return () if handle is None else (handle.digest,)
    return event.aside if isinstance(event, WITH_ASIDE) else ()


def handle_in(event: AnyEvent, digest: str) -> Handle | None:
    """The handle of the value with this digest, where it stands by one in the event."""
    if digest not in digests_aside(event):
        return None
    value = getattr(event, PARTED[type(event)])
    return next(handle for handle in handles_in(value) if handle.digest == digest)


#: Events in which values may stand by handle.
WITH_ASIDE = (
    ev.StepStarted
    | ev.StepSucceeded
    | ev.FallbackStarted
    | ev.StateWritten
    | ev.ApprovalRequested
    | ev.RunCompleted
    | ev.RunFailed
    | ev.RunCancelled
)


def handles_in(value: Json) -> Iterator[Handle]:
    """All handles in the value, and what looks like one."""
    handle = as_handle(value)
    if handle is not None:
        yield handle
    elif type(value) is dict:
        for item in value.values():
            yield from handles_in(item)
    elif type(value) is list:
        for item in value:
            yield from handles_in(item)


def digests_of(value: Json) -> Iterator[str]:
    """The digests of all handles in the value."""
    return (handle.digest for handle in handles_in(value))
