"""Unserved requests: their act, or the thing that it is done to, is none that any of the tools tells of. Pure.

Something always fits best, and half of it may be said: `Lock my phone` of a tool that locks doors, `Translate T-9` of
one that shows tickets. What the tools lack is no question to whoever asks: it is a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, commanded, is_known, listed_concepts, phrasal
from toolpath.checks.request.tools import acts_of, fits
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spelling import ordinary_words
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, things_of
from toolpath.planner.offline.wanted import Wanted, wanted

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
#: Verbs that ask to be told something which is nowhere until somebody makes it.
_MAKING: Final = frozenset(("translate", "convert", "summarize", "summarise", "simulate", "solve"))
#: Verbs that say little without what follows them.
_BROAD: Final = words_of(
    """set make do put change update get give take use run let help have need go be try keep add create call tell say
    open offne ouvre abre abra mach mache machen nimm gib setz stell fais faites prends mets donne pon haz toma da"""
)
#: What a tool gives: `Calculate the area of a circle`, `Get a list of the goals of a player`.
_GIVES: Final = re.compile(
    r"\W*\w+\s+(?:the\s+|an?\s+|all\s+)?"
    r"(?:(?:list|number|amount|detail|information|data|value|set|name)s?\s+(?:of|about|on|for)\s+(?:the\s+|an?\s+)?)?"
    r"(?P<what>\w+(?:\s+\w+){0,4}?)\s*(?:$|[.,;:(]|"
    r"\b(?:of|for|in|on|from|by|with|at|to|between|given|based|using|that|which|and|or)\b)",
    re.IGNORECASE,
)
#: What things are counted in.
_COUNTING: Final = words_of(
    "copy copies piece pieces pair pairs dozen units kilo kilos litre litres stuck exemplar pieza piezas"
)
#: Parameters that take any words: what to look for.
_SOUGHT: Final = frozenset(
    ("query", "text", "q", "term", "terms", "keyword", "keywords", "search", "question", "topic")
)
#: Things of any kind.
_ANYTHING: Final = frozenset(("item", "product", "device", "thing", "object", "article", "topic", "task", "query"))
#: Kinds of values that nothing else is.
_TELLING: Final = frozenset(("email", "url", "phone", "repo", "enum"))


def is_unserved(plan: Plan, text: str, spans: Sequence[Span], box: Toolbox) -> bool:
    """Whether the plan's one tool fits a request that wants another act, or the act with another kind of thing."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    if len(calls) != 1 or calls[0].tool not in kits:
        return False
    call, kit = calls[0], kits[calls[0].tool]
    want = wanted(text, spans, box)
    if want is None or kit.tool.name in text or box.nearness(kit) > 0:
        # What is near by its meaning may be said in words that nothing here knows.
        return False
    if not want.verb and not want.thing:
        return False
    if not want.verb:
        return _is_other_question(want, plan, text, kit, is_alone=len(box.kits) == 1)
    told = _told_of(box.kits)
    return (
        _is_foreign_act(want, told, box)
        or _is_left_undone(want, text, kit, box)
        or _is_foreign_thing(want, plan, text, call, told, box)
    )


class _Told(msgspec.Struct, frozen=True):
    """What all tools of a request tell of themselves."""

    stems: frozenset[str]
    concepts: frozenset[str]

    def tells(self, word: str) -> bool:
        """Whether some tool speaks of it, in this word or another one for the same."""
        return (
            stem(word) in self.stems
            or bool(listed_concepts(word) & self.concepts)
            or any(is_like(stem(word), one) for one in self.stems if one[:4] == word[:4])
        )


def _told_of(kits: Sequence[Kit]) -> _Told:
    words = frozenset[str]().union(*map(_words_of, kits))
    return _Told(
        frozenset(map(stem, words)),
        frozenset[str]().union(*(listed_concepts(word) for word in words)) - {"show", "list"},
    )


def _words_of(kit: Kit) -> frozenset[str]:
    """The words of a tool's name, description, parameters and outputs; kept with it, since tools are frozen."""
    known = kit.tool.__dict__.get("_told_words")
    if isinstance(known, frozenset):
        return known
    texts = [kit.key, kit.tool.name, kit.tool.title or "", kit.tool.description[:2_000]]
    for field in (*kit.fields, *kit.outputs, *(one for listed in kit.lists for one in listed.fields)):
        texts += [field.name, field.description, *map(str, field.options)]
    texts += [".".join(listed.path) for listed in kit.lists]
    words = frozenset(folded(word) for text in texts for word in (*raw_words(text), *_WORD.findall(text))) - STOPS
    kit.tool.__dict__["_told_words"] = words
    return words


def _is_foreign_act(want: Wanted, told: _Told, box: Toolbox) -> bool:
    """Whether the verb is one that no tool does, nor tells of."""
    verb = folded(want.verb)
    if verb in _BROAD or told.tells(verb) or any(fits(want.verb, kit.tool) for kit in box.kits):
        return False
    if is_reading(verb):
        return verb in _MAKING
    concepts = commanded(verb)
    if any(concepts & (acts_of(kit.tool) | kit.opening | kit.extra | kit.described) for kit in box.kits):
        return False
    if _is_verb(verb):
        return True
    # A word that no table has is a verb where what it is done to follows; of a thing of the tools it may be theirs.
    is_unknown = not is_known(verb) and (want.is_value or want.determiner != "")
    return is_unknown and not any(map(told.tells, want.thing))


