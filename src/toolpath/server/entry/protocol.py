"""HTTP/1.1 protocol of uvicorn with one change: a head that does not come to its end is not waited for."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_log = logging.getLogger("toolpath.access")
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class TimedProtocol(H11Protocol):
    """Closes connections whose request does not come. uvicorn itself only ends those that idle between two."""

    def __init__(self, *given: Any, seconds: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Something of a request has come."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._unwatch()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._seconds, self._too_slow)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            _log.warning("refused a connection from %s: too_slow_head (408)", self.client[0] if self.client else "-")
            self.transport.write(_TOO_SLOW)
            self.transport.close()


def protocol_of(seconds: float) -> Any:
    """uvicorn's protocol with a limit on the time that the head of a request may take; may be sent to processes."""
    return partial(TimedProtocol, seconds=seconds)
