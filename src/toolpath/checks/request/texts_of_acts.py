"""Texts that acting calls hand on: not whose thing is meant, and what is quoted where a text is. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tokens import QUOTED, quoted_by
from toolpath.model.plan import Call

#: Words of parameters that take what somebody is told or what is written down.
_TEXTS: Final = frozenset(
    ("text", "body", "message", "content", "note", "comment", "reply", "answer", "subject", "title", "caption")
)
#: Behind whose thing it is: `Jonas Weber's class`.
_THING_OF: Final = re.compile(r"['\u2019]s\s+[^\W\d_]")


def texts_of_acts(seen: Seen) -> Iterator[str]:
    """A question for each text of an acting call that the request says for something else."""
    quoted = [quoted_by(one) for one in QUOTED.finditer(seen.request)]
    for call, _, _ in seen.acting:
        texts = dict(_texts_of(call))
        is_elsewhere = not any(one in quoted for one in texts.values()) and any(
            one in call.inputs.values() for one in quoted
        )
        for name, value in texts.items():
            if _is_owner(seen.request, value):
                yield f"{call.id}: {value!r} is whose thing is meant. What is {name!r}?"
            elif is_elsewhere and seen.held.has_text(value):
                yield f"{call.id}: is {value!r} or {quoted[0]!r} the {name!r}?"


def _texts_of(call: Call) -> Iterator[tuple[str, str]]:
    for name, value in call.inputs.items():
        if isinstance(value, str) and "{{" not in value and _TEXTS & {*raw_words(name)}:
            yield name, value


def _is_owner(request: str, value: str) -> bool:
    """Whether all that the request says of a value is whose thing is meant."""
    places = [*whole_words(request, value)]
    return bool(places) and all(_THING_OF.match(request, one.end) for one in places)
