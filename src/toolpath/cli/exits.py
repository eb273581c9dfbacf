"""Exit codes, and which one a result or an error means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from toolpath.errors import (
    AmbiguousTool,
    ConfigError,
    FileRefused,
    PlanInvalid,
    PolicyViolationError,
    ReadError,
    RecordNotFound,
    RunNotFound,
    SchemaError,
    ToolNotFound,
    ToolpathError,
)
from toolpath.model.run import RunResult


class ExitCode(IntEnum):
    """Exit codes: what the process tells the shell."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INVALID = 3
    WAITING = 4
    CANCELLED = 5
    BUDGET = 6
    POLICY = 7
    TIMEOUT = 124
    INTERRUPTED = 130


_REASONS = {"timeout": ExitCode.TIMEOUT, "budget": ExitCode.BUDGET, "policy": ExitCode.POLICY}


def of_result(result: RunResult) -> ExitCode:
    """The code for a run as it stands."""
    match result.status:
        case "completed" | "completed_with_errors":
            return ExitCode.DONE
        case "waiting" | "paused" | "running" | "pending":
            return ExitCode.WAITING
        case _ if result.reason in _REASONS:
            return _REASONS[result.reason]
        case "cancelled":
            return ExitCode.CANCELLED
        case _ if result.error is not None and result.error.code in ("budget", "policy", "permission"):
            return _REASONS.get(result.error.code, ExitCode.POLICY)
        case _:
            return ExitCode.FAILED


def of_error(error: BaseException) -> ExitCode:
    """The code for an error that kept a command from its work."""
    match error:
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case PlanInvalid() | ReadError() | SchemaError() | FileRefused():
            return ExitCode.INVALID
        case PolicyViolationError():
            return ExitCode.POLICY
        case ConfigError() | ToolNotFound() | AmbiguousTool() | RunNotFound() | RecordNotFound() | UsageError():
            return ExitCode.USAGE
        case _:
            return ExitCode.FAILED


class UsageError(ToolpathError):
    """Words that cannot be meant: a file that is not there, `-i` without `=`."""

    code = "usage"


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raise a `UsageError` for what the system refuses while a path that was typed is written."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise UsageError(f"{where} cannot be written: {error.strerror or error}.", hint="Name another place.") from None
