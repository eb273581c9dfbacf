"""Outcome of a call: its result as a checked JSON value, or the record of its failure. Pure."""

from __future__ import annotations

import asyncio
import math
from typing import Any, TypeGuard

from toolpath.config import Settings
from toolpath.engine.compile.nodes import CallTarget
from toolpath.engine.decide.retries import pause_asked_for
from toolpath.engine.state.results import Done, unfit_of_secrets
from toolpath.engine.state.weights import weight_of_text
from toolpath.errors import (
    OutputInvalid,
    SchemaError,
    ToolFailed,
    ToolNotFound,
    ToolpathError,
    ToolRetry,
    ToolUnavailable,
)
from toolpath.model.events import Failure
from toolpath.model.http_failures import code_of, seconds_of
from toolpath.model.redaction import Redactor
from toolpath.model.tool import ToolResult
from toolpath.values import Json, encode, handle_of, plain, writable

#: Bytes of a result's sources: they travel in the journal.
LARGEST_SOURCES = 100_000
#: Characters of the message of a failure.
LONGEST_MESSAGE = 10_000
#: Failures after which a write may have happened.
DOUBTFUL = frozenset({"timeout", "connection"})


def check_result(
    result: Any, target: CallTarget, settings: Settings, *, duration: float, redactor: Redactor
) -> Done | Failure:
    """The result as a plain value that fits the output schema, or why the call counts as failed."""
    given = result if type(result) is ToolResult else None
    try:
        value, data = plain(result if given is None else given.output)
    except OutputInvalid as error:
        return failure_of(error, target, redactor)
    size = len(data)
    if size > settings.max_result_bytes:
        return _too_large(target, data, settings)
    tells = type(value) is dict and ("error" in value or "success" in value)
    if tells and (failed := _says_failed(value, redactor)) is not None:
        return failed
    done = Done(value, duration, cost=target.tool.cost, weight=weight_of_text(data))
    gives = target.gives
    if gives is not None and not gives(value):
        unfit = _unfit(done, target, redactor)
        if unfit is not None:
            return unfit
    if given is not None:
        done.warning = _take_over(given, done, redactor) or done.warning
    elif type(value) is dict and ("confidence" in value or "sources" in value):
        _read_confidence(value, done)
    if redactor.active or done.output is not value:
        # What a schema says of the result holds for what the tool gave; all else is said, cut and kept of what is left.
        done.output, data = redactor.result(done.output, data if done.output is value else encode(done.output))
        size, done.weight = len(data), weight_of_text(data)
    if size > settings.max_result_size:
        done.handle = handle_of(data)
        done.blob = data
    return done


def _too_large(target: CallTarget, data: bytes, settings: Settings) -> Failure:
    most = f"the most is {settings.max_result_bytes:,} (max_result_bytes)"
    message = f"{target.key} returned {len(data):,} bytes; {most}."
    return Failure(type="ResultTooLarge", message=message, code="invalid_output")


def _take_over(given: ToolResult, done: Done, redactor: Redactor) -> str:
    """Keep what the tool says beside its output, as far as it can be; gives what is wrong with the rest."""
    wrong = []
    if _is_number(given.confidence) and 0 <= given.confidence <= 1:
        done.confidence = float(given.confidence)
    elif given.confidence is not None:
        wrong.append("confidence is no number from 0 to 1")
    if _is_number(given.cost) and given.cost >= 0:
        done.cost = float(given.cost)
    elif given.cost is not None:
        wrong.append("cost is no amount of USD")
    if type(given.tokens) is int and 0 <= given.tokens < 2**53:
        done.tokens = given.tokens
    elif given.tokens is not None:
        wrong.append("tokens is no count")
    try:
        sources, data = plain(list(given.sources or ()))
    except (OutputInvalid, TypeError):
        wrong.append("sources are no JSON")
    else:
        if len(data) <= LARGEST_SOURCES:
            done.sources = tuple(redactor.value(sources))
        else:
            wrong.append(f"sources have {len(data):,} bytes, {LARGEST_SOURCES:,} are the most")
    return f"Left out of what the tool says of its result: {'; '.join(wrong)}." if wrong else ""


