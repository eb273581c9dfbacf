"""Door of planning: a request in words becomes a checked plan, by whichever planner is wanted or configured."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from toolpath.access.acting import who_acts
from toolpath.catalog.search import Hit
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check, has_errors
from toolpath.config import Settings
from toolpath.errors import PlanInvalid, StoreError
from toolpath.model.plan import Plan, freeze
from toolpath.model.redaction import Redactor
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten
from toolpath.planner.choose import options_of
from toolpath.planner.decompose import Decomposition, read_decomposition
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import Ground, Planned, PlanningRecord, PlanRequest, Selection
from toolpath.planner.router.records import OnMultiple, Routed, RouteRecord, RouterOptions
from toolpath.planner.router.route import route
from toolpath.planner.service.memory import Memories
from toolpath.planner.service.planning_model import NoChat, Planner, PlanningModel
from toolpath.planner.service.report import PlanningReport, read_weights, report_of
from toolpath.planner.service.routes import Routes, filled_by_rules
from toolpath.planner.service.tool_finder import ToolFinder
from toolpath.ports import Chat, Clock, Store
from toolpath.values import digest


class Planning:
    """Plans requests for one Toolpath."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        load: Callable[[set[str] | None], Awaitable[Catalog]],
        store: Store,
        redactor: Redactor,
        models: Callable[[str], Awaitable[Chat | None]],
    ) -> None:
        self.options = options_of(settings)
        self._clock = clock
        self._load = load
        self._model = PlanningModel(models)
        self._finder = ToolFinder(by_meaning=settings.search != "words")
        self._routes = Routes(store, clock, redactor)
        self._past = PastPlannings()
        self._memories = Memories(
            store,
            clock,
            strategies={"model": _by_model, "rules": self._by_rules},
            weights=read_weights(settings.planner_experiment),
        )

    async def plan(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Planner | None = None,
        decomposition: Decomposition | Mapping[str, Any] | None = None,
        tenant: str | None = None,
    ) -> Planned:
        """A checked plan and how it came about.

        `planner`: None takes the model where one is configured, else the offline planner. Raises `NoToolFits`,
        `PlanningFailed` where no plan that checks came of it, `ConfigError` where a model is wanted and there is none.
        What is remembered of requests is the tenant's own; None: of the caller's tenant.
        """
        catalog = await self.catalog()
        asked = PlanRequest(
            text=request,
            tools=tuple(tools or ()),
            decomposition=None if decomposition is None else read_decomposition(decomposition),
        )
        chat = await self._model.chat(_planner_for(request, planner))
        if chat is not None:
            await self._finder.learn_meanings(catalog)
        ground = self._ground(catalog, chat)
        memory = await self._memories.of(_tenant(tenant))
        chooser = await memory.load()
        way = "rules" if (is_alone := chat is None) else "model" if planner == "model" else ""
        planned = await chooser.plan(asked, ground, way=way, cached=not is_alone)
        self._past.keep(PastPlanning(asked, ground, planned, _tenant(tenant)))
        if not is_alone:
            memory.changed()
            await memory.save()
        return planned

    async def stream(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Planner | None = None,
        tenant: str | None = None,
    ) -> AsyncGenerator[StepWritten | PlanWritten]:
        """As `plan`, step by step while a model writes it; without one the whole plan comes at once."""
        asked = PlanRequest(text=request, tools=tuple(tools or ()))
        catalog = await self.catalog()
        chat = await self._model.chat(_planner_for(request, planner))
        ground = self._ground(catalog, chat)
        if chat is None:
            yield PlanWritten(planned=await self.plan(request, tools=tools, planner="offline", tenant=tenant))
            return
        await self._finder.learn_meanings(catalog)
        memory = await self._memories.of(_tenant(tenant))
        chooser = await memory.load()
        async with aclosing(chooser.stream(asked, ground)) as parts:
            async for part in parts:
                if isinstance(part, PlanWritten):
                    self._past.keep(PastPlanning(asked, ground, part.planned, _tenant(tenant)))
                    memory.changed()
                yield part
        await memory.save()

    async def route(
        self,
        request: str,
        *,
        tools: Sequence[str] = (),
        planner: Planner | None = None,
        on_multiple: OnMultiple | None = None,
        tenant: str | None = None,
    ) -> Routed:
        """Which tools the request means, as a plan of their calls, with every decision and its scores."""
        catalog = await self.catalog()
        options = RouterOptions(on_multiple=on_multiple, timeout=self.options.timeout)
        chat = await self._model.chat(planner)
        routed = await route(
            request, catalog, self._clock, chat=chat, tools=tools, options=options, fill=filled_by_rules
        )
        await self._routes.keep(routed.record, _tenant(tenant))
        return routed

    async def newest_routes(self, limit: int, *, tenant: str | None = None) -> list[RouteRecord]:
        """How the tenant's requests were routed, the newest first."""
        return await self._routes.newest(_tenant(tenant), limit)

    async def report(self, tenant: str | None = None) -> PlanningReport:
        """What is remembered: the plan cache and its hits, lessons, and how the ways of planning did."""
        chooser = await (await self._memories.of(_tenant(tenant))).load()
        return report_of(chooser)

    async def catalog(self) -> Catalog:
        """Every tool, providers asked."""
        catalog = await self._load(None)
        self._finder.follow(catalog)
        return catalog

    @property
    def has_model(self) -> bool:
        """Whether a model was found when something was planned last."""
        return self._model.is_known

    def _ground(self, catalog: Catalog, chat: Chat | None) -> Ground:
        return Ground(
            catalog=catalog,
            chat=chat or NoChat(),
            clock=self._clock,
            rank=self._finder.search,
            options=self.options,
            offline=self._offline,
        )

    async def ground_for_replanning(self) -> Ground:
        """What a run is planned anew on: the model where one is configured."""
        return self._ground(await self.catalog(), await self._model.chat())

    async def _by_rules(self, asked: PlanRequest, ground: Ground) -> Planned:
        return self._without_model(asked, ground.catalog)

    def _without_model(self, asked: PlanRequest, catalog: Catalog) -> Planned:
        began = self._clock.monotonic()
        started_at = self._clock.time()
        plan = self._offline(asked, catalog)
        findings = check(plan, catalog)
        if has_errors(findings) and not plan.questions:
            raise PlanInvalid(findings)
        record = PlanningRecord(
            request=asked.text,
            planner="offline",
            catalog=catalog.digest,
            selections=tuple(Selection(step=step.id, tool=getattr(step, "tool", "")) for step in plan.steps),
            reasoning=plan.reasoning,
            confidence=plan.confidence,
            started_at=started_at,
            duration=self._clock.monotonic() - began,
        )
        return Planned(plan=plan, record=record)

    def _offline(self, asked: PlanRequest, catalog: Catalog) -> Plan:
        return plan_offline(asked.text, catalog, tools=asked.tools or None, search=self._finder.words(catalog))

    async def search(self, text: str, limit: int) -> list[Hit]:
        """The tools that fit a text, best first."""
        catalog = await self.catalog()
        await self._finder.learn_meanings(catalog)
        return list(self._finder.search(catalog, text, limit))

    async def model(self, *, opened: bool = False) -> Chat | None:
        """The model that is given or configured; None where there is none.

        `opened`: what it needs is loaded now, so that its first answer takes no longer than others. Raises
        `ConfigError` where that is not installed.
        """
        return await self._model.chat(opened=opened)

    def remember(self, plan: Plan, planned: Planned, tenant: str = "") -> None:
        """Have `record(plan)` say how the plan came about."""
        ground = self._ground(Catalog({}), None)
        asked = PlanRequest(text=planned.record.request)
        self._past.keep(PastPlanning(asked, ground, msgspec.structs.replace(planned, plan=plan), tenant))

    def record(self, plan: Plan) -> PlanningRecord | None:
        """How a plan that was planned here came about; None for any other."""
        past = self._past.of(plan)
        return None if past is None else past.planned.record

    async def learn(self, plan: Plan, *, success: bool, tenant: str = "") -> None:
        """Note whether the run of a planned plan did what was asked. `tenant`: whose run it was.

        Which way it was planned is known to the process that planned it; any other one learns which tools did what.
        """
        past = self._past.of(plan)
        # What could not be read is learned another time; the run has ended all the same.
        with contextlib.suppress(StoreError):
            memory = await self._memories.of(tenant if past is None else past.tenant)
            chooser = await memory.load()
            past = past or await self._made_elsewhere(plan, tenant)
            chooser.learn(past.asked, past.ground, past.planned, success)
            memory.changed()

    async def _made_elsewhere(self, plan: Plan, tenant: str) -> PastPlanning:
        """A plan that another process made, as far as it is known here. No provider is started for it."""
        text = plan.origin.request[:LONGEST_REQUEST]
        record = PlanningRecord(request=text, started_at=self._clock.time())
        ground = self._ground(await self._load(set()), None)
        return PastPlanning(PlanRequest(text=text), ground, Planned(plan=plan, record=record), tenant)

    async def close(self) -> None:
        """Write down what was learned."""
        await self._memories.close()


