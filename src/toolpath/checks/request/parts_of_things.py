"""Parts and states of a thing, for which a plan takes the thing: `Delete the disks of web-3`, `mark B-12`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, commanded, listed_concepts
from toolpath.checks.request.participles import done
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_PART: Final = re.compile(
    r"^\W*(?:(?:the|my|our|all|der|die|das|den|dem|le|la|les|l['\u2019]|el|los|las)\s*)?(?P<noun>[^\W\d_]{3,})\s+"
    r"(?:of|von|vom|der|des|de|du|del)\s+(?:(?:the|der|dem|die|la|le|el)\s+)?(?:[^\W\d_]+\s+)?#",
    re.IGNORECASE,
)
#: Behind a thing's kind and before an id stands one that is not it: `the order below B-12`.
_BESIDE: Final = re.compile(
    r"\b(?:below|above|under|beneath|beside|behind|near|opposite|around|unter|über|neben|hinter|bei|sous|derrière"
    r"|près\s+de|bajo|debajo\s+de|junto\s+a)\s+(?:(?:the|der|dem|la|le|el)\s+)?(?:[^\W\d_]+\s+)?#",
    re.IGNORECASE,
)
#: Verbs that say a state of a thing, which has to be said.
_MARKING: Final = frozenset(("mark", "flag", "tag", "label", "declare"))


def parts_of_things(seen: Seen) -> Iterator[str]:
    """A question where a call acts on the whole of what a part is commanded of, or sets a state that nobody says."""
    for clause in seen.clauses:
        if clause.mood != "command":
            continue
        body = clause.text.partition(clause.verb)[2]
        for call, tool, _ in seen.acting:
            if tool is None or not fits(clause.verb, tool):
                continue
            part = _PART.match(body)
            if tool.effect == "destructive" and part is not None and not _is_own(part["noun"], tool):
                yield f"{call.id}: {part['noun']!r} is a part of it, and {tool.name} takes the whole. What is meant?"
            if (beside := _BESIDE.search(body)) is not None and tool.effect == "destructive":
                yield f"{call.id}: what is {' '.join(beside.group().split())!r}? The plan takes what it stands beside."
            state = raw_words(tool.name)[-1:]
            if raw_words(tool.name)[0] in _MARKING and not _is_taken(state, tool) and not _says(state, clause.text):
                yield f"{call.id}: {tool.name} makes it {state[0]!r}, and the request does not say so. Should it?"


def _is_own(noun: str, tool: Tool) -> bool:
    """Whether the tool, or what it takes, goes by the noun."""
    properties = plain_inputs(tool).get("properties")
    names = (tool.name, *(properties if isinstance(properties, dict) else ()))
    own = {word for name in names for word in raw_words(name)} - STOPS
    concepts = listed_concepts(noun)
    return any(
        stem(folded(noun)) == stem(word) or concepts & listed_concepts(word) or done(folded(noun)) == word
        for word in own
    )


def _is_taken(state: list[str], tool: Tool) -> bool:
    """Whether it is what the tool is told: `tag_photo` takes a photo."""
    properties = plain_inputs(tool).get("properties")
    return any(
        word in raw_words(name) for name in (properties if isinstance(properties, dict) else ()) for word in state
    )


def _says(state: list[str], body: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", body)
    return not state or any(
        stem(folded(word)) == stem(state[0])
        or done(word) == done(state[0])
        or (listed_concepts(word) | commanded(word)) & (listed_concepts(state[0]) | commanded(done(state[0])))
        for word in words
    )
