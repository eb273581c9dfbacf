"""Ports: what stores, queues, clocks, models, providers, observers implement, as Protocols. None is here."""

from __future__ import annotations

import contextvars
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import msgspec

from toolpath.model.agent import AgentTask, Spent
from toolpath.model.chat import ChatDelta, ChatReply, ChatRequest
from toolpath.model.event_log import EventLog
from toolpath.model.events import AnyEvent, Failure
from toolpath.model.open_questions import AskingRun, OpenQuestion
from toolpath.model.record import AuditEntry, AuditRow, Record
from toolpath.model.run import Beat, RunInfo, RunTimes, Standing
from toolpath.model.tool import Tool, ToolResult, ToolStats
from toolpath.values import Json, JsonObject


class WaitingRuns(Protocol):
    """Runs that wait for a worker, and those that wait for people. A part of `ports.Store`."""

    async def enqueue(self, run_id: str) -> bool:
        """Give the run a turn among those that wait for a worker; false where it has one.

        Turns go round by tenant. Of one tenant's runs those that were begun come first, then those of higher priority,
        then the older ones.
        """
        ...

    async def next_run(self, *, most_of_tenant: int = 0) -> str | None:
        """Take the turn of the run that comes next, and give the run's id; None where none has a turn.

        Nobody drives it yet: the caller is to do so at once, or it is lost. Tenants that have `most_of_tenant` runs
        under way are passed over; 0: none are.
        """
        ...

    async def queued(self, limit: int) -> list[str]:
        """Ids of the runs that have a turn, the first `limit` of them."""
        ...

    async def standing(self, *, tenant: str | None = None) -> Standing:
        """How many runs have not ended, and what they wait for people to say. Costs what is open, not what there is."""
        ...

    async def asking_runs(
        self, *, tenant: str | None = None, limit: int = 50, after: tuple[float, str] | None = None
    ) -> list[AskingRun]:
        """The runs that wait for people, longest first; `after` are `since` and id of the last of the page before."""
        ...


@runtime_checkable
class PutsAside(Protocol):
    """A `Queue` that keeps what no worker could read."""

    async def put_aside(self) -> int:
        """How many messages lie aside. Raises `QueueError`."""


