"""Gist of a request: what is left for a plan without courtesies, reasons, and what is said not to be done. Pure.

A plan is made of it; it is held against the whole request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.denials import Denial, denial_in, denies
from toolpath.checks.request.infinitives import is_infinitive
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.openings import opening_of
from toolpath.checks.request.seen import without_contents
from toolpath.checks.request.verbs import folded
from toolpath.checks.request.wishes import without_needing
from toolpath.model.tool import Tool

#: What names a thing by its form: with it a reason says more than why.
_VALUED: Final = re.compile(r"[\d@#\"“„«`]")
_IT: Final = re.compile(r"\b(?:it|him|them|ihn|sie|es)\b(?!['\u2019])", re.IGNORECASE)
_HER: Final = re.compile(r"\bher\b(?=\s*(?:$|[.,;!?]|(?:to|for|in|on|at|from|with|and)\b))", re.IGNORECASE)
#: It is said before what is meant, perhaps.
_POINTS: Final = re.compile(
    r"\b(?:it|its|him|his|her|them|their|one|this|that|these|those|ihn|ihm|ihr|ihnen|sie|es|eins|lui|leur|l[ae]s?|en|su|sus"
    r"|lo|los)\b(?!['\u2019])|-(?:le|la|les|lui|leur)\b|\b\w{2,}(?:r|[ae]n?)l[ao]s?\b",
    re.IGNORECASE,
)
#: What somebody or something is called, within a sentence or by two words.
_CALLED: Final = re.compile(r"(?<=[^\W\d_] )(?!I\b)[A-ZÄÖÜÉÁÍÓÚÑ][\w.'-]+")
_ITS: Final = re.compile(r"\b(?:its|her|his|their)(?=\s+[^\W\d_])", re.IGNORECASE)
#: What says that nothing else is meant; before a condition it belongs to that.
_ONLY: Final = re.compile(
    r"(?<!not )(?<!nicht )\b(?:nur|bloß|only|just|simply|einfach|seulement|juste|s[oó]lo|instead|stattdessen|erstmal)\b"
    r"(?!\s+(?:if|when|after|once|wenn|falls|si|cuando|that|those|the\s+ones?)\b)[ ]?"
)
#: Behind these stands what somebody is told, in the request's own words.
_HANDED_ON: Final = re.compile(
    r":\s|[\"“„«]|\b(?:that|saying|says|dass|que|qu['\u2019]|text|texte|texto)\b", re.IGNORECASE
)
_TIDY: Final = re.compile(
    r"^[\s,;:.!?\u2013\u2014-]+|[\s,;\u2013\u2014-]+$|(?:[\s,]+\b(?:and|but|und|aber|et|mais|y|pero))+\W*$",
    re.IGNORECASE,
)


def gist_of(
    request: str, is_verb: Callable[[str], bool], sets: Callable[[str], bool], tells: Callable[[str], bool]
) -> str:
    """The part of a request that asks for something; the request itself where nothing else stands beside that.

    `is_verb`: whether a word is a verb of one of the tools that are offered. `sets`: whether what is denied is how one
    of them is to be called: `no refund`; `tells`: whether a reason speaks of what they do or take.
    """
    plain = without_contents(request)
    clauses = list(_placed(clauses_of(plain, is_verb), plain))
    asking = [clause for clause, _ in clauses if clause.mood in ("command", "asked", "condition")]
    if not asking:
        return request
    kept: list[str] = []
    denied: Denial | None = None
    start = 0
    first = next((at for clause, at in clauses if clause.mood in ("command", "asked")), 0)
    commands = [clause.text for clause, _ in clauses if clause.mood == "command"]
    # `Put J-2240 on hold and give it to Ruth` says by itself what it is.
    points = any(map(_POINTS.search, commands)) and not any(map(_VALUED.search, commands))
    for clause, at in clauses:
        kept.append(request[start:at])
        start = at + len(clause.text)
        said = request[at:start]
        match clause.mood:
            case "none":
                pass
            case "negation" if _stands_apart(clause, clauses) and not sets(said):
                denied = denial_in(said, is_verb)
            case "reason" if _VALUED.search(said):
                kept.append(_subject_of(said, tells))
            case "reason" if points and at < first and _CALLED.search(said):
                # `Lena Brandt starts on Monday, give her a licence`: whom it is done for is told before.
                kept.append(said)
            case "reason":
                pass
            case "command":
                kept.append(_without_only(_commanded(clause, said, denied)))
            case "other":
                kept.append(_without_only(said))
            case _:
                kept.append(said)
    text = _TIDY.sub("", "".join((*kept, request[start:])))
    return re.sub(r"\s+([,.;!?])(?:\s*,)*", r"\1", re.sub(r"[ \t]{2,}", " ", text)) or request


def _commanded(clause: Clause, said: str, denied: Denial | None) -> str:
    """A command without what politeness puts before it; named by what is denied before, where it only points to it."""
    opening = opening_of(clause.text)
    said = without_needing(said[opening:].rstrip("?") if clause.text[opening:] else said)
    return _named(said, denied) if denied is not None else said


def _without_only(said: str) -> str:
    """The clause without `only`, but for what is handed on with it."""
    handed = _HANDED_ON.search(said)
    told = handed.start() if handed is not None else len(said)
    return _ONLY.sub("", said[:told]) + said[told:]


#: The finite verb of a statement, with what may stand before it.
_FINITE: Final = re.compile(
    r"(?<!\s)\s+(?:(?:just|still|already|only|both|all|ya|schon|noch|beide|se|s['\u2019])+\s*)?"
    r"\b(?:is|are|was|were|has|have|had|got|gets|broke|came|went|looks?|needs?|keeps?|ist|sind|war|waren|hat|haben|est|sont"
    r"|ont|está|están|son|fue|ha|han)\b",
    re.IGNORECASE,
)


def _subject_of(said: str, tells: Callable[[str], bool]) -> str:
    """A reason without what it says of a thing that it names: `MB-2 has lost its mast, tow it` speaks of MB-2."""
    found = _FINITE.search(said)
    if found is None or _VALUED.search(said[found.end() :]) or not _VALUED.search(said[: found.start()]):
        return said
    if tells(said[found.start() :]):
        return said
    return said[: found.start()] + said[len(said.rstrip(" ,;.!\u2013\u2014-")) :]


def undenied(request: str, is_verb: Callable[[str], bool], tools: Sequence[Tool]) -> list[Tool]:
    """The tools without those whose act the request says not to do, whatever thing it is done to."""
    if _DENIES.search(request) is None:
        return list(tools)
    plain = without_contents(request)
    clauses = list(_placed(clauses_of(plain, is_verb), plain))
    asked = [clause.verb for clause, _ in clauses if clause.mood == "command"]
    left = list(tools)
    for clause, at in clauses:
        if clause.mood == "negation" and _stands_apart(clause, clauses):
            denied = denial_in(request[at : at + len(clause.text)], is_verb)
            left = [tool for tool in left if denied.things or not denies(denied, tool) or _is_meant(asked, tool)]
    return left


#: Without one of these nothing is denied.
_DENIES: Final = re.compile(
    r"n['\u2019]t\b|\bn['\u2019]|\b(?:dont|not|no|never|nothing|leave|keep|avoid|skip|nicht|nie|niemals|kein\w*"
    r"|lass\w*|ne|pas|laisse\w*|nunca"
    r"|jamás|nada|deja\w*|sin|sans|ohne|without)\b",
    re.IGNORECASE,
)


def _is_meant(verbs: Sequence[str], tool: Tool) -> bool:
    """Whether a command is in the very verb of the tool."""
    return any(folded(verb) in raw_words(tool.name) for verb in verbs)


def reasons_in(request: str, is_verb: Callable[[str], bool]) -> list[str]:
    """The reasons that a request gives behind a command, in its words."""
    plain = without_contents(request)
    clauses = list(_placed(clauses_of(plain, is_verb), plain))
    found: list[str] = []
    for number, (clause, at) in enumerate(clauses):
        said = request[at : at + len(clause.text)].strip(" ,;.!()-\u2013\u2014")
        is_behind = any(one.mood == "command" for one, _ in clauses[:number])
        if clause.mood == "reason" and is_behind and not _VALUED.search(said):
            found.append(_BECAUSE.sub("", said))
    return found


_BECAUSE: Final = re.compile(r"^(?:because|since|weil|denn|parce\s+que|car|porque|ya\s+que)\s+", re.IGNORECASE)


def _placed(clauses: Sequence[Clause], plain: str) -> Iterator[tuple[Clause, int]]:
    """The clauses that stand in the text one after the other, with their places."""
    start = 0
    for clause in clauses:
        at = plain.find(clause.text, start)
        if at >= 0:
            yield clause, at
            start = at + len(clause.text)


def _stands_apart(clause: Clause, clauses: Sequence[tuple[Clause, int]]) -> bool:
    """Whether something else is asked for besides what the clause denies."""
    return any(one is not clause and one.mood in ("command", "asked") for one, _ in clauses)


def _named(said: str, denied: Denial) -> str:
    """The command with what was said not to be done with it in place of `it`: `Don't publish 44, schedule it`."""
    things = denied.things or denied.words
    if len(things) != 1 or (_VALUED.search(said.split(":", maxsplit=1)[0]) and denied.words == things):
        return said
    thing = things[0]
    for pattern, text in ((_HER, thing), (_ITS, f"{thing}'s"), (_IT, thing)):
        changed = pattern.sub(text, said, count=1)
        if changed != said:
            return changed
    # `T-60 nicht kündigen, freundlich erinnern`: it is the same thing.
    return f"{thing} {said}" if denied.things and _ends_so(said) and not _VALUED.search(said) else said


def _ends_so(said: str) -> bool:
    """Whether the command ends in a German infinitive, which may stand alone."""
    last = said.rstrip(" .!,").rpartition(" ")[2]
    return is_infinitive(last, lambda _: False)
