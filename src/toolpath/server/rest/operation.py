"""`/operation` and `/workers`: what goes on, for those who look after the service. A tenant sees its own runs only."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from toolpath.app import Toolpath
from toolpath.errors import ToolpathError
from toolpath.model.run import Beat
from toolpath.ports import PutsAside
from toolpath.projections.run_times import throughput
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import answer, shows
from toolpath.server.rest.operation_views import OperationDetail, QueueDetail, WorkerList, WorkerRow
from toolpath.server.rest.views import RunRow, run_row
from toolpath.server.statistics import serves_all

router = APIRouter(tags=["operation"])

_CAN_READ = [Depends(Needs("read"))]
#: Runs that are looked at, newest first, however many began in the time: what one answer costs at most.
LOOKED_AT = 10_000
_WAITING = 1_000
#: Seconds for which a process that has fallen silent is still shown.
_SHOWN_FOR = 60.0
_DRIVEN = 100
_Seconds = Annotated[int, Query(ge=60, le=31 * 86_400, description="How far to look back.")]


@router.get("/operation", responses=shows(OperationDetail, "As it stands now."), dependencies=_CAN_READ)
async def operation(tp: Door, caller: Asker, seconds: _Seconds = 3_600) -> Response:
    """How many of the caller's runs are open, what began lately and what came of it, and what waits for a worker.

    It costs as many rows as are open or began in that time, 10,000 of these at most, and no journal.
    """
    now = tp.clock.time()
    standing = await tp.store.standing(tenant=caller.of_tenant)
    times = await tp.store.run_times(now - seconds, tenant=caller.of_tenant, limit=LOOKED_AT)
    is_whole = len(times) < LOOKED_AT
    since = now - seconds if is_whole else times[-1].created_at
    return answer(
        OperationDetail(
            at=now,
            since=since,
            open_runs=standing.runs,
            questions=standing.questions,
            throughput=throughput(times, since, now),
            is_whole=is_whole,
            queue=await _queue(tp) if serves_all(caller) else None,
        )
    )


@router.get("/workers", responses=shows(WorkerList, "Who drives, and what."), dependencies=_CAN_READ)
async def workers(tp: Door, caller: Asker) -> Response:
    """The processes that say that they live, and those that drive runs whether they say so or not.

    A tenant is shown those that drive a run of theirs, without their names.
    """
    is_house = serves_all(caller)
    found = {beat.driver: beat for beat in await tp.store.processes(tp.clock.time() - _SHOWN_FOR)}
    found |= {beat.driver: _later(beat, found.get(beat.driver)) for beat in await tp.store.drivers()}
    driven: dict[str, list[RunRow]] = defaultdict(list)
    for info in await tp.store.runs_of(list(found), limit=_DRIVEN, tenant=caller.of_tenant):
        driven[info.driver].append(run_row(info))
    shown = sorted(found) if is_house else sorted(driven)
    rows = (
        WorkerRow(
            name=driver if is_house else "",
            seen_at=found[driver].seen_at,
            is_connected=found[driver].is_connected,
            runs=tuple(driven[driver]),
        )
        for driver in shown
    )
    return answer(WorkerList(workers=tuple(rows)))


def _later(beat: Beat, known: Beat | None) -> Beat:
    return beat if known is None else Beat(beat.driver, max(beat.seen_at, known.seen_at), beat.is_connected)


async def _queue(tp: Toolpath) -> QueueDetail | None:
    if tp.queue is None:
        return None
    waiting = len(await tp.store.queued(_WAITING))
    try:
        messages = await tp.queue.depth()
        aside = await tp.queue.put_aside() if isinstance(tp.queue, PutsAside) else None
    except ToolpathError as error:
        return QueueDetail(waiting=waiting, problem=tp.redact(error.message))
    return QueueDetail(waiting=waiting, messages=messages, put_aside=aside)
