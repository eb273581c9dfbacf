"""Commands behind a condition with no comma between them: `if it is late cancel it`. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.verbs import folded, is_reading, is_thing, meanings_of

#: What a verb is followed by that does something to what was spoken of: `if it is late cancel it`.
_TO_A_THING: Final = re.compile(
    r"\s(?P<verb>[^\W\d_]+)\s+(?P<follow>it|them|him|her|this|that|the|an?|my|our|another|#|\d)(?![^\W\d_]|['\u2019])",
    re.IGNORECASE,
)
_NO_COMMAND: Final = words_of(
    "to not and or can will would do does did is are be the a an it they we he she you i"
    " los las les des der die das den"
)


_DENIES: Final = re.compile(
    r"(?:n['\u2019]t|\b(?:not|never|no|without|cannot|avoid|stop|refrain))(?:\s+(?:ever|just|please|you|even))*$",
    re.IGNORECASE,
)


def command_at(text: str, start: int) -> int | None:
    """Where a command begins that follows a condition without a comma; None where none does."""
    for found in _TO_A_THING.finditer(text, max(0, start - 1)):
        verb = found["verb"]
        before = text[start : found.start()].split()
        if not before or {folded(before[-1]), folded(verb)} & _NO_COMMAND:
            continue
        if not meanings_of(verb) or is_reading(verb) or is_thing(verb, found["follow"]):
            continue
        # `If it is new don't delete it`: it is no part of the condition that it is denied.
        return None if _DENIES.search(" ".join(before[-3:])) else found.start("verb")
    return None
