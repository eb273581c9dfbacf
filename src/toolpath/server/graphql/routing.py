"""Routing over GraphQL: which tools a request means, calling them, and earlier decisions."""

from __future__ import annotations

from typing import Any

import msgspec
import strawberry
from graphql import GraphQLError

from toolpath.access.caller import Caller
from toolpath.notation.printing import plan_to_dict
from toolpath.planner.router.outcome import outputs_of_calls
from toolpath.planner.router.routing_records import RouteRecord
from toolpath.projections.results import run_result
from toolpath.server.graphql.doors import Info, NeedsScope
from toolpath.server.graphql.types import moment, text
from toolpath.server.visibility import may_read_prompts

_READ = NeedsScope("read")
_RUN = NeedsScope("run")
_PAGE = 100
_LONGEST_REQUEST = 20_000
_PLANNERS = ("model", "offline")
_ON_MULTIPLE = ("best", "all", "error")


@strawberry.type(description="What a request means: calls as a plan, a text, or a message that says why neither.")
class Routing:
    """A routing."""

    route_id: strawberry.ID
    outcome: str = strawberry.field(description="tools, text, no_match, refused or failed.")
    plan: str | None = strawberry.field(description="The plan of the calls, as JSON text.")
    text: str
    message: str
    suggestions: list[str] = strawberry.field(description="Keys of tools that may have been meant.")
    decisions: str = strawberry.field(
        description="JSON text: each name that was asked for, what it was taken for, how and why, and all scores."
    )
    questions: list[str] = strawberry.field(description="What is left open: nothing runs the plan before it is said.")
    run_id: str
    status: str
    outputs: str = strawberry.field(description="JSON text: `{tool, status, output, error}` of each call, in order.")


@strawberry.type(description="How a request was routed.")
class Route:
    """A routing as it is kept."""

    id: strawberry.ID
    request: str
    outcome: str
    tool_order: list[str]
    decisions: str = strawberry.field(description="JSON text, as of `route`.")
    prompt: str = strawberry.field(description="What a model was asked; for who asked, and `admin`.")
    answers: list[str] = strawberry.field(description="What it wrote; likewise.")
    error: str
    run_id: str
    created_at: str


@strawberry.type
class RoutingQuery:
    """Queries on routings."""

    @strawberry.field(extensions=[_READ], description="How requests were routed, newest first.")
    async def routes(self, info: Info, limit: int = 20) -> list[Route]:
        """Those of the caller's tenant."""
        if not 1 <= limit <= _PAGE:
            raise GraphQLError(f"A page has 1 to {_PAGE} entries.", extensions={"code": "invalid_request"})
        tp, caller = info.context.tp, info.context.caller
        return [_kept(record, caller) for record in await tp.planning.routes.newest(caller.of_tenant, limit)]


@strawberry.type
class RoutingMutation:
    """Mutations that route."""

    @strawberry.mutation(
        extensions=[_RUN],
        description="Choose the tools that a request means; `run` calls them where nothing is left open.",
    )
    async def route(
        self,
        info: Info,
        request: str,
        tools: list[str] | None = None,
        planner: str | None = None,
        on_multiple: str | None = None,
        run: bool = False,
    ) -> Routing:
        """As `POST /tools/route` does."""
        if not request.strip() or len(request) > _LONGEST_REQUEST:
            raise _invalid(f"A request has 1 to {_LONGEST_REQUEST:,} characters.")
        if planner not in (None, *_PLANNERS) or on_multiple not in (None, *_ON_MULTIPLE):
            raise _invalid(f"planner is {' or '.join(_PLANNERS)}, onMultiple {', '.join(_ON_MULTIPLE)}.")
        tp, caller = info.context.tp, info.context.caller
        how: Any = {"planner": planner, "on_multiple": on_multiple}
        routed = await tp.route(request, tools=tools or (), **how)
        plan, run_id, status, outputs = routed.plan, "", "", list[Any]()
        if run and plan is not None:
            run_id = (await tp.start(plan, context=caller.context(), priority=caller.priority)).run_id
            await info.context.rested(run_id)
            result = run_result(run_id, await tp.store.read_events(run_id))
            status, outputs = result.status, outputs_of_calls(result)
        return Routing(
            route_id=strawberry.ID(routed.record.id),
            outcome=routed.record.outcome,
            plan=None if plan is None else text(plan_to_dict(plan)),
            text=routed.text,
            message=routed.message,
            suggestions=list(routed.suggestions),
            decisions=_decisions(routed.record),
            questions=[] if plan is None else list(plan.questions),
            run_id=run_id,
            status=status,
            outputs=text(outputs),
        )


def _invalid(message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": "invalid_request"})


def _decisions(record: RouteRecord) -> str:
    return text([msgspec.to_builtins(decision) for decision in record.decisions])


def _kept(record: RouteRecord, caller: Caller) -> Route:
    reads = may_read_prompts(caller, record.user)
    return Route(
        id=strawberry.ID(record.id),
        request=record.request,
        outcome=record.outcome,
        tool_order=list(record.order),
        decisions=_decisions(record),
        prompt=record.prompt if reads else "",
        answers=list(record.answers) if reads else [],
        error=record.error,
        run_id=record.run_id,
        created_at=moment(record.at),
    )
