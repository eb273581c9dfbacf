"""Gives tasks whose right plans are known to a planner or to the router, and scores what comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.cli.session import Session
from toolpath.clock import SystemClock
from toolpath.errors import NoToolFits, ReadError, ToolpathError
from toolpath.model.chat import Usage
from toolpath.model.plan import Plan
from toolpath.planner.choose import ground_of
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import Planned, PlanningRecord, PlanRequest
from toolpath.planner.router.records import RouterOptions
from toolpath.planner.router.route import route
from toolpath.planner.scoring.evaluation import Attempt, Came
from toolpath.planner.scoring.gold import Task, catalog_of, gold_calls, made_calls, tool_set_of, tool_sets_of
from toolpath.planner.scoring.score import score_plan
from toolpath.planner.service.routes import filled_by_rules
from toolpath.ports import Chat


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """Plan that was made of a request, and what it took."""

    plan: Plan | None = None
    came: Came = "plan"
    error: str = ""
    answered: bool = True
    usage: Usage = Usage()
    cost: float = 0.0


@dataclass(slots=True)
class Examiner:
    """Examines the planner, or where `routes` the router: by the model `chat`, or by rules where there is none."""

    session: Session
    clock: SystemClock
    chat: Chat | None = None
    routes: bool = False
    _indices: dict[str, ToolSearch] = field(default_factory=dict)

    async def attempt(self, line: int, task: Task, sets: Mapping[str, Catalog]) -> Attempt:
        """What comes of one task, scored. Raises `ReadError` for a task that cannot be scored."""
        catalog = await self._tools_of(task, sets)
        gold = gold_calls(task, catalog)
        began = self.clock.monotonic()
        made = await (self._routed(task.query, catalog) if self.routes else self._planned(task.query, catalog))
        took = self.clock.monotonic() - began
        score = None
        if made.plan is not None:
            score = score_plan(made_calls(made.plan), gold, with_arguments=task.arguments != "unlabelled")
        return Attempt(
            line=line,
            task=task.id,
            came=made.came,
            wants_plan=bool(gold),
            score=score,
            confidence=(made.plan.confidence or 0.0) if made.plan is not None else 0.0,
            seconds=took,
            usage=made.usage,
            cost=made.cost,
            error=made.error,
            answered=made.answered,
        )

    async def _tools_of(self, task: Task, sets: Mapping[str, Catalog]) -> Catalog:
        """What the task may be planned with: its own tools, its tool set, else what is connected."""
        if task.tools is not None:
            return catalog_of(task.tools)
        if task.toolset is not None:
            return tool_set_of(task.toolset, sets)
        if task.toolsets:
            return tool_sets_of(task.toolsets, sets, task.excluded_tools)
        connected = await self.session.tp.tools()
        if not connected.tools:
            raise ReadError("It names no tools, and none are connected.", hint="Give tools, a toolset, or --tools.")
        return connected

    async def _planned(self, text: str, catalog: Catalog) -> Made:
        try:
            planned = await self._plan(text, catalog)
        except NoToolFits as refusal:
            return _by_planner(refusal.record, came="refusal", error=refusal.message)
        except ToolpathError as failure:
            return _by_planner(getattr(failure, "record", None), came="failure", error=failure.message)
        return _by_planner(planned.record, plan=planned.plan)

    async def _plan(self, text: str, catalog: Catalog) -> Planned:
        if self.chat is None:
            plan = plan_offline(text, catalog, search=self._index(catalog))
            return Planned(plan=plan, record=PlanningRecord(request=text, planner="offline"))
        from toolpath.planner.by_model.planner import plan_with_model  # noqa: PLC0415  # only who has a model pays for what it needs

        ground = ground_of(catalog, self.chat, self.clock, self.session.settings)
        # The rules' plan in place of the model's would be scored as the model's.
        alone = msgspec.structs.replace(ground.options, fallback="error")
        return await plan_with_model(PlanRequest(text=text), msgspec.structs.replace(ground, options=alone))

    async def _routed(self, text: str, catalog: Catalog) -> Made:
        options = RouterOptions(timeout=self.session.settings.planner_timeout)
        routed = await route(text, catalog, self.clock, chat=self.chat, options=options, fill=filled_by_rules)
        record = routed.record
        made = Made(
            plan=routed.plan,
            came="plan" if routed.plan is not None else "refusal",
            error=routed.message,
            usage=record.usage,
            cost=record.cost or 0.0,
        )
        if self.chat is None or not record.error or record.outcome == "text":
            return made
        # Words decided, since the model gave no answer: what they chose would be scored as the model's.
        return msgspec.structs.replace(made, plan=None, came="failure", error=record.error, answered=record.used_model)

    def _index(self, catalog: Catalog) -> ToolSearch:
        if catalog.digest not in self._indices:
            self._indices = {catalog.digest: ToolSearch(catalog.tools.values(), stats=catalog.stats)}
        return self._indices[catalog.digest]


def _by_planner(
    record: PlanningRecord | None, *, plan: Plan | None = None, came: Came = "plan", error: str = ""
) -> Made:
    if record is None:
        return Made(plan=plan, came=came, error=error)
    return Made(
        plan=plan,
        came=came,
        error=error,
        answered=not record.rounds or any(not one.error for one in record.rounds),
        usage=record.usage,
        cost=record.cost,
    )
