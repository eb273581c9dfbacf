"""`/audit`: who did what, for those who look after the service."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.rest.described import Limit, answer, problems, shows
from toolpath.server.rest.views import AuditPage

router = APIRouter(prefix="/audit", tags=["audit"])

After = Annotated[int, Query(ge=0, le=2**53, description="Only entries with a greater number.")]


@router.get(
    "", responses={**shows(AuditPage, "Entries, oldest first."), **problems()}, dependencies=[Depends(Needs("admin"))]
)
async def listed(tp: Door, caller: Asker, after: After = 0, limit: Limit = 50) -> Response:
    """The audit trail of the caller's tenant, a page at a time."""
    found = await tp.trail.entries(tenant=caller.of_tenant, after=after, limit=limit + 1)
    page = tuple(found[:limit])
    return answer(AuditPage(entries=page, next=page[-1].seq if len(found) > limit else None))
