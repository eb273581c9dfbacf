"""`/runs/{id}/…`: what may be told to a run, by its owner and by the people that it waits for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.access.caller import Caller
from toolpath.app import Toolpath
from toolpath.errors import RunConflict
from toolpath.model.run import ENDED_RUN
from toolpath.model.sub_plan import split_plan_id
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.bodies import Answer, Cancellation, Decision, Fork, JsonBody, Resumption, Settlement
from toolpath.server.rest.described import answer, problems, shows, takes
from toolpath.server.rest.runs import PlanPlace, RunId
from toolpath.server.rest.views import RunRow, run_row
from toolpath.server.visibility import visible_run
from toolpath.values import JsonObject

router = APIRouter(prefix="/runs")

_ROW = {**shows(RunRow, "It was told; the run as it stood then.", status=202), **problems(404, 409, 415)}
_CAN_RUN = [Depends(Needs("run"))]
_CAN_ANSWER = [Depends(Needs("answer"))]
StepPath = Annotated[str, Path(max_length=1_000, pattern=r"^[^\x00]*$", description="Path of the step.")]


async def _told(tp: Toolpath, run_id: str) -> Response:
    return answer(run_row(await tp.store.get_run(split_plan_id(run_id)[0])), 202)


async def _live(tp: Toolpath, caller: Caller, run_id: str) -> None:
    """Raise where the run is not the caller's, or has ended."""
    info = await visible_run(tp, caller, run_id)
    if info.status in ENDED_RUN:
        raise RunConflict(f"The run {run_id} has ended: {info.status}.")


@router.post(
    "/{run_id}/cancel",
    status_code=202,
    responses=_ROW,
    openapi_extra=takes(Cancellation, optional=True),
    dependencies=_CAN_RUN,
    tags=["runs"],
)
async def cancel(
    run_id: PlanPlace,
    tp: Door,
    caller: Asker,
    body: Annotated[Cancellation, Depends(JsonBody(Cancellation, optional=True))],
) -> Response:
    """Stop it, or a plan inside it alone; calls under way are cut off."""
    await _live(tp, caller, run_id)
    await tp.cancel(run_id, reason=body.reason)
    return await _told(tp, run_id)


@router.post("/{run_id}/pause", status_code=202, responses=_ROW, dependencies=_CAN_RUN, tags=["runs"])
async def pause(run_id: RunId, tp: Door, caller: Asker) -> Response:
    """Start nothing new in it; what runs may finish."""
    await _live(tp, caller, run_id)
    await tp.pause(run_id)
    return await _told(tp, run_id)


@router.post(
    "/{run_id}/resume",
    status_code=202,
    responses=_ROW,
    openapi_extra=takes(Resumption, optional=True),
    dependencies=_CAN_RUN,
    tags=["runs"],
)
async def resume(
    run_id: RunId,
    tp: Door,
    caller: Asker,
    body: Annotated[Resumption, Depends(JsonBody(Resumption, optional=True))],
) -> Response:
    """Go on with it after a pause, or where its process died."""
    await _live(tp, caller, run_id)
    await tp.resume(run_id, accept_tool=body.accept_tool)
    return await _told(tp, run_id)


@router.post("/{run_id}/retry", status_code=202, responses=_ROW, dependencies=_CAN_RUN, tags=["runs"])
async def retry(run_id: RunId, tp: Door, caller: Asker) -> Response:
    """Go on from what failed; what is finished stays so."""
    await visible_run(tp, caller, run_id)
    await tp.retry(run_id)
    return await _told(tp, run_id)


@router.post(
    "/{run_id}/fork",
    status_code=202,
    responses={**shows(RunRow, "The new run.", status=202), **problems(404, 409, 415)},
    openapi_extra=takes(Fork, optional=True),
    dependencies=_CAN_RUN,
    tags=["runs"],
)
async def fork(
    run_id: RunId, tp: Door, caller: Asker, body: Annotated[Fork, Depends(JsonBody(Fork, optional=True))]
) -> Response:
    """A new run that keeps what this one finished before a step, and does the rest."""
    await visible_run(tp, caller, run_id)
    # The caller who forks it runs it, with their own permissions and not with those of who began it.
    context = None if caller.sees_all else caller.context()
    run = await tp.fork(
        run_id,
        from_step=body.from_step or None,
        inputs=body.inputs,
        repeat_writes=body.repeat_writes,
        context=context,
        priority=body.priority,
    )
    info = await tp.store.get_run(run.run_id)
    return answer(run_row(info), 202, {"Location": f"/api/v1/runs/{run.run_id}"})


@router.post(
    "/{run_id}/approvals/{step:path}",
    status_code=202,
    responses=_ROW,
    openapi_extra=takes(Decision, optional=True),
    dependencies=_CAN_ANSWER,
    tags=["people"],
)
async def decide(
    run_id: RunId,
    step: StepPath,
    tp: Door,
    caller: Asker,
    body: Annotated[Decision, Depends(JsonBody(Decision, optional=True))],
) -> Response:
    """Allow a step that waits for approval, or forbid it."""
    await _live(tp, caller, run_id)
    say = tp.approve if body.approved else tp.deny
    await say(run_id, step, by=caller.user, comment=body.comment)
    return await _told(tp, run_id)


@router.post(
    "/{run_id}/input",
    status_code=202,
    responses=_ROW,
    openapi_extra=takes(Answer),
    dependencies=_CAN_ANSWER,
    tags=["people"],
)
async def fill_in(
    run_id: RunId, tp: Door, caller: Asker, body: Annotated[Answer, Depends(JsonBody(Answer))]
) -> Response:
    """Answer a form; every fault of the answer is told at once, and nothing is kept of it."""
    await _live(tp, caller, run_id)
    await tp.answer(run_id, body.step, body.values, by=caller.user, declined=body.declined)
    return await _told(tp, run_id)


@router.post(
    "/{run_id}/settle",
    status_code=202,
    responses=_ROW,
    openapi_extra=takes(Settlement),
    dependencies=_CAN_ANSWER,
    tags=["people"],
)
async def settle(
    run_id: RunId, tp: Door, caller: Asker, body: Annotated[Settlement, Depends(JsonBody(Settlement))]
) -> Response:
    """Say what became of a write whose process died while it was made."""
    await _live(tp, caller, run_id)
    said: JsonObject = {"output": body.output} if body.outcome == "done" else {body.outcome: True}
    await tp.settle(run_id, body.step, **said, by=caller.user)
    return await _told(tp, run_id)
