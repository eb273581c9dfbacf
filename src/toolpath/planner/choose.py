"""Choice among ways of planning: from what was planned before, else by the way that an experiment gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.config import Settings
from toolpath.errors import ConfigError
from toolpath.model.plan import Call, Plan, every_step
from toolpath.notation.printing import plan_to_dict
from toolpath.planner.by_model.shortlist import default_rank
from toolpath.planner.by_model.streaming import PlanWritten, StepWritten, stream_plan
from toolpath.planner.in_parts import along, text_in_parts
from toolpath.planner.learning.lessons import Lessons
from toolpath.planner.learning.plan_cache import PlanCache
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.records import Ground, PlannerOptions, PlanningResult, PlanRequest
from toolpath.planner.scoring.experiment import Experiment
from toolpath.ports import Chat, Clock, Notebook

Strategy = Callable[[PlanRequest, Ground], Awaitable[PlanningResult]]
"""A way of planning."""

_EXPERIMENT = "planner.experiment"
_LESSONS = "planner.lessons"
_CACHE = "planner.cache"


def options_of(settings: Settings) -> PlannerOptions:
    """How far a planner may go under these settings."""
    return PlannerOptions(
        timeout=settings.planner_timeout,
        fallback=settings.planner_fallback,
        time_zone=settings.time_zone,
        locale=settings.locale,
    )


def ground_of(catalog: Catalog, chat: Chat, clock: Clock, settings: Settings) -> Ground:
    """The ground of a model planner under these settings: the search ranks, rules stand in for a model that fails."""
    return Ground(
        catalog=catalog,
        chat=chat,
        clock=clock,
        rank=default_rank,
        options=options_of(settings),
        offline=rules,
    )


async def rules(request: PlanRequest, catalog: Catalog) -> Plan:
    """The plan that rules make of the request with these tools. Raises `NoToolFits`."""
    options = PlannerOptions()
    plan = await asyncio.to_thread(plan_offline, text_in_parts(request, options), catalog)
    return along(plan, request, catalog, options)


class Chooser:
    """Plans requests, remembers what came of them, and plans the next ones better for it."""

    def __init__(
        self,
        strategies: Mapping[str, Strategy],
        *,
        experiment: Experiment | None = None,
        cache: PlanCache | None = None,
        lessons: Lessons | None = None,
    ) -> None:
        if not strategies:
            raise ConfigError("No way of planning is given.")
        self.strategies = dict(strategies)
        self.experiment = experiment or Experiment({next(iter(self.strategies)): 1.0})
        unknown = self.experiment.weights.keys() - self.strategies.keys()
        if unknown:
            raise ConfigError(f"The experiment names {', '.join(sorted(unknown))}, which is no way of planning.")
        self.cache = cache
        self.lessons = lessons

    async def plan(
        self, request: PlanRequest, ground: Ground, *, key: str = "", way: str = "", cached: bool = True
    ) -> PlanningResult:
        """A plan and how it came about; `record.strategy` says which way it was made.

        `key`: what decides the way, e.g. the request's id; without it its text. `way`: this one, whatever the
        experiment says. Not `cached`: the cache is neither asked nor filled. Raises what the way of planning raises.
        """
        if cached and self.cache is not None and not request.kept:
            found = self.cache.find(request, ground.catalog, strategy=way)
            if found is not None:
                return found
        planned = await self._by(way or self.experiment.pick(key or request.text), request, ground)
        if cached and self.cache is not None:
            self.cache.keep(request, ground.catalog, planned)
        return planned

    async def _by(self, name: str, request: PlanRequest, ground: Ground) -> PlanningResult:
        if self.lessons is not None:
            ground = msgspec.structs.replace(ground, lessons=self.lessons.like, rank=self.lessons.ranked(ground.rank))
        planned = await self.strategies[name](request, ground)
        return msgspec.structs.replace(planned, record=msgspec.structs.replace(planned.record, strategy=name))

    async def stream(
        self, request: PlanRequest, ground: Ground, *, cached: bool = True
    ) -> AsyncGenerator[StepWritten | PlanWritten]:
        """As `plan`, step by step while a model writes it; the experiment has no part in it."""
        cache = self.cache if cached else None
        found = cache.find(request, ground.catalog) if cache is not None and not request.kept else None
        if found is not None:
            yield PlanWritten(planned=found)
            return
        if self.lessons is not None:
            ground = msgspec.structs.replace(ground, lessons=self.lessons.like, rank=self.lessons.ranked(ground.rank))
        async with aclosing(stream_plan(request, ground)) as parts:
            async for part in parts:
                if not isinstance(part, PlanWritten):
                    yield part
                    continue
                record = msgspec.structs.replace(part.planned.record, strategy="model")
                planned = PlanningResult(plan=part.planned.plan, record=record)
                if cache is not None:
                    cache.keep(request, ground.catalog, planned)
                yield PlanWritten(planned=planned, revoked=part.revoked)

    def learn(self, request: PlanRequest, ground: Ground, planned: PlanningResult, success: bool) -> None:
        """Note whether the run of a plan did what was asked."""
        record = planned.record
        if record.strategy in self.experiment.weights:
            self.experiment.record(
                record.strategy, success, seconds=record.duration, usd=record.cost, tokens=record.usage.total
            )
        if self.lessons is not None:
            steps = plan_to_dict(planned.plan)["steps"] if success else ()
            self.lessons.learn(request.text, tools_of(planned.plan), success, steps)
        if not success and self.cache is not None:
            self.cache.forget(request, ground.catalog)

    async def save(self, notebook: Notebook) -> None:
        """Write down all that was learned."""
        await notebook.write(_EXPERIMENT, self.experiment.as_json())
        if self.lessons is not None:
            await notebook.write(_LESSONS, self.lessons.as_json())
        if self.cache is not None:
            await notebook.write(_CACHE, self.cache.as_json())

    async def load(self, notebook: Notebook) -> None:
        """Go on from what was written down."""
        self.experiment = Experiment.from_json(self.experiment.weights, await notebook.read(_EXPERIMENT) or {})
        if self.lessons is not None:
            self.lessons = Lessons.from_json(await notebook.read(_LESSONS) or {}, self.lessons.capacity)
        if self.cache is not None:
            self.cache.load(await notebook.read(_CACHE) or {})


def tools_of(plan: Plan) -> tuple[str, ...]:
    """Keys of the tools that a plan calls, each once."""
    return tuple(dict.fromkeys(step.tool for _, step in every_step(plan.block) if isinstance(step, Call)))
