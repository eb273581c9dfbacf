"""`/runs`: begin, look at, steer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from toolpath.model.run import RunInfo
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer, problems, shows
from toolpath.server.visibility import visible_run

router = APIRouter(prefix="/runs", tags=["runs"])

RunId = Annotated[str, Path(max_length=200, description="The run's id.")]


@router.get(
    "/{run_id}",
    responses={**shows(RunInfo, "The run as it stands."), **problems(404)},
    dependencies=[Depends(Needs("read"))],
)
async def show(run_id: RunId, tp: Door, caller: Asker) -> Response:
    """The run as it stands."""
    info = await visible_run(tp, caller, run_id)
    return answer(info)
