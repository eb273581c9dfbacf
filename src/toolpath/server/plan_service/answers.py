"""Bodies and answers as that service's clients know them: unknown fields are let pass, errors are `{"error": …}`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from toolpath.errors import (
    PlanInvalid,
    ReadError,
    RecordConflict,
    RecordNotFound,
    RunNotFound,
    SchemaError,
    StoreError,
    ToolpathError,
)
from toolpath.server.problems import STATUS, Problem, in_short
from toolpath.server.rest.described import answer
from toolpath.values import Json, JsonObject

#: That service's words for what went wrong.
_CODES: Final = (
    (RecordNotFound, "NOT_FOUND"),
    (RunNotFound, "NOT_FOUND"),
    (RecordConflict, "DUPLICATE_TITLE"),
    (PlanInvalid, "VALIDATION_ERROR"),
    (ReadError, "VALIDATION_ERROR"),
    (SchemaError, "VALIDATION_ERROR"),
)


class ServiceRoute(APIRoute):
    """A route whose errors are told in that service's form."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with what it raises as an answer."""
        handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except (Problem, StoreError):
                raise
            except ToolpathError as error:
                return refusal(error, request.app.state.toolpath.redact)

        return handled


def refusal(error: ToolpathError, redact: Callable[[str], str]) -> Response:
    """The error as `{"error", "errorCode"}`."""
    status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "INTERNAL_ERROR")
    # Missing parameters and wrong plans are that service's 400.
    return answer({"error": in_short(redact(str(error))), "errorCode": code}, 400 if status == 422 else status)


async def body_of(request: Request, record: type[Any]) -> Any:
    """The body as the record; fields that nobody knows are let pass. Raises `ReadError`."""
    data = await request.body()
    try:
        return msgspec.json.decode(data or b"{}", type=record)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"The body cannot be read: {error}") from None


def object_of(value: Json) -> JsonObject:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
