"""Days that begin something or on which it is done, taken for the day on which it ends. Pure.

`Lend L-204 to Tom from 20 November` says nothing of until when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.calendar_words import MONTH_NAMES, WEEKDAY_NAMES
from toolpath.checks.request.seen import Seen

#: Words of a parameter that takes a day to which something lasts.
_LASTS: Final = words_of("until till through end ends expires expiry")
#: Words of a parameter that takes a day which bounds what is to come.
BOUNDS: Final = _LASTS | words_of("due deadline back by return")
_DAY: Final = (
    rf"(?:\d{{1,4}}[-/.]\d{{1,2}}|\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(?:{MONTH_NAMES})|(?:{MONTH_NAMES})\s+\d"
    rf"|(?:next\s+)?(?:{WEEKDAY_NAMES}|tomorrow|morgen|demain|mañana))(?!\w)"
)
_BEGINS: Final = re.compile(
    r"\b(?P<words>(?:starting|beginning|as\s+of|from|after|since|on|ab|seit|nach|vom|am|à\s+partir\s+d[eu]|dès|depuis|après"
    rf"|a\s+partir\s+del?|desde|después\s+del?)\s+(?:the\s+|dem\s+|le\s+|el\s+)?{_DAY})",
    re.IGNORECASE,
)
#: The day on which it ends, in other words: `until`, `due back on`.
_ENDS: Final = re.compile(
    r"\b(?:to|until|till|through|by|before|due|back|ends?|ending|expir\w+|return\w*|bis|zum|vor|fällig|zurück|endet|endend"
    r"|au|avant|jusqu\w*|rendre|fin\w*|hasta|al|antes|vence\w*|devolver)\b",
    re.IGNORECASE,
)


def lasts_to(name: str) -> bool:
    """Whether a parameter takes a day to which something lasts, or by which it is to be done."""
    return bool(BOUNDS & {*raw_words(name)})


def ends_of_periods(seen: Seen) -> Iterator[str]:
    """A question for each end of an acting call where the request says no end, but when it begins or is done."""
    begins = _BEGINS.search(seen.request)
    if begins is None:
        return
    beside = seen.request[: begins.start()] + " " + seen.request[begins.end() :]
    for call, tool, _ in seen.acting:
        ends = [name for name in call.inputs if tool is not None and _LASTS & {*raw_words(name)}]
        if ends and not _ENDS.search(_without_people(beside)):
            yield f"{call.id}: {' '.join(begins['words'].split())!r} says no end. What is {ends[0]!r} to be?"


#: Whom or what it is for stands behind the same words: `to Tom`, `au client`.
_TO_SOMEBODY: Final = re.compile(r"\b(?:to|au|al|zum)\s+(?!(?:the\s+)?\d)(?:the\s+)?[^\W\d_]+", re.IGNORECASE)


def _without_people(text: str) -> str:
    return _TO_SOMEBODY.sub(lambda found: found.group() if re.search(_DAY, found.group(), re.IGNORECASE) else " ", text)
