"""Prometheus metrics of the runs that this process drives, and of the requests that it serves.

No label is taken from a plan, a run or a person; tools are at most `MOST_TOOLS`.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter as Counts
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, GCCollector, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from toolpath.model import events as ev
from toolpath.model.events import AnyEvent, event_type
from toolpath.model.run import Standing
from toolpath.telemetry.calls import End, OpenAttempt, OpenAttempts

MOST_TOOLS = 500
#: Events of which figures are kept back at most, for other processes of the server and who asks them.
MOST_EVENTS = 256
#: The folder in which the processes of one server put their figures together, as the library calls it.
SHARED = "PROMETHEUS_MULTIPROC_DIR"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_CALL = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
_RUN = (0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800)
_QUESTIONS = {ev.ApprovalRequested: "approval", ev.InputRequested: "input", ev.StepUnknown: "doubt"}
_OPEN = ("pending", "running", "waiting", "paused")
_KINDS = ("approval", "input", "doubt")
_ANSWERS = {ev.ApprovalDecided: "approval", ev.InputReceived: "input"}


class Metrics:
    """An observer that counts. `text()` is what `/metrics` answers."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._pending = PendingFigures()
        # Before all others: whoever collects, by whatever door, has what is counted so far.
        registry.register(self._pending)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self._runs: dict[str, tuple[OpenAttempts, ev.RunStarted | None]] = {}
        self._tools = Labels(MOST_TOOLS)
        self._routes = Labels(MOST_TOOLS)
        self._plans_of_runs(registry)
        self._people_and_ground(registry)
        self._steps_of_runs(registry)
        self._doors(registry)

    def _plans_of_runs(self, registry: CollectorRegistry) -> None:
        self._started = Counter("toolpath_runs_started", "Runs begun here.", registry=registry)
        self._ended = LabelledMetrics(Counter("toolpath_runs_ended", "Runs ended here.", ["status"], registry=registry))
        self._driven = Gauge(
            "toolpath_runs_driven",
            "Runs that this process drives now.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._open = Gauge(
            "toolpath_runs_open",
            "Runs of the store that have not ended.",
            ["status"],
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self._run_seconds = LabelledMetrics(
            Durations(
                "toolpath_run_duration_seconds",
                "From the start of a run to its end.",
                ["status"],
                buckets=_RUN,
                registry=registry,
            )
        )
        self._run_wait = Durations(
            "toolpath_run_queue_seconds",
            "From when a run was stored to when it was first driven.",
            buckets=_RUN,
            registry=registry,
        )
        self._commit = Durations(
            "toolpath_store_commit_seconds", "For keeping a batch of events.", buckets=_SHORT, registry=registry
        )
        self._events = LabelledMetrics(Counter("toolpath_events", "Events kept.", ["type"], registry=registry))

    def _people_and_ground(self, registry: CollectorRegistry) -> None:
        self._waiting = Gauge(
            "toolpath_questions_open",
            "What people of the store's runs are asked now.",
            ["kind"],
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self._reached = Gauge(
            "toolpath_store_up",
            "1: the store answered when it was last asked; 0: it did not.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._refused = Gauge(
            "toolpath_queue_put_aside",
            "Messages that no worker could read.",
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self._asked = LabelledMetrics(
            Counter(
                "toolpath_questions_asked",
                "What people were asked by runs that this process drove.",
                ["kind"],
                registry=registry,
            )
        )
        self._answered = LabelledMetrics(
            Counter("toolpath_questions_answered", "What people have answered or settled.", ["kind"], registry=registry)
        )

    def _steps_of_runs(self, registry: CollectorRegistry) -> None:
        self._attempts = LabelledMetrics(
            Counter(
                "toolpath_step_attempts", "Attempts at steps by how they ended.", ["tool", "status"], registry=registry
            )
        )
        self._step_seconds = LabelledMetrics(
            Durations("toolpath_step_duration_seconds", "Of one attempt.", ["tool"], buckets=_CALL, registry=registry)
        )
        self._step_wait = Durations(
            "toolpath_step_queue_seconds", "From ready to started.", buckets=_CALL, registry=registry
        )
        self._retries = LabelledMetrics(
            Counter("toolpath_step_retries", "Attempts after the first.", ["tool"], registry=registry)
        )
        self._cached = LabelledMetrics(
            Counter("toolpath_step_cache_hits", "Answered by a kept result.", ["tool"], registry=registry)
        )
        self._tokens = LabelledMetrics(
            Counter("toolpath_model_tokens", "Tokens, where the tool says.", ["tool"], registry=registry)
        )
        self._cost = LabelledMetrics(
            Counter("toolpath_cost_usd", "USD, where the tool says.", ["tool"], registry=registry)
        )

    def _doors(self, registry: CollectorRegistry) -> None:
        self._requests = LabelledMetrics(
            Counter("toolpath_http_requests", "Requests answered.", ["route", "method", "status"], registry=registry)
        )
        self._request_seconds = LabelledMetrics(
            Durations(
                "toolpath_http_request_duration_seconds",
                "Until the answer was complete.",
                ["route", "method"],
                buckets=_SHORT,
                registry=registry,
            )
        )

    def text(self) -> bytes:
        """All figures in Prometheus' text format; of all processes of a server that has several."""
        if SHARED not in os.environ:
            return generate_latest(self.registry)
        self._pending.hand_over()
        from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415  # only here

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def standing(self, open_now: Standing) -> None:
        """So much is open in the store."""
        for status in _OPEN:
            self._open.labels(status).set(open_now.runs.get(status, 0))
        for kind in _KINDS:
            self._waiting.labels(kind).set(open_now.questions.get(kind, 0))

    def standing_unknown(self) -> None:
        """Forget how much is open: nobody can tell it now."""
        self._open.clear()
        self._waiting.clear()

    def store_answered(self, answered: bool) -> None:  # a fact, not a way of doing
        """Whether the store answered just now."""
        self._reached.set(answered)

    def put_aside(self, messages: int) -> None:
        """So many messages of the queue could not be read."""
        self._refused.set(messages)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request. `route` is the pattern of the path, not the path."""
        route = self._routes.of(route)
        method = method if method in _METHODS else "OTHER"
        self._requests[route, method, str(status)].inc()
        self._request_seconds[route, method].observe(seconds)

    # What the engine tells.

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """The run is driven here from now on."""
        first = events[0] if events and isinstance(events[0], ev.RunStarted) else None
        if run_id not in self._runs:
            self._driven.inc()
        self._runs[run_id] = (OpenAttempts(events), first)
        if len(events) == 1:
            self._started.inc()

    def left(self, run_id: str) -> None:
        """The run is not driven here any more."""
        self._pending.hand_over()
        if self._runs.pop(run_id, None) is not None:
            self._driven.dec()

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Calls are counted by their events."""
        return _nothing

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """Count what happened."""
        calls, first = self._runs.get(run_id) or (OpenAttempts(), None)
        pending = self._pending
        with pending.lock:
            if seconds:
                pending.seconds[self._commit].append(seconds)
            for event in events:
                pending.counts[self._events[event_type(event)]] += 1
                if first is not None and _begins(event, first):
                    pending.seconds[self._run_wait].append(max(0.0, event.at - first.at))
                match calls.follow(event):
                    case OpenAttempt() as call:
                        self._begun(call)
                    case End() as end:
                        self._over(end)
                    case _:
                        self._of_run(event, first)
            pending.events += len(events)
        if pending.events >= MOST_EVENTS:
            pending.hand_over()

    def _begun(self, call: OpenAttempt) -> None:
        if call.tool and call.started_at is not None:
            self._pending.seconds[self._step_wait].append(
                max(0.0, call.started_at - (call.ready_at or call.started_at))
            )
            if call.attempt > 1:
                self._pending.counts[self._retries[self._tools.of(call.tool)]] += 1

    def _over(self, end: End) -> None:
        event, call = end.event, end.call
        counts, seconds = self._pending.counts, self._pending.seconds
        if call.in_doubt:
            counts[self._answered["doubt"]] += 1
        if not call.tool:
            return
        tool = self._tools.of(call.tool)
        counts[self._attempts[tool, end.status]] += 1
        if call.started_at is not None:
            seconds[self._step_seconds[tool]].append(max(0.0, end.at - call.started_at))
        if isinstance(event, ev.StepSucceeded):
            if event.cached:
                counts[self._cached[tool]] += 1
            if event.tokens:
                counts[self._tokens[tool]] += event.tokens
            if event.cost:
                counts[self._cost[tool]] += event.cost

    def _of_run(self, event: AnyEvent, first: ev.RunStarted | None) -> None:
        counts, seconds = self._pending.counts, self._pending.seconds
        status = ended_as(event)
        if status:
            counts[self._ended[status]] += 1
            if first is not None:
                seconds[self._run_seconds[status]].append(max(0.0, event.at - first.at))
        elif kind := _QUESTIONS.get(type(event)):
            counts[self._asked[kind]] += 1
        elif kind := _ANSWERS.get(type(event)):
            counts[self._answered[kind]] += 1
        elif isinstance(event, ev.RunResumed) and event.reason == "fork":
            counts[self._started] += 1


def _begins(event: AnyEvent, first: ev.RunStarted) -> bool:
    """Whether with this event the run is driven for the first time."""
    if first.parent:
        return isinstance(event, ev.RunResumed) and event.reason == "fork"
    return event.seq == first.seq + 1


def ended_as(event: AnyEvent) -> str:
    """The status that the run ends with by this event; empty where it goes on."""
    match event:
        case ev.RunCompleted():
            return event.status
        case ev.RunFailed():
            return "failed"
        case ev.RunCancelled():
            return "cancelled"
        case _:
            return ""


def _nothing() -> None:
    """There is nothing to do when the call is over."""


class Durations(Histogram):
    """Seconds that something took, which may be told many at a time."""

    def observe_all(self, seconds: Sequence[float]) -> None:
        """Observe each of them."""
        self._sum.inc(sum(seconds))
        for bucket, many in Counts(bisect_left(self._upper_bounds, one) for one in seconds).items():
            self._buckets[bucket].inc(many)


class PendingFigures(Collector):
    """Figures that the library does not have yet: each takes its locks there, and most that come together are alike."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Held while figures are put in or taken out: several loops may drive runs."""
        self.events = 0
        """So many they are of."""
        self.counts: defaultdict[Counter, float] = defaultdict(float)
        self.seconds: defaultdict[Durations, list[float]] = defaultdict(list)

    def collect(self) -> Sequence[Metric]:
        """No figures of its own: the library's have them now."""
        self.hand_over()
        return ()

    def hand_over(self) -> None:
        """Give the library what there is."""
        with self.lock:
            counts, self.counts = self.counts, defaultdict(float)
            seconds, self.seconds = self.seconds, defaultdict(list)
            self.events = 0
        for counter, more in counts.items():
            counter.inc(more)
        for durations, values in seconds.items():
            durations.observe_all(values)


M = TypeVar("M", bound=MetricWrapperBase)


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


class LabelledMetrics(dict[str | tuple[str, ...], M]):
    """Figures of one metric by their labels. The library looks for them anew, behind a lock, each time."""

    def __init__(self, metric: M) -> None:
        super().__init__()
        self._metric = metric

    def __missing__(self, labels: str | tuple[str, ...]) -> M:
        child = self[labels] = self._metric.labels(*((labels,) if isinstance(labels, str) else labels))
        return child