def _planner_for(request: str, wanted: Planner | None) -> Planner | None:
    """Who says nothing wants nothing, which rules see: a model would make something up, and be paid for it."""
    return wanted if request.strip() else "offline"


def _tenant(given: str | None) -> str:
    """Whose memory it is: as given, else of whoever calls."""
    if given is not None:
        return given
    caller = who_acts()
    return caller.tenant if caller is not None else ""


async def _by_model(asked: PlanRequest, ground: Ground) -> Planned:
    from toolpath.planner.by_model.planner import plan_with_model  # only who has a model pays for what it needs

    return await plan_with_model(asked, ground)


#: How many plannings are kept, and characters of each request.
KEPT = 256
LONGEST_REQUEST = 10_000


class PastPlanning(msgspec.Struct, frozen=True):
    """One planning."""

    asked: PlanRequest
    ground: Ground
    planned: Planned
    tenant: str
    """Who asked for it."""


class PastPlannings:
    """The newest plannings of a process, by the plan that came of them."""

    def __init__(self) -> None:
        self._kept: dict[str, PastPlanning] = {}

    def keep(self, planning: PastPlanning) -> None:
        """Keep it, and forget the oldest where there are too many."""
        while len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        planned = planning.planned
        record = msgspec.structs.replace(planned.record, request=planned.record.request[:LONGEST_REQUEST])
        self._kept[digest(freeze(planned.plan))] = msgspec.structs.replace(
            planning,
            asked=msgspec.structs.replace(planning.asked, text=planning.asked.text[:LONGEST_REQUEST]),
            planned=msgspec.structs.replace(planned, record=record),
        )

    def of(self, plan: Plan) -> PastPlanning | None:
        """The planning that the plan came of; None where it was not planned here, or long ago."""
        return self._kept.get(digest(freeze(plan)))
