"""Texts that a request has somebody told, written or noted, whole: from what introduces them to the end of the clause.

`tell #oncall the failover is done`, `dass der Ausflug ausfällt`, `on 4410: handle with care`. Pure.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.checks.request.concepts import concepts_of, listed_concepts
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.parts import ClausePart, Word
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, ToolField

_WHEN: Final = frozenset(["season", "year", "month", "week", "quarter", "date", "day", "time"])
_TOLD: Final = frozenset(
    [
        "text",
        "body",
        "content",
        "title",
        "subject",
        "reason",
        "message",
        "summary",
        "note",
        "comment",
        "reply",
        "answer",
    ]
)
#: What is told in a sentence.
_SENTENCES: Final = (_TOLD - {"title", "subject", "reason"}) | {"description", "details", "resolution"}
#: Told in a few words, after a colon.
_HEADINGS: Final = ("title", "subject", "summary", "name")
#: Concepts of verbs after which `that` begins what is told.
_TELLING: Final = frozenset(
    [
        "tell",
        "say",
        "write",
        "notify",
        "reply",
        "comment",
        "note",
        "message",
        "text",
        "inform",
        "remind",
        "send",
        "mail",
    ]
) | frozenset(("email", "post", "answer", "log", "warn", "announce"))
_SAYING: Final = re.compile(
    r"[\s,]*(?:\b(?:saying|(?:that|which)\s+says?|to\s+say|reading|with\s+the\s+(?:text|message|words?)|diciendo|que\s+diga|disant"
    r"|mit\s+dem\s+(?:text|hinweis)|con\s+el\s+(?:texto|mensaje)|avec\s+le\s+(?:texte|message))\b\s*(?:that\s+|que\s+|,\s*dass\s+)?:?|(?<=[\w\]\"”])\s?:(?=\s))\s*",
    re.IGNORECASE,
)
_THAT: Final = re.compile(r",?\s+(?:that|dass|que|qu['\u2019])\s*(?=\S)", re.IGNORECASE)
_THANKS: Final = re.compile(
    r"[\s,]*(?:,\s*(?:please|thanks|thank\s+you|thx|bitte|danke|por\s+favor|gracias|merci|s['\u2019]il\s+(?:te|vous)\s+pla[iî]t))?[\s.!]*$",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[.!?](?=\s+\S)|\n")
#: A verb in a sentence: what follows somebody's name and has one is what they are told.
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|can['\u2019]t|could|should|must|needs?|does|did|won['\u2019]t|isn['\u2019]t|aren['\u2019]t"
    r"|we['\u2019](?:re|ve|ll)|it['\u2019]s|i['\u2019](?:m|ve|ll)|they['\u2019](?:re|ve)|s?he['\u2019]s|you['\u2019]re)\b",
    re.IGNORECASE,
)
_QUOTED: Final = ("quoted",)


def is_told(field: ToolField) -> bool:
    """Whether what it is of has to be said: what is written, and when."""
    words = {*field.name.split("_")}
    return bool(_WHEN & words) or (field.name in _TOLD and field.name != "query")


def is_message(field: ToolField) -> bool:
    """Whether it takes what somebody is told, in sentences."""
    return field.name in _SENTENCES and field.kind == "text"


def names_message(word: Word, span: Span, field: ToolField, text: str) -> bool:
    """Whether a word right before a quotation says that it is what somebody is told: `the text "…"` of a `body`."""
    between = text[word.end : span.start].strip(" :\"'“„«")
    return not between and is_message(field) and folded(word.text) in _SENTENCES


def with_told(kit: Kit, part: ClausePart, given: frozenset[str]) -> ClausePart:
    """The clause with what is to be told as one value, for a tool that takes such a text."""
    fields = [field for field in kit.fields if field.name not in given and field.kind == "text"]
    if not any(is_message(one) or (one.required and one.name in _HEADINGS) for one in fields):
        return part
    if any(one.kind in _QUOTED for one in part.spans):
        return part
    start = _start(kit, part)
    if start is None:
        return part
    end = next((found.start() for found in _END.finditer(part.text, start)), len(part.text))
    said = _THANKS.sub("", part.text[start:end])
    if not said.strip() or len(said) < _SHORTEST:
        return part
    first, last = part.start + start, part.start + start + len(said)
    text = Span("quoted", said, said.strip(), first, last)
    spans = (*(one for one in part.spans if one.end <= first or one.start >= last), text)
    return msgspec.structs.replace(
        part,
        spans=tuple(sorted(spans, key=lambda one: one.start)),
        words=tuple(word for word in part.words if word.end <= first or word.start >= last),
    )


#: Less is no message.
_SHORTEST: Final = 3


def _start(kit: Kit, part: ClausePart) -> int | None:
    """Where what is told begins."""
    hidden = list(part.text)
    for one in part.spans:
        hidden[one.start - part.start : one.end - part.start] = "x" * (one.end - one.start)
    plain = "".join(hidden)
    telling = next(
        (
            word
            for word in part.words[:4]
            if (listed_concepts(word.text) | {folded(word.text)}) & _TELLING or _is_of(word.text, kit)
        ),
        None,
    )
    found = _SAYING.search(plain)
    if found is not None and found.end() < len(plain) and _is_introduced(kit, part, found):
        return found.end()
    if telling is None:
        return None
    found = _THAT.search(plain, telling.end - part.start)
    if found is not None:
        return found.end()
    # `tell #oncall the failover is done`
    whom = next((one for one in part.spans if one.start >= telling.end), None)
    if whom is None or part.text[telling.end - part.start : whom.start - part.start].strip():
        return None
    rest = whom.end - part.start
    # `tell Ann Brook's parents she is late`: whose they are is none of it.
    owned = _OWNED.match(part.text, rest)
    rest = owned.end() if owned is not None else rest
    return rest + len(part.text[rest:]) - len(part.text[rest:].lstrip(" ,")) if _FINITE.search(plain, rest) else None


_OWNED: Final = re.compile(r"(?:['\u2019]s|(?<=['\u2019]s))\s+[^\W\d_]+(?=\s)")


def _is_introduced(kit: Kit, part: ClausePart, found: re.Match[str]) -> bool:
    """Whether what stands before a colon says that something is told: `P-7: pulse 80` tells nobody anything."""
    if ":" not in found[0]:
        return True
    before = [word for word in part.words if word.end <= part.start + found.start()]
    is_heading = any(one.required and one.name in _HEADINGS for one in kit.fields)
    if _is_written(kit, part, found):
        return True
    return (is_heading and bool(before)) or any((word.concepts | {folded(word.text)}) & _TELLING for word in before)


#: Values by which something else than a text is filled in.
_FILLING: Final = ("number", "money", "percent", "duration", "id", "code", "day", "moment", "time", "list", "email")


def _is_written(kit: Kit, part: ClausePart, found: re.Match[str]) -> bool:
    """Whether what follows the tool's own command is the text that it takes, and no values: `review it: fits well`."""
    is_own = folded(part.verb) in kit.verbs or bool(concepts_of(part.verb) & frozenset[str]().union(*kit.named))
    if not (kit.is_acting and part.verb and is_own and any(is_message(one) for one in kit.fields)):
        return False
    return not any(one.start >= part.start + found.end() and one.kind in _FILLING for one in part.spans)


def _is_of(word: str, kit: Kit) -> bool:
    return folded(word) in kit.verbs and any(
        folded(word).startswith(one) for one in ("tell", "say", "page", "text", "notif")
    )
