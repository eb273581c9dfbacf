"""Errors as clients of OpenAI's API know them: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from toolpath.errors import ChatFailed, StoreError, ToolpathError
from toolpath.server.problems import Problem, headers_of, in_short, status_of, words_of
from toolpath.values import JsonObject

_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class BadRequest(Problem):
    """A request that cannot be served as it is; `param` says which part of it."""

    def __init__(self, message: str, *, param: str = "", code: str = "invalid_value", status: int = 400) -> None:
        super().__init__(status, code, message)
        self.param = param


class OpenAIRoute(APIRoute):
    """A route whose errors are told in that form."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with what it raises as an answer."""
        handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except ToolpathError as error:
                return refusal(error, request.app.state.toolpath.redact)

        return handled


def refusal(error: ToolpathError, redact: Callable[[str], str] = str) -> Response:
    """The error as an answer."""
    body = msgspec.json.encode({"error": told(error, redact)})
    return Response(body, status_code=_status(error), media_type="application/json", headers=headers_of(error))


def told(error: ToolpathError, redact: Callable[[str], str] = str) -> JsonObject:
    """The error as its object."""
    status = _status(error)
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    message = in_short(redact(_message(error)))
    return {"message": message, "type": kind, "param": getattr(error, "param", "") or None, "code": error.code}


def _message(error: ToolpathError) -> str:
    """The message: what is wrong and what to do. Where the store is, and how, is for the log alone."""
    words = words_of(error)
    return str(error) if words == error.message else words


def _status(error: ToolpathError) -> int:
    if isinstance(error, ChatFailed) and error.kind == "too_long":
        return 400
    status = status_of(error)
    # That API has one status for what is wrong in a request.
    return status if isinstance(error, StoreError) or status not in (409, 422) else 400
