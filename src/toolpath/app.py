"""The one door: `Toolpath` puts the parts together. Server, command line, MCP and people are thin faces of it."""

from __future__ import annotations

import asyncio
import contextvars
import os
import secrets as chance
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from toolpath.catalog.registry import Registry
from toolpath.catalog.saving import Saving
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.explain import explain
from toolpath.checks.explanation import Explanation
from toolpath.clock import SystemClock
from toolpath.config import Settings, settings_given
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.limits import Limits
from toolpath.engine.drive.services import Services
from toolpath.engine.drive.tenant_bytes import TenantBytes
from toolpath.engine.drive.threads import Threads
from toolpath.errors import ConfigError, Finding, NoToolpath, ReadError
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Plan
from toolpath.model.redaction import Redactor
from toolpath.model.run import RunContext, RunResult
from toolpath.model.stored import StoredPlan
from toolpath.model.tool import Tool, ToolStats
from toolpath.planner.service.asking import Asking
from toolpath.ports import Chat, Clock, Observer, Provider, Queue, Store
from toolpath.providers.files import FolderProvider
from toolpath.providers.functions import ToolFields, bind, marked_in, tool_from_function
from toolpath.providers.modules import is_file, load_module
from toolpath.providers.secret_values import EnvironmentSecrets
from toolpath.runs.beside_the_loop import BesideTheLoop
from toolpath.runs.drives import Drives
from toolpath.runs.opening import call_plan, check_priority, failed, load_tools, refuse_loop, store_of, tools_of
from toolpath.runs.preparation import Preparation, Runnable
from toolpath.runs.run import Run
from toolpath.runs.starting import NOT_STORED, Stored
from toolpath.runs.steering import Steering
from toolpath.store.memory.store import MemoryStore
from toolpath.values import Json, JsonObject

if TYPE_CHECKING:
    from toolpath.planner.records import Planned
    from toolpath.planner.replan import Replanning
    from toolpath.planner.service.door import Planning
    from toolpath.workspace.plans import Plans, Review

_current: contextvars.ContextVar[Toolpath | None] = contextvars.ContextVar("toolpath", default=None)


def current() -> Toolpath:
    """The Toolpath of the enclosing `async with`. Raises `NoToolpath`."""
    door = _current.get()
    if door is None:
        raise NoToolpath(
            "This context belongs to no Toolpath.",
            hint="Use it inside `async with Toolpath() as tp:`, or make it with `tp.context(user_id=…)`.",
        )
    return door


