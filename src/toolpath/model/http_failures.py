"""HTTP answers that tell of a failure: the code of the failure, and the pause that `Retry-After` asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

_CODES: Final = {401: "permission", 403: "permission", 404: "not_found", 408: "timeout", 429: "rate_limit"}


def code_of(status: int) -> str:
    """The code of the failure that an answer of this status, 400 to 599, tells of."""
    return _CODES.get(status, "server_error" if status >= 500 else "tool_failed")


def seconds_of(headers: Mapping[str, Any] | None) -> float | None:
    """Seconds to wait as the headers of an answer say; None where they say nothing that can be understood.

    A date counts from the answer's own `Date`, so that the clocks of the two need not agree; one that is over is now.
    """
    text = _text(headers, "retry-after")
    try:
        seconds = float(text)
    except ValueError:
        date = _date(text)
        if date is None:
            return None
        seconds = (date - (_date(_text(headers, "date")) or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _text(headers: Mapping[str, Any] | None, name: str) -> str:
    if headers is None or not hasattr(headers, "get"):
        return ""
    found = headers.get(name)
    # Not every client's headers take any case.
    return str(headers.get(name.title()) if found is None else found)


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # slow to import, and dates are rare

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date.replace(tzinfo=date.tzinfo or UTC)
