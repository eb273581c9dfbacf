"""First names that may share the family name behind them, and words that stand beside a name and name nobody. Pure.

`Excuse Nora and Tom Feld` may mean Nora Feld; `Excuse me, Tom` excuses nobody, and `Tom and co.` are more than Tom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import told_of
from toolpath.checks.request.bindings import PEOPLE
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_FIRST: Final = re.compile(r"[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)?")
_FULL: Final = re.compile(r"[A-ZÀ-Þ][\w'\u2019-]+(?:\s+[A-ZÀ-Þ][\w'\u2019-]+)+")
_AND: Final = re.compile(r"\s*(?:,\s*)?(?:and|und|et|y|&|\+|plus)\s+", re.IGNORECASE)
#: Several people in one value.
_BOTH: Final = re.compile(r"[^\W\d_]\s*(?:\s[&+]\s|\s(?:and|und|et|y)\s)\s*[^\W\d_]")
#: It is said to somebody, and nothing is excused.
_PARDON: Final = re.compile(
    r"(?<!\w)(?:(?:excuse|pardon|forgive)\s+(?:me|us|my)|entschuldig\w*\s+(?:sie\s+)?(?:mich|uns)|(?:excuse[sz]?|pardonne[sz]?)[\s-]moi"
    r"|(?:disculp|perdon)[ae](?:me|nos|dme))(?!\w)",
    re.IGNORECASE,
)


def shared_names(seen: Seen) -> Iterator[str]:
    """A question for each first name joined to a full one, for each value of two people, and for an apology."""
    pardon = _PARDON.search(seen.plain) if seen.acting else None
    if pardon is not None:
        yield f"{pardon.group()!r} may only be said to somebody. What is to be done?"
    people = [
        (call.id, value)
        for call, tool, _ in seen.acting
        for name, held in call.inputs.items()
        if tool is not None and _is_person(tool, name)
        for value in (held if isinstance(held, list) else [held])
        if isinstance(value, str)
    ]
    for call, value in people:
        if _BOTH.search(value) is not None and value in seen.plain:
            yield f"{call}: is {value!r} one person?"
        elif _FIRST.fullmatch(value) is not None and (other := _family(value, people, seen.request)) is not None:
            yield f"{call}: is {value!r} of the family of {other!r}?"


def _is_person(tool: Tool, name: str) -> bool:
    return bool(PEOPLE & {*map(folded, raw_words(f"{name} {told_of(tool, name)}"))})


def _family(first: str, people: list[tuple[str, str]], request: str) -> str | None:
    """The full name to which a first name is joined."""
    for _, full in people:
        for place in whole_words(request, first) if _FULL.fullmatch(full) is not None else ():
            joined = _AND.match(request, place.end)
            if joined is not None and request.startswith(full, joined.end()):
                return full
    return None
