"""The way to a server over streamable HTTP: faults of one request stay its own and are told in full."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import httpx2
import msgspec
from mcp.client.streamable_http import streamable_http_client

from toolpath.errors import ToolpathError
from toolpath.model.http_failures import seconds_of
from toolpath.providers.mcp.launch import Addresses, Launch


class HttpFault(msgspec.Struct):
    """Fault of the HTTP requests of one call: the `mcp` library keeps only that something went wrong."""

    status: int = 0
    retry_after: float | None = None
    error: str = ""
    reached: bool = True
    """The request may have arrived."""

    def clear(self) -> None:
        """Forget it: what follows is another request."""
        self.status, self.retry_after, self.error, self.reached = 0, None, "", True

    def __bool__(self) -> bool:
        return bool(self.status or self.error)


#: Where the requests that are sent from this context note their faults.
noted_fault: ContextVar[HttpFault | None] = ContextVar("noted_fault", default=None)


class _Noting(httpx2.AsyncHTTPTransport):
    """Notes faults, and turns a request that fails into an answer: an exception would end the whole connection."""

    def __init__(self, addresses: Addresses | None) -> None:
        super().__init__()
        self._addresses = addresses

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The server's answer, or a made-up 502."""
        fault = noted_fault.get()
        try:
            await self._aim(request)
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            if fault is not None:
                fault.error = f"{type(error).__name__}: {error}"
                fault.reached = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            return httpx2.Response(502, request=request)
        except ToolpathError as error:
            if fault is not None:
                fault.error, fault.reached = error.message, False
            return httpx2.Response(502, request=request)
        if fault is not None and response.status_code >= 400:
            fault.status = response.status_code
            fault.retry_after = seconds_of(response.headers)
        return response

    async def _aim(self, request: httpx2.Request) -> None:
        """Send it to an address that was looked at: a name may stand for another a moment later."""
        if self._addresses is None:
            return
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        (address, *_) = await self._addresses(host, port)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=address)


@contextlib.asynccontextmanager
async def http_streams(launch: Launch, *, seconds: float, addresses: Addresses | None = None) -> AsyncIterator[Any]:
    """The streams of a connection, as the `mcp` library wants a transport; `seconds` is for connecting and sending."""
    # A tool may think for long: reading has no limit of its own, the caller's time has.
    limits = httpx2.Timeout(seconds, read=None)
    async with (
        httpx2.AsyncClient(headers=launch.headers, timeout=limits, transport=_Noting(addresses)) as client,
        streamable_http_client(launch.url, http_client=client) as streams,
    ):
        yield streams
