"""`make ui-demo`: the page on a store with runs of every kind, until it is told to stop.

.venv/bin/python -m ui.demo.serve [--port N] [--store FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import uvicorn
from ui.demo.store import demo_toolpath, fill

from toolpath import Toolpath
from toolpath.server.asgi import create_app


@asynccontextmanager
async def served(tp: Toolpath, port: int = 0) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service over this Toolpath, on a port of this machine."""
    listener = socket.create_server(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(create_app(tp), lifespan="on", log_config=None, timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve([listener]))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        try:
            yield client
        finally:
            server.should_exit = True
            await task


async def serve(port: int, store: Path) -> None:
    """Fill the store and serve it until somebody stops it."""
    async with served(tp := demo_toolpath(store), port) as client:
        await fill(tp, client, store)
        print(f"The page is at {client.base_url}; stop it with Ctrl-C.", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Read the command line, and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--store", type=Path, help="file of the store; none: a new one that is gone afterwards")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        asyncio.run(serve(asked.port, asked.store or Path(folder) / "demo.db"))


if __name__ == "__main__":
    main()
