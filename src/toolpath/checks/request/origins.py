"""Values that a change starts from, or that say which thing is meant, taken for what comes of it. Pure.

`Move V-3 from Friday` and `change the basic tariff of M-4` say how things are, and not what they are to be. A day that
is over is none for what is planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.calendar_words import MONTH_NAMES, WEEKDAY_NAMES
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen, is_offered
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

#: Verbs of tools that say what a thing becomes.
_CHANGING: Final = frozenset(
    re.findall(
        r"\S+", "move reschedule postpone change set update edit modify switch convert transfer reassign assign shift"
    )
)
#: Verbs of tools that fix what is to come.
_PLANNING: Final = frozenset(
    re.findall(r"\S+", "move reschedule postpone book reserve schedule plan order shift extend")
)
#: Words of a parameter that takes where something starts.
_STARTS: Final = frozenset(re.findall(r"\S+", "from start since source begin old current origin in check departure"))
#: Verbs of tools that put something to another day.
_MOVING: Final = frozenset(("move", "reschedule", "postpone", "shift"))
#: On the day itself: it is so, or is done then.
_ON: Final = r"on|am"
_FROM: Final = r"(?:away\s+from|from|since|of|vom?|ab|seit|du|de|depuis|del?|desde)"
_TO: Final = r"\b(?:to|until|till|into|onto|for|auf|zum?|bis|nach|in|à|au|en|vers|pour|jusqu\w*|al?|hasta|para)\b|[→>=]"
_DAY: Final = re.compile(
    rf"\b(?P<words>{_FROM}|{_ON})\s+(?:the\s+|dem\s+|le\s+|el\s+)?"
    rf"(?P<day>\d{{1,4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,4}})?|(?:{WEEKDAY_NAMES})(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?:{MONTH_NAMES})(?!\w))",
    re.IGNORECASE,
)
_GONE: Final = re.compile(
    rf"\b(?:yesterday|last\s+(?:{WEEKDAY_NAMES})|(?:{WEEKDAY_NAMES})\s+last\s+week|gestern|vorgestern"
    rf"|letzte[nrs]?\s+(?:{WEEKDAY_NAMES})|avant-hier|hier|(?:{WEEKDAY_NAMES})\s+(?:dernier|pasado)|ayer|anteayer)\b",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}.*")


def is_planning(tool: Tool) -> bool:
    """Whether the tool fixes what is to come."""
    return bool(_PLANNING.intersection(raw_words(tool.name)[:1]))


def origins(seen: Seen) -> Iterator[str]:
    """A question for each value of a change that the request says of how things are."""
    for call, tool, _ in seen.acting:
        verb = frozenset(raw_words(tool.name)[:1]) if tool is not None else frozenset[str]()
        if tool is None:
            continue
        days = [name for name, value in call.inputs.items() if isinstance(value, str) and _ISO.fullmatch(value)]
        if verb & _PLANNING and days and (gone := _GONE.search(seen.plain)) is not None:
            yield f"{call.id}: {gone.group()!r} is over. Which day is meant?"
        if verb & (_CHANGING | {"rename"}):
            yield from _from_text(seen, call.id, call.inputs)
        if not verb & _CHANGING:
            continue
        if len(days) == 1 and verb.isdisjoint(("assign",)) and not _STARTS.intersection(raw_words(days[0])):
            yield from _from_day(seen, call.id, days[0], is_moved=not verb.isdisjoint(_MOVING))
        for name, value in call.inputs.items():
            if not isinstance(value, str) or not is_offered(value, tool, name):
                continue
            if (other := _joined(value, name, tool, seen)) is not None:
                yield f"{call.id}: {value!r} and {other!r} are said: which of them is {name!r} to be?"
            others = [one for other, one in call.inputs.items() if other != name and _may_become(one, tool, other)]
            if not others and not _STARTS.intersection(raw_words(name)) and _says_which(value, name, tool, seen):
                yield f"{call.id}: {value!r} says how it is, or which one is meant. What is {name!r} to be?"


#: Before a quoted text: that is what something is called.
_CALLED: Final = re.compile(
    r"\b(?:from|called|named|titled|entitled|von|namens|genannt|heißt|de|nommée?|appelée?|llamad[oa])\s+[\"“„«]\s?\Z",
    re.IGNORECASE,
)


def _from_text(seen: Seen, call: str, inputs: JsonObject) -> Iterator[str]:
    """A question for the only quoted text of a request, where that is what a thing is called that is to be changed."""
    quoted = [*QUOTED.finditer(seen.request)]
    if len(quoted) != 1:
        return
    said = quoted[0].group().strip('"“”„«» ')
    name = next((name for name, value in inputs.items() if value == said), None)
    at = seen.request.find(said, quoted[0].start())
    if name is not None and _CALLED.search(seen.request, max(0, at - 40), at) is not None:
        yield f"{call}: {said!r} says what it is called. What is {name!r} to be?"


def _from_day(seen: Seen, call: str, name: str, *, is_moved: bool) -> Iterator[str]:
    for found in _DAY.finditer(seen.request):
        if not is_moved and folded(found["words"]) in _ON.split("|"):
            continue
        before, after = seen.request[: found.start()], seen.request[found.end() :]
        others = [one for one in _WRITTEN.findall(before + " " + after) if one]
        if not others:
            yield f"{call}: {found.group()!r} says when it was: what is {name!r} to be?"


_WRITTEN: Final = re.compile(
    rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|\b(?:{WEEKDAY_NAMES}|{MONTH_NAMES}|tomorrow|today|morgen|heute|demain|aujourd'hui"
    r"|mañana|hoy|week|woche|semaine|semana|days?|tage?|jours?|días?)\b",
    re.IGNORECASE,
)


_JOINED: Final = r"(?:\s*[,/&+]\s*|,?\s+(?:(?:and|or|und|oder|et|ou|y|o|then)\s+)?)"


def _joined(value: str, name: str, tool: Tool, seen: Seen) -> str | None:
    """Another of the few that is joined to the one that is taken: `to basic and plus`."""
    properties = plain_inputs(tool).get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    options = schema.get("enum") if isinstance(schema, dict) else None
    others = [one for one in options if isinstance(one, str) and one != value] if isinstance(options, list) else []
    for one in others:
        for first, second in ((value, one), (one, value)):
            text = rf"\b{re.escape(first)}{_JOINED}{re.escape(second)}\b"
            if re.search(text, seen.request, re.IGNORECASE) is not None:
                return one
    return None


def parameters_of(tool: Tool) -> list[str]:
    """The names of a tool's parameters."""
    properties = plain_inputs(tool).get("properties")
    return [*properties] if isinstance(properties, dict) else []


