"""Questions that GraphQL answers: plans, executions, tools, what waits for people."""

from __future__ import annotations

import strawberry

from toolpath.errors import RecordNotFound
from toolpath.projections.results import run_result
from toolpath.server.graphql import texts
from toolpath.server.graphql.doors import Info, NeedsScope
from toolpath.server.graphql.executions import shown_as_texts, shown_execution, shown_questions
from toolpath.server.graphql.plans import shown_plan, shown_tools
from toolpath.server.graphql.types import (
    Execution,
    ExecutionWithChaining,
    Plan,
    PlanWithRequest,
    Question,
    Tool,
)

_READ = NeedsScope("read")
#: In these states a run may have asked somebody something.
_ASKING = ("waiting", "running", "paused")


@strawberry.type
class Query:
    """Queries: what can be looked at."""

    @strawberry.field(extensions=[_READ], description="A plan of a request, by its id; null: there is none.")
    async def plan(self, info: Info, id: strawberry.ID) -> PlanWithRequest | None:
        """One version of a request's plans."""
        tp, caller = info.context.tp, info.context.caller
        stored = await texts.their_plan(tp, caller, id)
        return None if stored is None else await shown_plan(tp, stored)

    @strawberry.field(extensions=[_READ], description="The plans of a request, newest version first.")
    async def plans_by_request_id(self, info: Info, request_id: strawberry.ID) -> list[PlanWithRequest]:
        """All versions; none where there is no such request."""
        tp, caller = info.context.tp, info.context.caller
        try:
            found = await tp.plans.of_request(request_id, tenant=caller.of_tenant, limit=100)
        except RecordNotFound:
            return []
        return [await shown_plan(tp, stored) for stored in found]

    @strawberry.field(extensions=[_READ], description="A plan as two texts; null: there is none.")
    async def get_plan(self, info: Info, id: strawberry.ID) -> Plan | None:
        """The plan that is kept under the id."""
        tp, caller = info.context.tp, info.context.caller
        stored = await texts.their_plan(tp, caller, id)
        if stored is not None:
            return texts.plan_as_texts(stored)
        record = await texts.found(tp, caller, "plan", id)
        return None if record is None else texts.shown(record, Plan)

    @strawberry.field(extensions=[_READ], description="Plans as two texts, newest first.")
    async def get_plans(self, info: Info, limit: int = 10, offset: int = 0) -> list[Plan | None]:
        """A page of all plans that are kept."""
        tp, caller = info.context.tp, info.context.caller
        many = texts.reach(limit, offset)
        plans = [texts.plan_as_texts(stored) for stored in await tp.plans.newest(tenant=caller.of_tenant, limit=many)]
        plans += [texts.shown(record, Plan) for record in await texts.listed(tp, caller, "plan", many)]
        return [*texts.page(plans, limit, offset)]

    @strawberry.field(extensions=[_READ], description="A run, as the execution of its plan; null: there is none.")
    async def execution(self, info: Info, id: strawberry.ID) -> ExecutionWithChaining | None:
        """The run as it stands."""
        tp, caller = info.context.tp, info.context.caller
        run = await texts.their_run(tp, caller, id)
        return None if run is None else await shown_execution(tp, run)

    @strawberry.field(extensions=[_READ], description="An execution as two texts; null: there is none.")
    async def get_execution(self, info: Info, id: strawberry.ID) -> Execution | None:
        """A run, or whatever is kept under that id."""
        tp, caller = info.context.tp, info.context.caller
        run = await texts.their_run(tp, caller, id)
        if run is not None:
            return await shown_as_texts(tp, run)
        record = await texts.found(tp, caller, "execution", id)
        return None if record is None else texts.shown(record, Execution)

    @strawberry.field(extensions=[_READ], description="Executions as two texts, newest first.")
    async def get_executions(self, info: Info, limit: int = 10, offset: int = 0) -> list[Execution | None]:
        """A page of runs and of what is kept."""
        tp, caller = info.context.tp, info.context.caller
        many = texts.reach(limit, offset)
        runs = await tp.store.list_runs(tenant=caller.of_tenant, limit=many)
        found = [await shown_as_texts(tp, run) for run in runs]
        found += [texts.shown(record, Execution) for record in await texts.listed(tp, caller, "execution", many)]
        return [*texts.page(found, limit, offset)]

    @strawberry.field(extensions=[_READ], description="Every tool that plans may use.")
    async def get_available_tools(self, info: Info) -> list[Tool]:
        """The catalogue."""
        catalog = await info.context.tp.tools()
        return shown_tools(catalog, catalog.tools.values())

    @strawberry.field(extensions=[_READ], description="What waits for people, in the newest runs.")
    async def questions(self, info: Info, run_id: strawberry.ID | None = None) -> list[Question]:
        """Approvals, forms and writes in doubt; of one run, or of all."""
        tp, caller = info.context.tp, info.context.caller
        if run_id is not None:
            run = await texts.their_run(tp, caller, run_id)
            runs = [] if run is None else [run]
        else:
            runs = [
                run
                for status in _ASKING
                for run in await tp.store.list_runs(status=status, tenant=caller.of_tenant, limit=50)
            ]
        results = [run_result(run.run_id, await tp.events(run.run_id)) for run in runs]
        return [question for result in results for question in shown_questions(result)]
