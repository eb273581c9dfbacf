"""Questions that one reading tool alone answers: by the values that it takes, and by what it tells. Pure.

People ask in words that no tool has: `where's PX-204417?`, `how much flour is left?`. A call that only reads does no
harm, so that a value which one tool alone takes, or a figure which one alone tells, is enough: so are several values
that one alone takes all of, as a day, a time and a number (`Do we have anything for eight on the 23rd at 8pm?`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import Mood, words_of
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import STOPS, is_known, listed_concepts
from toolpath.checks.request.openings import bare
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.named_things import BEING
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.parts import ClausePart, part_of
from toolpath.planner.offline.request.periods import periods_in
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, is_like_examples, is_other_code
from toolpath.planner.offline.tool_words import is_ordinary
from toolpath.values import JsonObject

#: Moods of clauses beside a question that change nothing of it.
_BESIDE: Final[frozenset[Mood]] = frozenset(("question", "asked", "none", "reason", "other"))
#: Before a question that somebody else asks, and one that stands behind something else.
_ASKING: Final = re.compile(
    r"(?:\b(?:ask(?:s|ed|ing)|want(?:s|ed)?\s+to\s+know|wonder(?:s|ing)|fragt|(?:will|möchte)\s+wissen|demande|veut\s+savoir"
    r"|pregunta|quiere\s+saber)\s+(?:(?:me|us|mich|uns|nos)\s+)?,?\s*|:\s+)"
    r"(?=(?:how|what|which|where|who|when|whether|if|is|are|do|does|has|have|can|wie|was|welche\w*|wo|wer|wann|ob|gibt|ist"
    r"|combien|quel\w*|où|qui|quand|si|est-ce|cu[aá]nt\w*|qu[eé]|cu[aá]l\w*|d[oó]nde|qui[eé]n|cu[aá]ndo|hay)\b)",
    re.IGNORECASE,
)
_WHETHER: Final = re.compile(r"(?:whether|if|ob|si)\s+", re.IGNORECASE)
#: It asks when, and waits for nothing: `when does it expire?`
_WHEN: Final = re.compile(
    r"\W*(?:(?:and|und|et|y)\s+)?(?:when\s+(?:do|does|did|is|are|was|were|will|has|have)|wann|quand\s+est-ce|cu[aá]ndo)\b[^.;]*\?\W*$",
    re.IGNORECASE,
)
#: Words of a question that say nothing of what is asked for.
_IDLE: Final = words_of("""
between from until entre zwischen du al bis whether if ob si anything something somebody anyone
how much many viel viele wieviel combien cuanto cuanta cuantos cuantas
still now right currently today got have has had having left any anything some there ok okay please know tell show me
noch jetzt gerade aktuell heute haben hat da bitte gibt sag zeig
encore maintenant actuellement reste restent avons avez reste
todavía aún ahora queda quedan tenemos hay dime
""")
#: What asks for a figure.
_HOW_MUCH: Final = re.compile(
    r"\b(?:how\s+(?:much|many)|wie\s?viele?|combien|cu[aá]nt[oa]s?|(?:in|on|auf|en)\s+(?:stock|hand|lager)|left|übrig|vorrätig"
    r"|restent?|quedan?)\b",
    re.IGNORECASE,
)
#: So many words before an id in brackets say what it is.
_CALLED: Final = 3
#: Names of what is counted out.
_FIGURES: Final = frozenset(
    map(stem, words_of("quantity stock count left available hand onhand remaining level units amount inventory copies"))
)


def answered(text: str, box: Toolbox, today: date | None) -> tuple[Kit, JsonObject] | None:
    """The reading tool that alone answers the question of a text, and what it is called with; None: none does."""
    place = _question(text)
    if place is None:
        return None
    part = part_of(text, *place, spans_of(text, today, box.forms), is_question=True)
    periods = [*periods_in(text, today)] if today is not None else []
    words = tuple(one for one in part.words if not any(period.start <= one.start < period.end for period in periods))
    part = msgspec.structs.replace(part, words=words)
    reading = [kit for kit in box.kits if not kit.is_acting]
    found = [fitted for kit in reading if (fitted := _answering(kit, part, box, text, len(periods))) is not None]
    # What takes an id of its own form comes before what takes any text.
    own = [one for one in found if _has_own_id(one, box)] or found
    return (own[0].kit, own[0].calls[0]) if len(own) == 1 else None


def _question(text: str) -> tuple[int, int] | None:
    """Where the questions of a text stand that commands nothing and takes nothing back."""
    asking = _ASKING.search(text)
    if asking is not None:
        start = asking.end() if (whether := _WHETHER.match(text, asking.end())) is None else whether.end()
        rest = clauses_of(text[start:], lambda _: False)
        return (start, len(text)) if all(one.mood in _BESIDE or _WHEN.match(one.text) for one in rest) else None
    clauses = clauses_of(bare(text), lambda _: False)
    asked = [one.text for one in clauses if one.mood in ("question", "asked") or _WHEN.match(one.text)]
    if not asked or not all(one.mood in _BESIDE or one.text in asked for one in clauses):
        return None
    start, last = text.find(asked[0]), text.rfind(asked[-1])
    return (start, last + len(asked[-1])) if 0 <= start <= last else None


def _answering(kit: Kit, part: ClausePart, box: Toolbox, text: str, periods: int) -> Fitted | None:
    """The tool with the values of a question; None where it takes not all of them, or tells not what is asked."""
    fitted = fit(kit, part, box, text, with_words=False)
    if fitted.missing or fitted.unused or not fitted.calls[0] or len(fitted.calls) != 1:
        return None
    strange = [*_strange(kit, part)]
    if _takes_all(fitted, strange, box, periods):
        return fitted
    if not fitted.taken:
        return None
    if _has_own_id(fitted, box):
        # An id that looks as this tool's own is of nothing else. A thing that is known and none of its own is another,
        # and so is what is counted: `how many calories are in R-21?`
        is_other = (bool(strange) and _HOW_MUCH.search(part.text) is not None) or any(
            is_known(word) or word in _nouns_of(part) for word in strange
        )
        return fitted if len(strange) < 2 and not is_other else None
    is_figure = _HOW_MUCH.search(part.text) is not None and any(
        stem(word) in _FIGURES for one in kit.outputs for word in raw_words(one.name)
    )
    return fitted if kit.required and not strange and (is_figure or _is_told(kit, part)) else None


def _takes_all(fitted: Fitted, strange: Sequence[str], box: Toolbox, periods: int) -> bool:
    """Whether the values say by themselves what is asked for, with a word that nobody knows at most.

    They are several of kinds of their own, one with no other word beside it, or an option of the tool's.
    """
    if any(_is_thing(word, box) for word in strange):
        return False
    typed = sum(one.kind in _TYPED for one in fitted.taken) + periods
    is_chosen = any(one.options and one.kind == "enum" and one.name in fitted.calls[0] for one in fitted.kit.fields)
    if typed > 1 or is_chosen:
        return len(strange) < 2
    return typed == 1 and not strange


def _is_thing(word: str, box: Toolbox) -> bool:
    """Whether a word is known to be a thing, or is one of these tools'; what is only a verb may be another tongue's."""
    concepts = listed_concepts(word)
    is_verb = bool(concepts) and all(one.startswith("to-") for one in concepts)
    return (not is_verb and is_ordinary(word)) or any(stem(word) in kit.words for kit in box.kits)


#: Kinds of values that nobody gives but to whom they mean something.
_TYPED: Final = frozenset(
    ("id", "day", "moment", "month", "time", "email", "path", "slash", "url", "number", "percent")
)


def _has_own_id(fitted: Fitted, box: Toolbox) -> bool:
    return any(_says_which(field, fitted.calls[0], box) for field in fitted.kit.fields)


def _says_which(field: ToolField, call: JsonObject, box: Toolbox) -> bool:
    """Whether the call is told which thing is meant by an id that looks as those of its parameter do."""
    value = call.get(field.name)
    if field.kind != "id" or not isinstance(value, str) or not any(map(str.isdigit, value)):
        return False
    prefix = box.prefix_of(field)
    if is_like_examples(value, field) or is_other_code(value, field, box):
        return True
    return len(prefix) > 1 and value.casefold().startswith(prefix.casefold())


def _nouns_of(part: ClausePart) -> frozenset[str]:
    """Words within a question that are written as German writes nouns, folded."""
    return frozenset(folded(word.text) for word in part.words[1:] if word.text[:1].isupper())


def _telling(part: ClausePart) -> Sequence[str]:
    """The words of a question that say what is asked for, folded."""
    # `the pretzel sticks (LS-05)`: the id says it.
    called = {one.start - part.start for one in part.spans if part.text[: one.start - part.start].endswith("(")}
    near = [word for start in called for word in part.before(part.start + start, _CALLED)]
    words = (folded(word.text) for word in part.words if not word.is_stop and word not in near)
    return [word for word in words if word not in STOPS and word not in _IDLE and len(word) > 2]


def _strange(kit: Kit, part: ClausePart) -> Iterator[str]:
    """Telling words that neither the tool, nor what it takes or tells has."""
    known = kit.words | _told(kit)
    concepts = frozenset[str]().union(*kit.named, kit.described, kit.extra, kit.given)
    for word in _telling(part):
        if word in BEING or _HOW_MUCH.fullmatch(word) is not None:
            continue
        if stem(word) not in known and not listed_concepts(word) & concepts:
            yield word


def _is_told(kit: Kit, part: ClausePart) -> bool:
    """Whether a telling word is what the tool gives, or an option of that."""
    told = _told(kit)
    return any(stem(word) in told or listed_concepts(word) & kit.given for word in _telling(part))


def _told(kit: Kit) -> frozenset[str]:
    """Stems of the names of what a tool gives and of its options."""
    names = [one.name for one in kit.outputs]
    options = [str(option) for one in kit.outputs for option in one.options]
    return frozenset(stem(folded(word)) for name in (*names, *options) for word in raw_words(name))