def _says_which(value: str, name: str, tool: Tool, seen: Seen) -> bool:
    """Whether one of a few is said right before what it is of, or behind `from`, and nowhere else."""
    places = [*whole_words(seen.request, value, ignoring_case=True)]
    if len(places) != 1:
        return False
    before, after = seen.request[: places[0].start], seen.request[places[0].end :]
    if re.search(rf"\b{_FROM}\s+$", before, re.IGNORECASE) is not None:
        return True
    if _APPOSED.search(before) is not None and after.lstrip().startswith((",", ")")):
        # `member M-4410, a student, to plus`
        return True
    if re.search(rf"(?:{_TO}|\bas|\bals|\bcomme|\bcomo)\s+(?:\w+\s+)?$", before, re.IGNORECASE) is not None:
        return False
    things = [word for one in parameters_of(tool) for word in raw_words(one)]
    own = {*raw_words(name), *raw_words(tool.name)[1:], *things}
    following = _FOLLOWING.match(after)
    word = following["word"].casefold() if following is not None else ""
    return any(map(str.isdigit, word)) or (word in own and _AT_HEAD.search(before) is not None)


_APPOSED: Final = re.compile(r"[,(]\s*(?:an?|ein(?:e[nrsm]?)?|une?|una?)\s+$", re.IGNORECASE)
_FOLLOWING: Final = re.compile(r"\s+(?P<word>[\w-]+)")
#: Nothing but the verb of the command before it.
_AT_HEAD: Final = re.compile(
    r"(?:^|[.;!?,]\s|\b(?:and|then|please|und|et|y)\s)\W*[^\W\d_]+\s+(?:the|die|den|das|le|la|el)\s+$", re.IGNORECASE
)


def _may_become(value: Json, tool: Tool, name: str) -> bool:
    """Whether the call says besides what something is to be: a number, a day, another one of a few."""
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and (_ISO.fullmatch(value) is not None or is_offered(value, tool, name))