class Toolpath(Asking, Steering):
    """Tools, plans and runs of one store: in memory, in a SQLite file, or in a store of your own.

    Use it with `async with`. Everything that other doors offer is a method here.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
        secrets: Mapping[str, str] | None = None,
        chat: Chat | None = None,
        observer: Observer | None = None,
        queue: Queue | None = None,
    ) -> None:
        self.settings = settings_given(settings)
        self.clock: Clock = clock or SystemClock()
        self.registry = Registry()
        for key, fields in self.settings.overrides.items():
            self.registry.set_override(key, fields)
        self.secrets: Mapping[str, str] = EnvironmentSecrets() if secrets is None else secrets
        self.store = store_of(store, self.settings, self.clock)
        self._saving = Saving(self.registry.statistics, self.store)
        self._services = Services(
            store=self.store,
            clock=self.clock,
            settings=self.settings,
            threads=Threads(self.settings.max_threads),
            tenant_bytes=TenantBytes(self.settings.max_tenant_bytes),
            limits=Limits(self.clock),
            statistics=self.registry.statistics,
            learned=self._saving.soon,
            secrets=self.secrets,
            redactor=Redactor(),
            observer=observer,
            chat=self._model,
            load=self._load,
            queue=queue,
            chance=chance.SystemRandom().random,
            driver=f"{socket.gethostname()}:{os.getpid()}:{chance.token_hex(4)}",
            cache_secret=chance.token_bytes(32),
        )
        self._drives = Drives(self._services, self._load)
        self._drives.mend, self._drives.learn = self._mend, self._learn
        self._preparation = Preparation(
            self.registry,
            self.settings,
            secrets=self.secrets,
            redactor=self._services.redactor,
            load=self._load,
        )
        self._open_points = self._preparation.open_points
        self._chat = chat
        self._planning: Planning | None = None
        self._plans: Plans | None = None
        self._token: contextvars.Token[Toolpath | None] | None = None
        self._sources: list[JsonObject] = []

    async def __aenter__(self) -> Self:
        await self.store.open()
        await self._drives.open()
        for key, stats in (await self.store.load_stats()).items():
            self.registry.statistics.add(key, stats, saved=True)
        if not isinstance(self.store, MemoryStore):
            self.registry.statistics.keep_changes()
        self._token = _current.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._drives.close()
        for flight in list(self._services.flights.values()):
            flight.task.cancel()
        await self._saving.close()
        if self._planning is not None:
            await self._planning.close()
        await self.registry.close()
        await self.store.close()
        self._services.threads.close()
        self._preparation.aside.close()
        if self._token is not None:
            _current.reset(self._token)
            self._token = None

    # Tools.

    def add(self, *items: Callable[..., Any] | Tool | Provider, **fields: Unpack[ToolFields]) -> None:
        """Make functions, tools and providers known. `fields` are `@tool`'s, for functions. Raises `ConfigError`."""
        for item in items:
            if isinstance(item, Tool):
                self.registry.add(bind(item) if item.body is not None and not isinstance(item.body, Plan) else item)
            elif hasattr(item, "list_tools"):
                self._add_provider(item)  # type: ignore[arg-type]
            elif callable(item):
                self.registry.add(tool_from_function(item, **fields))
            else:
                raise ConfigError(f"{item!r} is no tool.", hint="Add a function, a Tool or a provider.")

    def add_mcp(self, name: str, **server: Any) -> None:
        """Make the tools of an MCP server known as `name.…`: `command=…, args=[…]` or `url=…`; started when needed.

        `max_concurrency`: the most calls at once of all its tools.
        """
        from toolpath.providers.mcp.provider import McpProvider  # the MCP library is heavy: only who uses it pays

        provider = McpProvider(name, **server)
        provider.secrets = self.secrets
        self._add_source(provider)

    def add_mcp_config(self, config: str | Path | JsonObject) -> None:
        """Make the servers of an `mcpServers` file known, written as for other MCP clients."""
        from toolpath.providers.mcp.config import read_mcp_config  # as above

        for provider in read_mcp_config(config):
            provider.secrets = self.secrets
            self._add_source(provider)

    def add_folder(self, folder: str | Path) -> None:
        """Make the composites and plans of a folder known as tools."""
        self._add_source(FolderProvider(folder))

    def add_module(self, module: str) -> None:
        """Make every `@tool` function of a module known: by its dotted name or its file's path."""
        for function in marked_in(load_module(module)):
            self.registry.add(tool_from_function(function))
        self._sources.append({"module": str(Path(module).resolve()) if is_file(module) else module})
        self._drives.sources = {"providers": self._sources}

    def replace(self, tools: list[Tool]) -> None:
        """Take these in place of the tools of the same keys: what record and replay do."""
        for tool in tools:
            self.registry.add(tool)

    def _add_source(self, provider: Provider) -> None:
        self._add_provider(provider)
        self._sources.append(provider.describe())
        self._drives.sources = {"providers": self._sources}

    def _add_provider(self, provider: Provider) -> None:
        self.registry.add_provider(provider)
        places = getattr(provider, "max_concurrency", None)
        if places is not None:
            self._services.limits.set_server(provider.name, places)

    async def tools(self) -> Catalog:
        """Every tool, providers asked."""
        return await self._load(None)

    async def _load(self, names: set[str] | None) -> Catalog:
        return await load_tools(self.registry, names)

    def stats(self) -> Mapping[str, ToolStats]:
        """What is known of each tool from its calls, by key."""
        return self.registry.stats

    @property
    def aside(self) -> BesideTheLoop:
        """Does what is large beside the event loop."""
        return self._preparation.aside

    @property
    def has_queue(self) -> bool:
        """Whether runs are driven by workers; else this process drives them."""
        return self._services.queue is not None

    def redact(self, text: str) -> str:
        """The text without the values of secrets that runs of this process have used."""
        return self._services.redactor.text(text)

    # Plans.

    def read(self, source: Runnable) -> Plan:
        """A plan from any notation: a file's path, text, or a dictionary. Raises `ReadError` where there is none."""
        document = self._preparation.document(source)
        if isinstance(document, Plan):
            return document
        if isinstance(document.body, Plan):
            return document.body
        raise ReadError(f"{document.key} is a tool without a plan of its own.", hint="Run it by its name.")

    def check(self, plan: Runnable) -> tuple[Finding, ...]:
        """Everything that is wrong with the plan, at once. Tools of servers not started yet are not looked into."""
        return self._preparation.checked(self.read(plan), self.registry.snapshot())

    def explain(self, plan: Runnable) -> Explanation:
        """What the plan will do: tree, dependencies, critical path, effects, cost."""
        return explain(self.read(plan), self.registry.snapshot())

    @property
    def plans(self) -> Plans:
        """The stored plans: versions under their requests, approvals."""
        if self._plans is None:
            from toolpath.workspace.plans import Plans  # only who keeps plans pays for it

            self._plans = Plans(self.store, self._preparation, self.trail, planned=self._planned, review=self._review)
        return self._plans

    async def _model(self) -> Chat | None:
        """The model that tools may ask."""
        return await self.planning.model()

    async def _planned(self, request: str, **how: Any) -> Planned:
        return await self.planning.plan(request, **how)

    async def _review(self, plan: Plan) -> Review:
        from toolpath.workspace.plans import Review  # as above

        findings, explanation = await self._preparation.reviewed(plan)
        return Review(findings=findings, explanation=explanation)

    async def load(self, plan: Runnable) -> Catalog:
        """Start what the plan's tools need, so that `check` and `explain` see them all."""
        return await self._load(tools_of(self.read(plan)))

    # Runs.

    def context(self, user_id: str = "", **who: Any) -> RunContext:
        """A context bound to this Toolpath, for `run`, `call` and `ChainExecutor`."""
        context = RunContext(user_id, **who)
        context.door = self
        return context

    async def run(
        self,
        what: Runnable | StoredPlan,
        inputs: JsonObject | None = None,
        *,
        context: RunContext | None = None,
        raise_on_error: bool = False,
        replan: int | Replanning | None = None,
    ) -> RunResult:
        """Run it to its end, or until only people can go on; a result also when it failed.

        `replan`: how often, or how far, what is unfinished is planned anew when it fails; None: as the settings say.

        Raises `PlanInvalid` when plan or inputs do not check; with `raise_on_error`, `ToolFailed` when it fails.
        """
        program, filled, origin = await self._prepared(what, inputs or {}, context)
        leave = self._leave_to_replan(replan)
        result = await self._drives.run(program, filled, context=context, origin=origin, replan=leave)
        if raise_on_error and not result.success:
            raise failed(result)
        return result

    async def start(
        self,
        what: Runnable | StoredPlan,
        inputs: JsonObject | None = None,
        *,
        context: RunContext | None = None,
        run_id: str | None = None,
        idempotency_key: str = "",
        priority: int = 0,
        replan: int | Replanning | None = None,
    ) -> Run:
        """Begin it and come back at once; the run is stored before this returns. `replan`: as for `run`.

        Of a tenant's runs workers take those of a higher `priority` first, from -5 to 4. Raises `PolicyViolationError`
        for a stored plan that needs an approval and has none for these inputs.
        """
        check_priority(priority)
        program, filled, origin = await self._prepared(what, inputs or {}, context)
        return await self._drives.start(
            program,
            filled,
            context=context,
            run_id=run_id,
            idempotency_key=idempotency_key,
            priority=priority,
            origin=origin,
            replan=self._leave_to_replan(replan),
        )

    async def prepared(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> tuple[Plan, JsonObject]:
        """The very plan that `run` would run, and its inputs, filled in. Raises what `run` raises before it begins."""
        program, filled = await self._preparation.ready(what, inputs or {}, context)
        return program.plan, filled

    async def _prepared(
        self, what: Runnable | StoredPlan, inputs: JsonObject, context: RunContext | None
    ) -> tuple[Program, JsonObject, Stored]:
        async with self.trail.refusing("run.start", context):
            if not isinstance(what, StoredPlan):
                return *await self._preparation.ready(what, inputs, context), NOT_STORED
            program, filled = await self._preparation.ready(await self.plans.plan(what), inputs, context)
            return program, filled, Stored(what.plan_id, self.plans.approval_for(what, program, filled))

    async def stream(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> AsyncIterator[AnyEvent]:
        """Run it and give its events as they come."""
        run = await self.start(what, inputs, context=context)
        async for event in run.events():
            yield event
        await run.result()

    async def call(self, tool: str, inputs: JsonObject | None = None, *, context: RunContext | None = None) -> Json:
        """Call one tool with the same checks, journal and policy; gives its output. Raises `ToolFailed`."""
        result = await self.run(call_plan(tool, inputs or {}), inputs, context=context)
        if not result.success:
            raise failed(result)
        return result.outputs

    def run_sync(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> RunResult:
        """`run` for code that is not async; opens and closes this Toolpath. Raises `RunConflict` in a running loop."""
        refuse_loop("run_sync")

        async def inside() -> RunResult:
            async with self:
                return await self.run(what, inputs, context=context)

        return asyncio.run(inside())

    async def result(self, run_id: str) -> RunResult:
        """What came of a run so far; waits for it where this process drives it."""
        return await self._drives.result(run_id)

    async def events(self, run_id: str, *, after: int = 0) -> list[AnyEvent]:
        """The run's journal beyond `after`."""
        events = await self.store.read_events(run_id, after=after)
        if not events:
            await self.store.get_run(run_id)
        return events

    def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The run's events as they come, until it ends or waits for people alone."""
        return self._drives.watch(run_id, after)
