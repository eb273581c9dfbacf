"""Door of planning: a request in words becomes a checked plan, by whichever planner is wanted or configured."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import date
from typing import Any

import msgspec

from toolpath.access.acting import tenant_of, who_acts
from toolpath.catalog.search import Hit
from toolpath.catalog.snapshot import Catalog
from toolpath.config import Settings
from toolpath.errors import StoreError
from toolpath.model.plan import Plan
from toolpath.model.redaction import Redactor
from toolpath.model.run import RunContext
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten
from toolpath.planner.choose import options_of
from toolpath.planner.decompose import Decomposition, read_decomposition
from toolpath.planner.in_parts import along, text_in_parts
from toolpath.planner.offline.planner import looked_up, plan_offline
from toolpath.planner.records import Ground, PlanningRecord, PlanningResult, PlanRequest, Selection
from toolpath.planner.router.calls import ROUTED
from toolpath.planner.router.route import route
from toolpath.planner.router.routing_records import OnMultiple, Routed, RouterOptions
from toolpath.planner.service.memory import Memories
from toolpath.planner.service.planning_model import NoChat, Planner, PlanningModel
from toolpath.planner.service.plannings import LONGEST_REQUEST, PastPlanning, Plannings
from toolpath.planner.service.report import PlanningReport, read_weights, report_of
from toolpath.planner.service.routes import Routes, filled_by_rules
from toolpath.planner.service.tool_finder import ToolFinder
from toolpath.planner.zones import checked_zone, day_of
from toolpath.ports import Chat, Clock, Store
from toolpath.runs.opening import Load
from toolpath.values import JsonObject


class Planning:
    """Plans requests for one Toolpath."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        load: Load,
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
        self._past = Plannings(store, clock, redactor)
        self._redactor = redactor
        self._about: JsonObject = {
            "model": f"{settings.planner_llm}/{settings.planner_model}",
            "time_zone": settings.time_zone,
            "locale": settings.locale,
        }
        self._memories = Memories(
            store,
            clock,
            redactor,
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
        time_zone: str = "",
        tenant: str | None = None,
        context: RunContext | None = None,
    ) -> PlanningResult:
        """A checked plan and how it came about.

        `planner`: None takes the model where one is configured, else the offline planner. Raises `NoToolFits`,
        `PlanningFailed` where no plan that checks came of it, `ConfigError` where a model is wanted and there is none.
        Tools, and what is remembered of requests, are the tenant's own; None: of the caller's tenant. `context`: of the
        run that it is planned for; None: who acts is who asks. `time_zone`: IANA's name of the zone that its days are
        meant in; else the setting. Raises `SchemaError` for one that there is not.
        """
        asked = self._asked(request, tools, decomposition, time_zone, context)
        catalog = await self.catalog(tenant)
        chat = await self._model.chat(_planner_for(request, planner))
        if chat is not None:
            await self._finder.learn_meanings(catalog)
        ground = self._ground(catalog, chat)
        memory = await self._memories.of(tenant_of(tenant))
        chooser = await memory.load()
        way = "rules" if (is_alone := chat is None) else "model" if planner == "model" else ""
        cached = not is_alone and self._without_secrets(asked) == asked
        planned = await chooser.plan(asked, ground, way=way, cached=cached)
        kept = await self._past.keep(PastPlanning(asked, ground, planned, tenant_of(tenant)))
        if not is_alone:
            memory.changed()
            await memory.save(at_once=_is_dear(planned))
        return kept.planned

    async def stream(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Planner | None = None,
        decomposition: Decomposition | Mapping[str, Any] | None = None,
        time_zone: str = "",
        tenant: str | None = None,
        context: RunContext | None = None,
    ) -> AsyncGenerator[StepWritten | PlanWritten]:
        """As `plan`, step by step while a model writes it; without one the whole plan comes at once."""
        asked = self._asked(request, tools, decomposition, time_zone, context)
        catalog = await self.catalog(tenant)
        chat = await self._model.chat(_planner_for(request, planner))
        ground = self._ground(catalog, chat)
        if chat is None:
            how: Any = {"decomposition": asked.decomposition, "time_zone": time_zone, "context": context}
            planned = await self.plan(request, tools=tools, planner="offline", tenant=tenant, **how)
            yield PlanWritten(planned=planned)
            return
        await self._finder.learn_meanings(catalog)
        memory = await self._memories.of(tenant_of(tenant))
        chooser = await memory.load()
        is_dear = False
        async with aclosing(chooser.stream(asked, ground, cached=self._without_secrets(asked) == asked)) as written:
            async for part in written:
                if isinstance(part, PlanWritten):
                    kept = await self._past.keep(PastPlanning(asked, ground, part.planned, tenant_of(tenant)))
                    memory.changed()
                    is_dear = is_dear or _is_dear(part.planned)
                    part = msgspec.structs.replace(part, planned=kept.planned)  # noqa: PLW2901
                yield part
        await memory.save(at_once=is_dear)

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
        catalog = await self.catalog(tenant)
        options = RouterOptions(on_multiple=on_multiple, timeout=self.options.timeout)
        chat = await self._model.chat(planner)
        await self._finder.settle(catalog)
        how: Any = {"options": options, "fill": filled_by_rules, "find": self._finder.by_words}
        routed = await route(request, catalog, self._clock, chat=chat, tools=tools, **how)
        return await self._routes.keep(routed, tenant_of(tenant))

    @property
    def routes(self) -> Routes:
        """How requests were routed."""
        return self._routes

    @property
    def plannings(self) -> Plannings:
        """How requests were planned."""
        return self._past

    async def report(self, tenant: str | None = None) -> PlanningReport:
        """The report on planning: the plan cache and its hits, lessons, and how the ways of planning did."""
        chooser = await (await self._memories.of(tenant_of(tenant))).load()
        return report_of(chooser)

    async def catalog(self, tenant: str | None = None) -> Catalog:
        """Every tool of the tenant, providers asked; None: the acting caller's."""
        catalog = await self._load(None, tenant)
        self._finder.follow(catalog, tenant_of(tenant))
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

    async def ground_for_replanning(self, tenant: str) -> Ground:
        """The ground that a run of the tenant is planned anew on: the model where one is configured."""
        return self._ground(await self.catalog(tenant), await self._model.chat())

    async def _by_rules(self, asked: PlanRequest, ground: Ground) -> PlanningResult:
        catalog = ground.catalog
        began = self._clock.monotonic()
        started_at = self._clock.time()
        plan = await self._offline(asked, catalog)
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
        return PlanningResult(plan=plan, record=record)

    async def _offline(self, asked: PlanRequest, catalog: Catalog) -> Plan:
        await self._finder.settle(catalog)
        # Other callers do not wait for it. The index is asked here: others bring it to their catalogues.
        text = text_in_parts(asked, self.options)
        near = await self._finder.near(catalog, text)
        found = looked_up(text, catalog, self._finder.words(catalog), near)
        plan = await asyncio.to_thread(
            plan_offline, text, catalog, tools=asked.tools or None, search=found, today=self._today(asked)
        )
        return along(plan, asked, catalog, self.options)

    def _today(self, asked: PlanRequest) -> date:
        """The day that `tomorrow` and `Friday` are counted from."""
        return day_of(self._clock.time(), asked.time_zone or self.options.time_zone)

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

    def remember(self, plan: Plan, planned: PlanningResult, tenant: str = "") -> None:
        """Have `record(plan)` say how the plan came about."""
        ground = self._ground(Catalog({}), None)
        asked = PlanRequest(text=planned.record.request)
        self._past.hold(PastPlanning(asked, ground, msgspec.structs.replace(planned, plan=plan), tenant))

    def record(self, plan: Plan) -> PlanningRecord | None:
        """How a plan that was planned here came about; None for any other."""
        past = self._past.of(plan)
        return None if past is None else past.planned.record

    async def learn(self, plan: Plan, *, success: bool, tenant: str = "", run_id: str = "") -> None:
        """Note whether the run of a planned plan did what was asked. `tenant`: whose run it was."""
        # What could not be read is learned another time; the run has ended all the same.
        with contextlib.suppress(StoreError):
            if plan.name == ROUTED and run_id:
                await self._routes.learned(plan, run_id=run_id, tenant=tenant)
            past = self._past.of(plan)
            memory = await self._memories.of(tenant if past is None else past.tenant)
            chooser = await memory.load()
            past = past or await self._made_elsewhere(plan, tenant)
            chooser.learn(self._without_secrets(past.asked), past.ground, past.planned, success)
            memory.changed()
            if past.planned.record.id:
                await self._past.learned(past.planned.record.id, success=success, run_id=run_id)
            if past.planned.record.strategy:
                await memory.save_outcomes()
            await memory.save(at_once=_is_dear(past.planned))

    async def _made_elsewhere(self, plan: Plan, tenant: str) -> PastPlanning:
        """A plan that another process made, as far as it is known here. No provider is started for it."""
        text = plan.origin.request[:LONGEST_REQUEST]
        kept = await self._past.kept_of(plan, tenant)
        record = kept or PlanningRecord(request=text, started_at=self._clock.time())
        ground = self._ground(await self._load((), tenant), None)
        asked = PlanRequest(text=text, asker=record.asker)
        return PastPlanning(asked, ground, PlanningResult(plan=plan, record=record), tenant)

    def _asked(
        self,
        request: str,
        tools: Sequence[str] | None,
        decomposition: Decomposition | Mapping[str, Any] | None,
        time_zone: str,
        context: RunContext | None,
    ) -> PlanRequest:
        zone = checked_zone(time_zone)
        return PlanRequest(
            text=request,
            tools=tuple(tools or ()),
            decomposition=None if decomposition is None else read_decomposition(decomposition, request),
            time_zone=zone,
            asker=self._asker(context) | ({"time_zone": zone} if zone else {}),
        )

    def _without_secrets(self, asked: PlanRequest) -> PlanRequest:
        """The request as it may be learned from."""
        return msgspec.structs.replace(asked, text=self._redactor.text(asked.text))

    def _asker(self, context: RunContext | None) -> JsonObject:
        """Facts that a plan may rest on besides the words of the request."""
        caller = who_acts()
        user, permissions = ("", frozenset[str]()) if caller is None else (caller.user, caller.permissions)
        if context is not None:
            user, permissions = context.user_id, context.permissions
        return {**self._about, "user": user, "permissions": sorted(permissions)}

    async def close(self) -> None:
        """Write down what was learned."""
        await self._memories.close()


def _is_dear(planned: PlanningResult) -> bool:
    """Whether a model was paid for the plan: what is learned of it is kept at once, and outlives a process killed."""
    return planned.record.planner == "model"


def _planner_for(request: str, wanted: Planner | None) -> Planner | None:
    """Who says nothing wants nothing, which rules see: a model would make something up, and be paid for it."""
    return wanted if request.strip() else "offline"


async def _by_model(asked: PlanRequest, ground: Ground) -> PlanningResult:
    from toolpath.planner.by_model.planner import plan_with_model  # only who has a model pays for what it needs

    return await plan_with_model(asked, ground)
