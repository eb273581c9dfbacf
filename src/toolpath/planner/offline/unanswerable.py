"""Untold answers: what a question asks for is nothing that any of the tools gives. Pure.

`What's the weather at the fair?` names a street, and the tools know streets; of the weather they tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.catalog.words import stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField
from toolpath.planner.offline.tool_words import SOUGHT, WORD, ToolWords, is_plain_word, words_told
from toolpath.planner.offline.wanted import Wanted

#: Nouns by which people ask how things stand, or how many of what anything is counted in.
_VAGUE: Final = words_of("""
deal latest word story situation matter news point rest whole thing things stuff info information details detail data
gist status state time times day days date dates week weeks month months year years hour hours minute minutes night
nights kind kinds sort sorts type types one ones name number numbers id amount way ways
stand lage neues neue rest stunden stunde tage tag wochen woche monate monat jahre jahr minuten uhrzeit art arten
situation nouvelles reste jours jour semaines heures heure minutes mois fois sorte sortes genre
situacion novedades resto dias dia semanas horas hora minutos meses veces tipo tipos clase cosas
""")
#: What something costs is asked with a verb.
_COST: Final = re.compile(
    r"\W*(?:what|how\s+much|was|wie\s?viel|combien|que|qué|cu[aá]nto)\b[^.;!]*"
    r"(?<![\w'\u2019-])(?:costs?|koste[nt]|co[uû]te(?:nt|r|ra)?|cuestan?|costar[aá]?)(?![\w'\u2019-])",
    re.IGNORECASE,
)
#: By what tools tell what is paid.
_PRICED: Final = frozenset(
    map(
        stem,
        words_of("""
price prices cost costs amount total fee fees fare premium rent salary tariff value worth money
balance quote sum payment invoice bill budget deposit
"""),
    )
)
#: Verbs by which somebody asks to be taught, or to have made up what nobody has written yet.
_TEACHING: Final = re.compile(
    r"\W*(?:(?:please|can\s+you|could\s+you|bitte|kannst\s+du(?:\s+mir)?|peux-tu|puedes)\s+)*"
    r"(?:explain|define|teach|erkl[aä]r\w*|expliqu\w+|expl[ií]ca\w*|define)\s+"
    r"(?:(?:to|me|us|mir|uns|moi|nous)\s+)*"
    r"(?P<what>(?:what|how|why|was|wie|warum|comment|pourquoi|ce\s+que|qu[eé]|c[oó]mo)\b)?",
    re.IGNORECASE,
)
_EXPLAINED: Final = frozenset(
    map(stem, words_of("explain explains explanation explanations define defines definition"))
)
#: A question about nobody's thing in particular: `Who decides whether a permit gets revoked?`
_ANY_ONE: Final = re.compile(
    r"\b(?:an?|any|ein(?:e[nrms]?)?|une?|una?)\s+(?:[^\W\d_]+\s+){0,2}?(?P<noun>[^\W\d_]{3,})", re.IGNORECASE
)
_ASKING: Final = re.compile(
    r"\W*(?:welche\w*|quel\w*|cu[aá]l\w*|who|what|how|why|when|where|which|does|do|is|are|can|may|must|should|wer|was|wie|warum|wieso|wann|wo|darf"
    r"|muss|kann|qui|comment|pourquoi|quand|o[uù]|est-ce|peut-on|qui[eé]n|qu[eé]|c[oó]mo|cu[aá]ndo|d[oó]nde|puede)\b",
    re.IGNORECASE,
)
_POINTED: Final = re.compile(
    r"\b(?:the|this|that|these|those|my|our|your|his|her|their|its|der|die|das|den|dem|dieser?|mein\w*|unser\w*"
    r"|le|la|les|l['\u2019]|ce|cette|mon|ma|mes|notre|nos|el|los|las|este|esta|mi|mis|nuestr\w+)\b",
    re.IGNORECASE,
)
#: What is yet to come, of which no tool can have counted any.
_FORETOLD: Final = re.compile(
    r"\W*(?:how\s+(?:many|much)\b[^?]*\b(?:will|are\s+going\s+to)\b|wie\s?viele?\b[^?]*\b(?:werden|wird|werde)\b"
    r"|combien\b[^?]*\b(?:va|vont|allons)\b|cu[aá]nt[oa]s?\b[^?]*\b(?:va|van|vamos)\s+a\b)",
    re.IGNORECASE,
)
_FORETELLING: Final = frozenset(
    map(stem, words_of("forecast forecasts predict predicts prediction expected estimate estimates projection planned"))
)
_WHEN: Final = ("day", "moment", "month")


def is_untold(plan: Plan, want: Wanted | None, text: str, told: ToolWords, box: Toolbox) -> bool:
    """Whether a question, for which the plan makes one call, asks for what no tool gives."""
    call = next(step for _, step in every_step(plan.block) if isinstance(step, Call))
    kit = next(kit for kit in box.kits if kit.key == call.tool)
    if _is_taught(plan.origin.request, told) or _is_of_any(text, plan, call, kit):
        return True
    if kit.is_acting or not _gives(kit):
        # Who does not say what a tool gives says nothing of what it does not give.
        return False
    if _COST.match(text) and not _is_priced(box.kits):
        return True
    if _BEST.search(text) and _ASKING.match(text) and told.stems.isdisjoint(_RATED):
        return True
    if any(asked.match(text) and told.stems.isdisjoint(words) for asked, words in _MEASURED):
        return True
    if _FORETOLD.match(text) and not _is_foretold(call, kit):
        return True
    return (
        want is not None and not want.verb and _is_foreign(want, call, kit, told, is_english="en" in tongues_of(text))
    )


def _gives(kit: Kit) -> bool:
    return bool(kit.outputs or kit.lists)


def _is_foreign(want: Wanted, call: Call, kit: Kit, told: ToolWords, *, is_english: bool) -> bool:
    """Whether what is asked for is a thing that everybody knows, and that no tool speaks of."""
    if want.is_value or want.is_named or not want.thing or not _VAGUE.isdisjoint(want.thing):
        return False
    if any(map(told.tells, want.thing)) or not any(is_plain_word(word, is_english=is_english) for word in want.thing):
        return False
    # What is looked for may be anything.
    free = [field.name for field in kit.fields if field.name in SOUGHT or not field.required]
    taken = {folded(word) for name in free for word in WORD.findall(str(call.inputs.get(name, "")))}
    return taken.isdisjoint(want.thing)


def _is_priced(kits: Sequence[Kit]) -> bool:
    fields = (field for kit in kits for field in (*kit.fields, *kit.outputs, *_listed(kit)))
    return any(field.kind == "money" for field in fields) or any(
        stem(word) in _PRICED for kit in kits for word in words_told(kit)
    )


def _listed(kit: Kit) -> list[ToolField]:
    return [field for listed in kit.lists for field in listed.fields]


def _is_taught(text: str, told: ToolWords) -> bool:
    """Whether something is to be explained that is no tool's thing."""
    found = _TEACHING.match(text)
    if found is None or not _EXPLAINED.isdisjoint(told.stems):
        return False
    words = [word for word in map(folded, WORD.findall(text[found.end() :])) if word not in STOPS]
    return bool(found["what"]) or (bool(words) and not told.tells(words[0]))


