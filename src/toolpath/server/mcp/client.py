"""The client behind one request: who it is, what it can do, how it is told and asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestFormParams, ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolpath.access.caller import OPEN, Caller

Context = ServerRequestContext[Any, Any]
#: In the state of an HTTP request: its client has hung up.
GONE = "client_is_gone"
_LOCAL = msgspec.structs.replace(OPEN, door="mcp")


class McpClient:
    """Client of a request: what may be said to it while the request is served."""

    def __init__(self, context: Context, *, leaves: Callable[[], bool]) -> None:
        self._context = context
        self._leaves = leaves
        self._progress = -1.0

    @property
    def caller(self) -> Caller:
        """Caller: over HTTP as the guard found out; over a pipe the user who started this process."""
        request = self._context.request
        caller: Caller = _LOCAL if request is None else request.state.caller
        return caller

    @property
    def has_cancelled(self) -> bool:
        """Of a request that is being cut off: its client did that, by a message or by hanging up, not this server."""
        if self._leaves():
            return False
        request = self._context.request
        # The newer generation has no message for it: over HTTP the client hangs up.
        return not (self.is_modern and request is not None) or bool(getattr(request.state, GONE, True))

    @property
    def is_modern(self) -> bool:
        """Whether it speaks the newer generation of the protocol, in which questions are results."""
        return self._context.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def has_forms(self) -> bool:
        """Whether it can have a person fill in a form, and its credentials let that person decide."""
        if not self.caller.may("answer"):
            return False
        capabilities = self._context.session.client_capabilities
        elicitation = None if capabilities is None else capabilities.elicitation
        # Before there were other ways to ask, an empty capability meant forms.
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    @property
    def can_be_asked(self) -> bool:
        """Whether it can be asked while its request is under way."""
        return self.has_forms and not self.is_modern and self._context.session.can_send_request

    @property
    def wants_progress(self) -> bool:
        """Whether it gave a token for progress."""
        return "progress_token" in (self._context.meta or {})

    async def tell_progress(self, progress: float, total: float | None, message: str) -> None:
        """Say how far the run is. What is not further than before is not said, since progress only grows."""
        if progress > self._progress:
            self._progress = progress
            await self._context.session.report_progress(progress, total, message or None)

    async def ask(self, question: ElicitRequestFormParams) -> ElicitResult:
        """The person's answer; `cancel` where the client could not ask."""
        try:
            return await self._context.session.elicit_form(
                question.message, question.requested_schema, related_request_id=self._context.request_id
            )
        except (MCPError, ValueError):
            return ElicitResult(action="cancel")
