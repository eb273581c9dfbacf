"""`/audit`: who did what, for those who look after the service."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from toolpath.access.verifying import verify
from toolpath.server.parts import Asker, Door, Needs
from toolpath.server.problems import Problem
from toolpath.server.rest.described import answer, shows
from toolpath.server.rest.operation_views import AuditVerdict
from toolpath.server.rest.paging import ROWS, Limit, one_page
from toolpath.server.rest.views import AuditPage
from toolpath.server.statistics import serves_all

router = APIRouter(prefix="/audit", tags=["audit"])

After = Annotated[int, Query(ge=0, le=2**53, description="Only entries with a greater number.")]
_Newest = Annotated[bool, Query(description="Newest first, and `next` is the `before` of the next page.")]
_Before = Annotated[int | None, Query(ge=1, le=2**53, description="Newest first: only entries with a smaller number.")]
_CAN_SEE = [Depends(Needs("admin"))]


@router.get("", responses=shows(AuditPage, "Entries, oldest first."), dependencies=_CAN_SEE)
async def listed(
    tp: Door, caller: Asker, after: After = 0, newest: _Newest = False, before: _Before = None, limit: Limit = ROWS
) -> Response:
    """The audit trail of the caller's tenant, a page at a time."""
    if newest:
        found = await tp.trail.newest(tenant=caller.of_tenant, before=before, limit=limit + 1)
    else:
        found = await tp.trail.entries(tenant=caller.of_tenant, after=after, limit=limit + 1)
    page, mark = one_page(found, limit, lambda entry: entry.seq)
    return answer(AuditPage(entries=tuple(page), next=mark))


@router.post("/verify", responses=shows(AuditVerdict, "What came of the look."), dependencies=_CAN_SEE)
async def verified(tp: Door, caller: Asker) -> Response:
    """Look through the whole trail, of all tenants: it is one chain. It costs as much as there are entries."""
    if not serves_all(caller):
        hint = "Ask the operator of the service."
        raise Problem(403, "scope", "The trail is one chain, of all tenants.", hint=hint)
    verdict = await verify(tp.store)
    shown = {name: getattr(verdict, name) for name in AuditVerdict.__struct_fields__}
    return answer(AuditVerdict(**shown))
