"""Faults of a connection as a tool call takes them: failed, to be tried again, or unavailable. Pure."""

from __future__ import annotations

import re

import anyio
import msgspec
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT
from pydantic import ValidationError

from toolpath.errors import ToolFailed, ToolpathError, ToolRetry, ToolTimeout, ToolUnavailable
from toolpath.model.http_failures import code_of
from toolpath.providers.mcp.http import HttpFault

#: Characters of a server's standard error in a message.
_LAST_WORDS = 400


class Ending(msgspec.Struct, frozen=True):
    """End of a server, as far as it is known."""

    reason: str = ""
    """Why we ended it."""
    exit_code: int | None = None
    stderr: str = ""

    def __str__(self) -> str:
        text = f": {self.reason}" if self.reason else ""
        # Where we had a reason to end it the code is of our own making.
        if self.exit_code is not None and not self.reason:
            text += f" (exit code {self.exit_code})"
        return f"{text}; it wrote: {_last_words(self.stderr)}" if self.stderr else text


def _last_words(stderr: str) -> str:
    """The last few lines: where a traceback says what it was, and no more of a flood."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    words = " | ".join(lines[-3:])
    return words if len(words) <= _LAST_WORDS else f"…{words[-_LAST_WORDS:]}"


def is_end(error: Exception) -> bool:
    """The connection as a whole is over."""
    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def is_forgotten(error: Exception) -> bool:
    """The server knows nothing of the session; a new one has to be made."""
    return isinstance(error, MCPError) and error.code == INVALID_REQUEST and error.message == "Session terminated"


def call_fault(server: str, error: Exception, fault: HttpFault, ending: Ending) -> ToolpathError:
    """The fault of a call, as one of our errors."""
    where = f"Server {server!r}"
    if isinstance(error, ToolpathError):
        return error
    if is_forgotten(error):
        return ToolUnavailable(f"{where} has forgotten the session.", reached=False)
    if fault:
        return _http_fault(where, fault)
    match error:
        case MCPError() if error.code == CONNECTION_CLOSED:
            return ToolUnavailable(f"{where} went away during the call{ending}.")
        case MCPError() if error.code == REQUEST_TIMEOUT:
            return ToolTimeout(f"{where}: {error.message}")
        case MCPError():
            details = {"code": error.code, "data": error.error.data}
            return ToolFailed(error.message or f"{where} refused the call.", details=details)
        case ValidationError():
            return ToolFailed(f"{where} answered with what is not MCP: {' '.join(str(error).split())}")
        case _:
            return ToolUnavailable(f"{where}: {type(error).__name__}: {error}")


def _http_fault(where: str, fault: HttpFault) -> ToolpathError:
    if fault.error:
        return ToolUnavailable(f"{where} cannot be reached: {fault.error}", reached=fault.reached)
    if fault.status in (401, 403):
        hint = "Give it the right headers."
        return ToolFailed(f"{where} answered HTTP {fault.status}.", hint=hint, code=code_of(fault.status))
    code, message = code_of(fault.status), f"{where} answered HTTP {fault.status}."
    if fault.status in (408, 429) or fault.status >= 500:
        return ToolRetry(message, retry_after=fault.retry_after, code=code)
    return ToolFailed(message, code=code)


def start_fault(
    server: str, error: BaseException | None, fault: HttpFault, ending: Ending, *, seconds: float, program: str = ""
) -> ToolpathError:
    """Why a server could not be started within so many seconds. `program` is the file that its command is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolpathError):
        return error
    if fault.status in (401, 403):
        return _http_fault(f"Server {server!r}", fault)
    if fault.error:
        why = f": {fault.error}"
    elif fault.status:
        why = f": it answered HTTP {fault.status}"
    elif isinstance(error, TimeoutError):
        why = f" within {seconds:g} s"
    elif error is None or ending.reason or (ending.exit_code is not None and _is_gone(error)):
        why = ""
    else:
        # The program was ended because of it: how is of our own making.
        ending = msgspec.structs.replace(ending, exit_code=None)
        why = f": {error}" if isinstance(error, RuntimeError) else f": {type(error).__name__}: {error}"
    return ToolUnavailable(
        f"Server {server!r} did not start{why}{ending}.",
        reached=False,
        hint=_start_hint(ending, program),
    )


def _is_gone(error: BaseException) -> bool:
    """Whether an error says no more than that the program at the other end is gone."""
    return isinstance(error, MCPError | OSError | EOFError | anyio.BrokenResourceError | anyio.ClosedResourceError)


_NO_MODULE = re.compile(r"No module named '?([\w.]+)")


def _start_hint(ending: Ending, program: str) -> str:
    missing = _NO_MODULE.search(ending.stderr)
    if missing is None or not program:
        return "Check its command or URL, and what it needs in its environment."
    return (
        f"Its command is the interpreter {program}, which has no {missing[1]!r}. Install the server there, or write as "
        "its command the interpreter of the environment that has it, with its whole path."
    )
