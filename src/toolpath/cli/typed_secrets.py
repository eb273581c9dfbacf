"""Secrets that are named on the command line: in a variable of the environment, or on stdin, never in an argument."""

from __future__ import annotations

import os
import sys

from toolpath.cli.exits import UsageError


def secret_from(source: str, *, option: str) -> str:
    """The secret in the variable of that name; `-`: a line of stdin. Raises `UsageError`."""
    # Never an argument: those stand in the history of the shell, and in the list of processes.
    if source == "-":
        return sys.stdin.readline().strip()
    value = os.environ.get(source, "").strip()
    if not value:
        raise UsageError(f"The variable {source} is not set.", hint=f"{option} names the variable that holds it.")
    return value


def named_secret(text: str, *, option: str) -> tuple[str, str]:
    """The name and the secret of `NAME=VARIABLE`. Raises `UsageError`."""
    name, _, variable = text.partition("=")
    if not name or not variable:
        raise UsageError(f"{text!r} names no variable.", hint=f"Write {option} NAME=VARIABLE.")
    return name, secret_from(variable, option=option)
