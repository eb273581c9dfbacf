"""`/runs`: begin one, list them, look at one and at what it gave."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.checks.start import check_arguments
from toolpath.engine.drive.large import handle_in
from toolpath.errors import PlanInvalid, RunNotFound, ToolNotFound
from toolpath.machine import new_id
from toolpath.model.events import PlanRevised, RunStarted
from toolpath.model.plan import Plan, thaw
from toolpath.model.run import ENDED_RUN, RunStatus
from toolpath.model.stored import StoredPlan
from toolpath.model.sub_plan import split_plan_id
from toolpath.model.template import TemplateRun
from toolpath.projections.comparison import Comparison, compared
from toolpath.projections.results import run_result
from toolpath.projections.steps import step_results
from toolpath.projections.sub_plans import sub_plans
from toolpath.runs.beside_the_loop import weight_of
from toolpath.runs.opening import call_plan
from toolpath.server.entry.guard import PIECE
from toolpath.server.feeds import PAGE, PAGE_BYTES
from toolpath.server.parts import Asker, Door, Needs, caller_of, toolpath_of
from toolpath.server.problems import Problem
from toolpath.server.rest.bodies import JsonBody, KeyHeader, NewRun
from toolpath.server.rest.conversations import context_in
from toolpath.server.rest.described import TEXT, Filter, answer, problems, shows, takes
from toolpath.server.rest.paging import ROWS, Before, Limit, one_page
from toolpath.server.rest.plan_views import PlanReview
from toolpath.server.rest.plans import reviewed
from toolpath.server.rest.views import RunDetail, RunPage, RunRow, SubPlanList, run_detail, run_row
from toolpath.server.run_search import RunFilter, search_runs
from toolpath.server.visibility import visible_plan, visible_run
from toolpath.values import Handle, JsonObject

router = APIRouter(prefix="/runs", tags=["runs"])

RunId = Annotated[str, Path(max_length=200, description="The run's id.")]
PlanPlace = Annotated[
    str,
    Path(max_length=4_000, description="The run's id; of a plan inside it, a colon and the path of its call besides."),
]
_Compared = Annotated[int, Query(ge=1, le=20_000, description="At most so many steps are told one by one.")]
CanRead = Depends(Needs("read"))
CanRun = Depends(Needs("run"))
_read_new_run = JsonBody(NewRun)
_Time = Annotated[float | None, Query(ge=0, le=253402300799, description="Begun from then on, or before; Unix time.")]


@router.post(
    "",
    status_code=202,
    responses={
        **shows(RunRow, "The run is stored and will be driven.", status=202),
        **shows(RunRow, "A run with the same idempotency key was there already.", status=200),
        **problems(404, 409, 415),
    },
    openapi_extra=takes(NewRun),
    dependencies=[CanRun],
)
async def begin(request: Request, idempotency_key: KeyHeader = "") -> Response:
    """Begin a run of a stored plan, a plan, or a tool. It is stored before this answers."""
    # Asked for here, not declared: the framework takes as long for a dependency as this for all of them.
    tp, caller, body = await toolpath_of(request), await caller_of(request), await _read_new_run(request)
    what = await _what(tp, caller, body)
    key = body.idempotency_key or idempotency_key
    return await begun(
        tp,
        caller,
        what,
        body.inputs,
        conversation_id=body.conversation_id,
        key=key,
        priority=body.priority,
        uploads=body.uploads,
    )


async def begun(
    tp: Toolpath,
    caller: Caller,
    what: Plan | StoredPlan | TemplateRun,
    inputs: JsonObject,
    *,
    conversation_id: str,
    key: str,
    priority: int | None = None,
    uploads: Sequence[str] = (),
) -> Response:
    """The answer for a run that was begun, or that was there with the same key."""
    run_id = new_id("run", tp.clock.time())
    context = await context_in(tp, caller, conversation_id)
    rank = caller.priority if priority is None else priority
    said: dict[str, Any] = {"context": context, "run_id": run_id, "idempotency_key": key, "priority": rank}
    if uploads:
        run = await tp.files.start(what, inputs, uploads=uploads, **said)
    else:
        run = await tp.start(what, inputs, **said)
    info = run.stored or await tp.store.get_run(run.run_id)
    status = 202 if run.run_id == run_id else 200
    return answer(run_row(info), status, {"Location": f"/api/v1/runs/{run.run_id}"})


async def _what(tp: Toolpath, caller: Caller, body: NewRun) -> Plan | StoredPlan:
    """The plan that the body wants run. Text and names are never read as paths of this machine."""
    given = [name for name in ("plan_id", "plan", "tool") if getattr(body, name) not in ("", None)]
    if len(given) != 1:
        raise Problem(
            422,
            "invalid_request",
            f"What is to be run is said {'by ' + ' and '.join(given) if given else 'nowhere'}.",
            hint="Give one of plan_id, plan and tool.",
        )
    if body.plan_id:
        return await visible_plan(tp, caller, body.plan_id)
    if body.plan is not None:
        return await tp.plans.read(body.plan)
    return await tool_plan(tp, body.tool, body.inputs)


async def tool_plan(tp: Toolpath, tool: str, inputs: JsonObject) -> Plan:
    """A plan of one call. Raises `Problem` 422 for a tool that is not there: the path of the request is right.

    Raises `PlanInvalid` for inputs that the tool does not take, before there is a run.
    """
    catalog = await tp.load(call_plan(tool, inputs))
    try:
        found = catalog.find(tool)
    except ToolNotFound as error:
        raise Problem(422, error.code, error.message, hint=error.hint, suggestions=error.suggestions) from None
    unfit = check_arguments(found, inputs)
    if unfit:
        raise PlanInvalid(unfit)
    return call_plan(found.key, inputs)


@router.get("", responses={**shows(RunPage, "Runs, newest first."), **problems(404)}, dependencies=[CanRead])
async def listed(
    tp: Door,
    caller: Asker,
    status: Annotated[RunStatus | None, Query(description="Only those that stand so.")] = None,
    user: Filter = None,
    name: Filter = None,
    plan_id: Filter = None,
    conversation_id: Filter = None,
    since: _Time = None,
    until: _Time = None,
    text: Annotated[str, Query(max_length=200, pattern=TEXT, description="Somewhere in what it is or gave.")] = "",
    tool: Annotated[str, Query(max_length=500, pattern=TEXT, description="Key of a tool that its plan calls.")] = "",
    limit: Limit = ROWS,
    before: Before = None,
) -> Response:
    """The caller's runs, newest first, a page at a time.

    With `text` or `tool` a request looks at 500 runs, for two seconds at most: a page may be short, even empty, and
    `next` still say where to look on.
    """
    if before is not None:
        await visible_run(tp, caller, before)
    filters: dict[str, Any] = {
        "tenant": caller.of_tenant,
        "status": status,
        "user": user,
        "name": name,
        "plan_id": plan_id,
        "conversation_id": conversation_id,
        "since": since,
        "until": until,
    }
    if text or tool:
        hits = await search_runs(tp, RunFilter(text=text, tool=tool), limit, before, filters)
        return answer(RunPage(runs=tuple(map(run_row, hits.runs)), next=hits.next))
    found = await tp.store.list_runs(**filters, limit=limit + 1, before=before)
    page, mark = one_page(found, limit, lambda info: info.run_id)
    return answer(RunPage(runs=tuple(run_row(info) for info in page), next=mark))


@router.get(
    "/{run_id}", responses={**shows(RunDetail, "The run as it stands."), **problems(404)}, dependencies=[CanRead]
)
async def show(
    run_id: PlanPlace,
    tp: Door,
    caller: Asker,
    results: Annotated[
        bool, Query(description="False: how it stands and what it waits for, without what its steps gave.")
    ] = True,
) -> Response:
    """The run, or a plan inside it, as it stands: what its steps gave so far, and what it waits for."""
    info = await visible_run(tp, caller, run_id)
    if not results and info.status in ENDED_RUN and ":" not in run_id:
        # It waits for nobody: its journal need not be read.
        return answer(run_detail(info, ()))
    events = await tp.store.read_events(info.run_id)
    path = split_plan_id(run_id)[1]
    return await tp.aside.do(lambda: answer(run_detail(info, events, path, results=results)), weight_of([events]))


@router.get(
    "/{run_id}/plans",
    responses={**shows(SubPlanList, "Its plans, each with the id by which it is looked at."), **problems(404)},
    dependencies=[CanRead],
)
async def plans(run_id: RunId, tp: Door, caller: Asker) -> Response:
    """The plans inside a run: nested plans, calls of templates, blocks and agents."""
    info = await visible_run(tp, caller, run_id)
    events = await tp.store.read_events(info.run_id)

    def work() -> Response:
        return answer(SubPlanList(plans=sub_plans(info.run_id, step_results(events))))

    return await tp.aside.do(work, weight_of([events]))


@router.get(
    "/{run_id}/compare/{other_id}",
    responses={**shows(Comparison, "What the other run did otherwise."), **problems(404)},
    dependencies=[CanRead],
)
async def compare(run_id: RunId, other_id: RunId, tp: Door, caller: Asker, limit: _Compared = 1_000) -> Response:
    """Differences of the other run from this one: plan, inputs, outputs, and step by step; and what took longer."""
    first, second = await visible_run(tp, caller, run_id), await visible_run(tp, caller, other_id)
    events = [await tp.store.read_events(info.run_id) for info in (first, second)]

    def work() -> Response:
        results = [run_result(info.run_id, told, row=info) for info, told in zip((first, second), events, strict=True)]
        return answer(compared(results[0], events[0], results[1], events[1], limit))

    return await tp.aside.do(work, weight_of(events))


@router.get(
    "/{run_id}/plan",
    responses={**shows(PlanReview, "The plan, and what it does."), **problems(404)},
    dependencies=[CanRead],
)
async def plan_of(
    run_id: RunId,
    tp: Door,
    caller: Asker,
    seq: Annotated[
        int, Query(ge=1, le=2**53, description="The event that brought it: `run.started`, or a `plan.revised`.")
    ] = 1,
) -> Response:
    """The plan of the run in the notation of plans, checked against the tools as they are now."""
    await visible_run(tp, caller, run_id)
    found = await tp.store.read_events(run_id, after=seq - 1, limit=1)
    if not found or not isinstance(found[0], RunStarted | PlanRevised):
        raise RunNotFound(f"Event {seq} of the run {run_id} brought no plan.")
    told = found[0].plan
    plan = await tp.aside.do(lambda: thaw(told), weight_of([told]))
    return answer(await reviewed(tp, plan))


async def _pieces(tp: Toolpath, handle: Handle) -> AsyncIterator[bytes]:
    """The value's bytes, read as they are taken: however many read it slowly, a piece for each is all that is held."""
    first = await tp.store.read_blob(handle.digest, 0, PIECE)

    async def pieces() -> AsyncIterator[bytes]:
        yield first
        for offset in range(PIECE, handle.size, PIECE):
            yield await tp.store.read_blob(handle.digest, offset, PIECE)

    return pieces()


@router.get(
    "/{run_id}/values/{digest}",
    responses={
        200: {"description": "The value.", "content": {"application/json": {"schema": {}}}},
        **problems(404),
    },
    dependencies=[CanRead],
)
async def value(
    run_id: RunId,
    digest: Annotated[str, Path(pattern=r"^sha256:[0-9a-f]{64}$", description="`$blob` of a handle in its results.")],
    tp: Door,
    caller: Asker,
) -> Response:
    """A value that was too large for the journal, which has a handle `{"$blob": …, "size": …}` in its place."""
    await visible_run(tp, caller, run_id)
    after = 0
    while events := await tp.store.read_events(run_id, after=after, limit=PAGE, most_bytes=PAGE_BYTES):
        after = events[-1].seq
        for event in events:
            # What a tool made to look like a handle may point to what is another's.
            handle = handle_in(event, digest)
            if handle is not None:
                pieces = await _pieces(tp, handle)
                length = {"Content-Length": str(handle.size)}
                return StreamingResponse(pieces, media_type="application/json", headers=length)
    raise RunNotFound(f"The run {run_id} has no value {digest}.")
