"""A way to a service that can be cut: a TCP relay, between a store and PostgreSQL unless another target is named."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from tests.store.store_cases import postgres_url


class Relay:
    """Passes bytes on, until it is told otherwise."""

    def __init__(self, target: tuple[str, int] | None = None) -> None:
        self.port = 0
        self.deaf = False
        """What the server says is not passed on: commits happen and nobody hears of them."""
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        parts = urlsplit(postgres_url())
        self._target = target or (parts.hostname or "127.0.0.1", parts.port or 5432)

    def url(self, schema: str, **more: object) -> str:
        parts = urlsplit(postgres_url(schema))
        user = parts.netloc.rpartition("@")[0]
        rest = "".join(f"&{name}={value}" for name, value in more.items())
        return f"postgresql://{user}@127.0.0.1:{self.port}{parts.path}?schema={schema}{rest}"

    async def open(self) -> None:
        """Let connections through."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Lose all connections, and refuse new ones."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, server_writer}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, server_writer, answers=False))
                both.create_task(self._pass(server_reader, writer, answers=True))
        finally:
            for end in (writer, server_writer):
                self._writers.discard(end)
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if not (answers and self.deaf):
                    writer.write(data)
                    await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def relayed(target: tuple[str, int] | None = None) -> AsyncIterator[Relay]:
    relay = Relay(target)
    await relay.open()
    try:
        yield relay
    finally:
        await relay.cut()
