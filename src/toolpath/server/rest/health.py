"""`/health` and `/ready`: whether the process lives, and whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from toolpath.server.problems import Problem, words_of
from toolpath.server.readiness import Readiness
from toolpath.server.rest.described import problems

router = APIRouter(tags=["operation"])


class Health(BaseModel):
    """Life of the process."""

    status: str = "ok"


class Part(BaseModel):
    """State of one part of it."""

    name: str
    detail: str = ""


class Ready(BaseModel):
    """Readiness of the process for its work."""

    status: str = "ok"
    parts: list[Part] = []


@router.get("/health", summary="Whether the process lives")
async def health() -> Health:
    """Answers as long as the process does; asks nothing of the store."""
    return Health()


@router.get("/ready", summary="Whether it can do its work", responses=problems(503))
async def ready(request: Request) -> Ready:
    """Answers 200 when the store takes writes and the queue can be reached, else 503 and which part cannot."""
    readiness: Readiness = request.app.state.readiness
    checks = await readiness.checks()
    for check in checks:
        if not check.ok:
            # Anybody may ask.
            detail = words_of(check.error) if check.error is not None else check.detail
            message = f"The {check.name} is not ready: {detail}"
            raise Problem(503, check.error.code if check.error else "not_ready", message, headers={"Retry-After": "1"})
    return Ready(parts=[Part(name=check.name, detail=check.detail) for check in checks])
