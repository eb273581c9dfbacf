"""Tools and texts that a request turns round: `Check GM-2 out` with `check_in`, a quotation for the device. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.only_read import stands_alone
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.verbs import folded

_PAIRS: Final = (("in", "out"), ("on", "off"), ("up", "down"))
#: Verbs that say which way alone: `Put GM-2 in CL-5`.
_OPEN: Final = frozenset(("put", "take", "bring", "get", "let", "move", "pull", "drop"))
_INWARD: Final = frozenset(("in", "into", "onto", "inside"))
_OUTWARD: Final = frozenset(("out", "off", "from", "away", "outside"))
_OPENING: Final = 80
#: Parameters that hold what somebody says.
_TEXTS: Final = frozenset(
    (
        "text",
        "message",
        "body",
        "content",
        "description",
        "comment",
        "note",
        "notes",
        "reason",
        "details",
        "summary",
        "caption",
        "announcement",
    )
)


def turned(seen: Seen) -> Iterator[str]:
    """A question for each acting call that the request says the other way round."""
    yield from _directions(seen)
    yield from _ways(seen)
    yield from _quotations(seen)


def _directions(seen: Seen) -> Iterator[str]:
    """A question for a tool of one direction where the request says its verb with the other: `Check GM-2 out`."""
    for call, tool, _ in seen.acting:
        words = raw_words(tool.name) if tool is not None else []
        for own, other in (pair[::order] for pair in _PAIRS for order in (1, -1)):
            if own not in words[1:] or other in words:
                continue
            verb = words[words.index(own) - 1]
            said = re.search(rf"\b{re.escape(verb)}\w*\b(?P<rest>[^.;!?\n]{{0,80}})", folded(seen.plain))
            if said is not None and stands_alone(other, said["rest"]) and not stands_alone(own, said["rest"]):
                yield f"The request says {verb!r} with {other!r}: is {call.tool} what is meant?"


def _ways(seen: Seen) -> Iterator[str]:
    """A question for a tool that takes something out where the request puts it in, or the other way round."""
    for clause in seen.clauses:
        if folded(clause.verb) not in _OPEN:
            continue
        words = {*re.findall(r"[^\W\d_]+", folded(clause.text))}
        for call, tool, _ in seen.acting:
            told = {*raw_words(tool.description[:_OPENING])} if tool is not None else set[str]()
            if folded(clause.verb) not in told and _way(words) * _way(told) < 0:
                yield f"{call.tool} goes the other way than {clause.verb!r}: is it what is meant?"


def _way(words: set[str]) -> int:
    """1: into something, -1: out of it, 0: neither or both."""
    return bool(words & _INWARD) - bool(words & _OUTWARD)


def _quotations(seen: Seen) -> Iterator[str]:
    """A question for a quoted text that is taken for something short while the call's text is not the quoted one."""
    quoted = {folded(one.group().strip("\"'“”„«» ")) for one in QUOTED.finditer(seen.request)}
    sentences = {one for one in quoted if len(one.split()) > 2}
    for call, _, _ in seen.acting:
        texts = {name: value for name, value in call.inputs.items() if isinstance(value, str)}
        held = [name for name in texts if _TEXTS & {*raw_words(name)}]
        for name, value in texts.items():
            if name in held or folded(value) not in sentences:
                continue
            for other in held:
                if folded(texts[other]) not in quoted:
                    yield f"{call.id}: which of {value!r} and {texts[other]!r} is {name!r}, and which is {other!r}?"