class Trails(Protocol):
    """The audit trail of a store: one chain of entries. A part of `ports.Store`."""

    async def append_audit(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Add the entries to the trail, all or none; gives them as links of its chain."""

    async def keep_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries to the trail, all or none. They are kept when this returns, and links when read."""

    async def unlinked_audit(self) -> int:
        """How many entries are kept and are no links of the chain yet."""

    async def drop_audit(self, through: int) -> None:
        """Forget the entries up to this number, at the beginning of the chain; the last of all stays."""

    async def read_audit(self, *, tenant: str | None = None, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """The trail's entries with a greater `seq` than `after`, in order."""

    async def newest_audit(self, *, tenant: str | None, before: int | None, limit: int) -> list[AuditEntry]:
        """The trail's entries with a smaller `seq` than `before`, newest first; None: from the last one."""

    async def read_audit_rows(self, *, after: int = 0, limit: int = 100) -> list[AuditRow]:
        """The same as the store has them, unread: for who looks whether they are as they were written."""


class Clock(Protocol):
    """The time. The engine knows no other."""

    def time(self) -> float:
        """Unix time in seconds."""

    def monotonic(self) -> float:
        """Seconds that never go back, for durations and timers."""

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Have `callback` called in the running loop when `monotonic()` reaches `when`."""


#: Seconds before its time at which a timer counts as due: clocks have a resolution.
EARLY = 0.001


class Timer(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Do not make it."""


class ToolContext(Protocol):
    """Context of a tool: what it may know of the run it is called in, and what it may do there."""

    run_id: str
    path: str
    tool_call_id: str
    """Stable over retries and resumption; equal to the idempotency key."""
    plan_depth: int
    attempt: int
    idempotency_key: str
    tenant: str
    user: str
    session: str
    case: str | None
    deadline: float | None
    """Unix time at which the attempt is cut off."""
    results: JsonObject
    """Outputs of the steps that ended before it in its block, by id."""
    conversation: list[JsonObject]
    metadata: JsonObject

    async def call(self, tool: str, inputs: JsonObject | None = None, *, key: str | None = None) -> Json:
        """Call another tool as a journaled child step; a child that has finished is not called again."""

    async def chat(self, request: Any, *, key: str | None = None) -> Any:
        """Ask a model, as a journaled child step."""

    async def ask(self, form: JsonObject, *, key: str | None = None, timeout: float | None = None) -> JsonObject:
        """Ask a person: `{title, description?, inputs: [fields]}` → `{name: value}`."""

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        """Report how far the call is."""


class AgentContext(ToolContext, Protocol):
    """Context of an agent in its run. Keys are `round[n]/…`: each names one call for the agent's life."""

    async def think(self, request: ChatRequest, adds: JsonObject, *, key: str) -> ChatReply:
        """The model's reply; the journal keeps `adds`, what is new in the request. Raises `ToolFailed`."""

    async def act(self, tool: str, inputs: JsonObject, *, key: str) -> Json:
        """The tool's output; a call that has failed is not made again. Raises `ToolFailed`."""

    async def form(self, form: JsonObject, *, key: str) -> JsonObject:
        """A person's answer, `{values, declined}`; several forms may be open at once."""

    async def end(self, result: JsonObject, *, key: str) -> Json:
        """Write down what the agent has come to, `{message}`, and give it."""

    def refuse(self, key: str, failure: Failure) -> None:
        """Write down that a call which the model asked for is not made, and why."""

    def has_ended(self, key: str) -> bool:
        """Whether the journal has the end of the call under this key."""

    def duration(self, key: str) -> float:
        """Seconds that the call under this key took."""

    def redact(self, text: str) -> str:
        """The text without any secret."""

    @property
    def spent(self) -> Spent:
        """The sum of what the agent's calls in the journal spent, those of later rounds too where it is run again."""


class Sealing(Protocol):
    """Seals secrets for the places where they are kept."""

    def seal(self, text: str, place: str) -> str:
        """The text as it may be kept at this place alone. Raises `ConfigError` without a key."""
        ...

    def unseal(self, sealed: str, place: str) -> str:
        """The text. Raises `SealBroken`."""
        ...


class AgentLoop(Protocol):
    """Lets an agent work until it is done."""

    async def __call__(self, task: AgentTask, context: AgentContext) -> ToolResult:
        """The agent's result. Raises `ToolFailed`."""


class Chat(Protocol):
    """A language model: one request and its answer, no loop around it."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """The answer. Raises `ChatFailed`."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatDelta]:
        """The answer while it is being written; the last piece carries the reply. Raises `ChatFailed`."""


class Queue(Protocol):
    """Queue of runs that wait for a worker. It may lose and repeat: the store knows what is to be driven."""

    async def open(self) -> None:
        """Make it usable. A broker that is away now is no error: it is looked for until it is there."""

    async def close(self) -> None:
        """Let go of connections."""

    async def put(self, run_id: str, *, priority: int = 0) -> None:
        """Have a worker drive the run, before those of lower priority. Raises `QueueError` when it is not taken."""

    async def depth(self) -> int:
        """How many runs wait for a worker. Raises `QueueError`."""

    async def serve(self, work: Callable[[str], Awaitable[None]], *, concurrency: int) -> None:
        """Hand out waiting runs, at most `concurrency` at once, until `stop`; returns when all work on them has ended.

        A run whose process is gone before its work has ended is handed out again.
        """
        ...

    def stop(self) -> None:
        """Hand out nothing more."""
        ...


class Notebook(Protocol):
    """Small JSON objects that outlive the process, by name."""

    async def read(self, name: str) -> JsonObject | None:
        """The record that was written last under the name, or None."""
        ...

    async def write(self, name: str, value: JsonObject) -> None:
        """Keep it in place of what was there."""
        ...


@runtime_checkable
class Provider(Protocol):
    """A source of tools. Tools run themselves; a provider needs no engine.

    It may have besides: `kind`, the word for where its tools come from; `is_local`, that they are of this process
    alone; `findings` about what it read; `broken`, the errors of tools that it cannot offer, by their names;
    `max_concurrency`, the most calls of its tools at once; `within`, as `providers.surroundings` says."""

    name: str

    async def list_tools(self) -> Sequence[Tool]:
        """All its tools now. May start what is needed to know them."""
        ...

    async def close(self) -> None:
        """Let go of processes and connections."""
        ...

    def watch(self, changed: Callable[[], None]) -> None:
        """Have `changed` called whenever the list of tools may have changed."""
        ...

    def describe(self) -> JsonObject:
        """How another process can have the same tools again, e.g. `{"mcp": "time", "command": …}`; no secrets."""
        ...


class Observer(Protocol):
    """Observer of the runs that this process drives: logs, metrics and traces are made of what it is told.

    It is called in the loop, between two steps: it must neither wait nor raise.
    """

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """This process drives the run from now on; its journal holds these events."""

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """These events of the run have been kept; that took so long."""

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """The step's tool is about to be called, in this very task. Gives what is to be called when it is over."""

    def left(self, run_id: str) -> None:
        """This process drives the run no more."""


@runtime_checkable
class ChatObserver(Protocol):
    """An `Observer` of the requests to models, too. It must neither wait nor raise."""

    def asking(self, request: ChatRequest, provider: str, model: str) -> Callable[[ChatReply | BaseException], None]:
        """A model is about to be asked, in this very task. Gives what is to be called with its outcome."""


class Blob(msgspec.Struct, frozen=True):
    """Bytes that events point to by `digest`."""

    digest: str
    data: bytes


class Authority(msgspec.Struct, frozen=True):
    """Authority of the caller who had a run go on."""

    permissions: tuple[str, ...]
    """Theirs, today. A `*` stands for all."""
    by: str = ""


class Signal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a person or program tells a run: kept until its driver has journaled it."""

    kind: str
    """approve, deny, answer, settle, cancel, pause, resume."""
    path: str = ""
    data: JsonObject = {}
    by: str = ""
    authority: Authority | None = None
    """Whose word it is, where the run goes on because of it and they came in through a door."""
    id: int = 0
    """Given by the store."""


class CacheEntry(msgspec.Struct, frozen=True):
    """A kept result."""

    value: Json
    expires_at: float


class RunChange(msgspec.Struct, frozen=True, kw_only=True):
    """Change of the run's row by an append. None: as it was."""

    status: str | None = None
    reason: str | None = None
    ended_at: float | None = None
    asked: tuple[OpenQuestion, ...] | None = None
    """What it waits for people to say."""
    intent: str | None = None
    """Why it goes on, said where it is taken, until the journal does; of a take alone."""


class Journal(Protocol):
    """The events of one run, for the one process that drives it now."""

    epoch: int
    durable: bool
    """Keeping takes a moment, outlives the process, and other processes can reach the run."""

    @property
    def log(self) -> EventLog | None:
        """All events of the run, where they are in this process's memory; None: they have to be read from a store."""

    def append(
        self,
        events: Sequence[AnyEvent],
        *,
        blobs: Sequence[Blob] = (),
        change: RunChange | None = None,
        awaited: bool = False,
    ) -> Awaitable[None] | None:
        """Keep these events after all earlier ones, all or none of them.

        None: they are kept. Else awaiting tells that they are. The events are encoded before this returns. Raises
        `StaleEpoch` when another process has taken the run, `StoreError` when they cannot be kept. `awaited`: the drive
        awaits this and does nothing else meanwhile, so that keeping it at once holds nothing of the run up.
        """

    def release(self) -> Awaitable[None] | None:
        """Say that this process drives the run no more."""


class Store(WaitingRuns, Trails, Protocol):
    """Runs, events, blobs, signals, cache and tool statistics. One contract, one test suite for every store."""

    @property
    def hears_others(self) -> bool:
        """Signals and events of other processes wake who waits here; else a driver looks for signals at times."""

    async def open(self) -> None:
        """Make it usable: create or migrate. Raises `StoreError`, saying what to do."""
        ...

    async def close(self) -> None:
        """Keep what was accepted and let go."""

    async def create_run(self, info: RunInfo) -> RunInfo:
        """Store the run as it is given, or return the one that has the same idempotency key and tenant."""
        ...

    async def begin_run(
        self, info: RunInfo, driver: str, events: Sequence[AnyEvent], *, asked: Sequence[AuditEntry] = ()
    ) -> tuple[RunInfo, Journal | None]:
        """Store the run, take it, and keep its first events and who `asked`, for the trail: all of it or nothing.

        With `driver=""` it is `pending`, with a turn; a known key of the tenant gives that run. Neither has a journal.
        """

    async def get_run(self, run_id: str) -> RunInfo:
        """The run's row. Raises `RunNotFound`, naming runs with a like id."""
        ...

    async def list_runs(  # noqa: PLR0913 - each is a filter
        self,
        *,
        status: str | None = None,
        tenant: str | None = None,
        user: str | None = None,
        name: str | None = None,
        plan_id: str | None = None,
        conversation_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[RunInfo]:
        """The newest runs first that have what is given and began in that time; `before`: last id of a page."""
        ...

    async def run_times(self, since: float, *, tenant: str | None = None, limit: int = 1_000) -> list[RunTimes]:
        """When runs that were begun from the Unix time `since` on began and ended, newest first."""
        ...

    async def lost_runs(self, seen_before: float, limit: int = 100, *, queued: bool = True) -> list[RunInfo]:
        """Begun runs that somebody should drive and nobody does, longest unseen first, and the pending last.

        Those that are pending or running, and those that wait for people or are paused and were told something since
        that makes them go on; all of them neither stored, taken nor beaten for since the Unix time `seen_before`.
        Not `queued`: without those that have a turn.
        """
        ...

    async def drive(
        self, run_id: str, driver: str, *, expected: int | None = None, change: RunChange | None = None
    ) -> Journal:
        """Take the run with a new epoch, and `change` its row: appends of every earlier journal raise `StaleEpoch`.

        Its intent is listed until the journal has a further event, or the run is neither pending nor running.

        With the epoch that is `expected`, only if nobody else has taken it since; else this raises `StaleEpoch`.
        """
        ...

    async def beat(self, driver: str) -> None:
        """Say that this process still drives its runs."""
        ...

    async def drivers(self) -> list[Beat]:
        """Who drives a running run."""
        ...

    async def processes(self, seen_after: float) -> list[Beat]:
        """Who said since the Unix time `seen_after` that they live, by driver, whether they drive a run or none."""
        ...

    async def runs_of(self, drivers: Sequence[str], limit: int = 100, *, tenant: str | None = None) -> list[RunInfo]:
        """The running runs of these drivers, longest unseen first."""
        ...

    async def read_events(
        self, run_id: str, *, after: int = 0, limit: int | None = None, most_bytes: int | None = None
    ) -> list[AnyEvent]:
        """The committed events with a greater `seq` than `after`, in order.

        No more than `limit`, and none behind the one with which their JSON texts have reached `most_bytes`.
        """
        ...

    async def wait_events(self, run_id: str, after: int) -> None:
        """Return when the run has events beyond `after`, or may have.

        Woken for what this process appends; on PostgreSQL for what any process does.
        """
        ...

    async def get_blob(self, digest: str) -> bytes:
        """The bytes. Raises `StoreError` when they are not there."""
        ...

    async def read_blob(self, digest: str, offset: int, size: int) -> bytes:
        """At most so many of the bytes from there on. Raises `StoreError` when the blob is not there."""
        ...

    async def put_signal(self, run_id: str, signal: Signal) -> None:
        """Keep a signal for the run's driver and wake it when it is in this process."""
        ...

    async def take_signals(self, run_id: str) -> list[Signal]:
        """The signals not yet dropped, oldest first."""
        ...

    async def drop_signals(self, run_id: str, ids: Sequence[int]) -> None:
        """Forget signals whose effect is in the journal."""
        ...

    def on_signal(self, run_id: str, callback: Callable[[], None] | None) -> None:
        """Have `callback` called in the loop when this process (PostgreSQL: any) put a signal for it; None: no more."""
        ...

    async def cache_get(self, key: str, now: float) -> CacheEntry | None:
        """The kept result that has not expired."""
        ...

    async def cache_put(self, key: str, group: str, entry: CacheEntry, *, mark: str = "") -> None:
        """Keep a result for a group of tools; with a `mark`, in the place of what it marks, if that is still there."""
        ...

    async def cache_clear(self, group: str) -> None:
        """Forget all kept results of the group."""
        ...

    async def load_stats(self) -> dict[str, ToolStats]:
        """Statistics by tool key."""
        ...

    async def add_stats(self, changes: dict[str, ToolStats]) -> None:
        """Add these calls to the statistics, keeping the latest 200 durations of each tool."""
        ...

    async def put_record(self, record: Record, *, expected: int | None = None) -> Record:
        """Keep the record in place of the one with its kind and id; gives it as it is kept.

        `expected` 0: only if there is none; another number: only if that is the version there. Else `RecordConflict`.
        """
        ...

    async def get_record(self, kind: str, record_id: str) -> Record | None:
        """The record, or None."""
        ...

    async def list_records(
        self,
        kind: str,
        *,
        tenant: str | None = None,
        parent: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[Record]:
        """The newest first; `before` is the last id of the page before. Raises `RecordNotFound` where that is gone."""
        ...

    async def delete_record(self, kind: str, record_id: str) -> bool:
        """Forget the record; whether it was there."""
        ...

    async def delete_runs(self, run_ids: Sequence[str]) -> int:
        """Delete ended runs with all that is theirs; returns how many."""
        ...


class _Bound:
    """The bound of one scope; what outlives the scope is not bound by it."""

    __slots__ = ("holds", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.holds = True


_bound: contextvars.ContextVar[_Bound | None] = contextvars.ContextVar("toolpath_patience", default=None)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """A scope for work that answers somebody who waits: a store that is away is tried for so long at most.

    Tasks that are begun inside are bound too, until the scope ends.
    """
    bound = _Bound(seconds)
    token = _bound.set(bound)
    try:
        yield
    finally:
        bound.holds = False
        _bound.reset(token)


@contextmanager
def waiting_long() -> Iterator[None]:
    """A scope for work that answers nobody, as the drive of a run: the store's own patience counts."""
    token = _bound.set(None)
    try:
        yield
    finally:
        _bound.reset(token)


def most_patience() -> float | None:
    """Seconds for which a store may be tried here; None: as long as it sees fit."""
    bound = _bound.get()
    return bound.seconds if bound is not None and bound.holds else None
