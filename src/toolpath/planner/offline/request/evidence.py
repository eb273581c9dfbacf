"""Evidence that a part of a request means a tool: what is done, to what, with which values, what is asked. Pure.

No single sign has to be there: a read may be meant by what is asked and by its values alone. All that speaks for a tool
is one sum, so that tools are compared by the same measure, whatever they are known by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import msgspec

from toolpath.catalog.words import stem
from toolpath.checks.request.concepts import commanded, concepts_of, listed_concepts
from toolpath.checks.request.tools import acts_of
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.planner.offline.match import words_of
from toolpath.planner.offline.opposites import is_opposite
from toolpath.planner.offline.request.field_kinds import FieldKind
from toolpath.planner.offline.request.parts import ClausePart, Word
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, means

#: All words of a tool's name said; one of its description; one of its parameters, options or outputs.
_NAME, _TOLD, _EXTRA, _GIVEN = 2.0, 0.25, 0.1, 0.25
#: A value of an enum that no other tool has; an id of the tool's own kind, and one that it has no use for.
_OPTION, _ID, _FOREIGN_ID = 0.6, 0.7, -0.4
#: What is asked for is what the tool gives; all that the tool needs is there, and nothing is left.
_ASKED, _WHOLE = 0.3, 0.3
#: What nearness by meaning counts, and the most that it does: alone it is never enough.
_MEANING, _MOST_BY_MEANING = 2.0, 0.4
#: What a clause means a tool the less for, that is for the opposite of what it says.
_OPPOSITE: Final = 1.5
#: How much less than another word of its name the word counts by which a tool that reads says that it reads.
_PLAIN: Final = 0.3
#: What another word for a word of the name counts.
_SYNONYM: Final = 0.9
_MOST: Final = 3
_WHICH: Final = re.compile(r"\W*(?:which|welche\w?|quel(?:le)?s|qué|cuáles)\b", re.IGNORECASE)
#: Question words of four languages → kinds of values that answer them, and words of their names.
_QUESTIONS: Final[tuple[tuple[str, frozenset[FieldKind], str], ...]] = (
    (
        r"who(?:se|m)?|wer|wem|wen|wessen|qui|qui[eé]n(?:es)?",
        frozenset(("person", "email", "company")),
        "name assignee author owner person customer guest patient tenant teacher doctor driver user employee member "
        "pupil student candidate contact passenger attendee colleague client",
    ),
    (
        r"when|since\s+when|until\s+when|wann|seit\s+wann|bis\s+wann|quand|cu[aá]ndo",
        frozenset(("day", "moment", "time")),
        "date time start end due until deadline at on",
    ),
    (
        r"where|wo|wohin|où|d[oó]nde",
        frozenset(("place",)),
        "location address city room bed branch place position site shelf status",
    ),
    (
        r"how\s+many|wie\s*viele?|combien\s+de|cu[aá]nt[oa]s",
        frozenset(("number", "percent")),
        "count total number quantity amount",
    ),
    (
        r"how\s+much|was\s+kostet|wie\s*viel|combien|cu[aá]nto",
        frozenset(("money", "number", "percent", "duration")),
        "price cost total balance amount fee rate",
    ),
    (
        r"is|are|was|were|has|have|did|does|ist|sind|war|hat|wurde|est-ce|est|ha|han|est[aá]",
        frozenset(("bool",)),
        "status state phase stage",
    ),
)


#: A sentence that tells of something.
_TELLS: Final = re.compile(
    r"^\W*+(?:[^\s?:;]+\s+){0,5}?[^\s?:;]*(?:(?<=\w)['\u2019]s|\s(?:is|are|was|were|has|have|had|got|wants?|needs?|just"
    r"|ist|sind|war|waren|hat|haben|wurden?|est|sont|a|ont|est[aá]n?|son|fue|ha|han))\s(?!\S*\?)",
    re.IGNORECASE,
)


#: What would be is no state that a tool tells.
SUPPOSED: Final = re.compile(r"\b(?:would|should|could|if|happens?)\b", re.IGNORECASE)
#: Before whom another act is for: `… and ping Ann`.
OF_ANOTHER: Final = re.compile(
    r"(?:\band|&|,|\bund|\bet|\by)\s+(?:also\s+)?(?:ping|tell|notify|inform|email|call|text|ask|remind|message)\s+$",
    re.IGNORECASE,
)


class ToolEvidence(msgspec.Struct, frozen=True):
    """What speaks for a tool; less than nothing speaks against it."""

    act: float = 0.0
    """What the clause has done, or that it asks to be told something."""
    thing: float = 0.0
    """The words of the tool's name and description, of its parameters and of what it gives."""
    values: float = 0.0
    """Ids of its kind, its options, all that it needs."""
    asked: float = 0.0
    """It gives what is asked: `when` a time, `who` somebody."""
    meaning: float = 0.0
    """It is nearer by what words mean than other tools are, where vectors of them are at hand."""

    @property
    def meant(self) -> float:
        """All of it as one number."""
        return self.act + self.thing + self.values + self.asked + self.meaning


