"""Runs of plans that are made for requests: begun while they are planned, replanned where they fail, learned from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from toolpath.access.permits import own_authority
from toolpath.access.trail import Trail
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.services import Services
from toolpath.errors import RunConflict
from toolpath.model.events import PlanRevised, RunStarted, Warned
from toolpath.model.plan import Plan, thaw
from toolpath.model.run import RunContext, RunResult
from toolpath.ports import Chat
from toolpath.projections.results import run_result
from toolpath.runs.drives import Drives
from toolpath.runs.opening import Load
from toolpath.runs.preparation import Preparation
from toolpath.runs.run import Run
from toolpath.values import JsonObject

if TYPE_CHECKING:
    from toolpath.planner.records import PlanningResult
    from toolpath.planner.replan import Replanning
    from toolpath.planner.service.door import Planning
    from toolpath.planner.service.early_reads import Ahead
    from toolpath.planner.service.run_replans import Compile


class PlannedRuns:
    """Runs of plans made for requests, and the planner that makes these. What the methods mean says `Toolpath`."""

    def __init__(
        self,
        services: Services,
        drives: Drives,
        preparation: Preparation,
        trail: Trail,
        *,
        load: Load,
    ) -> None:
        self._services = services
        self._store = services.store
        self._drives = drives
        self._preparation = preparation
        self._trail = trail
        self._load = load
        self._planning: Planning | None = None

    @property
    def planning(self) -> Planning:
        """Planner of requests, made when it is first asked for."""
        if self._planning is None:
            from toolpath.planner.service.door import Planning  # only who plans pays for it

            services = self._services
            self._planning = Planning(
                services.settings,
                services.clock,
                load=self._load,
                store=services.store,
                redactor=services.redactor,
                models=_no_chat if services.chat is None else services.chat,
            )
        return self._planning

    async def planned(self, request: str, **how: Any) -> PlanningResult:
        """A plan for the request, with how it came about."""
        return await self.planning.plan(request, **how)

    async def close(self) -> None:
        """Let go of the planner, where there was one."""
        if self._planning is not None:
            await self._planning.close()

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
        """Plan and run with a streaming start."""
        from toolpath.planner.service.early_reads import Ahead  # as above

        tenant = None if context is None else context.tenant
        how: Any = {"decomposition": decomposition, "time_zone": time_zone, "context": context}
        return Ahead(
            self.planning.stream(request, tools=tools, planner=planner, tenant=tenant, **how),
            drives=self._drives,
            store=self._store,
            clock=self._services.clock,
            compiled=self._compiled_for(tenant),
            runnable=self._runnable_for(tenant),
            context=context,
            leave=self.leave_to_replan,
        )

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
        """Plan a request and run the plan to its end."""
        how: Any = {"decomposition": decomposition, "time_zone": time_zone, "context": context}
        if stream:
            async with self.ahead(request, tools=tools, planner=planner, **how) as ahead:
                await ahead.plan()
                return await (await ahead.start(replan=replan)).result()
        tenant = None if context is None else context.tenant
        planned = await self.planning.plan(request, tools=tools, planner=planner, tenant=tenant, **how)
        program, inputs = await self._preparation.ready(planned.plan, {}, context)
        leave = self.leave_to_replan(replan)
        run = await self._drives.start(program, inputs, context=context, replan=leave)
        return await run.result()

    async def replan(self, run_id: str, *, limits: Replanning | None = None) -> Run:
        """Replan what a failed run left unfinished, and go on with it in the same run."""
        info = await self._store.get_run(run_id)
        if info.status != "failed":
            raise RunConflict(f"The run {run_id} is {info.status}: only one that failed is planned anew.")
        from toolpath.planner.replan import Replanning  # as above
        from toolpath.planner.service.run_replans import replan_run  # as above

        events = await self._store.read_events(run_id)
        make = partial(
            replan_run,
            events,
            run_result(run_id, events),
            self.planning,
            self._runnable_for(info.tenant),
            limits=limits or Replanning(),
        )
        await self._trail.record("run.replan", run_id, tenant=info.tenant, user=info.user)
        return await self._drives.replan(run_id, make, expected=info.epoch, authority=own_authority())

    async def replan_failed(self, run_id: str) -> PlanRevised | Warned | None:
        """Another plan for a run that has failed and was begun with leave for that."""
        from toolpath.planner.service.run_replans import replan_by_leave  # as above

        events = await self._store.read_events(run_id)
        started = events[0]
        assert isinstance(started, RunStarted)
        runnable = self._runnable_for(RunContext.from_json(started.context).tenant)
        return await replan_by_leave(run_id, events, self.planning, runnable)

    def leave_to_replan(self, wanted: int | Replanning | None) -> JsonObject:
        """How far a run may be replanned, as its journal keeps it; None: as the settings say."""
        limits = self._services.settings.max_replans if wanted is None else wanted
        if not limits:
            return {}
        from toolpath.planner.replan import Replanning  # as above

        found: JsonObject = msgspec.to_builtins(Replanning(times=limits) if isinstance(limits, int) else limits)
        return found

    async def learn(self, run_id: str) -> None:
        """Note what became of a plan that was made for a request, however its run was begun."""
        events = await self._store.read_events(run_id)
        started, result = events[0], run_result(run_id, events)
        assert isinstance(started, RunStarted)
        was_replanned = any(isinstance(event, PlanRevised) for event in events)
        tenant = RunContext.from_json(started.context).tenant
        success = result.success and not was_replanned
        await self.planning.learn(thaw(started.plan), success=success, tenant=tenant, run_id=run_id)

    def _runnable_for(self, tenant: str | None) -> Compile:
        return partial(self._preparation.runnable, tenant=tenant)

    def _compiled_for(self, tenant: str | None) -> Compile:
        async def compiled(plan: Plan) -> Program:
            return (await self._preparation.program(plan, tenant))[0]

        return compiled


async def _no_chat(tenant: str) -> Chat | None:
    return None
