"""Headings that begin like a command: `Plan B:`, `Message from Tom:`, `Opening T-3`, `Let me close it`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from toolpath.checks.request.verbs import is_reading, is_thing

#: `Opening T-3` tells of it; `Bring` is a verb as it stands.
_DOING: Final = re.compile(r"(?=[a-z]*[aeiouy][a-z]*ing$)(?!(?:un)?(?:br|str|spr)ing$)[a-z]{3,}ing", re.IGNORECASE)
#: What is said of the words behind a colon, and no command: `Plan B:`, `Message from Tom:`; `Let me close it`.
_LABEL: Final = re.compile(
    r"[^\W\d_]+\s+(?-i:[A-Z])\s?:\s*$|let\s+me\s+(?!know\b|see\b|have\b|hear\b)"
    r"|(?:message|mail|e-?mail|text|note|comment|request|order|report|quote)\s+(?:from|by|von|de|del)\s[^:]{1,60}:\s*$",
    re.IGNORECASE,
)

LEAVES: Final = re.compile(
    r"(?:leave|keep)\s+(?:(?:a|an|the|this|my|him|her|them)\s+){1,2}(?:\w+\s+)?(?:comment|note|review|message"
    r"|feedback|reply|tip|record)\b",
    re.IGNORECASE,
)
"""`Leave a comment` is no word against acting."""


def heading(body: str, head: str) -> str | None:
    """The words that say whose the rest is, or what is being done; None where the clause may be a command.

    `head`: the verb that it begins with.
    """
    found = _LABEL.match(body)
    if found is not None:
        return found.group().strip()
    return head if _DOING.fullmatch(head) is not None and not is_reading(head) else None


#: Verbs of saying and writing, with what stands between them and what is said.
_SAYING: Final = re.compile(
    r"(?:please\s+|bitte\s+)?(?:reply|answer|respond|say|repeat|type|write|antworte|sage?|schreibe?|wiederhole|réponds|répondez|dis"
    r"|écris|écrivez|répète|responde|di|escribe|repite)(?:\s+(?:with|mit|avec|par|con))?\s*:?\s+(?P<verb>[^\W\d_]+)\s+"
    r"(?P<following>\S+)",
    re.IGNORECASE,
)


def says_an_order(body: str, is_verb: Callable[[str], bool]) -> str | None:
    """The verb of an order that is only to be said: `Reply with send Tom …`; None where none is."""
    found = _SAYING.match(body)
    if found is None or not is_verb(found["verb"]) or is_thing(found["verb"], found["following"]):
        return None
    return found["verb"]
