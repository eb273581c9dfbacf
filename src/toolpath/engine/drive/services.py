"""Services that all runs of a process share: store, clock, threads, limits, calls in flight. Decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from toolpath.catalog.statistics import Statistics
from toolpath.config import Settings
from toolpath.engine.compile.selection import Tools
from toolpath.engine.drive.drafts import Drafts
from toolpath.engine.drive.limits import CallLimits
from toolpath.engine.drive.loop_turns import LoopTurns
from toolpath.engine.drive.tenant_bytes import TenantBytes
from toolpath.engine.drive.threads import Threads
from toolpath.model.language_model import KnownModels
from toolpath.model.redaction import Redactor
from toolpath.ports import AgentLoop, Chat, Clock, Observer, Queue, Sealing, Store
from toolpath.values import JsonObject


class SharedCall:
    """A cached call under way, and how many wait for it."""

    __slots__ = ("generation", "task", "waiters")

    def __init__(self, task: asyncio.Task[Any], generation: int) -> None:
        self.task = task
        self.generation = generation
        """How often its tool's group had been written to when it was begun."""
        self.waiters = 0


class Services(msgspec.Struct, eq=False, kw_only=True):
    """Services of one Toolpath."""

    store: Store
    clock: Clock
    settings: Settings
    """Those in force for what begins now."""
    threads: Threads
    limits: CallLimits
    statistics: Statistics
    """Statistics of the tools, by key; they count every call."""
    learned: Callable[[], None]
    """Called when a drive ends: what was counted may be kept."""
    secrets: Mapping[str, str] = {}
    redactor: Redactor = msgspec.field(default_factory=Redactor)
    sealer: Sealing
    """Seals the secrets that the store keeps."""
    run_redactors: dict[str, Redactor] = {}
    """Of the runs driven here that people told secrets, by run."""
    secret_answers: Callable[[str], Awaitable[dict[str, str]]] | None = None
    """Gives the secrets that people told a run, by name; None: there are none."""
    chance: Callable[[], float] = lambda: 0.5
    chat: Callable[[str], Awaitable[Chat | None]] | None = None
    """Gives the models that tools of a tenant may ask; None where none is configured."""
    models: Callable[[str], Awaitable[KnownModels]] | None = None
    """Gives the names of models that plans of a tenant may use; None: not known."""
    load: Callable[[set[str], str], Awaitable[Tools]] | None = None
    """Gives a tenant's tools of today, those of these names among them: servers are asked that no plan has named."""
    drafts: Drafts = msgspec.field(default_factory=Drafts)
    """What models are writing now."""
    agents: AgentLoop | None = None
    """Lets agents work; None: there are none."""
    given_settings: Settings | None = None
    """As the process was started with them; None: as those in force."""
    stored_settings: JsonObject = {}
    """Those in force that the store has."""
    observer: Observer | None = None
    """The observer: logs, metrics, traces."""
    driver: str = ""
    """`host:pid:nonce` of this process."""
    beaten_at: float = 0.0
    """When this process last said that it lives, in its loop's time."""
    queue: Queue | None = None
    """Where runs wait for a worker; None: this process drives what it starts."""
    cache_secret: bytes = b""
    """Keys the digests of cached inputs that hold secrets."""
    cached_groups: set[str] = set()
    """Groups of tools of which cached results were asked for here."""
    clearing: dict[str, asyncio.Task[None]] = {}
    """Groups whose cached results are being emptied."""
    generations: dict[str, int] = {}
    """How often each group was written to."""
    tenant_bytes: TenantBytes = msgspec.field(default_factory=lambda: TenantBytes(0))
    """Bytes that the runs of each tenant hold in memory."""
    turns: LoopTurns
    held_for: dict[str, dict[str, Callable[[], None]]] = {}
    """What tools hold for the runs that are driven here, by name, and how they let go of it when the run has ended."""
    flights: dict[str, SharedCall] = {}
    """Cached calls under way, by cache key: an equal call waits for them."""
    folders: Any
    """Where the files of runs are: `Folders` of `providers/run_files`, of which the engine knows nothing."""

    def redacted(self, text: str) -> str:
        """The text without the values of secrets that runs of this process have used, or were told."""
        for redactor in list(self.run_redactors.values()):
            text = redactor.text(text)
        return self.redactor.text(text)
