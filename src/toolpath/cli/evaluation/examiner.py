"""Gives tasks whose right plans are known to a planner or to the router, and scores what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.cli.session import CommandSession
from toolpath.errors import NoToolFits, ReadError, ToolpathError
from toolpath.machine import SystemClock
from toolpath.model.chat import Usage
from toolpath.model.plan import Plan
from toolpath.notation.printing import print_plan
from toolpath.planner.choose import ground_of
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import PlanningRecord, PlanningResult, PlanRequest
from toolpath.planner.router.route import route
from toolpath.planner.router.routing_records import RouterOptions
from toolpath.planner.scoring.evaluation import Came, TaskAttempt
from toolpath.planner.scoring.gold import Task, all_gold, catalog_of, made_calls, tool_set_of, tool_sets_of
from toolpath.planner.scoring.score import GoldCall, Score, score_plan
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

    session: CommandSession
    clock: SystemClock
    chat: Chat | None = None
    routes: bool = False
    _indices: dict[str, ToolSearch] = field(default_factory=dict)

    async def attempt(self, line: int, task: Task, sets: Mapping[str, Catalog]) -> TaskAttempt:
        """The attempt at one task, scored. Raises `ReadError` for a task that cannot be scored."""
        catalog = await self._tools_of(task, sets)
        gold = all_gold(task, catalog)
        began = self.clock.monotonic()
        made = await (self._routed(task.query, catalog) if self.routes else self._planned(task, catalog))
        took = self.clock.monotonic() - began
        plan, score = made.plan, None
        wrong_writes: tuple[str, ...] = ()
        if plan is not None:
            score = _best_score(plan, gold, with_arguments=task.arguments != "unlabelled")
            wrong_writes = self._wrong_writes(plan, score, catalog)
        return TaskAttempt(
            line=line,
            task=task.id or task.query,
            came=made.came,
            wants_plan="plan" in task.right if task.right else bool(gold[0]),
            right=task.right,
            language=task.language,
            category=task.category,
            asked=bool(plan is not None and plan.questions),
            wrong_writes=wrong_writes,
            score=score,
            confidence=(plan.confidence or 0.0) if plan is not None else 0.0,
            seconds=took,
            usage=made.usage,
            cost=made.cost,
            error=made.error,
            answered=made.answered,
            plan=None if plan is None else msgspec.json.decode(print_plan(plan, "json")),
        )

    def _wrong_writes(self, plan: Plan, score: Score, catalog: Catalog) -> tuple[str, ...]:
        """Tools of the writes that no right plan has, where the plan would be run."""
        if plan.questions or (plan.confidence or 0.0) < self.session.settings.planner_floor:
            return ()
        wrong = [call.tool for call in made_calls(plan) if call.step in score.wrong]
        return tuple(key for key in wrong if key in catalog.tools and not catalog.tools[key].is_read)

    async def _tools_of(self, task: Task, sets: Mapping[str, Catalog]) -> Catalog:
        """The tools that the task may be planned with: its own, its tool set, else all that are connected."""
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

    async def _planned(self, task: Task, catalog: Catalog) -> Made:
        try:
            planned = await self._plan(task, catalog)
        except NoToolFits as refusal:
            return _by_planner(refusal.record, came="refusal", error=refusal.message)
        except ToolpathError as failure:
            return _by_planner(getattr(failure, "record", None), came="failure", error=str(failure))
        return _by_planner(planned.record, plan=planned.plan)

    async def _plan(self, task: Task, catalog: Catalog) -> PlanningResult:
        text = task.query
        if self.chat is None:
            plan = plan_offline(text, catalog, search=self._index(catalog), today=task.today)
            return PlanningResult(plan=plan, record=PlanningRecord(request=text, planner="offline"))
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


def _best_score(plan: Plan, gold: Sequence[Sequence[GoldCall]], *, with_arguments: bool) -> Score:
    """The score against the right plan that it is nearest to."""
    made = made_calls(plan)
    scores = [score_plan(made, one, with_arguments=with_arguments) for one in gold]
    return max(scores, key=lambda one: (one.is_whole, one.tool_f1, one.arguments))


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
