"""Doubts of a plan that only shows something: what it shows may be no answer to what was said. Pure.

Something is always nearest. A request that tells, denies or supposes, and a question for a reason or for who did
something, are not served by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from toolpath.catalog.words import stem
from toolpath.checks.request.blockers import Mood, words_of
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import commanded
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.openings import bare
from toolpath.checks.request.tools import fits, is_done_form, verbs_of
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.toolbox import Kit, Toolbox
from toolpath.planner.offline.tool_words import words_told

#: A question for what would come of something.
_SUPPOSED: Final = re.compile(
    r"\W*(?:would|wouldn['\u2019]t|what\s+(?:if|would|happens?)|was\s+(?:passiert|wäre|würde)"
    r"|würde|que\s+se\s+passe|et\s+si|qu[eé]\s+pasa|y\s+si)(?![\w'\u2019-])",
    re.IGNORECASE,
)
#: A question for somebody's opinion of what would come of it, which no figure answers.
_RATED: Final = re.compile(r"\W*how\s+(?:bad|good|risky|safe|wise)(?![\w'\u2019-])", re.IGNORECASE)
_WHY: Final = re.compile(r"\W*(?:why|warum|wieso|weshalb|pourquoi|por\s+qu[eé])(?![\w'\u2019-])", re.IGNORECASE)
#: Words for what says why something is as it is.
_REASONS: Final = frozenset(
    map(
        stem,
        words_of("""
reason reasons cause causes log logs history event events note notes comment comments message messages description error
errors explanation detail details diagnosis resolution finding findings problem issue
"""),
    )
)
#: Somebody did something: of what is in some state a tool may tell why.
_WHY_DID: Final = re.compile(
    r"\W*(?:why\s+(?:did|has|have)|warum\s+(?:hat|haben)|pourquoi\s+(?:\S+\s+)?(?:a|ont)|por\s+qu[eé]\s+(?:ha|han))\s",
    re.IGNORECASE,
)
_WHO: Final = re.compile(r"\W*(?:who|wer|qui(?!\s+est\s+la)|qui[eé]n(?:es)?)(?![\w'\u2019-])", re.IGNORECASE)
#: Words for what records who did something.
_RECORDS: Final = frozenset(
    map(stem, words_of("log logs history event events audit activity changes changed entries performed"))
)
#: Words of tools that work out what would be.
_WORKING_OUT: Final = frozenset(
    map(
        stem, words_of("quote rate price cost estimate simulate simulation exchange convert calculate forecast preview")
    )
)
#: How a clause begins that says not to do something.
_DENYING: Final = re.compile(
    r"\W*(?:(?:please|bitte|surtout)\s+)*(?:do\s+not|don['\u2019]?t|never|nobody|no\s+one|nicht|niemand|ne\s|n['\u2019]|no\s)",
    re.IGNORECASE,
)
#: Moods of clauses that want nothing shown.
_TELLING: Final[frozenset[Mood]] = frozenset(("negation", "reason", "none", "report"))
#: How a question begins, whatever it tells.
_ASKS: Final = re.compile(
    r"[\W\d]*(?:(?:and|und|et|y)\s+)?(?:who|what|how|why|when|where|which|whose|any(?:one|body|thing)|does|do|did|is|are|was|were|am|has|have|had"
    r"|can|could|may|must|should|will|would|wer|wen|wem|was|wie\w*|warum|wieso|wann|wo|welche\w*|ist|sind|hat|haben|gibt"
    r"|darf|muss|kann|wurden?|wird|qui|qu['\u2019]|que|quoi|comment|pourquoi|quand|o[uù]|combien|quel\w*|est-ce|peut-on"
    r"|qui[eé]n\w*|qu[eé]|c[oó]mo|cu[aá]\w+|d[oó]nde|puede|hay)(?:['\u2019]s)?(?![\w-])",
    re.IGNORECASE,
)
#: Concepts of verbs by which something is shown.
_SHOWING: Final = frozenset(
    ("open", "to-open", "show", "find", "list", "read", "bring", "to-bring", "to-check", "to-read")
)
_WORD: Final = re.compile(r"[^\W\d_]+")
#: A word that something is done with to what follows: no name stands before an article.
_ACT: Final = re.compile(
    r"\W*(?:(?:please|pl[sz]|bitte|can\s+you|could\s+you)\s+)*(?P<verb>[^\W\d_]{3,})\s+(?:the|my|our|your|his|her|their|this|that"
    r"|these|those|an?|der|die|das|den|dem|mein\w*|unser\w*|eine?n?|le|la|les|mon|ma|mes|notre|nos|ce|cette|un|une|el|los"
    r"|las|mi|mis|nuestr\w+|este|esta|una)\s",
    re.IGNORECASE,
)
#: Words before an article that are no verbs.
_BEFORE_ARTICLES: Final = words_of("""
all both only just not about with for from into under over near next after before during since until till without
and but what where when who how which why was were does did has have had are and like than also even still now then
there here need want get got alle auch nur nicht mit für von aus bei nach vor über unter ohne gegen durch während
seit bis und oder aber wie was wer wann ist sind war hat haben brauche will möchte tous toutes aussi seulement avec
pour dans sur sous sans chez vers après avant pendant depuis entre et ou mais est sont était veux voudrais todo
todos toda todas también solo sólo con para por sobre bajo sin hasta desde entre según durante tras pero como son
está están quiero necesito hay whats wheres whos let
""")


def doubts_of_readings(plan: Plan, request: str, box: Toolbox) -> Iterator[str]:
    """A question for a plan that only shows something, where that is hardly what the request is after."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    shown = [kits[call.tool] for call in calls]
    if not calls or any(kit.is_acting for kit in shown):
        return
    told = {stem(word) for kit in shown for word in words_told(kit)}
    keys = ", ".join(dict.fromkeys(call.tool for call in calls))
    clauses = clauses_of(bare(request), lambda word: any(fits(word, kit.tool) for kit in box.kits))
    if _WHY.match(request) and told.isdisjoint(_REASONS):
        yield f"{keys} does not tell why: is it what is meant?"
    elif _RATED.match(request) or (_SUPPOSED.match(request) and told.isdisjoint(_WORKING_OUT)):
        yield f"{keys} tells what is, not what would be: is it what is meant?"
    elif _is_after_a_doer(request, told, box):
        yield f"{keys} does not tell who did it: is it what is meant?"
    elif {one.mood for one in clauses} <= _TELLING and any(_DENYING.match(one.text) for one in clauses):
        yield "The request says what is not to be done: what is to be done?"
    elif (act := _other_act(clauses, shown)) is not None:
        yield f"{keys} only shows something: is it what {act!r} means?"
    elif all(_only_tells(one, box) for one in clauses):
        yield f"The request tells of something and asks for nothing: is {keys} what is meant?"


