"""Parts of an opened Toolpath: its store and services, documents from files, plans of one call. No life of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets as chance
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from toolpath.access.sealing import Sealer
from toolpath.catalog.registry import Registry
from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.statistics import Statistics
from toolpath.config import Settings
from toolpath.engine.drive.limits import CallLimits
from toolpath.engine.drive.loop_turns import LoopTurns
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.tenant_bytes import TenantBytes
from toolpath.engine.drive.threads import Threads
from toolpath.errors import ConfigError, ReadError, RunConflict, ToolFailed
from toolpath.model.agent import BUILT_IN, NONE
from toolpath.model.plan import Agent, Call, Plan, every_step
from toolpath.model.redaction import Redactor
from toolpath.model.run import LEAST_PRIORITY, MOST_PRIORITY, RunResult
from toolpath.model.tool import Tool
from toolpath.ports import AgentLoop, Clock, Observer, Queue, Store
from toolpath.providers.run_files.folder import Quota
from toolpath.providers.run_files.folders import Folders
from toolpath.providers.surroundings import Surroundings
from toolpath.providers.tool_sources import ToolSources
from toolpath.runs.secret_answers import SecretAnswers
from toolpath.store.memory.store import MemoryStore
from toolpath.store.sqlite.store import SqliteStore
from toolpath.values import JsonObject

#: Stands for the names of all tools: no tool's name has this sign.
EVERY = "*"
#: Larger files are refused before they are read.
LARGEST_FILE = 5_000_000


class Load(Protocol):
    """Load of tools before they are needed."""

    def __call__(self, names: Collection[str] | None, tenant: str | None = None) -> Awaitable[Catalog]:
        """The tenant's catalogue with these tools and all that calling them may call; names None: with every tool.

        Tenant None: the acting caller's. Raises `StoreError`.
        """


class TenantCatalogs(Protocol):
    """The tools that there are, as each tenant has them."""

    @property
    def load(self) -> Load:
        """Loads tools before they are needed."""
        ...

    def known(self, tenant: str | None = None) -> Catalog:
        """The tenant's catalogue as it is known now: nobody is asked. None: the acting caller's."""
        ...


def store_of(store: str | os.PathLike[str] | Store | None, settings: Settings, clock: Clock) -> Store:
    """The store of an address: None is in memory, `postgresql://…` PostgreSQL, a path a SQLite file.

    Raises `ConfigError`.
    """
    if store is None:
        return MemoryStore(clock=clock.time)
    if not isinstance(store, str | os.PathLike):
        return store
    scheme, there, _ = os.fspath(store).partition("://")
    if scheme in ("postgresql", "postgres") and there:
        return _postgres(os.fspath(store), clock)
    if there:
        raise ConfigError(
            f"There is no store for {scheme}:// addresses.",
            hint="Give the path of a SQLite file, or postgresql://user:password@host/database.",
        )
    return SqliteStore(store, synchronous=settings.synchronous, clock=clock.time)


def _postgres(url: str, clock: Clock) -> Store:
    try:
        from toolpath.store.postgres.store import PostgresStore  # its driver is an extra
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise ConfigError(
            "A store in PostgreSQL needs its driver, which is not installed.", hint="pip install 'toolpath[postgres]'"
        ) from None
    return PostgresStore(url, clock=clock.time)


def folders_of(store: Store, settings: Settings) -> Folders:
    """Where the files of this store's runs are."""
    quota = Quota(settings.run_files_bytes, settings.run_files_count)
    if settings.files_dir:
        return Folders(Path(settings.files_dir), quota)
    if isinstance(store, SqliteStore) and store.path is not None:
        return Folders(store.path.parent / f"{store.path.name}.files", quota)
    return Folders(None, quota, is_lasting=not isinstance(store, MemoryStore | SqliteStore))


def sealer_of(store: Store, settings: Settings) -> Sealer:
    """The sealer of the secrets that this store keeps: with keys that it does not have."""
    if settings.sealing_key_file:
        return Sealer(Path(settings.sealing_key_file))
    if isinstance(store, SqliteStore) and store.path is not None:
        return Sealer(store.path.parent / f"{store.path.name}.key")
    return Sealer(is_lasting=not isinstance(store, MemoryStore | SqliteStore))


def services_of(  # noqa: PLR0913  # a record
    store: Store,
    clock: Clock,
    settings: Settings,
    *,
    statistics: Statistics,
    learned: Callable[[], None],
    secrets: Mapping[str, str],
    observer: Observer | None,
    load: Load,
    agents: AgentLoop,
    queue: Queue | None,
) -> Services:
    """The services that all runs of one Toolpath share."""
    sealer = sealer_of(store, settings)
    return Services(
        store=store,
        clock=clock,
        settings=settings,
        threads=Threads(settings.max_threads),
        tenant_bytes=TenantBytes(settings.max_tenant_bytes),
        limits=CallLimits(clock),
        turns=LoopTurns(now=clock.monotonic),
        statistics=statistics,
        learned=learned,
        secrets=secrets,
        redactor=Redactor(),
        sealer=sealer,
        secret_answers=SecretAnswers(store, sealer).of,
        folders=folders_of(store, settings),
        observer=observer,
        load=load,
        agents=agents,
        queue=queue,
        chance=chance.SystemRandom().random,
        driver=f"{socket.gethostname()}:{os.getpid()}:{chance.token_hex(4)}",
        cache_secret=chance.token_bytes(32),
    )


