"""Notes: requests without a verb that say a thing and its values, and mean the one tool that takes them. Pure.

`P-1087: temp 38.4, pulse 112` can be nothing but what is written down of P-1087; `table for 4 on Friday at 8, Okafor`
nothing but a booking. All of it has to be said and taken, and no other tool may take the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import blocked_by
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.namings import is_short
from toolpath.checks.request.remainders import says_nothing
from toolpath.checks.request.said import says_when
from toolpath.checks.request.seen import FOR_BOTH, Seen, is_offered
from toolpath.checks.request.tools import acts, has_been_done
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.model.plan import Call
from toolpath.model.tool import Tool

_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
#: Verbs of tools that write down, or make, what a note says.
_NOTING: Final = frozenset(
    ("record", "log", "enter", "note", "save", "track", "add", "create", "make", "book", "reserve", "order", "set")
)
#: Words that say that something is so, and nothing of a wish.
_STATES: Final = re.compile(
    r"\b(?:is|are|am|got|get|gets|has|have|had|does|did|do|went|goes|go|took|takes|take|wants?|needs?|costs?|comes?|came"
    r"|ist|sind|hat|haben|geht|kommt|braucht|nimmt|est|sont|ont|va|prend|son|ha|han|va|toma|wrong|ok|fine|still)\b"
)
#: So many values at least, besides what says which thing it is.
_FEWEST: Final = 2


def is_note(seen: Seen) -> bool:
    """Whether the request is a note of what its one acting tool takes, and nothing else."""
    tools = [tool for _, tool, _ in seen.calls if tool is not None]
    calls = [call for call, _, _ in seen.calls]
    if not tools or len(tools) != len(seen.acting) or len({tool.key for tool in tools}) != 1:
        return False
    tool, said = tools[0], seen.plain
    is_noting = bool(raw_words(tool.name)) and raw_words(tool.name)[0] in _NOTING and tool.effect == "write"
    if not is_noting or said.rstrip().endswith(("?", "\uff1f")) or blocked_by(said) is not None:
        return False
    if _STATES.search(folded(said)) is not None or has_been_done(said, tool) or is_reading(_first(said)):
        return False
    is_whole = all(len(call.inputs) >= _FEWEST and _holds_all(call, tool) for call in calls)
    names = frozenset[str]().union(*(call.inputs.keys() for call in calls))
    others = [one for one in seen.tools_left if acts(one) and names <= _parameters(one)]
    if _is_shared(calls) and FOR_BOTH.search(said) is None:
        # `MB-204 and MB-205: 80 litres`: of each, or of both together?
        return False
    return is_whole and not others and all(_is_told(word, seen) for word in _WORD.findall(said))


def _first(text: str) -> str:
    found = _WORD.search(text)
    return found.group() if found is not None else ""


def _parameters(tool: Tool) -> frozenset[str]:
    properties = tool.input_schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _holds_all(call: Call, tool: Tool) -> bool:
    """Whether the call has all that its tool needs, said in the request and read from no other step."""
    required = tool.input_schema.get("required")
    is_needed = all(name in call.inputs for name in required) if isinstance(required, list) else True
    return is_needed and not any("{{" in str(value) for value in call.inputs.values())


def _is_shared(calls: Sequence[Call]) -> bool:
    """Whether two calls take the same number."""
    numbers = [
        (name, value)
        for call in calls
        for name, value in call.inputs.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    return len(set(numbers)) < len(numbers)


def _is_told(word: str, seen: Seen) -> bool:
    """Whether a word is one of the tool's, of a value, or says nothing."""
    plain = folded(word).removesuffix("'s").strip("'-")
    if plain in STOPS or says_nothing(plain) or says_when(plain) or len(plain) < _LETTERS:
        return True
    known = seen.held.vocabulary
    if any(one in known or seen.held.names(one) or is_short(one, known) for one in (plain, plain.removesuffix("s"))):
        return True
    if plain in _OF_CLOCKS and any(_CLOCK.fullmatch(text) for text in seen.held.texts):
        return True
    return any(
        is_offered(value, tool, name) and folded(str(value)).startswith(plain.removesuffix("s"))
        for call, tool, _ in seen.calls
        for name, value in call.inputs.items()
    )


#: Words of a time of day: `half seven`.
_OF_CLOCKS: Final = frozenset(
    ("half", "quarter", "past", "halb", "viertel", "demie", "quart", "media", "cuarto", "menos")
)
_CLOCK: Final = re.compile(r"(?:\d{4}-\d\d-\d\dt)?\d\d:\d\d(?::\d\d)?")
#: Shorter words say nothing by themselves: `at`, `kg`.
_LETTERS: Final = 3
