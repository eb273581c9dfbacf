"""`/examples`: plans that come with the package, to begin with."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from starlette.responses import Response

from toolpath.providers.builtin.examples.catalog import KNOWN_BY, examples
from toolpath.server.parts import Door, Needs
from toolpath.server.rest.described import answer, shows
from toolpath.server.rest.plan_views import ExampleList

router = APIRouter(prefix="/examples", tags=["examples"])


@router.get("", responses=shows(ExampleList, "Examples, the easiest first."), dependencies=[Depends(Needs("read"))])
async def listed(tp: Door) -> Response:
    """The examples; each is a request to be planned, or a plan to be run."""
    is_on = KNOWN_BY in (await tp.tools()).tools
    return answer(ExampleList(is_on=is_on, examples=examples()))
