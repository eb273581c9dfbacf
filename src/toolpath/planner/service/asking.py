"""Requests in words to a Toolpath: a plan, a plan and its run, another plan for a run that failed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from toolpath.access.permits import own_authority
from toolpath.catalog.snapshot import Catalog
from toolpath.config import Settings
from toolpath.engine.compile.program import Program
from toolpath.engine.drive.services import Services
from toolpath.errors import Finding, RunConflict
from toolpath.model.events import PlanRevised, RunStarted, Warned
from toolpath.model.plan import Plan, thaw
from toolpath.model.run import RunContext, RunResult
from toolpath.ports import Chat, ChatObserver, Clock, Store
from toolpath.projections.results import run_result
from toolpath.runs.drives import Drives
from toolpath.runs.preparation import Preparation
from toolpath.runs.run import Run
from toolpath.values import JsonObject

if TYPE_CHECKING:
    from toolpath.catalog.search import Hit
    from toolpath.planner.replan import Replanning
    from toolpath.planner.router.records import OnMultiple, Routed, RouteRecord
    from toolpath.planner.service.door import Planning
    from toolpath.planner.service.early_reads import Ahead


class Asking:
    """The part of `Toolpath` that takes requests in words."""

    store: Store
    clock: Clock
    settings: Settings
    _services: Services
    _drives: Drives
    _preparation: Preparation
    _load: Callable[[set[str] | None], Awaitable[Catalog]]
    _chat: Chat | None
    _planning: Planning | None

    @property
    def planning(self) -> Planning:
        """What plans requests, and remembers how."""
        if self._planning is None:
            from toolpath.planner.service.door import Planning  # only who plans pays for it

            observer = self._services.observer
            self._planning = Planning(
                self.settings,
                self.clock,
                load=self._load,
                store=self.store,
                redactor=self._services.redactor,
                chat=self._chat,
                observer=observer if isinstance(observer, ChatObserver) else None,
            )
        return self._planning

    async def plan(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        decomposition: JsonObject | None = None,
    ) -> Plan:
        """A checked plan for a request in words, with `confidence`, `reasoning` and `questions`.

        `planner`: `model`, `offline`, or None for the model where one is configured. Raises `NoToolFits`.
        """
        planned = await self.planning.plan(request, tools=tools, planner=planner, decomposition=decomposition)
        return planned.plan

    def open_points(self, plan: Plan) -> tuple[Finding, ...]:
        """Why nothing runs this plan yet: questions that it leaves open, or that its planner is not sure enough."""
        return self._preparation.open_points(plan)

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
        return await self.planning.newest_routes(limit)

    def ahead(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        context: RunContext | None = None,
    ) -> Ahead:
        """Plan and run with a streaming start: reads begin while the plan is being written, as soon as they check.

        `async with tp.ahead(…) as ahead: plan = await ahead.plan(); run = await ahead.start()`. What is not started, or
        does not become part of the plan, is stopped.
        """
        from toolpath.planner.service.early_reads import Ahead

        return Ahead(
            self.planning.stream(request, tools=tools, planner=planner),
            drives=self._drives,
            store=self.store,
            clock=self.clock,
            compiled=self._compiled,
            runnable=self._preparation.runnable,
            context=context,
            leave=self._leave_to_replan,
        )

    async def plan_and_run(
        self,
        request: str,
        *,
        tools: Sequence[str] | None = None,
        planner: Literal["offline", "model"] | None = None,
        context: RunContext | None = None,
        stream: bool = False,
        replan: int | Replanning | None = None,
    ) -> RunResult:
        """Plan a request and run the plan to its end, whatever it writes: for callers who need not see it first.

        `stream`: reads begin while the plan is still being written. Raises `NoToolFits`, `PlanningFailed`, and
        `PlanInvalid` for a plan that leaves questions open.
        """
        if not stream:
            plan = await self.plan(request, tools=tools, planner=planner)
            return await (await self._begin(plan, context, replan)).result()
        async with self.ahead(request, tools=tools, planner=planner, context=context) as ahead:
            await ahead.plan()
            return await (await ahead.start(replan=replan)).result()

    async def _begin(self, plan: Plan, context: RunContext | None, replan: int | Replanning | None) -> Run:
        program, inputs = await self._preparation.ready(plan, {}, context)
        return await self._drives.start(program, inputs, context=context, replan=self._leave_to_replan(replan))

    async def replan(self, run_id: str, *, limits: Replanning | None = None) -> Run:
        """Plan anew what a failed run left unfinished, and go on with it in the same run.

        What is finished is never called again. Raises `RunConflict` for a run that has not failed, `PlanningFailed` or
        `NoToolFits` where there is no other way; the run is then as it was.
        """
        info = await self.store.get_run(run_id)
        if info.status != "failed":
            raise RunConflict(f"The run {run_id} is {info.status}: only one that failed is planned anew.")
        from toolpath.planner.replan import Replanning
        from toolpath.planner.service.run_replans import revise

        events = await self.store.read_events(run_id)
        make = partial(
            revise,
            events,
            run_result(run_id, events),
            self.planning,
            self._preparation.runnable,
            limits=limits or Replanning(),
        )
        await self._drives.trail.record("run.replan", run_id, tenant=info.tenant, user=info.user)
        await self._drives.revise(run_id, make, expected=info.epoch, authority=own_authority())
        return Run(run_id, self._drives)

    async def _mend(self, run_id: str) -> PlanRevised | Warned | None:
        """Another plan for a run that has failed."""
        from toolpath.planner.service.run_replans import mend

        return await mend(run_id, await self.store.read_events(run_id), self.planning, self._preparation.runnable)

    def _leave_to_replan(self, wanted: int | Replanning | None) -> JsonObject:
        """How far a run may be planned anew, as its journal keeps it."""
        limits = self.settings.max_replans if wanted is None else wanted
        if not limits:
            return {}
        from toolpath.planner.replan import Replanning

        found: JsonObject = msgspec.to_builtins(Replanning(times=limits) if isinstance(limits, int) else limits)
        return found

    async def _learn(self, run_id: str) -> None:
        """Note what became of a plan that was made for a request, however its run was begun."""
        events = await self.store.read_events(run_id)
        started, result = events[0], run_result(run_id, events)
        assert isinstance(started, RunStarted)
        was_revised = any(isinstance(event, PlanRevised) for event in events)
        tenant = RunContext.from_json(started.context).tenant
        await self.planning.learn(thaw(started.plan), success=result.success and not was_revised, tenant=tenant)

    async def _compiled(self, plan: Plan) -> Program:
        return (await self._preparation.program(plan))[0]
