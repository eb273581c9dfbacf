"""Builders of findings of each severity, with 'did you mean' within a bound. Pure."""

from __future__ import annotations

from collections.abc import Collection

from toolpath.errors import Finding, Severity, closest

#: Names compared in one check. A plan with thousands of faults gets suggestions for the first of them.
MAX_COMPARISONS = 200_000


def error(code: str, path: str, message: str, *, hint: str = "", suggestions: tuple[str, ...] = ()) -> Finding:
    """A fault that blocks a start."""
    return remark("error", code, path, message, hint=hint, suggestions=suggestions)


def warning(code: str, path: str, message: str, *, hint: str = "", suggestions: tuple[str, ...] = ()) -> Finding:
    """Something that may go wrong at run time; blocks nothing."""
    return remark("warning", code, path, message, hint=hint, suggestions=suggestions)


def information(code: str, path: str, message: str, *, hint: str = "") -> Finding:
    """Something to know."""
    return remark("information", code, path, message, hint=hint)


def remark(
    severity: Severity, code: str, path: str, message: str, *, hint: str = "", suggestions: tuple[str, ...] = ()
) -> Finding:
    """A finding whose severity is decided by the caller."""
    return Finding(code=code, severity=severity, message=message, path=path, hint=hint, suggestions=suggestions)


class Suggestions:
    """'Did you mean' for one check, with a bound on all its work together."""

    __slots__ = ("_left",)

    def __init__(self, comparisons: int = MAX_COMPARISONS) -> None:
        self._left = comparisons

    def __call__(self, name: str, candidates: Collection[str]) -> tuple[str, ...]:
        """The candidates most like the name, nearest first; none once the bound is reached."""
        self._left -= len(candidates)
        found = closest(name, candidates) if self._left >= 0 else ()
        return tuple(candidate for candidate in found if candidate != name)


def listed(names: Collection[str], limit: int = 8) -> str:
    """The names as a sentence shows them: quoted, and cut short with how many more there are."""
    shown = [f"'{name}'" for name in list(names)[:limit]]
    if len(names) > limit:
        shown.append(f"{len(names) - limit} more")
    if not shown:
        return "none"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
