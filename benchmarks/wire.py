"""A client of HTTP/1.1 that costs little, so that the figures are the server's: kept connections and event streams."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import urlsplit

_AT = re.compile(rb'"at":([0-9.]+)')


class Connection:
    """One kept connection."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port = str(parts.hostname), int(parts.port or 80)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(data)}\r\n"
        writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + data)
        status, length = await _head(reader)
        return status, json.loads(await reader.readexactly(length)) if length else None

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


async def _head(reader: asyncio.StreamReader) -> tuple[int, int]:
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    return int(lines[0].split(b" ")[1]), length


async def arrivals(address: str, path: str, joined: Callable[[], None]) -> AsyncIterator[tuple[float, float]]:
    """The time in each event of a stream, and that of its arrival here; `joined` is called when the answer begins."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.hostname}:{parts.port}\r\n\r\n".encode())
    status, _ = await _head(reader)
    assert status == 200, status
    joined()
    try:
        while line := await reader.readline():
            if line.startswith(b"event: end"):
                return
            found = _AT.search(line) if line.startswith(b"data:") else None
            if found is not None:
                yield float(found[1]), time.time()
    finally:
        writer.close()