class Used(msgspec.Struct, frozen=True):
    """What a tool makes of a clause."""

    spans: Sequence[Span]
    """Values that a parameter took."""
    options: Sequence[ToolField]
    """Parameters that an option was said of."""
    is_whole: bool
    """All that the tool needs was said by values of their own form, and no value is left."""


def evidence(kit: Kit, part: ClausePart, box: Toolbox, used: Used) -> ToolEvidence:
    """All that speaks for the tool in a clause."""
    return ToolEvidence(
        act=_of_act(kit, part),
        thing=_of_thing(kit, part, box),
        values=_of_values(kit, part, box, used),
        asked=_of_question(kit, part),
        meaning=max(-_MOST_BY_MEANING, min(_MOST_BY_MEANING, _MEANING * box.nearness(kit))),
    )


def _of_act(kit: Kit, part: ClausePart) -> float:
    verb = part.verb
    if part.is_question:
        # `Which tasks are open?` asks for several.
        is_list = "list" in frozenset[str]().union(*kit.named[:1]) and _WHICH.match(part.text) is not None
        return -1.5 if kit.is_acting else 0.4 + 0.8 * is_list
    if not verb:
        if _TELLS.search(part.text):
            # `D-14 is sold out` is told to have it noted, if for anything.
            return 0.1 if kit.is_acting else -0.4
        return -0.3 if kit.is_acting else 0.1
    if part.joint.startswith("to-"):
        # `Get rid of it` gets nothing.
        return 0.8 if part.joint in acts_of(kit.tool) else -1.0
    if folded(verb) in kit.verbs:
        return 1.0
    if concepts_of(verb) & frozenset[str]().union(*kit.named[:1]):
        return 0.8
    if means(verb, kit) or concepts_of(verb) & kit.opening:
        return 0.6
    if listed_concepts(verb) & frozenset[str]().union(*kit.named):
        return 0.4
    if is_reading(verb):
        return -1.5 if kit.is_acting else 0.3
    # What only reads is none of what another verb commands.
    return -1.0 if meanings_of(verb) or any(one.startswith("to-") for one in commanded(verb)) else 0.0


def _of_thing(kit: Kit, part: ClausePart, box: Toolbox) -> float:
    said = [word for word in part.words if not word.is_stop or folded(word.text) in ("on", "off", "up")]
    concepts = frozenset[str]().union(*(word.concepts for word in said)) if said else frozenset()
    concepts |= frozenset[str]().union(*(concepts_of(one.text) for one in part.spans if one.kind in ("name", "code")))
    stems = frozenset(stem(folded(word.text)) for word in said)
    total = met = 0.0
    for named in kit.named:
        weight = box.weight(named) * (_PLAIN if not kit.is_acting and named & _READING else 1.0)
        total += weight
        met += weight * (bool(named & concepts) and (1.0 if named & stems else _SYNONYM))
    score = _NAME * met / total if total else 0.0
    score += _TOLD * _counted(said, kit.described) + _EXTRA * _counted(said, kit.extra)
    if not kit.is_acting and (part.is_question or is_reading(part.verb)):
        score += _GIVEN * min(2, _counted(said, box.given(kit) - kit.described - _PALE))
    if is_opposite(kit.words, words_of(part.text)):
        score -= _OPPOSITE
    return score


#: Concepts of words by which a tool says no more than that it reads, and of what anything has.
_READING: Final = frozenset(("show", "list", "find", "get", "to-find", "to-list", "search"))
_PALE: Final = frozenset(("id", "name", "number", "title", "status", "call", "new"))


def _counted(words: Iterable[Word], concepts: frozenset[str]) -> int:
    return min(_MOST, sum(bool(word.concepts & concepts) and not word.is_stop for word in words))


def _of_values(kit: Kit, part: ClausePart, box: Toolbox, used: Used) -> float:
    score = 0.0
    for span in part.spans:
        if span.kind == "id" and box.knows_prefix(span.text):
            score += _ID if span in used.spans else _FOREIGN_ID
    for field in used.options:
        score += _OPTION / max(1, box.having(field)) ** 0.5
    return score + _WHOLE * used.is_whole


def _of_question(kit: Kit, part: ClausePart) -> float:
    if kit.is_acting or not part.is_question:
        return 0.0
    found = next(((kinds, names) for words, kinds, names in _asking() if words.match(part.text)), None)
    if found is None:
        return 0.0
    kinds, names = found
    given = [*kit.outputs, *(one for listed in kit.lists for one in listed.fields)]
    is_given = any(one.kind in kinds or names & {*one.name.split("_")} for one in given)
    # `Who is ann@firm.com?` is asked of a tool for people sooner than of one that tells whose a ticket is.
    return _ASKED * (is_given + bool(is_given and names & frozenset[str]().union(*kit.named)))


@cache
def _asking() -> tuple[tuple[re.Pattern[str], frozenset[FieldKind], frozenset[str]], ...]:
    return tuple(
        (re.compile(rf"\W*(?:{words})(?:['\u2019](?:s|re))?\b", re.IGNORECASE), kinds, frozenset(names.split()))
        for words, kinds, names in _QUESTIONS
    )