def _is_number(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and math.isfinite(value)


def _unfit(done: Done, target: CallTarget, redactor: Redactor) -> Failure | None:
    """A strict tool's result is read as its schema says, or refused; any other stays what the tool gave."""
    assert target.returns is not None
    try:
        fitting = target.returns.accept(done.output)
    except SchemaError as error:
        secret = redactor.finds(done.output)
        told = unfit_of_secrets(error).message if secret else str(error)
        message = f"The result of {target.key} does not fit its output schema: {told}"
        if target.validation == "strict":
            details = None if secret else list(error.faults)
            return Failure(type="OutputInvalid", message=message, code="invalid_output", details=details)
        done.warning = message
        return None
    if target.validation == "strict":
        done.output = fitting
    return None


def _says_failed(value: dict[str, Json], redactor: Redactor) -> Failure | None:
    """An object with an `error` that is not null, or `success: false`, tells of a failure."""
    error = value.get("error")
    if error is None and value.get("success", True) is not False:
        return None
    message = error if isinstance(error, str) else value.get("message")
    if isinstance(error, dict):
        message = error.get("message", error.get("type"))
    if not isinstance(message, str) or not message:
        message = (
            "The tool returned success: false."
            if error is None
            else f"The tool returned an error: {redactor.value(error)!r:.500}"
        )
    return Failure(type="ToolFailed", message=message, code="tool_failed", details=value if len(value) < 50 else None)


def _read_confidence(value: dict[str, Json], done: Done) -> None:
    confidence = value.get("confidence")
    if confidence is not None and type(confidence) in (int, float) and 0 <= confidence <= 1:
        done.confidence = float(confidence)
    sources = value.get("sources")
    if type(sources) is list:
        done.sources = tuple(sources)


def failure_of(error: BaseException, target: CallTarget, redactor: Redactor) -> Failure:
    """The record of what a tool raised, cut short only without the secrets: a piece of one is not found any more."""
    retry_after = None
    details: Json = None
    match error:
        case ToolRetry():
            code, retryable, details = error.code, True, error.details
            retry_after = pause_asked_for(error.retry_after)
        case ToolFailed():
            code, retryable, details = error.code, error.retryable, error.details
        case ToolNotFound():
            code, retryable = "not_found", False
        case ToolpathError():
            code, retryable = error.code, False
        case PermissionError():
            code, retryable = "permission", False
        case TimeoutError():
            code, retryable = "timeout", True
        case ConnectionError():
            code, retryable = "connection", True
        case asyncio.CancelledError():
            code, retryable = "cancelled", False
        case _:
            code, retryable, retry_after = _of_http(error)
    in_doubt = code in DOUBTFUL and not target.repeatable
    if isinstance(error, ToolUnavailable) and not error.reached:
        in_doubt = False
    try:
        message = str(error.message if isinstance(error, ToolpathError) else error) or type(error).__name__
        if not isinstance(error, Exception):
            # `SystemExit: 3` says more than `3`.
            message = f"{type(error).__name__}: {message}"
    except BaseException:  # noqa: BLE001  # an exception of a tool may itself be broken
        message = type(error).__name__
    return Failure(
        type=type(error).__name__,
        message=writable(redactor.text(message)[:LONGEST_MESSAGE]),
        code=code,
        retryable=retryable,
        in_doubt=in_doubt,
        details=_json_or_none(details, redactor),
        hint=writable(error.hint) if isinstance(error, ToolpathError) else "",
        retry_after=retry_after,
        where=place_of(error, redactor),
    )


_OURS = __file__.rpartition("engine")[0]
_LIBRARIES = (asyncio.__file__.rpartition("asyncio")[0], "<frozen ")
_PLACES = ("site-packages", "dist-packages")


def place_of(error: BaseException, redactor: Redactor) -> str:
    """The line of the tool that raised, `file:line in function`: the last one outside of this package and of libraries.

    Where only a library's lines are known, its last one; empty where there is none but ours.
    """
    told = getattr(error, "where", "")
    if isinstance(told, str) and told:
        return writable(redactor.text(told)[:500])
    own = foreign = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            foreign = f"{code.co_filename}:{trace.tb_lineno} in {code.co_name}"
            if not code.co_filename.startswith(_LIBRARIES) and not any(part in code.co_filename for part in _PLACES):
                own = foreign
        trace = trace.tb_next
    return writable((own or foreign)[:500])


def _of_http(error: BaseException) -> tuple[str, bool, float | None]:
    """Meaning of an HTTP client's exception by its status: code, whether to repeat, and when."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", getattr(response, "status_code", None))
    if type(status) is not int or not 400 <= status < 600:
        return "tool_failed", False, None
    code = code_of(status)
    return (
        code,
        code in ("timeout", "rate_limit", "server_error"),
        pause_asked_for(seconds_of(getattr(response, "headers", None))),
    )


def _json_or_none(value: Any, redactor: Redactor) -> Json:
    if value is None:
        return None
    try:
        return plain(value)[0]
    except OutputInvalid:
        return writable(redactor.text(repr(value))[:1000])


def timed_out(target: CallTarget, timeout: float) -> Failure:
    """The failure of a call that took longer than it may."""
    return Failure(
        type="ToolTimeout",
        message=f"{target.key} took longer than {timeout:g} s.",
        code="timeout",
        retryable=True,
        in_doubt=not target.repeatable,
        hint="Raise `timeout` on the step or the tool, or make the tool faster.",
    )
