"""A real server on a free port in the loop of the test, and what is asserted of its answers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp
from tests.patience import PATIENCE
from tests.server.late import Late

from toolpath.values import JsonObject


class Server(uvicorn.Server):
    """Ends when it is told to, not at the next of ten looks a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.told.wait()


def listening() -> socket.socket:
    """A socket on a free port, as `serve` has it: an answer in two writes does not wait for an acknowledgement."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())


@asynccontextmanager
async def serving(app: ASGIApp, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app behind a real server."""
    listener = listening()
    server = Server(
        uvicorn.Config(
            Late.asked_for(app), **{"lifespan": "on", "log_config": None, "timeout_graceful_shutdown": 5, **settings}
        )
    )
    task = asyncio.create_task(server.serve([listener]))
    host, port = listener.getsockname()
    # Nothing here speaks TLS, and reading the certificates of all authorities takes longer than many a test.
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=PATIENCE, verify=False) as client:
        try:
            yield client
        finally:
            server.told.set()
    await task


def assert_problem(response: httpx.Response, status: int, code: str) -> JsonObject:
    """That the answer is problem details of this status and code; gives its body."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: JsonObject = response.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["title"]
    assert body["detail"]
    return body
