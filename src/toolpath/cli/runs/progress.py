"""Progress of a run, folded from its events: a tree of steps with states. No drawing here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from toolpath.model.events import (
    AnyEvent,
    ApprovalDecided,
    FallbackStarted,
    InputReceived,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPaused,
    RunResumed,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepProgress,
    StepReady,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepTimedOut,
    StepUnknown,
    StepWaiting,
)

#: States in which somebody looking on wants to see the step.
NOTABLE = frozenset({"running", "retrying", "waiting", "failed", "timed_out", "unknown"})
_ITEM = re.compile(r"([^\[]+)\[\d+\](#\d+)?.*")
ENDED = frozenset({"succeeded", "failed", "timed_out", "skipped", "cancelled"})


class StepView:
    """One step instance, or one item of a loop, as it is shown."""

    __slots__ = (
        "attempts",
        "children",
        "counts",
        "duration",
        "items",
        "name",
        "note",
        "path",
        "started_at",
        "status",
        "tool",
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = path.rpartition("/")[2]
        self.status = "pending"
        self.tool = ""
        self.attempts = 0
        self.started_at: float | None = None
        self.duration: float | None = None
        self.note = ""
        self.children: dict[str, StepView] = {}
        self.items: int | None = None
        """Of a loop: how many there are, those that have not begun too."""
        self.counts: Counter[str] = Counter()
        """States of the children, so that a loop of a million items is summarised at once."""


class Progress:
    """The run so far. `feed` it every event, in order; the work of one event does not grow with the run."""

    def __init__(self) -> None:
        self.root = StepView("")
        self.root.status = "pending"
        self.name = ""
        self.now = 0.0
        """Time of the latest event, Unix seconds."""
        self.started_at: float | None = None
        self.notable: dict[str, StepView] = {}
        self.size = 0
        self._views: dict[str, StepView] = {"": self.root}

    def feed(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.now = event.at
        match event:
            case RunStarted():
                self.name = str(event.plan.get("name", ""))
                self.started_at = event.at
                self._set(self.root, "running")
                for step in event.plan.get("steps", []):
                    self.view(str(step.get("id", "")))
            case RunResumed():
                self._set(self.root, "running")
            case RunPaused():
                self._set(self.root, "paused")
            case RunCompleted(status=status):
                self._set(self.root, status)
            case RunFailed():
                self._set(self.root, "failed", event.error.message if event.error else event.reason)
            case RunCancelled():
                self._set(self.root, "cancelled", event.reason)
            case _:
                self._feed_step(event)

    def view(self, path: str) -> StepView:
        """The view of a path; made, with all above it, when it is new."""
        known = self._views.get(path)
        if known is not None:
            return known
        parent = self.view(parent_path(path))
        view = self._views[path] = parent.children[path] = StepView(path)
        parent.counts["pending"] += 1
        self.size += 1
        return view

    def walk(self) -> Iterator[tuple[int, StepView]]:
        """Every view but the root, parents first, with its depth from 0."""
        waiting = [(0, view) for view in reversed(self.root.children.values())]
        while waiting:
            depth, view = waiting.pop()
            yield depth, view
            waiting.extend((depth + 1, child) for child in reversed(view.children.values()))

    def _feed_step(self, event: AnyEvent) -> None:
        path = getattr(event, "path", None)
        if not path:
            return
        match event:
            case StepReady():
                self._set(self.view(path), "ready")
            case StepStarted():
                self._start(self.view(path), event)
            case StepProgress():
                share = f"{event.progress:g}/{event.total:g}" if event.total else f"{event.progress:g}"
                self.view(path).note = f"{share} {event.message}".strip()
            case StepRetrying():
                note = f"attempt {event.attempt} failed: {event.error.message}"
                self._set(self.view(path), "retrying", note)
            case FallbackStarted():
                self._set(self.view(path), "running", f"fallback {event.index}: {event.tool}")
            case StepWaiting():
                self._set(self.view(path), "waiting", f"for a person: {event.reason}")
            case StepUnknown():
                self._set(self.view(path), "unknown", "whether this write happened is not known")
            case ApprovalDecided() | InputReceived():
                self._set(self.view(path), "ready")
            case _:
                self._feed_end(event, path)

    def _feed_end(self, event: AnyEvent, path: str) -> None:
        match event:
            case StepSucceeded():
                self._end(self.view(path), "succeeded", event.duration, "from the cache" if event.cached else "")
            case StepFailed() | StepTimedOut():
                status = "failed" if isinstance(event, StepFailed) else "timed_out"
                note = event.error.message + (" (continued)" if event.continued else "")
                self._end(self.view(path), status, event.duration, note)
            case StepSkipped():
                self._end(self.view(path), "skipped", 0.0, event.reason)
            case StepCancelled():
                self._end(self.view(path), "cancelled", event.duration, event.reason)
            case _:
                pass

    def _start(self, view: StepView, event: StepStarted) -> None:
        if view.started_at is None:
            view.started_at = event.at
        view.attempts += 1
        view.tool = event.tool
        over = event.inputs.get("over") if isinstance(event.inputs, dict) and not event.tool else None
        view.items = len(over) if isinstance(over, list) else view.items
        self._set(view, "running", view.note if event.attempt > 1 else "")

    def _end(self, view: StepView, status: str, duration: float, note: str) -> None:
        view.duration = duration
        self._set(view, status, note)

    def _set(self, view: StepView, status: str, note: str = "") -> None:
        if view.path:
            counts = self.view(parent_path(view.path)).counts
            counts[view.status] -= 1
            counts[status] += 1
            if status in NOTABLE:
                self.notable[view.path] = view
            else:
                self.notable.pop(view.path, None)
            self._item_follows(view, status)
        view.status = status
        view.note = note

    def _item_follows(self, view: StepView, status: str) -> None:
        # An item of a loop has no events of its own: it is what its latest unfinished child is.
        parent = self.view(parent_path(view.path))
        if not _ITEM.fullmatch(parent.name):
            return
        unfinished = any(count for state, count in parent.counts.items() if state not in ENDED)
        if unfinished:
            self._set(parent, "running")
        elif parent.counts["failed"] or parent.counts["timed_out"]:
            self._set(parent, "failed")
        elif parent.counts["cancelled"]:
            self._set(parent, "cancelled")
        else:
            self._set(parent, "succeeded")


def parent_path(path: str) -> str:
    """The path of what encloses this one; empty: the run."""
    head, slash, last = path.rpartition("/")
    item = _ITEM.fullmatch(last)
    # `loop[3]#2` is an item: it stands under `loop#2`.
    return f"{head}{slash}{item[1]}{item[2] or ''}" if item else head
