"""Errors as problem details (RFC 9457): one status and one stable `code` for each, and all findings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from toolpath import errors
from toolpath.errors import Finding, ToolpathError
from toolpath.values import pointer

_log = logging.getLogger("toolpath.server")

MEDIA_TYPE = "application/problem+json"
#: Characters of one text of an answer that says what is wrong: readers of bodies quote what they could not read.
_LONGEST = 4_000

#: The status of each error; of a class that is not listed, that of its nearest parent.
STATUS: dict[type[ToolpathError], int] = {
    errors.ToolpathError: 500,
    errors.ReadError: 400,
    errors.ExpressionError: 422,
    errors.PlanInvalid: 422,
    errors.SchemaError: 422,
    errors.ToolNotFound: 404,
    errors.AmbiguousTool: 409,
    errors.ToolFailed: 502,
    errors.OutputInvalid: 422,
    errors.NoToolFits: 422,
    errors.PlanningFailed: 422,
    errors.PolicyViolationError: 403,
    errors.CredentialsRefused: 401,
    errors.RunNotFound: 404,
    errors.RunConflict: 409,
    errors.StaleEpoch: 409,
    errors.RecordNotFound: 404,
    errors.RecordConflict: 409,
    errors.FileRefused: 422,
    errors.StoreError: 503,
    errors.QueueError: 503,
    errors.Unstorable: 422,
    errors.SealBroken: 503,
    errors.ConfigError: 503,
}

#: Codes of what HTTP itself refuses.
_HTTP_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}


class Problem(ToolpathError):
    """Refusal by a door, without an error of the engine behind it, with the status that says so."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        suggestions: Iterable[str] = (),
        findings: tuple[Finding, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, suggestions=suggestions)
        self.status = status
        self.code = code  # one class, the codes of the doors
        self.findings = findings
        self.headers = headers


class ProblemDetails(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of every answer from 400 on."""

    type: str = msgspec.field(default="about:blank")
    title: str
    """The status in words."""
    status: int
    code: str
    """Stable name of what is wrong."""
    detail: str
    """What is wrong, for people."""
    hint: str = ""
    suggestions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()
    """What the caller would need to be allowed."""


def status_of(error: ToolpathError) -> int:
    """The HTTP status that tells of the error."""
    if isinstance(error, Problem):
        return error.status
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def details_of(error: ToolpathError) -> ProblemDetails:
    """The error as problem details."""
    status = status_of(error)
    findings = tuple(getattr(error, "findings", ()))
    if isinstance(error, errors.SchemaError):
        findings = tuple(
            Finding(code=error.code, severity="error", message=message, path=at) for at, message in error.faults
        )
    return ProblemDetails(
        title=HTTPStatus(status).phrase,
        status=status,
        code=error.code,
        detail=in_short(words_of(error)),
        hint=in_short(hint_of(error)),
        suggestions=tuple(in_short(each) for each in error.suggestions),
        findings=tuple(_in_short(each) for each in findings),
        missing=tuple(getattr(error, "missing", ())),
    )


def in_short(text: str) -> str:
    """The text where it can be read, else its beginning and how long it is."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}… ({len(text):,} characters)"


def _in_short(finding: Finding) -> Finding:
    if max(len(finding.message), len(finding.path)) <= _LONGEST:
        return finding
    return msgspec.structs.replace(finding, message=in_short(finding.message), path=in_short(finding.path))


def words_of(error: ToolpathError) -> str:
    """The words on the error for callers. Where the store or the broker is, and how, is for the log alone."""
    if not _is_of_the_house(error):
        return error.message
    _log.warning("%s: %s", error.code, error)
    what = "queue" if isinstance(error, errors.QueueError) else "store"
    return f"The {what} does not do its work now; the server's log says more."


def hint_of(error: ToolpathError) -> str:
    """The hint for callers."""
    return "" if _is_of_the_house(error) else error.hint


def _is_of_the_house(error: ToolpathError) -> bool:
    return isinstance(error, errors.StoreError | errors.QueueError) and not isinstance(error, errors.Unstorable)


def problem(error: ToolpathError) -> Response:
    """The answer that tells of the error."""
    details = details_of(error)
    return Response(
        msgspec.json.encode(details), status_code=details.status, media_type=MEDIA_TYPE, headers=headers_of(error)
    )


def headers_of(error: ToolpathError) -> dict[str, str]:
    """The headers of the answer: those of the error, and when to come back where the service is away for now."""
    headers = dict(getattr(error, "headers", None) or {})
    if status_of(error) == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.setdefault("Retry-After", "1")
    return headers


def answer_problems(app: FastAPI, redact: Callable[[str], str]) -> None:
    """Have every error of this app answered as problem details. `redact` takes secrets out of their text."""

    async def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, ToolpathError)
        answer = problem(error)
        return _redacted(answer, redact)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _redacted(problem(_invalid(error)), redact)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = _HTTP_CODES.get(error.status_code, "http_error")
        headers = error.headers
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # The router names the methods of one of the routes that have the path.
            headers = {"Allow": ", ".join(_methods(request))}
        return problem(Problem(error.status_code, code, str(error.detail), headers=headers))

    async def unexpected(request: Request, error: Exception) -> Response:
        # What it says may hold anything, secrets too; the log has it.
        return problem(
            Problem(500, "internal", "The server made a mistake.", hint="Its log says more; please report it.")
        )

    app.add_exception_handler(ToolpathError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Exception, unexpected)


def _methods(request: Request) -> list[str]:
    """The methods that the path of the request has."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] != Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)


def _redacted(answer: Response, redact: Callable[[str], str]) -> Response:
    text = bytes(answer.body).decode()
    clean = redact(text)
    if clean == text:
        return answer
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return Response(clean, status_code=answer.status_code, headers=headers)


def _invalid(error: RequestValidationError) -> Problem:
    """A request whose body, path or query is not as the description of the interface says."""
    findings = tuple(_finding(fault) for fault in error.errors()[:100])
    first = findings[0].message if findings else "It does not fit."
    return Problem(422, "invalid_request", f"The request is not as described: {first}", findings=findings)


def _finding(fault: Mapping[str, Any]) -> Finding:
    # The first part says which: body, path, query or header.
    where, *at = fault.get("loc", ("body",))
    path = pointer(*at) if where == "body" else pointer(where, *at)
    name = f"{at[-1]}: " if at else ""
    return Finding(code=str(fault.get("type", "invalid")), severity="error", message=f"{name}{fault['msg']}", path=path)