def _is_of_any(text: str, plan: Plan, call: Call, kit: Kit) -> bool:
    """Whether a question is about things of a kind, and the tool shows one of them, which is not named."""
    open_ids = [one for one in kit.required if one.kind == "id" and one.name not in call.inputs]
    if not open_ids or not plan.questions or not _ASKING.match(text) or _POINTED.search(text):
        return False
    return _ANY_ONE.search(text) is not None


def _is_foretold(call: Call, kit: Kit) -> bool:
    """Whether a tool says what is to come, or is asked about days."""
    return any(stem(word) in _FORETELLING for word in words_told(kit)) or any(
        field.kind in _WHEN and field.name in call.inputs for field in kit.fields
    )


#: What is asked with an adjective, and how tools tell of it.
_MEASURED: Final = tuple(
    (re.compile(rf"\W*(?:{asked})(?![\w'\u2019-])", re.IGNORECASE), frozenset(map(stem, words_of(words))))
    for asked, words in (
        (
            r"how\s+old|wie\s+alt|quel\s+[aâ]ge|qu[eé]\s+edad",
            "age born birth birthday birthdate created opened founded built year years since date old",
        ),
        (
            r"how\s+heavy|wie\s+schwer|combien\s+p[eè]se|cu[aá]nto\s+pesa",
            "weight weighs kg gram grams kilo heavy mass load",
        ),
    )
)
#: Words for what suits, which nobody tells who rates nothing.
_BEST: Final = re.compile(
    r"\b(?:(?:is|are|be|'s|the|am|l[ea]s?|l['\u2019]|est|sont|es|son|el|los)\s*(?:best|better|worst|nicest|beste[nrsm]?|besser"
    r"|meilleure?s?|mieux|mejor(?:es)?|peor)\b|(?:passt|passen)\s+(?:zu|am\s+besten)\b|convient\b|conviene\b)",
    re.IGNORECASE,
)
_RATED: Final = frozenset(
    map(
        stem,
        words_of("""
rating ratings rated rate score scores review reviews stars rank ranking grade grades quality best recommend suggest
recommended recommendation
"""),
    )
)
