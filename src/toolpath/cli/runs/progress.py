"""Progress of a run, folded from its events: a tree of steps with states. No drawing here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from toolpath.model.event_views import note_of, status_of
from toolpath.model.events import AnyEvent, RunStarted, StepStarted

#: States in which somebody looking on wants to see the step.
NOTABLE = frozenset({"running", "retrying", "waiting", "failed", "timed_out", "unknown"})
_ITEM = re.compile(r"([^\[]+)\[\d+\](#\d+)?.*")
ENDED = frozenset({"succeeded", "failed", "timed_out", "skipped", "cancelled"})


class ShownStep:
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
        self.children: dict[str, ShownStep] = {}
        self.items: int | None = None
        """Of a loop: how many there are, those that have not begun too."""
        self.counts: Counter[str] = Counter()
        """States of the children, so that a loop of a million items is summarised at once."""


class Progress:
    """The run so far. `feed` it every event, in order; the work of one event does not grow with the run."""

    def __init__(self) -> None:
        self.root = ShownStep("")
        self.root.status = "pending"
        self.name = ""
        self.now = 0.0
        """Time of the latest event, Unix seconds."""
        self.started_at: float | None = None
        self.notable: dict[str, ShownStep] = {}
        self.size = 0
        self._views: dict[str, ShownStep] = {"": self.root}

    def feed(self, event: AnyEvent) -> None:
        """Take in one event."""
        self.now = event.at
        path, status = getattr(event, "path", None), status_of(event)
        match event:
            case RunStarted():
                self.name = str(event.plan.get("name", ""))
                self.started_at = event.at
                self._set(self.root, status)
                for step in event.plan.get("steps", []):
                    self.view(str(step.get("id", "")))
            case StepStarted():
                self._start(self.view(event.path), event)
            case _ if path is None and status:
                self._set(self.root, status, note_of(event))
            case _ if path and status:
                self._change(self.view(path), event, status)
            case _ if path and (note := note_of(event)):
                self.view(path).note = note
            case _:
                pass

    def view(self, path: str) -> ShownStep:
        """The view of a path; made, with all above it, when it is new."""
        known = self._views.get(path)
        if known is not None:
            return known
        parent = self.view(parent_path(path))
        view = self._views[path] = parent.children[path] = ShownStep(path)
        parent.counts["pending"] += 1
        self.size += 1
        return view

    def walk(self) -> Iterator[tuple[int, ShownStep]]:
        """Every view but the root, parents first, with its depth from 0."""
        waiting = [(0, view) for view in reversed(self.root.children.values())]
        while waiting:
            depth, view = waiting.pop()
            yield depth, view
            waiting.extend((depth + 1, child) for child in reversed(view.children.values()))

    def _start(self, view: ShownStep, event: StepStarted) -> None:
        if view.started_at is None:
            view.started_at = event.at
        view.attempts += 1
        view.tool = event.tool
        over = event.inputs.get("over") if isinstance(event.inputs, dict) and not event.tool else None
        view.items = len(over) if isinstance(over, list) else view.items
        self._set(view, "running", view.note if event.attempt > 1 else "")

    def _change(self, view: ShownStep, event: AnyEvent, status: str) -> None:
        if status in ENDED:
            view.duration = getattr(event, "duration", 0.0)
        self._set(view, status, note_of(event))

    def _set(self, view: ShownStep, status: str, note: str = "") -> None:
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

    def _item_follows(self, view: ShownStep, status: str) -> None:
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