def _is_after_a_doer(request: str, told: Set[str], box: Toolbox) -> bool:
    """Whether it is asked who did, or why somebody did, what a tool does, and nothing shown records that."""
    is_bare = _WHY_DID.match(request) is not None
    if not (is_bare or _WHO.match(request)) or not told.isdisjoint(_RECORDS):
        return False
    deeds = [
        word
        for word in _WORD.findall(request)
        if any(
            kit.is_acting and (is_done_form(word, kit.tool) or (is_bare and folded(word) in verbs_of(kit.tool)))
            for kit in box.kits
        )
    ]
    # `deleted_by` tells it.
    return bool(deeds) and told.isdisjoint(map(stem, deeds))


def _other_act(clauses: Sequence[Clause], shown: Sequence[Kit]) -> str | None:
    """The verb of a clause by which something is to be done that nothing shown is for."""
    for clause in clauses:
        found = _ACT.match(clause.text)
        if found is None or _ASKS.match(clause.text) or clause.text.rstrip(" \"'”»)").endswith("?"):
            continue
        verb = found["verb"]
        is_other = folded(verb) not in _BEFORE_ARTICLES and not is_reading(verb) and not is_counter(verb)
        if is_other and not commanded(verb) & _SHOWING and not any(fits(verb, kit.tool) for kit in shown):
            return verb
    return None


def _only_tells(clause: Clause, box: Toolbox) -> bool:
    """Whether a clause says how something is, or that it was done, and neither asks nor begins with a verb."""
    if clause.mood not in _TELLING or clause.text.rstrip(" \"'”»)").endswith("?") or _ASKS.match(clause.text):
        return False
    first = _WORD.search(clause.text)
    return first is None or not (
        meanings_of(first[0]) or is_reading(first[0]) or any(fits(first[0], kit.tool) for kit in box.kits)
    )
