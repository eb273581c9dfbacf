"""Durations: `30s`, `2m`, `1h30m`, `500ms`; a number is seconds."""

from __future__ import annotations

import functools
import re

_PARTS = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?",
    re.ASCII,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_SECONDS = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
DAY = 86_400.0
#: Ten years. Longer ones are slips, and infinity is no duration.
LONGEST = 315_360_000.0
HINT = "Write 30s, 2m, 1h30m or a number of seconds."
#: The same notation as a JSON Schema pattern.
PATTERN = r"^(?=[0-9])(?:[0-9]+(?:\.[0-9]+)?|(?:[0-9.]+d)?(?:[0-9.]+h)?(?:[0-9.]+m(?!s))?(?:[0-9.]+s)?(?:[0-9.]+ms)?)$"


def seconds(value: object) -> float | None:
    """The duration in seconds; None for what is none, is negative, or longer than ten years."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        found = float(value) if abs(value) <= LONGEST else -1.0
    elif isinstance(value, str):
        found = _spelled(value.strip().lower().replace(" ", "")) if len(value) <= 50 else -1.0
    else:
        return None
    return found if 0 <= found <= LONGEST else None


@functools.lru_cache(256)
def _spelled(text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    match = _PARTS.fullmatch(text)
    if not text or match is None:
        return -1.0
    return sum(float(part) * unit for part, unit in zip(match.groups(), _SECONDS, strict=True) if part)


def spelled(duration: float) -> str | float | int:
    """The duration as people write it: `90s`, `10m`, `2h`; a plain number where it is no whole second."""
    if not duration.is_integer() or duration <= 0:
        return int(duration) if duration.is_integer() else duration
    whole = int(duration)
    if whole % 3600 == 0:
        return f"{whole // 3600}h"
    if whole % 60 == 0:
        return f"{whole // 60}m"
    return f"{whole}s"
