"""Wanted things: the act that a request commands and what it is done to, or what a question asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.openings import bare
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Toolbox

Determiner = Literal["", "one", "own", "the"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_ONE: Final = words_of("a an another ein eine einen einem einer un une una uno")
_OWN: Final = words_of(
    "my our your his her their mein meine meinen meinem meiner unser unsere unseren mon ma mes notre nos mi mis"
)
_THE: Final = words_of("the this that these those der die das den dem le la les el los las")
#: What may stand between a verb and its thing: `Comment on the weather`, `Call me a taxi`, `Buy two tickets`.
_BEFORE: Final = words_of("""
me us everyone everybody mir uns nous nos on up down off out back all some any more new old other please mal bitte
two three four five six seven eight nine ten zwei drei deux trois dos tres neue neuen neuer nouveau nouvelle nueva nuevo
""")
#: What a question asks for stands after these words.
_ASKED: Final = re.compile(
    r"\W*(?:"
    r"(?:what|where|when|who)(?:['\u2019]?s|\s+(?:is|are|was|were))\s+(?P<det>the|an?|my|our|[^\s?]{1,40}['\u2019]s)"
    r"|how\s+(?:many|much(?:\s+(?:is|are|was|were)\s+(?:the|my|our))?)|which|what(?!\s+(?:if|about|else|happen\w*)\b)"
    r"|(?:was|wo|wann|wer|wie(?:\s+hoch)?)\s+(?:ist|sind|lautet|lauten)\s+(?P<der>der|die|das|eine?|mein\w*|unser\w*)"
    r"|wie\s?viele?|welche[nrsm]?"
    r"|(?:quel(?:le)?s?|o[uù]|quand|qui)\s+(?:est|sont)\s+(?P<le>le|la|les|l['\u2019]|mon|ma|mes|notre|nos)"
    r"|combien\s+d(?:e|['\u2019])|quel(?:le)?s?"
    r"|(?:cu[aá]l(?:es)?|d[oó]nde|cu[aá]ndo|qui[eé]n)\s+(?:es|son|est[aá]n?)\s+(?P<el>el|la|los|las|mi|mis|nuestr\w+)"
    r"|cu[aá]nt[oa]s?|qu[eé]"
    r")(?:\s+|(?<=['\u2019]))"
    # `The rate of return` is a return.
    r"(?:(?:average|mean|median|total|sum|rate|number|amount|value|percentage|share|ratio)\s+of\s+(?:the\s+|an?\s+)?)?(?=\S)",
    re.IGNORECASE,
)


#: What is told of anything that is counted or measured: `assist average` is of assists.
MEASURES: Final = words_of("average mean median total sum rate number amount value percentage share ratio level")

#: After a number: what it counts.
_COUNTS: Final = re.compile(r"\s+(?!(?:of|to|on|in|by|for|from)\b)[a-z]{3,}", re.IGNORECASE)


#: Moods of clauses that say more of what is commanded before them, and command nothing.
_BESIDE: Final = ("none", "reason", "report", "other")
#: `Get rid of the stain` removes it.
_RID: Final = re.compile(r"\W*(?:get|be)\s+rid\s+of(?=\s)", re.IGNORECASE)
#: Verbs that have somebody and something behind them.
_GIVING: Final = words_of("""
give send write pay offer grant buy get make bring show lend gib gebt geben schick schreib zahl kauf bring leih
donne donnez envoie envoyez écris offre paie achète da dale envía envíale escribe escríbele paga compra ofrece
""")
_SECOND: Final = re.compile(
    r"[^.,;:!?\"]{3,40}?\s(?:an?|eine?n?|une?|una)\s+(?:(?:new|little|small|big|nice|short|kleine\w*|petite?)\s+)?"
    r"(?P<thing>[^\W\d_]{3,})",
    re.IGNORECASE,
)
#: Of what is named before it: `the invoice of SUP-3`, `SUP-3's invoice`.
_POSSESSIVE: Final = re.compile(r"['\u2019]s\s+(?=[^\W\d_])")


class Wanted(msgspec.Struct, frozen=True):
    """Act and thing that a request of one clause wants."""

    verb: str
    """None of a question: empty."""
    is_command: bool
    """The verb is one of commands, or of a tool."""
    thing: tuple[str, ...]
    """The words for the thing, without what is a value by its form."""
    determiner: Determiner
    is_value: bool
    """A value stands where the thing does: an id, a name, what is quoted."""
    is_named: bool
    """A name stands right behind the thing, as in `the painting The Scream`."""


def wanted(text: str, spans: Sequence[Span], box: Toolbox) -> Wanted | None:
    """Act and thing that the request wants; None where it says several things, or says neither an act nor a thing."""
    said = bare(text)
    asked = _ASKED.match(said)
    if asked is not None:
        names = [one for one in asked.groupdict().values() if one]
        start = text.find(said) + asked.end() if said in text else -1
        return _after("", text, start, spans, _determiner(names[:1]), is_command=False) if start >= 0 else None
    start = text.find(said)
    rid = _RID.match(text, start) if start >= 0 else None
    if rid is not None:
        return _after("remove", text, rid.end(), spans, "", is_command=True)
    found = clauses_of(said, lambda word: any(fits(word, kit.tool) for kit in box.kits))
    if not found or found[0].mood not in ("command", "other") or any(one.mood not in _BESIDE for one in found[1:]):
        return None
    if len(found) > 1 and found[0].mood != "command":
        return None
    verb = found[0].verb or next(iter(_WORD.findall(found[0].text)), "")
    at = re.search(rf"(?<!\w){re.escape(verb)}(?!\w)", text) if verb else None
    if at is None or folded(verb) in STOPS:
        return None
    if found[0].mood == "other" and any(one.start <= at.start() < one.end for one in spans):
        # `Hansen & Sons can do it` begins with a name.
        return None
    want = _after(verb, text, at.end(), spans, "", is_command=found[0].mood == "command")
    second = _SECOND.match(text, at.end()) if folded(verb) in _GIVING else None
    if second is None or not (want.is_value or want.determiner in ("own", "the")):
        return want
    # `Give the driver a tip`: it is the tip that is given.
    thing = (folded(second["thing"]),)
    return msgspec.structs.replace(want, thing=thing, determiner="one", is_value=False, is_named=False)


def _after(
    verb: str, text: str, start: int, spans: Sequence[Span], determiner: Determiner, *, is_command: bool
) -> Wanted:
    """The thing that is spoken of from here on: up to a preposition, a mark or a value."""
    words: list[str] = []
    last = start
    is_value = is_named = False
    while (found := _WORD.search(text, last)) is not None or not words:
        span = next(
            (one for one in spans if one.start < (found.end() if found else len(text)) and one.end > last), None
        )
        if span is not None and span.kind == "number" and _COUNTS.match(text, span.end) and not span.unit:
            last = span.end
            continue
        if span is not None and text[last : span.start].strip(" (") == "":
            owned = _POSSESSIVE.match(text, span.end) if not words else None
            if owned is not None:
                last, determiner = owned.end(), "own"
                continue
            is_value, is_named = not words, bool(words)
            break
        if found is None or text[last : found.start()].strip():
            break
        word, last = folded(found.group()), found.end()
        if word in _BEFORE and not words:
            continue
        if not words and not determiner and (kind := _determiner([word])):
            determiner = kind
            continue
        if word in STOPS:
            break
        words.append(word)
    return Wanted(verb, is_command, (*words,), determiner, is_value, is_named)


def _determiner(words: Sequence[str]) -> Determiner:
    word = folded(words[0]) if words else ""
    if word.endswith(("'s", "\u2019s")):
        return "own"
    return "one" if word in _ONE else "own" if word in _OWN else "the" if word in _THE else ""
