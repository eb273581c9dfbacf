"""The one door: `Toolpath` puts the parts together. Server, command line, MCP and people are thin faces of it."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from toolpath.access.acting import tenant_of
from toolpath.access.trail import Trail
from toolpath.agents.agent import pursue
from toolpath.catalog.registry import Registry
from toolpath.catalog.saving import Saving
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.explainer import explain
from toolpath.checks.explanation import Explanation
from toolpath.config import Settings, settings_given
from toolpath.errors import Finding
from toolpath.machine import SystemClock
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Plan
from toolpath.model.run import RunContext, RunInfo, RunResult
from toolpath.model.stored import StoredPlan
from toolpath.model.sub_plan import split_plan_id
from toolpath.model.template import TemplateRun
from toolpath.model.tool import Tool, ToolStats
from toolpath.planner.service.planned_runs import PlannedRuns
from toolpath.ports import Chat, Clock, Observer, Provider, Queue, Signal, Store
from toolpath.projections.sub_plans import events_inside
from toolpath.providers.functions import ToolFields
from toolpath.providers.secret_values import EnvironmentSecrets
from toolpath.runs.beside_the_loop import BesideTheLoop
from toolpath.runs.drives import Drives
from toolpath.runs.opening import refuse_loop, services_of, sources_of, store_of
from toolpath.runs.preparation import Preparation, Runnable
from toolpath.runs.retention import prune_runs
from toolpath.runs.run import Run
from toolpath.runs.steering import Steering
from toolpath.store.memory.store import MemoryStore
from toolpath.values import Json, JsonObject
from toolpath.workspace.catalogs import Catalogs
from toolpath.workspace.configured import Configured
from toolpath.workspace.launcher import Launcher

if TYPE_CHECKING:
    from toolpath.catalog.search import Hit
    from toolpath.planner.replan import Replanning
    from toolpath.planner.router.routing_records import OnMultiple, Routed, RouteRecord
    from toolpath.planner.service.door import Planning
    from toolpath.planner.service.early_reads import Ahead
    from toolpath.workspace.conversations.conversations import Conversations
    from toolpath.workspace.files.files import Files
    from toolpath.workspace.mcp_servers.servers import McpServers
    from toolpath.workspace.models.models import Models
    from toolpath.workspace.plans import Plans
    from toolpath.workspace.schedules import Schedules
    from toolpath.workspace.templates import Templates

entered: contextvars.ContextVar[Toolpath | None] = contextvars.ContextVar("toolpath", default=None)
"""The Toolpath of the enclosing `async with`."""


class Toolpath:
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
        self.registry = Registry(overrides=self.settings.overrides)
        self.secrets: Mapping[str, str] = EnvironmentSecrets() if secrets is None else secrets
        self.store = store_of(store, self.settings, self.clock)
        # The parts know one another: some are asked for when they are there.
        self._catalogs = Catalogs(self.registry, self.store, lambda: self._configured, lambda: self.templates)
        self._saving = Saving(self.registry.statistics, self.store)
        self._services = services_of(
            self.store,
            self.clock,
            self.settings,
            statistics=self.registry.statistics,
            learned=self._saving.soon,
            secrets=self.secrets,
            observer=observer,
            load=self._catalogs.load,
            agents=pursue,
            queue=queue,
        )
        self.trail = Trail(self.store, self.clock, self._services.redactor, enabled=self.settings.audit)
        """The audit trail: what is done through this door is written there."""
        self.sources = sources_of(self.registry, self._services, lambda: self._launcher.schedule_calls)
        self._configured = Configured(self._services, self.trail, self.registry, chat, lambda: self._drives.live)
        self.stored_settings = self._configured.settings
        """The settings that may change while processes run, for what begins then."""
        self._preparation = Preparation(
            self.registry, self._services, self._catalogs, catch_up=self._configured.catch_up
        )
        self._drives = Drives(
            self._services,
            self._catalogs.load,
            self.trail,
            self.aside,
            sources=self.sources.described,
            replan_failed=lambda run_id: self._planned_runs.replan_failed(run_id),  # noqa: PLW0108  # as above
            learn=lambda run_id: self._planned_runs.learn(run_id),  # noqa: PLW0108
            ended=lambda conversation_id: self._launcher.ended(conversation_id),  # noqa: PLW0108
        )
        shared = (self._services, self._drives, self._preparation, self.trail)
        self._planned_runs = PlannedRuns(*shared, load=self._catalogs.load)
        self._launcher = Launcher(*shared, self._planned_runs, resume=self.resume, mark=self._catalogs.mark)
        open_points = self._preparation.open_points
        self._steering = Steering(self.store, self.clock, self._drives, self.trail, self.aside, open_points=open_points)
        self._token: contextvars.Token[Toolpath | None] | None = None

    async def __aenter__(self) -> Self:
        await self.store.open()
        await self._drives.open()
        for key, stats in (await self.store.load_stats()).items():
            self.registry.statistics.add(key, stats, saved=True)
        if not isinstance(self.store, MemoryStore):
            self.registry.statistics.keep_changes()
        self._token = entered.set(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._drives.close()
        await self.trail.close()
        for flight in list(self._services.flights.values()):
            flight.task.cancel()
        await self._saving.close()
        await self._planned_runs.close()
        await self._configured.close()
        await self.registry.close()
        await self.store.close()
        self._services.threads.close()
        self._services.folders.close()
        self._preparation.aside.close()
        if self._token is not None:
            entered.reset(self._token)
            self._token = None

    # Tools.

    def add(self, *items: Callable[..., Any] | Tool | Provider, **fields: Unpack[ToolFields]) -> None:
        """Make functions, tools and providers known. `fields` are `@tool`'s, for functions. Raises `ConfigError`."""
        self.sources.add(*items, **fields)

    def add_mcp(self, name: str, **server: Any) -> None:
        """Make the tools of an MCP server known as `name.…`: `command=…, args=[…]` or `url=…`, `max_concurrency=…`."""
        self.sources.add_mcp(name, **server)

    def add_mcp_config(self, config: str | Path | JsonObject) -> None:
        """Make the servers of an `mcpServers` file known, written as for other MCP clients."""
        self.sources.add_source("mcp", config)

    def add_folder(self, folder: str | Path) -> None:
        """Make the composites and plans of a folder known as tools."""
        self.sources.add_source("folders", folder)

    def add_module(self, module: str) -> None:
        """Make every `@tool` function of a module known: by its dotted name or its file's path."""
        self.sources.add_source("tools", module)

    def replace(self, tools: list[Tool]) -> None:
        """Take these in place of the tools of the same keys: what record and replay do."""
        for tool in tools:
            self.registry.add(tool)

    async def tools(self, *, tenant: str | None = None) -> Catalog:
        """Every tool of the tenant, providers asked; None: of the acting caller at a door, else of the house."""
        return await self._catalogs.load(None, tenant)

    def known_tools(self, *, tenant: str | None = None) -> Catalog:
        """The tools of the tenant as they are known now: nobody is asked. None: as for `tools`."""
        return self._catalogs.known(tenant)

    def source_of(self, tool: Tool) -> str:
        """The kind of provider that a tool of the acting caller comes from, as `mcp`; `program` where it has none."""
        return self._catalogs.source_of(tool)

    def stats(self) -> Mapping[str, ToolStats]:
        """Statistics of each tool's calls, by key."""
        return self.registry.stats

    @property
    def aside(self) -> BesideTheLoop:
        """Does what is large beside the event loop."""
        return self._preparation.aside

    def redact(self, text: str) -> str:
        """The text without the values of secrets that runs of this process have used."""
        return self._services.redacted(text)

    async def search(self, text: str, *, limit: int = 10) -> list[Hit]:
        """The tools that fit a text, best first, each as `tool` and `score`."""
        return await self.planning.search(text, limit)

    async def route(
        self,
        request: str,
        *,
        tools: Sequence[str] = (),
        planner: Literal["offline", "model"] | None = None,
        on_multiple: OnMultiple | None = None,
    ) -> Routed:
        """Which tools a request means: a plan of their calls to run, a text, or a message that says why neither.

        `tools`: names of those it may mean; none: all. `on_multiple`: what follows where a name fits several: `best`,
        `all`, `error`; None: all where all only read. Raises `ToolNotFound` for wrong names of tools.
        """
        return await self.planning.route(request, tools=tools, planner=planner, on_multiple=on_multiple)

    async def routes(self, *, limit: int = 20) -> list[RouteRecord]:
        """How requests were routed, the newest first: what was asked for, what it was taken for, all scores."""
        return await self.planning.routes.newest(tenant_of(None), limit)

    # Plans.

    @property
    def planning(self) -> Planning:
        """The planner of requests, and its memory."""
        return self._planned_runs.planning

    async def plan(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        decomposition: JsonObject | None = None,
        time_zone: str = "",
    ) -> Plan:
        """A checked plan for a request in words, with `confidence`, `reasoning` and `questions`.

        `planner`: None for the model where one is configured. `time_zone`: the zone that its days are meant in, as
        `Europe/Berlin`; else the setting. Raises `NoToolFits`, and `SchemaError` for a zone that there is not.
        """
        how: Any = {"decomposition": decomposition, "time_zone": time_zone}
        return (await self.planning.plan(request, tools=tools, planner=planner, **how)).plan

    def read(self, source: Runnable) -> Plan:
        """A plan from any notation: a file's path, text, or a dictionary. Raises `ReadError` where there is none."""
        return self._preparation.plan(source)

    def document(self, source: Runnable) -> Plan | Tool:
        """The plan or tool that a document holds. It can be run in place of the document, which is not read again."""
        return self._preparation.document(source)

    def check(self, plan: Runnable) -> tuple[Finding, ...]:
        """Everything that is wrong with the plan, at once. Tools of servers not started yet are not looked into."""
        return self._preparation.checked(self.read(plan), self.known_tools())

    def explain(self, plan: Runnable) -> Explanation:
        """The account of what the plan will do: tree, dependencies, critical path, effects, cost."""
        return explain(self.read(plan), self.known_tools())

    @property
    def plans(self) -> Plans:
        """The stored plans: versions under their requests, approvals."""
        return self._launcher.plans

    @property
    def templates(self) -> Templates:
        """The stored plan templates: versions, channels, runs of them."""
        return self._launcher.templates

    @property
    def files(self) -> Files:
        """The files of runs, and uploads for them."""
        return self._launcher.files

    @property
    def schedules(self) -> Schedules:
        """The stored schedules: templates and plans that a server runs at times."""
        return self._launcher.schedules

    @property
    def conversations(self) -> Conversations:
        """The stored conversations: messages, and turns that answer them."""
        return self._launcher.conversations

    @property
    def models(self) -> Models:
        """The stored language models: what their names mean, their keys, which is the default."""
        return self._configured.models

    @property
    def mcp_servers(self) -> McpServers:
        """The stored MCP servers, whose tools are there without a restart."""
        return self._configured.mcp_servers

    def open_points(self, plan: Plan) -> tuple[Finding, ...]:
        """Why nothing runs this plan yet: questions that it leaves open, or that its planner is not sure enough."""
        return self._preparation.open_points(plan)

    async def load(self, plan: Runnable) -> Catalog:
        """Start what the plan's tools need, so that `check` and `explain` see them all."""
        return await self._catalogs.load(await self._preparation.tools_of(self.read(plan)))

    # Runs.

    def context(self, user_id: str = "", **who: Any) -> RunContext:
        """A context bound to this Toolpath, for `run`, `call` and `ChainExecutor`."""
        context = RunContext(user_id, **who)
        context.door = self
        return context

    async def run(
        self,
        what: Runnable | StoredPlan | TemplateRun,
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
        return await self._launcher.run(what, inputs, context=context, raise_on_error=raise_on_error, replan=replan)

    async def start(
        self,
        what: Runnable | StoredPlan | TemplateRun,
        inputs: JsonObject | None = None,
        *,
        context: RunContext | None = None,
        run_id: str | None = None,
        idempotency_key: str = "",
        priority: int = 0,
        replan: int | Replanning | None = None,
    ) -> Run:
        """Begin it and come back at once; the run is stored before this returns. `replan`: as for `run`.

        Runs of a higher `priority` go first, -5 to 4. Raises `PolicyViolationError` where an approval lacks.
        """
        more: Any = {"run_id": run_id, "idempotency_key": idempotency_key, "priority": priority, "replan": replan}
        return await self._launcher.start(what, inputs, context=context, **more)

    async def prepared(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> tuple[Plan, JsonObject]:
        """The very plan that `run` would run, and its inputs, filled in. Raises what `run` raises before it begins."""
        program, filled = await self._preparation.ready(what, inputs or {}, context)
        return program.plan, filled

    def stream(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> AsyncIterator[AnyEvent]:
        """Run it and give its events as they come."""
        return self._launcher.stream(what, inputs, context=context)

    async def call(self, tool: str, inputs: JsonObject | None = None, *, context: RunContext | None = None) -> Json:
        """Call one tool with the same checks, journal and policy; gives its output. Raises `ToolFailed`."""
        return await self._launcher.call(tool, inputs, context=context)

    def run_sync(
        self, what: Runnable, inputs: JsonObject | None = None, *, context: RunContext | None = None
    ) -> RunResult:
        """`run` for code that is not async; opens and closes this Toolpath. Raises `RunConflict` in a running loop."""
        refuse_loop("run_sync")

        async def inside() -> RunResult:
            async with self:
                return await self.run(what, inputs, context=context)

        return asyncio.run(inside())

    def ahead(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        decomposition: JsonObject | None = None,
        time_zone: str = "",
        context: RunContext | None = None,
    ) -> Ahead:
        """Plan and run with a streaming start: reads begin while the plan is being written, as soon as they check.

        `async with tp.ahead(…) as ahead: plan = await ahead.plan(); run = await ahead.start()`. What is not started, or
        does not become part of the plan, is stopped.
        """
        how: Any = {"decomposition": decomposition, "time_zone": time_zone, "context": context}
        return self._planned_runs.ahead(request, tools=tools, planner=planner, **how)

    async def plan_and_run(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        decomposition: JsonObject | None = None,
        time_zone: str = "",
        context: RunContext | None = None,
        stream: bool = False,
        replan: int | Replanning | None = None,
    ) -> RunResult:
        """Plan a request and run the plan to its end, whatever it writes: for callers who need not see it first.

        `stream`: reads begin while the plan is still being written. Raises `NoToolFits`, `PlanningFailed`, and
        `PlanInvalid` for a plan that leaves questions open.
        """
        how: Any = {"decomposition": decomposition, "time_zone": time_zone, "context": context}
        return await self._planned_runs.plan_and_run(
            request, tools=tools, planner=planner, **how, stream=stream, replan=replan
        )

    async def replan(self, run_id: str, *, limits: Replanning | None = None) -> Run:
        """Plan anew what a failed run left unfinished, and go on with it in the same run: finished calls stay.

        Raises `RunConflict` for a run that has not failed, `PlanningFailed` or `NoToolFits`; it is then as it was.
        """
        return await self._launcher.again(run_id, lambda: self._planned_runs.replan(run_id, limits=limits))

    async def result(self, run_id: str) -> RunResult:
        """The result of a run so far; waits for it where this process drives it."""
        return await self._drives.result(run_id)

    async def events(self, run_id: str, *, after: int = 0) -> list[AnyEvent]:
        """The run's journal beyond `after`."""
        root, path = split_plan_id(run_id)
        events = await self.store.read_events(root, after=after)
        if not events:
            await self.store.get_run(root)
        return events_inside(events, path)

    def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[AnyEvent]:
        """The run's events as they come, until it ends or waits for people alone."""
        return self._drives.watch(run_id, after)

    async def info(self, run_id: str) -> RunResult:
        """How a run stands now, without waiting for it: status, the steps so far, open questions."""
        return await self._drives.info(run_id)

    async def runs(self, *, status: str | None = None, limit: int = 50, before: str | None = None) -> list[RunInfo]:
        """The newest runs first."""
        return await self.store.list_runs(status=status, limit=limit, before=before)

    async def prune(
        self, older_than: float, *, status: str | None = None, keep: int = 0, dry_run: bool = False
    ) -> list[RunInfo]:
        """Delete the runs that ended more than so many seconds ago, with all that is theirs; gives those deleted.

        `keep`: so many of the newest (of that status) stay. With `dry_run` none goes. What has not ended stays.
        """
        more: Any = {"status": status, "keep": keep, "dry_run": dry_run, "trail": self.trail}
        more["doomed"] = self.conversations.keep_answers
        before = self.clock.time() - older_than
        return await prune_runs(self.store, ended_before=before, forget=self.files.forget_runs, **more)

    # Steering of runs.

    async def resume(self, run_id: str, *, accept_tool: bool = False, force: bool = False) -> Run:
        """Go on with a run that was paused, left, or whose driver died. `accept_tool`: changed tools are allowed.

        Raises `RunConflict` where another process drives it, unless `force`: then it is taken from that one;
        `PolicyViolationError` where who asks at a door may not do what it writes.
        """
        return await self._steering.resume(run_id, accept_tool=accept_tool, force=force)

    async def retry(self, run_id: str) -> Run:
        """Go on from what failed; what was finished stays finished.

        Raises `PolicyViolationError` where who asks at a door may not do what it writes, `PlanInvalid` for a plan that
        leaves questions open.
        """
        return await self._launcher.again(run_id, lambda: self._steering.retry(run_id))

    async def fork(
        self,
        run_id: str,
        *,
        from_step: str | None = None,
        inputs: JsonObject | None = None,
        repeat_writes: bool = False,
        context: RunContext | None = None,
        priority: int | None = None,
    ) -> Run:
        """A new run that keeps what this one finished up to `from_step`, and does the rest with these inputs.

        `context` is who forks it, with whose permissions it goes on; without it, that of this run, with the permissions
        of the caller at a door. Its `priority` is that of this run where none is said.
        Raises `RunConflict` naming the finished writes that it would make again, unless `repeat_writes`;
        `PolicyViolationError` where who forks it may not do what it writes or calls.
        """
        more: Any = {"repeat_writes": repeat_writes, "context": context, "priority": priority}
        fork = await self._steering.fork(run_id, from_step=from_step, inputs=inputs, **more)
        return await self._launcher.forked(fork)

    async def pause(self, run_id: str) -> Run:
        """Start nothing new in the run; what runs may finish."""
        return await self._drives.tell(run_id, Signal(kind="pause"))

    async def cancel(self, run_id: str, *, reason: str = "") -> Run:
        """Stop the run, or a plan inside it alone, which has failed then; calls under way are cut off."""
        return await self._drives.cancel(run_id, reason)

    async def approve(self, run_id: str, step: str = "", *, by: str = "", comment: str = "") -> Run:
        """Allow a step that waits for it. Raises `RunConflict` where none does."""
        return await self._steering.approve(run_id, step, by=by, comment=comment)

    async def deny(self, run_id: str, step: str = "", *, by: str = "", comment: str = "") -> Run:
        """Forbid a step that waits for approval: it has failed, without retry or fallback."""
        return await self._steering.deny(run_id, step, by=by, comment=comment)

    async def answer(
        self, run_id: str, step: str = "", values: JsonObject | None = None, *, by: str = "", declined: bool = False
    ) -> Run:
        """Answer a form. Raises `SchemaError` with every fault when the answers do not fit it."""
        return await self._steering.answer(run_id, step, values, by=by, declined=declined)

    async def settle(
        self,
        run_id: str,
        step: str = "",
        *,
        retry: bool = False,
        failed: bool = False,
        accept_tool: bool = False,
        force: bool = False,
        by: str = "",
        **output: Json,
    ) -> Run:
        """Say what became of a write in doubt: `retry=True`, `output=…` (it succeeded with this) or `failed=True`.

        `accept_tool=True` accepts the tools that changed since the run began; with `force` also where another process
        drives it.
        """
        return await self._steering.settle(
            run_id, step, retry=retry, failed=failed, accept_tool=accept_tool, force=force, by=by, **output
        )

    # For workers and servers.

    def is_driven_elsewhere(self, info: RunInfo) -> bool:
        """Whether somebody else drives the run now, or is about to: a process that was seen lately, or a worker."""
        to_be_driven = self.queue is not None and info.status in ("pending", "running")
        return self._drives.is_driven_elsewhere(info) or (to_be_driven and info.run_id not in self._drives.live)

    @property
    def queue(self) -> Queue | None:
        """Where runs wait for a worker; None: this process drives what it starts."""
        return self._services.queue

    async def take_turn(self, called_for: str = "") -> str | None:
        """The run that a worker of this process is to drive next, by turns of tenants; None where none waits.

        `called_for` is the run that a message is about. Raises `StoreError`.
        """
        return await self._drives.take_turn(called_for)

    async def take_left(self, run_id: str) -> None:
        """Go on with a run that its process has left: what a server does that drives its runs itself.

        A run that was lost with several processes while the same step ran is put aside instead: it is `paused`, its
        reason says so, and a person may resume it. Raises `RunConflict` where another process drives it.
        """
        await self._steering.take_left(run_id)

    async def drive(self, run_id: str) -> None:
        """Drive the run until it ends, parks, or this process leaves; back at once where there is nothing to drive."""
        await self._drives.drive(run_id)

    def leave(self, *, at_once: bool = False) -> None:
        """Begin nothing more in the runs driven here: others go on with them. `at_once` cuts off calls under way."""
        self._drives.leave(at_once=at_once)

    async def beat(self) -> None:
        """Say that this process lives, on behalf of the runs that it drives. Raises `StoreError`."""
        await self._drives.beat()

    async def left_runs(self) -> list[str]:
        """Ids of runs whose drivers have died or stand still: to be asked twice a second. Raises `StoreError`."""
        return await self._drives.left_runs()

    def offer_lost(self, take: Callable[[str], bool]) -> None:
        """Offer runs that nobody drives to `take`, which says whether it has one driven, before they are enqueued."""
        self._drives.offer_lost(take)
