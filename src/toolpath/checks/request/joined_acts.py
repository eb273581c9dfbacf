"""Acts that a request joins in a verb nobody knows: `find the sacks and roast each of them`. Pure.

A plan that only reads does no harm, and leaves out half of the request all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded, is_reading

#: What follows a conjunction, a comma or the end of a sentence, and does something to what was spoken of.
_ACT: Final = re.compile(
    r"(?:[,;&.!]|\b(?:and|then|und|dann|et|puis|y|luego)\b)\s+(?:(?:then|also|please|dann|auch|bitte|puis|luego)\s+)*"
    r"(?P<verb>[^\W\d_]{3,})\s+(?P<object>each|every(?:thing|one)?|it|them|him|her|this|those|these|all|both|the|my|our"
    r"|jede[nrs]?|sie|es|ihn|alle|beide|chacune?|tou(?:te)?s|cada|todos|todas)(?![\w'\u2019-])",
    re.IGNORECASE,
)
_STATES: Final = re.compile(r"\b(?:is|are|be|ist|sind|est|sont|es|son)\b", re.IGNORECASE)
_END: Final = re.compile(r"[.;!?]")
#: These pronouns are an object and nothing else.
_OBJECTS: Final = frozenset(
    ("each", "it", "them", "him", "everything", "everyone", "jeden", "jede", "jedes", "ihn", "cada")
)


def joined_acts(seen: Seen) -> Iterator[str]:
    """The acts of the request that no tool of the plan knows and that no value holds."""
    for found in _ACT.finditer(seen.plain):
        verb = folded(found["verb"])
        if verb in STOPS or is_reading(verb) or seen.is_verb(verb) or seen.held.names(verb):
            continue
        if verb in seen.held.vocabulary or verb.removesuffix("s") in seen.held.vocabulary:
            continue
        if folded(found["object"]) not in _OBJECTS and (verb.endswith("s") or seen.plain[found.start()] == ","):
            # `apples and pears the shop has`
            continue
        end = _END.search(seen.plain, found.end())
        if _STATES.search(seen.plain, found.end(), end.start() if end is not None else len(seen.plain)):
            # `ensure the payment is private`: how it is to be.
            continue
        yield " ".join(seen.request[found.start("verb") : end.start() if end is not None else None].split())
