"""Wishes: `I need a new playlist` commands it; what a thing should be or can become is only said to be so. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.participles import done
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool

_WORD: Final = re.compile(r"[^\W\d_]{2,}")
#: Before a thing that there is not yet.
_NEEDS: Final = re.compile(
    r"(?:(?:i|we)\s+)?(?:(?:really|just|only|also)\s+)?(?:need|want|would\s+like)\s+(?=(?:an?|another|some|new|two"
    r"|three|four|five|\d|#)\b"
    r"|(?!(?:to|you|it|this|that|the|them|him|her|help|your|my|our)\b)[a-z]{4,}\s)"
    r"|(?:i|we)['\u2019]d\s+like\s+(?=(?:an?|another|some|new)\b)"
    r"|(?:ich|wir)\s+(?:brauche?n?|bräuchten?|hätten?\s+gern|möchten?|will"
    r"|wollen)\s+(?:bitte\s+)?(?=(?:noch\s+)?(?:ein\w*|neue\w*|zwei|drei|\d|#)\b)"
    r"|il\s+(?:me|nous)\s+faut\s+(?=(?:une?|des|du|deux|trois|\d|#)\b)|j['\u2019]ai\s+besoin\s+d(?:e\s+"
    r"|['\u2019])(?=une?\b)"
    r"|(?:yo\s+)?necesit(?:o|amos)\s+(?=(?:una?|otr[oa]|dos|tres|\d|#)\b)|me\s+hace\s+falta\s+(?=(?:una?|otr[oa])\b)",
    re.IGNORECASE,
)
_IDS: Final = (
    r"(?:(?:the|der|die|das|le|la|les|el|los|las)\s+)?(?:[^\W\d_][\w-]*\s+)?[#\d][#\w-]*(?:(?:\s*,|\s+(?:and|und|et"
    r"|y))\s+[#\d][#\w-]*)*"
    r"(?:\s+(?:in|on|of|from|at|von|de|en)\s+[\w#./-]+)?"
)
#: What one thing, named by its id, is to be, to have or to become.
_IS_TO: Final = re.compile(
    rf"(?P<thing>{_IDS})\s+(?:both\s+|all\s+|now\s+)?(?P<modal>should|must|ha(?:s|ve)\s+to|needs?\s+to|can(?:\s+now)?"
    r"|soll(?:en)?|muss|müssen|doi(?:t|vent)|debe[n]?)\s+(?:now\s+|just\s+|ab\s+jetzt\s+|jetzt\s+)?(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_PASSIVE: Final = re.compile(r"(?:be|get)\s+(?P<verb>[a-z]+ed|[a-z]+)\b", re.IGNORECASE)
_BEING: Final = re.compile(
    r"(?:be|cost|have|read|say)\s+(?!been\b)\S|.*\b(?:kosten|sein|haben|heißen)\W*$|(?:coûter|être|avoir|costar|ser"
    r"|estar|tener)\s+\S",
    re.IGNORECASE | re.DOTALL,
)
_GOING: Final = re.compile(r"(?:go|end|stop|close)\b", re.IGNORECASE)
_GETTING: Final = re.compile(r"get\s+(?:an?|the|another|one)\b", re.IGNORECASE)
#: It is thought to have come about: `T-5 should be closed by now`.
_EXPECTED: Final = re.compile(r"\b(?:by\s+now|already|inzwischen|schon|déjà|ya)\b", re.IGNORECASE)
#: Acts after which there is one more of a thing.
_MAKING: Final = frozenset(
    ("create", "add", "make", "new", "open", "book", "order", "request", "reserve", "plan", "schedule")
)


class Wish(msgspec.Struct, frozen=True):
    """A thing that is needed, which commands it; or the word by which one is only said to be to become something."""

    modal: str = ""

    @property
    def is_need(self) -> bool:
        """Whether there is to be a thing that there is not yet."""
        return not self.modal


def wish_in(text: str) -> Wish | None:
    """The wish that a clause is; None where it is none. Ids in it are blanked out with `#`."""
    if _NEEDS.match(text) is not None:
        return Wish()
    found = _IS_TO.match(text)
    if found is None or _EXPECTED.search(text) is not None or text.rstrip().endswith("?"):
        return None
    modal, what = found["modal"], found["what"]
    passive = _PASSIVE.match(what)
    if passive is not None and done(passive["verb"]) != folded(passive["verb"]):
        # `T-5 should be closed` may only be thought.
        return None if folded(modal) in ("should", "soll", "sollen") else Wish(modal)
    is_being = _BEING.match(what) is not None and not folded(modal).startswith("can")
    return Wish(modal) if is_being or _GETTING.match(what) or _GOING.match(what) else None


def without_needing(text: str) -> str:
    """The clause without the words that say that it is needed."""
    needed = _NEEDS.match(text)
    return text[needed.end() :] if needed is not None else text


_NEEDED: Final = re.compile(
    r"^(?:an?|another)\s+(?P<noun>[a-z]{3,})\b(?=\s*(?:$|[.,!#]|(?:for|of|on|from|to)\b))", re.I
)


def is_needed(text: str, tool: Tool) -> bool:
    """Whether the tool makes what the clause says that is needed."""
    words = raw_words(tool.name)
    if tool.effect == "destructive" or not words:
        return False
    if (needed := _NEEDED.search(without_needing(text))) is not None and folded(needed["noun"]) == words[0]:
        # `I need a refund for O-7`: the act goes by its verb.
        return True
    return words[0] in _MAKING and _speaks_of(text, words[1:])


def _speaks_of(text: str, things: list[str]) -> bool:
    said = [word for word in _WORD.findall(text) if folded(word) not in STOPS]
    concepts = frozenset[str]().union(*(listed_concepts(word) for word in said))
    plain = {folded(word) for word in said} | {folded(word).removesuffix("s") for word in said}
    return any(thing in plain or listed_concepts(thing) & concepts for thing in things if thing not in STOPS)
