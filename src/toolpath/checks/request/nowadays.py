"""Today, said of what takes no day: how a thing stands is read as of now, `tonight at 21:00` is a time. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.plain_schemas import plain_inputs, plain_outputs, plain_parameters
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_TODAY: Final = frozenset(map(folded, ("today", "tonight", "heute", "aujourd'hui", "aujourd\u2019hui", "hoy")))
#: Words in the names of parameters that take a day, or a number of them.
_DAYS: Final = frozenset(
    re.findall(r"\S+", "date day days week weeks month year since until before after deadline when")
)
_CLOCK: Final = re.compile(r"\d{1,2}:\d{2}")


def is_of_now(word: str, seen: Seen) -> bool:
    """Whether a word says today of calls that take no day: of reads of one thing, or of what is done at a time of it.

    Of several things `today` says which: `the orders that came today`.
    """
    if folded(word) not in _TODAY or any(_takes_a_day(tool) for tool in seen.tools):
        return False
    if seen.acting:
        return any(_CLOCK.fullmatch(text) for text in seen.held.texts)
    return all(plain_inputs(tool).get("required") and not gives_several(tool) for tool in seen.tools)


def gives_several(tool: Tool) -> bool:
    """Whether a tool gives a list of things."""
    properties = plain_outputs(tool).get("properties")
    found = properties.values() if isinstance(properties, dict) else ()
    return any(isinstance(one, dict) and one.get("type") == "array" for one in (plain_outputs(tool), *found))


def _takes_a_day(tool: Tool) -> bool:
    return any(
        bool(_DAYS & {*raw_words(name)}) or schema.get("format") in ("date", "date-time")
        for name, schema in plain_parameters(tool)
    )
