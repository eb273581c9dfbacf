"""HTTP transport of requests to a tenant's models: to hosts of the public Internet, and such as the settings allow."""

from __future__ import annotations

from collections.abc import Callable

import httpx2

from toolpath.errors import ChatFailed, ToolUnavailable
from toolpath.providers.builtin.reach import HostRefused, Reach


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends each request to an address that was looked at: a name may stand for another a moment later."""

    def __init__(self, reach: Callable[[], Reach]) -> None:
        self._reach = reach
        # With a transport of its own the client heeds no proxy of the environment.
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer. Raises `ChatFailed` where the host may not be reached."""
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            addresses = await self._reach().addresses(host, port)
        except HostRefused as error:
            raise ChatFailed(error.message, kind="denied", hint=error.hint) from None
        except ToolUnavailable as error:
            raise httpx2.ConnectError(error.message, request=request) from None
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=addresses[0])
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Let go of all connections."""
        await self._inner.aclose()