def sources_of(registry: Registry, services: Services, schedules: Callable[[], Any]) -> ToolSources:
    """The sources of tools of one Toolpath. `schedules` gives what keeps schedules, for the tools that ask for it."""
    surroundings = Surroundings(
        secrets=services.secrets,
        hide=services.redactor.add,
        now=services.clock.time,
        folders=services.folders,
        schedules=schedules,
    )
    return ToolSources(registry, surroundings, limit_server=services.limits.set_server)


def queue_of(settings: Settings) -> Queue | None:
    """The queue that the settings name; None: who starts a run drives it. Raises `ConfigError`."""
    if not settings.queue:
        return None
    try:
        from toolpath.queues.rabbitmq import RabbitQueue  # its libraries are an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("toolpath"):
            raise
        raise ConfigError(
            f"A queue of runs needs {error.name}, which is not installed.", hint="pip install 'toolpath[workers]'"
        ) from None
    return RabbitQueue(
        settings.queue,
        name=settings.queue_prefix + settings.queue_name,
        kind=settings.queue_type,
        heartbeat=settings.queue_heartbeat,
    )


def check_priority(priority: int) -> None:
    """Raise `ConfigError` where it is none."""
    if not LEAST_PRIORITY <= priority <= MOST_PRIORITY:
        raise ConfigError(
            f"The priority is {priority}; it must lie from {LEAST_PRIORITY} to {MOST_PRIORITY}.", hint="0 is the usual."
        )


def file_bytes(path: Path) -> bytes:
    """The bytes of a document's file. Raises `ReadError`."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(
                f"{path} has {path.stat().st_size:,} bytes; the most is {LARGEST_FILE:,}.",
                hint="Split it, or move data out of it.",
            )
        return path.read_bytes()
    except OSError as error:
        raise ReadError(
            f"{path} cannot be read: {error.strerror}.", hint="Give a file's path, or the plan's text."
        ) from None


def is_file(text: str) -> bool:
    """Whether the text is the path of a file that is there."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def call_plan(tool: str, inputs: JsonObject) -> Plan:
    """A plan of one call. Its arguments are the plan's inputs, so that no text of theirs is read as a template."""
    arguments = {name: f"{{{{ inputs[{_quoted(name)}] }}}}" for name in inputs}
    # The tool's own schema judges the arguments; the plan takes them as they are.
    schema: JsonObject = {"type": "object", "properties": {name: {} for name in inputs}}
    return Plan(name=tool, inputs=schema, steps=(Call(id="call", tool=tool, inputs=arguments),), outputs="{{ call }}")


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _as_it_is(house: Catalog) -> Catalog:
    return house


async def load_tools(
    registry: Registry,
    names: set[str] | None,
    *,
    beside: Collection[str] = (),
    view: Callable[[Catalog], Catalog] = _as_it_is,
) -> Catalog:
    """The catalogue with these tools and all that calling them may call; None: with every tool there is.

    `view` makes it of the registry's, with the tools `beside` these: no provider is asked for them.
    """
    if names is not None and EVERY in names:
        names = None
    await registry.load(None if names is None else names.difference(beside))
    catalog = view(registry.snapshot())
    if names is None or (catalog.keys() >= names and catalog.calling.isdisjoint(names)):
        return catalog
    known = (catalog.get(name) for name in names)
    nested = {name for tool in known if tool is not None for name in names_in(tool)}
    missing = {name for name in nested - names if name not in catalog}
    return await load_tools(registry, names | missing, beside=beside, view=view) if missing else catalog


def names_in(tool: Tool) -> set[str]:
    """Names of the tools that calling this one may call."""
    found = tools_of(tool.body) if isinstance(tool.body, Plan) else set()
    return found if tool.verify is None else found | {tool.verify}


def tools_of(plan: Plan) -> set[str]:
    """Names of all tools that the plan's own steps may call; `EVERY` where an agent may call whatever there is."""
    found: set[str] = set()
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            found.add(step.tool)
        elif isinstance(step, Agent):
            found.update(name for name in step.tools or (EVERY,) if name not in BUILT_IN and name != NONE)
        found.update(fallback.tool for fallback in step.fallback)
    return found


def failed(result: RunResult) -> ToolFailed:
    """The exception that tells of a run that did not succeed; its `result` is the run's."""
    failure = result.error
    message = failure.message if failure is not None else f"The run {result.run_id} is {result.status}."
    error = ToolFailed(message, details=failure.details if failure else None)
    error.result = result  # type: ignore[attr-defined]
    return error


def refuse_loop(name: str) -> None:
    """Raise `RunConflict` inside a running event loop, where waiting would stop it."""
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        raise RunConflict(
            f"{name} cannot wait inside a running event loop, as that of a notebook.",
            hint="Write `await tp.run(…)` inside `async with tp:`; a notebook takes that as it is.",
        )
