"""Values between a condition and its command: what the one takes of the other. Pure.

A condition is looked up of what it names itself, or of what the command goes by: an id, a name. What the command hands
on as a text, an adverb of place and an ordinary word are none of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call

#: They say where something is, and are called nothing: `colder than 10 outside`.
_ADVERBS: Final = words_of("""
outside inside outdoors indoors here there upstairs downstairs nearby abroad draußen drinnen hier dort oben unten
dehors dedans ici là là-bas fuera afuera dentro adentro aquí allí allá
""")
_HAS_NAME: Final = re.compile(r"(?<=[^\s.!?] )[A-ZÄÖÜÉÈÁÍÓÚÑ]|[\d@/#_]")


def is_of_another(text: str, step: Call, seen: Seen) -> bool:
    """Whether a step that tells of a condition is asked with what is said of something else, twice, or with no name."""
    values = [*_texts(step)]
    if len({*values}) < len(values):
        return True
    for value in values:
        if folded(value) in _ADVERBS:
            return True
        if not _holds(text, value) and _is_only_quoted(value, seen.request):
            return True
    return False


def _is_only_quoted(value: str, request: str) -> bool:
    is_quoted = any(_holds(one.group(), value) for one in QUOTED.finditer(request))
    return is_quoted and not _holds(QUOTED.sub(" ", request), value)


def is_named(step: Call, seen: Seen) -> bool:
    """Whether a step is asked with what goes by a name: in its letters, or since a write of the plan takes it, too.

    `if there is no butter left, put butter on the list`, and not `if there is no reply, cancel it`.
    """
    taken = [folded(one) for call, _, _ in seen.acting for one in _texts(call)]
    for value in _texts(step):
        found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", seen.request, re.IGNORECASE)
        spelled = seen.request[max(0, found.start() - 2) : found.end()] if found is not None else value
        is_quoted = any(_holds(one.group(), value) for one in QUOTED.finditer(seen.request))
        if not (folded(value) in taken or _HAS_NAME.search(spelled) is not None or is_quoted):
            return False
    return True


_IT: Final = re.compile(r"\b(?:it|one|them)\b(?!['\u2019])", re.IGNORECASE)


def borrowed(seen: Seen, text: str, calls: Sequence[Call]) -> Iterator[str]:
    """A question for each value that a write takes from its condition, though the command names one itself."""
    command = seen.request.replace(text, " ", 1)
    acting = {id(call) for call, _, _ in seen.acting}
    # `if there is a family room, book it for Ann`: it is what was found.
    found = {named for call, _, _ in seen.calls if id(call) not in acting for named in _named_texts(call)}
    found = found if _IT.search(command) is not None else set()
    for call in calls:
        names_own = any(_holds(command, value) for _, value in _named_texts(call))
        for name, value in _named_texts(call) if names_own else ():
            if (name, value) in found:
                continue
            if _holds(text, value) and not _holds(command, value) and not any(map(str.isdigit, value)):
                yield f"{call.tool}: is {value!r}, which the condition says, the {name!r}?"


def _texts(call: Call) -> Iterator[str]:
    return (value for _, value in _named_texts(call))


def _named_texts(call: Call) -> Iterator[tuple[str, str]]:
    """The texts that a call is given as they stand, with the names of their parameters."""
    return ((name, value) for name, value in call.inputs.items() if isinstance(value, str) and "{{" not in value)


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", folded(text)) is not None
