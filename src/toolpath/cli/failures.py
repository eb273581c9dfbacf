"""Messages of errors that ended a command, and the exit codes they mean."""

from __future__ import annotations

import traceback

from toolpath.cli.exits import of_error
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.errors import ToolpathError


def explain_error(error: BaseException, *, verbose: bool) -> int:
    """Write the error to stderr; returns the exit code."""
    output = Output(GlobalOptions())
    known = _known(error)
    if known is not None:
        output.tell(f"Error: {known}", "red")
    else:
        output.tell(f"Unexpected error: {type(error).__name__}: {error}", "red")
        output.tell("This is a fault of toolpath itself; please report it. --verbose shows where it came from.")
    if verbose:
        output.tell("".join(traceback.format_exception(error)).rstrip())
    return int(of_error(known or error))


def _known(error: BaseException) -> ToolpathError | None:
    # A task group wraps what went wrong inside it.
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error if isinstance(error, ToolpathError) else None
