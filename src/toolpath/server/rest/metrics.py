"""`/metrics`: the figures of this process for Prometheus, with how much is open in the store."""

from __future__ import annotations

import asyncio
import contextlib

from fastapi import APIRouter, Request
from fastapi.responses import Response

from toolpath.errors import ToolpathError
from toolpath.ports import PutsAside
from toolpath.server.parts import Asker, Door
from toolpath.server.problems import Problem
from toolpath.server.rest.described import problems
from toolpath.server.statistics import serves_all
from toolpath.telemetry.metrics import CONTENT_TYPE, Metrics

router = APIRouter(tags=["operation"])

#: Seconds that the store has for it.
_WITHIN = 5.0


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(403)},
)
async def metrics(request: Request, tp: Door, caller: Asker) -> Response:
    """Prometheus' text format, of all tenants and so for callers of none: not for the admin of one either.

    What the store cannot tell in time is left out.
    """
    if not serves_all(caller) or not (caller.may("read") or caller.may("admin")):
        hint = "Ask with a key of no tenant that has the scope read."
        raise Problem(403, "scope", "The figures are of all tenants.", hint=hint)
    found: Metrics = request.app.state.metrics
    try:
        async with asyncio.timeout(_WITHIN):
            found.standing(await tp.store.standing())
        found.store_answered(True)
    except (ToolpathError, TimeoutError):
        found.standing_unknown()
        found.store_answered(False)
    if isinstance(tp.queue, PutsAside):
        with contextlib.suppress(ToolpathError):
            found.put_aside(await tp.queue.put_aside())
    return Response(found.text(), media_type=CONTENT_TYPE)
