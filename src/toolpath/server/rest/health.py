"""`/health` and `/ready`: whether the process lives, and whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from toolpath.server.parts import Door
from toolpath.server.rest.described import problems

router = APIRouter(tags=["operation"])


class Health(BaseModel):
    """That the process lives."""

    status: str = "ok"


@router.get("/health", summary="Whether the process lives")
async def health() -> Health:
    """Answers as long as the process does; asks nothing of the store."""
    return Health()


@router.get("/ready", summary="Whether it can do its work", responses=problems(503))
async def ready(tp: Door) -> Health:
    """Answers 200 when the store can be read, else 503."""
    await tp.runs(limit=1)
    return Health()
