"""Result of a call, a form or a block: an output, or the record of a failure. Pure."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolpath.errors import ExpressionError, SchemaError
from toolpath.model.events import Failure
from toolpath.values import Handle, Json


class Done(msgspec.Struct, eq=False, gc=False):
    """An output with what is known of it. A record made in C: one is made with each call, and looked at many times."""

    output: Json
    duration: float
    cached: bool = False
    confidence: float | None = None
    sources: tuple[Json, ...] = ()
    cost: float | None = None
    tokens: int | None = None
    handle: Handle | None = None
    """Stands for the output in the journal, where that is large."""
    weight: int | None = None
    """Of the output, where that is known."""
    blob: bytes = b""
    """The bytes that the handle points to."""
    warning: str = ""
    """A fault of the result that does not make it a failure."""


def failure_of_expression(error: ExpressionError | SchemaError) -> Failure:
    """The failure of a step whose inputs or condition could not be computed or do not fit."""
    code = "validation" if isinstance(error, SchemaError) else error.code
    if code not in ("validation", "unresolved"):
        code = "expression"
    return Failure(type=type(error).__name__, message=str(error), code=code)


def unfit_of_secrets(error: SchemaError) -> Failure:
    """The failure of a step whose inputs hold a secret and do not fit: says where, and shows no value.

    A message shows a long value cut short, and a piece of a secret is found by no redaction.
    """
    places = ", ".join(dict.fromkeys(where or "/" for where, _ in error.faults)) or "/"
    message = f"The value does not fit its schema at {places}; what it is is not shown, since it holds a secret."
    return Failure(type=type(error).__name__, message=message, code="validation")


def redacted(failure: Failure, redact: Callable[[Json], Json]) -> Failure:
    """The failure without any secret."""
    return msgspec.structs.replace(
        failure,
        message=str(redact(failure.message)),
        details=redact(failure.details),
        hint=str(redact(failure.hint)),
    )


def exhausted(failure: Failure, retries: int, step_id: str) -> Failure:
    """The failure of the last of several attempts."""
    return Failure(
        type=failure.type,
        message=f"Max retries ({retries}) exceeded for step {step_id}: {failure.message}",
        code=failure.code,
        retryable=failure.retryable,
        in_doubt=failure.in_doubt,
        details=failure.details,
        hint=failure.hint,
    )


def read_field(output: Json, field: str) -> tuple[bool, Json]:
    """A field of an output by `map_outputs`: its name, or a dotted path; also inside `data`, where tools wrap there."""
    found, value = _read_path(output, field)
    if not found and isinstance(output, dict) and isinstance(output.get("data"), dict):
        found, value = _read_path(output["data"], field)
    return found, value


def _read_path(value: Json, field: str) -> tuple[bool, Json]:
    if isinstance(value, dict) and field in value:
        return True, value[field]
    for part in field.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False, None
    return True, value
