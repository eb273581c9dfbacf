"""Mutations of GraphQL: plans made, changed and executed, people's answers, executions kept."""

from __future__ import annotations

from typing import Any

import msgspec
import strawberry
from graphql import GraphQLError

from toolpath.errors import PlanInvalid, ReadError, RecordNotFound, RunConflict, SchemaError
from toolpath.model.run import ENDED_RUN
from toolpath.model.stored import StoredPlan
from toolpath.runs.beside_the_loop import weight_of
from toolpath.runs.naming import OwnName
from toolpath.server.graphql import texts
from toolpath.server.graphql.chains import chain_of
from toolpath.server.graphql.doors import Info, NeedsScope
from toolpath.server.graphql.executions import executed_before, refused_at_once, shown_at_once, shown_execution
from toolpath.server.graphql.plans import shown_plan, shown_with_tools
from toolpath.server.graphql.types import (
    Execution,
    ExecutionWithChaining,
    ExecutionWithResults,
    Plan,
    PlanWithRequest,
    PlanWithTools,
)
from toolpath.server.visibility import visible_run
from toolpath.values import JsonObject

_RUN = NeedsScope("run")
_ANSWER = NeedsScope("answer")
_LONGEST_QUERY = 20_000


@strawberry.type
class Mutation:
    """Mutations: what can be done."""

    # Plans.

    @strawberry.mutation(
        extensions=[_RUN],
        description="Plan a query and keep the plan, under a request of its own. `decomposition` is JSON text: the "
        "query taken apart; `timeZone`: the zone that its days are meant in, as `Europe/Berlin`.",
    )
    async def create_plan_with_request_id(
        self,
        info: Info,
        query: str,
        request_id: strawberry.ID | None = None,
        decomposition: str | None = None,
        time_zone: str = "",
    ) -> PlanWithRequest:
        """With `requestId`, another version of that request's plans."""
        stored = await _planned(info, query, request_id, decomposition, time_zone)
        return await shown_plan(info.context.tp, stored)

    @strawberry.mutation(
        extensions=[_RUN],
        description="Plan a query, and tell the tools that the plan uses; `decomposition` and `timeZone` as above.",
    )
    async def create_plan_with_workflow(
        self, info: Info, query: str, decomposition: str | None = None, time_zone: str = ""
    ) -> PlanWithTools:
        """The plan is kept like any other."""
        stored = await _planned(info, query, None, decomposition, time_zone)
        return await shown_with_tools(info.context.tp, stored)

    @strawberry.mutation(
        extensions=[_RUN], description="Keep a plan: `input` says what it is for, `output` is the plan in any notation."
    )
    async def create_plan(self, info: Info, input: str, output: str) -> Plan:
        """A plan that can be read as one can be executed; any other text is kept as it is."""
        tp, caller = info.context.tp, info.context.caller
        try:
            plan = await tp.plans.read(output)
        except ReadError:
            return texts.shown(await texts.kept(tp, caller, "plan", input, output), Plan)
        stored = await tp.plans.add(plan, request=input, tenant=caller.tenant, user=caller.user)
        return texts.plan_as_texts(stored)

    @strawberry.mutation(extensions=[_RUN], description="Put other texts in a plan's place.")
    async def update_plan(
        self, info: Info, id: strawberry.ID, input: str | None = None, output: str | None = None
    ) -> Plan:
        """Change a plan; a field that is not given stays."""
        tp, caller = info.context.tp, info.context.caller
        stored = await texts.their_plan(tp, caller, id)
        if stored is not None:
            if input is not None and input != stored.request:
                raise texts.refused("What a plan was made for cannot be changed.", "Create another plan.")
            changed = stored if output is None else await tp.plans.update(id, output, expected=stored.revision)
            return texts.plan_as_texts(changed)
        record = await texts.found(tp, caller, "plan", id)
        if record is None:
            raise texts.missing("plan")
        return texts.shown(await texts.changed(tp, record, input, output), Plan)

    @strawberry.mutation(extensions=[_RUN], description="Forget a plan; whether it was there. Its runs stay.")
    async def delete_plan(self, info: Info, id: strawberry.ID) -> bool:
        """Forget it."""
        tp, caller = info.context.tp, info.context.caller
        if await texts.their_plan(tp, caller, id) is not None:
            return await tp.plans.delete(id)
        record = await texts.found(tp, caller, "plan", id)
        return record is not None and await texts.forgotten(tp, "plan", id)

    # Executing.

    @strawberry.mutation(
        extensions=[_RUN],
        description="Execute the newest plan of a request, and answer when it has ended or waits for people. "
        "A plan that was executed is not executed twice, unless `again`.",
    )
    async def execute_by_request_id(
        self, info: Info, request_id: strawberry.ID, again: bool = False
    ) -> ExecutionWithChaining:
        """The run of the plan; one that was begun already is waited for."""
        tp, caller = info.context.tp, info.context.caller
        try:
            stored = await tp.plans.latest(request_id, tenant=caller.of_tenant)
        except RecordNotFound:
            raise RecordNotFound(f"Plan not found for requestId: {request_id[:200]}") from None
        run_id = "" if again else await executed_before(tp, caller, stored)
        if not run_id:
            key = OwnName("" if again else f"execute {stored.plan_id} {stored.revision}")
            begun = tp.start(stored, {}, context=caller.context(), idempotency_key=key, priority=caller.priority)
            run_id = (await begun).run_id
        await info.context.rested(run_id)
        return await shown_execution(tp, await tp.store.get_run(run_id))

    @strawberry.mutation(
        extensions=[_RUN],
        description="Execute tools at once. `tools` is JSON text: a list of `{toolName, parameters, dependsOn}`.",
    )
    async def execute_with_workflow(self, info: Info, plan: str, tools: str) -> ExecutionWithResults:
        """Nothing is executed where the check finds errors; they are all told."""
        tp, caller = info.context.tp, info.context.caller
        chain = await tp.aside.do(lambda: chain_of(tools, name=plan), weight_of([tools]))
        try:
            run = await tp.start(chain, {}, context=caller.context(), priority=caller.priority)
        except PlanInvalid as error:
            return refused_at_once(tp, plan, len(chain.steps), error)
        await info.context.rested(run.run_id)
        return await shown_at_once(tp, run.run_id, plan)

    @strawberry.mutation(extensions=[_RUN], description="Keep an execution that was made elsewhere, as two texts.")
    async def create_execution(self, info: Info, input: str, output: str) -> Execution:
        """Keep it."""
        tp, caller = info.context.tp, info.context.caller
        return texts.shown(await texts.kept(tp, caller, "execution", input, output), Execution)

    @strawberry.mutation(extensions=[_RUN], description="Put other texts in place of those of a kept execution.")
    async def update_execution(
        self, info: Info, id: strawberry.ID, input: str | None = None, output: str | None = None
    ) -> Execution:
        """Change an execution; a field that is not given stays. The events of a run cannot be changed."""
        tp, caller = info.context.tp, info.context.caller
        record = await texts.found(tp, caller, "execution", id)
        if record is None:
            if await texts.their_run(tp, caller, id) is not None:
                raise texts.refused("What a run did cannot be changed.", "Keep another execution beside it.")
            raise texts.missing("execution")
        return texts.shown(await texts.changed(tp, record, input, output), Execution)

    @strawberry.mutation(extensions=[_RUN], description="Forget an execution that has ended; whether it was there.")
    async def delete_execution(self, info: Info, id: strawberry.ID) -> bool:
        """Forget it, with all that is its own."""
        tp, caller = info.context.tp, info.context.caller
        run = await texts.their_run(tp, caller, id)
        if run is None:
            record = await texts.found(tp, caller, "execution", id)
            return record is not None and await texts.forgotten(tp, "execution", id)
        if run.status not in ENDED_RUN:
            raise RunConflict(f"The run {run.run_id} is {run.status}.", hint="Cancel it first.")
        await tp.trail.record("run.delete", run.run_id, tenant=run.tenant, user=run.user, plan=run.name)
        await tp.conversations.keep_answers([run])
        deleted = await tp.store.delete_runs([run.run_id])
        await tp.files.forget_runs([run.run_id] if deleted else [])
        return bool(deleted)

    @strawberry.mutation(extensions=[_RUN], description="Stop a run; calls under way are cut off.")
    async def cancel_execution(self, info: Info, id: strawberry.ID, reason: str = "") -> ExecutionWithChaining:
        """The run as it then stands."""
        tp = info.context.tp
        await visible_run(tp, info.context.caller, id)
        await tp.cancel(id, reason=reason[:2000])
        await info.context.rested(id)
        return await shown_execution(tp, await tp.store.get_run(id))

    # People.

    @strawberry.mutation(extensions=[_ANSWER], description="Allow a step that waits for it; the run goes on.")
    async def approve(
        self, info: Info, run_id: strawberry.ID, step: str = "", comment: str = ""
    ) -> ExecutionWithChaining:
        """The run, once it has ended or waits again."""
        tp, caller = info.context.tp, info.context.caller
        await visible_run(tp, caller, run_id)
        await tp.approve(run_id, step, by=caller.user, comment=comment[:2000])
        return await _gone_on(info, run_id)

    @strawberry.mutation(extensions=[_ANSWER], description="Forbid a step that waits for approval.")
    async def deny(self, info: Info, run_id: strawberry.ID, step: str = "", comment: str = "") -> ExecutionWithChaining:
        """The run, once it has ended or waits again."""
        tp, caller = info.context.tp, info.context.caller
        await visible_run(tp, caller, run_id)
        await tp.deny(run_id, step, by=caller.user, comment=comment[:2000])
        return await _gone_on(info, run_id)

    @strawberry.mutation(
        extensions=[_ANSWER], description="Answer a form. `values` is JSON text: an object; null: nobody will answer."
    )
    async def answer(
        self, info: Info, run_id: strawberry.ID, step: str = "", values: str | None = None
    ) -> ExecutionWithChaining:
        """The run, once it has ended or waits again."""
        tp, caller = info.context.tp, info.context.caller
        await visible_run(tp, caller, run_id)
        given = None if values is None else _object("values", values)
        await tp.answer(run_id, step, given, by=caller.user, declined=given is None)
        return await _gone_on(info, run_id)


async def _planned(
    info: Info, query: str, request_id: str | None, decomposition: str | None, time_zone: str
) -> StoredPlan:
    tp, caller = info.context.tp, info.context.caller
    if not query.strip() or len(query) > _LONGEST_QUERY:
        message = f"A query has 1 to {_LONGEST_QUERY:,} characters."
        raise GraphQLError(message, extensions={"code": "invalid_request"})
    if request_id:
        await tp.plans.request(request_id, tenant=caller.of_tenant)
    parts = None if decomposition is None else _object("decomposition", decomposition)
    whose: Any = {"chaining": True, "tenant": caller.tenant, "user": caller.user}
    return await tp.plans.create(query, request_id=request_id or "", decomposition=parts, time_zone=time_zone, **whose)


async def _gone_on(info: Info, run_id: str) -> ExecutionWithChaining:
    tp = info.context.tp
    await info.context.rested(run_id)
    return await shown_execution(tp, await tp.store.get_run(run_id))


def _object(name: str, values: str) -> JsonObject:
    try:
        given: JsonObject = msgspec.json.decode(values, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise SchemaError(f"`{name}` is no JSON object: {error}") from None
    return given