def _is_left_undone(want: Wanted, text: str, kit: Kit, box: Toolbox) -> bool:
    """Whether an act is commanded, and the best that the tools have only shows something."""
    verb = folded(want.verb)
    if kit.is_acting or not want.is_command or verb in _BROAD or is_reading(verb) or fits(verb, kit.tool):
        return False
    for other in box.kits:
        if other.is_acting and fits(verb, other.tool) and any(map(_told_of((other,)).tells, want.thing)):
            # `Send everyone a mail`: to whom is what is not known.
            return False
    return _is_verb(verb) and stem(verb) not in map(stem, _words_of(kit)) and not phrasal(text)


def _is_verb(word: str) -> bool:
    return bool(meanings_of(word)) or any(one.startswith("to-") for one in commanded(word))


def _has_own_id(call: Call, kit: Kit, box: Toolbox) -> bool:
    """Whether a value begins as ids of the tool do, or is one by its form."""
    for field in kit.fields:
        value = call.inputs.get(field.name)
        if field.kind != "id" or not isinstance(value, str | int):
            continue
        prefix = box.prefix_of(field)
        if str(value).casefold().startswith(prefix.casefold()) if prefix else any(map(str.isdigit, str(value))):
            return True
    return False


def _is_foreign_thing(want: Wanted, plan: Plan, text: str, call: Call, told: _Told, box: Toolbox) -> bool:
    """Whether what is wanted, which no tool speaks of, is neither a name of the tool's thing nor words to look for."""
    kit = next(kit for kit in box.kits if kit.key == call.tool)
    is_nothing = want.is_value or _COUNTING.issuperset(want.thing)
    if is_nothing or any(map(told.tells, want.thing)) or _has_own_id(call, kit, box):
        return False
    if _says_thing(want.verb, kit) or _is_initialled(want, told) or _is_said(kit, text):
        # `Vacuum the hallway` says by its verb what the tool is for, `Set the study to 20 degrees` by its unit, and
        # initials do for what they stand for.
        return False
    if any(_is_telling(call, field, kit) for field in kit.fields):
        return False
    taking = next((field for field in kit.fields if _takes(call, field, want)), None)
    is_ordinary = any(map(_is_ordinary, want.thing))
    if taking is None:
        is_open = bool(plan.questions) or kit.is_acting or want.is_named
        return is_open and (want.determiner != "" or (is_ordinary and not want.is_named))
    is_own_act = folded(want.verb) in kit.verbs or bool(commanded(want.verb) & acts_of(kit.tool))
    if taking.name in _SOUGHT or (is_own_act and (not things_of(kit) or taking.concepts & _ANYTHING)):
        return False
    return want.determiner in ("one", "own") or (want.determiner == "the" and is_ordinary)


def _is_telling(call: Call, field: ToolField, kit: Kit) -> bool:
    """Whether the value says what the thing is: nothing else has such a one, or it is when, and all is there."""
    value = call.inputs.get(field.name)
    if value is None:
        return False
    if field.kind == "path":
        return any(mark in str(value) for mark in "/.\\*")
    if str(value)[:1] in ("#", "@"):
        return True
    if field.kind in ("day", "moment", "time"):
        return field.required and all(one.name in call.inputs for one in kit.required)
    return field.kind in _TELLING


def _takes(call: Call, field: ToolField, want: Wanted) -> bool:
    value = call.inputs.get(field.name)
    said = {folded(word) for word in _WORD.findall(str(value))} if value is not None else set()
    return bool(said & {*want.thing})


def _is_ordinary(word: str) -> bool:
    return is_known(word) or word in ordinary_words()


def _is_said(kit: Kit, text: str) -> bool:
    """Whether a word stands for what the tool is for."""
    things = frozenset[str]().union(*map(listed_concepts, things_of(kit)))
    return any(listed_concepts(word) & things for word in map(folded, _WORD.findall(text)) if word not in STOPS)


def _is_initialled(want: Wanted, told: _Told) -> bool:
    initials = "".join(word[0] for word in want.thing)
    return len(initials) > 2 and initials in told.stems


def _says_thing(verb: str, kit: Kit) -> bool:
    return any(stem(one) == stem(folded(verb)) or one in commanded(verb) for one in things_of(kit))


def _is_other_question(want: Wanted, plan: Plan, text: str, kit: Kit, *, is_alone: bool) -> bool:
    """Whether a question asks for what the tool does not speak of, and names nothing of what the tool gives."""
    if want.determiner == "one" and plan.questions and not want.is_named:
        # `What is a thermostat?` asks for what the word means.
        return True
    # What is chosen among several has more that speaks for it.
    given = _given(kit) if is_alone else []
    if not given or any(map(_told_of((kit,)).tells, want.thing)):
        return False
    told = _Told(frozenset(map(stem, given)), frozenset[str]().union(*map(listed_concepts, given)))
    return not any(map(told.tells, {folded(word) for word in _WORD.findall(text)} - STOPS))


def _given(kit: Kit) -> list[str]:
    """The words of what a tool that reads gives, as its description says it: `Get the current price of a stock`."""
    found = None if kit.is_acting else _GIVES.match(kit.tool.description)
    return [word for word in map(folded, raw_words(found["what"])) if word not in STOPS] if found is not None else []
