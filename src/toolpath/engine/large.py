"""Values too large to travel: kept aside as blobs, and brought back where an expression reads them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from toolpath.engine.instances import Scope
from toolpath.engine.results import Done
from toolpath.engine.weights import weight_of_text
from toolpath.language.names import Frame
from toolpath.model import events as ev
from toolpath.model.events import AnyEvent
from toolpath.ports import Blob, Store
from toolpath.values import Handle, Json, JsonObject, as_handle, decode


class _Outputs(dict[str, Json]):
    """Outputs by step id, each restored when it is first read: an expression reads few of many."""

    def __init__(self, kept: JsonObject, restored: Callable[[Json], Json]) -> None:
        super().__init__()
        self._kept = kept
        self._restored = restored

    def __missing__(self, key: str) -> Json:
        value = self[key] = self._restored(self._kept[key])
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._kept


class LargeValues:
    """The large values of one run that are at hand."""

    def __init__(self) -> None:
        self.values: dict[str, Json] = {}
        """By digest."""
        self.weight = 0
        """What they weigh."""
        self._handles: dict[int, Handle] = {}
        """By the identity of the value, which lives as long as this does."""

    def keep(self, done: Done) -> Blob:
        """Put the output aside: in the journal its handle stands for it."""
        assert done.handle is not None
        known = self.values.get(done.handle.digest)
        if known is None:
            self.weight += weight_of_text(done.blob)
            self.values[done.handle.digest] = done.output
            self._handles[id(done.output)] = done.handle
        else:
            # The identity of one that was let go of would soon be that of something else.
            done.output = known
        return Blob(done.handle.digest, done.blob)

    async def load(self, events: Iterable[AnyEvent], store: Store, *, only: Container[str] | None = None) -> None:
        """Bring back the values whose handles are in these events; with `only`, those with these digests."""
        for event in events:
            # What a tool made to look like a handle stays what it is.
            handle = as_handle(event.output) if isinstance(event, ev.StepSucceeded) and event.large else None
            if handle is None or handle.digest in self.values or (only is not None and handle.digest not in only):
                continue
            blob = await store.get_blob(handle.digest)
            value = self.values[handle.digest] = decode(blob)
            self.weight += weight_of_text(blob)
            self._handles[id(value)] = handle

    def handled(self, inputs: JsonObject) -> JsonObject:
        """The inputs with a handle for each argument that is a large value as a whole: it is in the journal already."""
        found = {name: self._handles[id(value)] for name, value in inputs.items() if id(value) in self._handles}
        return {**inputs, **found} if found else inputs

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
        frame.work = scope.work
        return frame

    def _outer(self, frame: Frame) -> Frame:
        return self.view(frame) if isinstance(frame, Scope) else frame

    def restored(self, value: Json) -> Json:
        """The value with every handle at hand replaced by what it stands for."""
        if not self.values:
            return value
        if type(value) is Handle:
            return self.values.get(value.digest, value)
        if type(value) is dict:
            handle = as_handle(value)
            if handle is not None and handle.digest in self.values:
                return self.values[handle.digest]
            return {key: self.restored(item) for key, item in value.items()}
        if type(value) is list:
            return [self.restored(item) for item in value]
        return value


def digests_of(value: Json) -> Iterator[str]:
    """The digests of all handles in the value."""
    handle = as_handle(value)
    if handle is not None:
        yield handle.digest
    elif type(value) is dict:
        for item in value.values():
            yield from digests_of(item)
    elif type(value) is list:
        for item in value:
            yield from digests_of(item)
