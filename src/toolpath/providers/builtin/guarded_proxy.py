"""A proxy on this machine that lets a browser reach what it may: it looks names up, and the browser does not."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final
from urllib.parse import urlsplit

from toolpath.errors import ToolFailed
from toolpath.providers.builtin.reach import Reach

_LONGEST_HEAD: Final = 65_536
_PATIENCE: Final = 20.0
_PIECE: Final = 65_536
#: Hosts of which it is remembered why they were refused.
_MOST_REFUSALS: Final = 100
#: Headers that are for the proxy, or for this one connection.
_OWN: Final = ("proxy-", "connection:", "keep-alive:")


class GuardedProxy:
    """An HTTP proxy, also for tunnels. Every connection goes to an address that was looked at."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._server: asyncio.Server | None = None
        self._refused: dict[str, str] = {}
        self.refusals = 0
        """How often a connection was refused."""
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Begin to listen; gives the address for the browser."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._serving):
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)

    def refusal(self, host: str = "") -> str:
        """Why the host was refused, or empty; of none that is named, the latest."""
        return self._refused.get(host.lower(), "") if host else next(reversed(self._refused.values()), "")

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            # Who asked has gone, or what was asked is no request.
            pass
        except asyncio.CancelledError:
            # The proxy is closed: nobody waits for this task.
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *headers = head.rstrip("\r\n").split("\r\n")
        method, target, _ = line.split(" ", 2)
        is_tunnel = method == "CONNECT"
        parts = urlsplit(f"//{target}" if is_tunnel else target)
        if not parts.hostname or (not is_tunnel and parts.scheme != "http"):
            writer.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
            return
        port = parts.port or (443 if is_tunnel else 80)
        try:
            there = await self._connected(parts.hostname, port)
        except (ToolFailed, OSError, TimeoutError) as error:
            self._refuse(parts.hostname, error)
            writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            return
        if is_tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            kept = [header for header in headers if not header.lower().startswith(_OWN)]
            request = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "connection: close"])
            there[1].write(request.encode("latin-1") + b"\r\n\r\n")
        await _joined((reader, writer), there)

    async def _connected(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(_PATIENCE):
            addresses = await self._reach.addresses(host, port)
            for address in addresses[:-1]:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection(address, port)
            return await asyncio.open_connection(addresses[-1], port)

    def _refuse(self, host: str, error: Exception) -> None:
        self.refusals += 1
        self._refused.pop(host.lower(), None)
        if len(self._refused) >= _MOST_REFUSALS:
            self._refused.pop(next(iter(self._refused)))
        self._refused[host.lower()] = str(error) or f"{host} has not answered in time."


async def _joined(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter], other: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Hand on what each side says until one of them has ended."""
    ways = [asyncio.create_task(_pumped(one[0], other[1])), asyncio.create_task(_pumped(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        # What the server has still to say when the browser has said all.
        if ways[0].done() and ways[0].result() and not ways[1].done():
            await asyncio.wait(ways[1:], timeout=_PATIENCE)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        other[1].close()


async def _pumped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether all was handed on, to its end."""
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        return True
    return False
