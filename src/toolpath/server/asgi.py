"""The service as one ASGI application: its routes and mounts, what is opened with it, what comes before the routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from toolpath.access.caller import OPEN, Caller
from toolpath.access.credentials import Credentials
from toolpath.access.keys import Keys
from toolpath.app import Toolpath
from toolpath.runs.retention import keep_pruned, keep_swept, keep_trail_pruned
from toolpath.server.caretaker import Caretaker
from toolpath.server.entry.guard import Guard
from toolpath.server.entry.living import Living
from toolpath.server.entry.stopping import beside, when_told_to_stop
from toolpath.server.feeds import Feeds
from toolpath.server.graphql.schema import graphql_router
from toolpath.server.mcp.http import PATH as MCP
from toolpath.server.mcp.http import McpOverHttp
from toolpath.server.openai import completions
from toolpath.server.openai import models as openai_models
from toolpath.server.page import assets, session
from toolpath.server.plan_service import config as service_config
from toolpath.server.plan_service import conversations as chats
from toolpath.server.plan_service import cron_tasks, executor, file_browser, file_upload, plan_templates
from toolpath.server.plan_service import mcp as service_mcp
from toolpath.server.plan_service import models as service_models
from toolpath.server.problems import answer_problems
from toolpath.server.questions import OpenQuestions
from toolpath.server.readiness import Readiness
from toolpath.server.rest import (
    audit,
    conversations,
    events,
    examples,
    files,
    health,
    mcp_servers,
    metrics,
    models,
    operation,
    plannings,
    plans,
    questions,
    routing,
    runs,
    schedules,
    settings,
    steering,
    templates,
    tools,
    trials,
)
from toolpath.server.rest.described import describe
from toolpath.telemetry.requests import Requests
from toolpath.telemetry.telemetry import Telemetry
from toolpath.workspace.scheduler import Scheduler

#: Where the routes of this version are.
API = "/api/v1"

_DESCRIPTION = "Requests become checked plans of tool calls; plans become durable, auditable runs."


def create_app(
    tp: Toolpath,
    *,
    is_open: bool = False,
    credentials: Credentials | None = None,
    caller: Caller = OPEN,
    telemetry: Telemetry | None = None,
) -> FastAPI:
    """The service over this Toolpath, to be run by any ASGI server.

    The Toolpath is opened and closed with the app, unless it `is_open` already. `credentials` says who asks; without
    it, everybody on this machine asks as `caller`, and nobody from elsewhere gets in. `telemetry` is of this process:
    it counts and logs requests, and its metrics are at `/metrics`.
    """

    mcp = McpOverHttp(tp)

    app = FastAPI(
        title="Toolpath",
        description=_DESCRIPTION,
        version=version("toolpath"),
        lifespan=partial(_running, tp, mcp, telemetry, is_open),
        openapi_url=f"{API}/openapi.json",
        # Their pages load scripts from other places.
        docs_url=None,
        redoc_url=None,
        # Spans are the engine's, see `telemetry`.
        telemetry={"tracing": False, "metrics": False},
    )
    app.state.toolpath = tp
    app.state.feeds = Feeds(tp)
    app.state.stopping = asyncio.Event()
    app.state.questions = OpenQuestions(tp)
    app.state.readiness = Readiness(tp)
    app.state.is_running = False
    app.state.leaving = set()
    """Runs that are being cancelled since their clients went away."""
    answer_problems(app, tp.redact)
    _hang_in(app, telemetry)
    describe(app)
    app.include_router(graphql_router(), include_in_schema=False)
    app.router.routes.append(Route(MCP, mcp))
    origins = tp.settings.allowed_origins
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"])
    known = credentials or Credentials(keys=Keys(tp.store, tp.clock), open_as=caller)
    app.add_middleware(Guard, credentials=known, settings=tp.settings, clock=tp.clock)
    app.add_middleware(
        Living, running=partial(_running, tp, mcp, telemetry, is_open, app), is_running=lambda: app.state.is_running
    )
    if telemetry is not None:
        app.add_middleware(Requests, metrics=telemetry.metrics, tracer=telemetry.tracer)
    return app


def _hang_in(app: FastAPI, telemetry: Telemetry | None) -> None:
    """Give the app the routes of every noun and of the doors beside them."""
    if telemetry is not None and telemetry.metrics is not None:
        app.state.metrics = telemetry.metrics
        app.include_router(metrics.router)
    app.router.routes.extend(_nouns().routes)


@cache
def _nouns() -> APIRouter:
    """The routes that all apps have: what FastAPI works out of them for the first request is worked out once."""
    all_of_them = APIRouter()
    all_of_them.include_router(health.router)
    # A request is held against one route after the other: those that are asked for most come first.
    of_runs = (runs, events, steering, questions)
    kept = (trials, plans, plannings, examples, templates, schedules, models, mcp_servers, settings, conversations)
    for noun in (*of_runs, *kept, routing, tools, operation, audit, files, session):
        all_of_them.include_router(noun.router, prefix=API)
    service = (executor, plan_templates, cron_tasks, service_models, service_config, service_mcp)
    for door in (*service, chats, file_upload, file_browser, completions, openai_models, assets):
        all_of_them.include_router(door.router)
    return all_of_them


@asynccontextmanager
async def _running(
    tp: Toolpath, mcp: McpOverHttp, telemetry: Telemetry | None, is_open: bool, app: FastAPI
) -> AsyncIterator[None]:
    """Run all that lives as long as the app."""
    async with AsyncExitStack() as stack:
        if telemetry is not None:
            stack.callback(telemetry.close)
        if not is_open:
            await stack.enter_async_context(tp)
        await stack.enter_async_context(mcp.running())
        stack.callback(app.state.feeds.close)

        def stop() -> None:
            app.state.stopping.set()
            app.state.feeds.close()

        stack.enter_context(when_told_to_stop(stop))
        await stack.enter_async_context(beside(Caretaker(tp, app.state.questions).run()))
        await stack.enter_async_context(beside(Scheduler(tp.schedules, tp.clock, tp.redact).run()))
        if tp.settings.retention_days:
            forget, doomed = tp.files.forget_runs, tp.conversations.keep_answers
            pruning = keep_pruned(tp.store, tp.clock, tp.settings.retention_days, tp.trail, forget, doomed)
            await stack.enter_async_context(beside(pruning))
        await stack.enter_async_context(beside(keep_swept(tp.files.sweep, tp.clock)))
        if tp.settings.audit_retention_days:
            letting_go = keep_trail_pruned(tp.store, tp.clock, tp.settings.audit_retention_days, tp.trail)
            await stack.enter_async_context(beside(letting_go))
        app.state.is_running = True
        try:
            yield
        finally:
            app.state.is_running = False
