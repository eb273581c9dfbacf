"""A service that is asked for anything by anybody, and what it must not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import httpx
from tests.attacks.hostile_requests import Asked, Requests, found_ids, said
from tests.attacks.route_bodies import DYNAMIC, MODEL, NONE, PLAN, ROUTES, SCHEDULE, SERVER, TEMPLATE
from tests.server.serving_cases import serving

from toolpath import Settings, Toolpath, tool
from toolpath.model.chat import ChatRequest
from toolpath.server.asgi import create_app
from toolpath.testing.scripted_model import ScriptedModel, done

#: Bytes that are read of an answer, and seconds of one that does not end.
_ENOUGH = 300_000
_LOOK = 0.3
#: What a service may say that has no model or does not know what is asked of it.
_WELL = frozenset({501, 502, 503})


@tool(effect="read")
async def echo(x: Any = None, y: Any = None) -> Any:
    """Give it back."""
    return x


def _turn(request: ChatRequest) -> Any:
    """A call, a form or a text; then the end."""
    spoken = sum(message.role == "assistant" for message in request.messages)
    if spoken:
        return done("ended") if any(spec.name == "terminate" for spec in request.tools) else "ended"
    length = sum(len(message.text) for message in request.messages)
    return ([("echo", {"x": 1})], [("form_input", {"title": "T", "inputs": [{"name": "w"}]})], "text")[length % 3]


class Besieged:
    """The service, what is there, and what was wrong with its answers."""

    def __init__(self, tp: Toolpath, client: httpx.AsyncClient, routes: list[tuple[str, str, Any]]) -> None:
        self._routes = routes
        self.tp = tp
        self.client = client
        self.known: dict[str, list[str]] = {
            "key": ["echo"],
            "name": ["a.txt"],
            "path": ["a.txt", "b/c.txt"],
            "step": ["form", "a"],
        }
        self.faults: list[str] = []
        self.asked = 0

    async def fill(self) -> None:
        """Have one of each thing there."""
        kept = await self._made("POST", "/api/v1/templates", {"document": TEMPLATE, "title": "Kept"})
        await self._made(
            "POST",
            f"/api/v1/templates/{kept['template_id']}/publish",
            {"channels": ["http", "conversation", "mcp", "tool"]},
        )
        await self._made("POST", "/api/plan-template/create-or-update-with-tool", DYNAMIC)
        plan = await self._made("POST", "/api/v1/plans", {"plan": PLAN})
        await self._made("POST", "/api/v1/runs", {"plan_id": plan["plan_id"], "inputs": {"x": "a"}})
        await self._made("POST", "/api/v1/schedules", {**SCHEDULE, "template_id": kept["template_id"]})
        await self._made("POST", "/api/v1/models", MODEL)
        await self._made("POST", "/api/v1/mcp-servers", SERVER)
        self.known["server"] = ["docs"]
        await self._made("POST", "/api/v1/conversations", {"title": "Talk"})
        sent = await self.client.post("/api/v1/files", files={"files": ("a.txt", b"x")})
        self._learn(sent.json())

    async def _made(self, method: str, path: str, body: Any) -> Any:
        answer = await self.client.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        self._learn(answer.json())
        return answer.json()

    def _learn(self, value: Any) -> None:
        for name, found in found_ids(value).items():
            names = self.known.setdefault(name, [])
            if found not in names:
                names.append(found)
                del names[1:-5]

    async def attack(self, seed: int, times: int) -> None:
        """Ask for so many things, at times for two at once."""
        chance = Random(seed)
        requests = Requests(chance, self.known, self._routes)
        for _ in range(times):
            batch = [requests.next()]
            if chance.random() < 0.1:
                batch *= 2
            await asyncio.gather(*(self._ask(asked) for asked in batch))

    async def _ask(self, asked: Asked) -> None:
        self.asked += 1
        try:
            async with asyncio.timeout(2 if _waits(asked) else 20):
                request = self.client.build_request(
                    asked.method,
                    asked.path,
                    content=asked.content,
                    headers=[(k, v.encode("latin-1")) for k, v in asked.heads.items()],
                )
                answer = await self.client.send(request, stream=True)
                content = await _read(answer)
        except httpx.InvalidURL:
            return
        except httpx.TransportError:
            # It has closed the connection, as it may.
            return
        except TimeoutError:
            if not _waits(asked):
                self.faults.append(f"{_shown(asked)}: no answer")
            return
        found = said(content)
        if answer.status_code < 400:
            self._learn(found)
        elif fault := wrong_with(asked, answer, found, is_cut=len(content) > _ENOUGH):
            self.faults.append(f"{_shown(asked)}: {answer.status_code} {fault} {content[:300]!r}")


def _waits(asked: Asked) -> bool:
    """Whether the answer comes when a run has ended, which may wait for a person."""
    return "executeByToolNameSync" in asked.path or "wait=" in asked.path


async def _read(answer: httpx.Response) -> bytes:
    """What it says, but no more of it than is needed."""
    content = b""
    try:
        async with asyncio.timeout(_LOOK if "event-stream" in answer.headers.get("content-type", "") else 20):
            async for part in answer.aiter_raw():
                content += part
                if len(content) > _ENOUGH:
                    break
    except TimeoutError:
        if "event-stream" not in answer.headers.get("content-type", ""):
            raise
    finally:
        await answer.aclose()
    return content


def wrong_with(asked: Asked, answer: httpx.Response, found: Any, *, is_cut: bool) -> str:
    """What a refusal lacks; empty: nothing."""
    if answer.status_code >= 500 and answer.status_code not in _WELL:
        return "is no answer."
    if asked.method == "HEAD" or answer.status_code == 413:
        return ""
    if found is None and is_cut:
        # All findings at once, of which there are many.
        return ""
    if not isinstance(found, dict):
        return "says nothing in JSON."
    if asked.path.startswith("/v1/") and "error" in found:
        error = found.get("error")
        return (
            "" if isinstance(error, dict) and error.get("message") and error.get("code") else "is no error of OpenAI's."
        )
    if "error" in found and asked.path.startswith("/api/") and not asked.path.startswith("/api/v1/"):
        return "" if found["error"] and found.get("errorCode") else "is no error of the plan execution service."
    return "" if found.get("code") and found.get("detail") else "is no problem with a code and a detail."


def _shown(asked: Asked) -> str:
    return f"{asked.method} {asked.path[:200]} {str(asked.heads)[:200]} {asked.content[:300]!r}"


def all_routes(described: Any) -> list[tuple[str, str, Any]]:
    """Those of the table, and what the service describes beside them."""
    known = {(method, path) for method, path, _ in ROUTES}
    others = [
        (method.upper(), path.replace(":path", ""), NONE if method == "get" else {})
        for path, item in described["paths"].items()
        for method in item
    ]
    return ROUTES + [route for route in others if route[:2] not in known]


class Errors(logging.Handler):
    """Hearer of what the service itself calls an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """One more."""
        self.heard.append(self.format(record)[-3_000:])


@asynccontextmanager
async def besieged(store: Any = None, **settings: Any) -> AsyncIterator[Besieged]:
    """A real server with one of each thing, which says what it calls an error."""
    errors = Errors()
    logging.getLogger().addHandler(errors)
    tp = Toolpath(store, settings=Settings(**settings), chat=ScriptedModel(then=_turn))
    tp.add(echo)
    try:
        app = create_app(tp)
        async with serving(app) as client:
            found = Besieged(tp, client, all_routes(app.openapi()))
            await found.fill()
            yield found
            found.faults += errors.heard
    finally:
        logging.getLogger().removeHandler(errors)
