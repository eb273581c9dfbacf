"""Unserved requests: their act, or the thing that it is done to, is none that any of the tools tells of. Pure.

Something always fits best, and half of it may be said: `Lock my phone` of a tool that locks doors, `Translate T-9` of
one that shows tickets. What the tools lack is no question to whoever asks: it is a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, commanded, is_known, listed_concepts, phrasal
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.tools import acts_of, fits, makes_of
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, things_of
from toolpath.planner.offline.tool_words import (
    SOUGHT,
    WORD,
    ToolWords,
    is_ordinary,
    is_plain_word,
    told_of,
    told_of_acts,
    words_told,
)
from toolpath.planner.offline.unanswerable import is_untold
from toolpath.planner.offline.undone import is_undoing
from toolpath.planner.offline.wanted import MEASURES, Wanted, wanted

#: Verbs that ask to be told something which is nowhere until somebody makes it.
_MAKING: Final = frozenset(("translate", "convert", "summarize", "summarise", "simulate", "solve"))
#: Verbs that say little without what follows them.
_BROAD: Final = words_of(
    """set make do put change update get give take use run let help have need go be try keep add create call tell say
    prepare draft draw throw chuck stick pop bung bump grab fetch line bereite prépare préparez prepara prepare
    open offne ouvre abre abra mach mache machen nimm gib setz stell fais faites prends mets donne pon haz toma da"""
)
#: What verbs of two words say plainly: `Throw it away`.
_ENDING: Final = frozenset(("to-delete", "to-revert", "to-decommission", "to-unpublish"))
#: Those of them that change something, whatever follows.
_SETTING: Final = words_of("add create change update ajoute ajoutez crée créez añade añada crea cambia")
#: Words that say nothing of what is to be done.
_BY_THE_WAY: Final = words_of("instead straight away soon later together stattdessen plutôt mejor luego")
#: What a tool gives: `Calculate the area of a circle`, `Get a list of the goals of a player`.
_GIVES: Final = re.compile(
    r"\W*\w+\s+(?:the\s+|an?\s+|all\s+)?"
    r"(?:(?:list|number|amount|detail|information|data|value|set|name)s?\s+(?:of|about|on|for)\s+(?:the\s+|an?\s+)?)?"
    r"(?P<what>\w+(?:\s+\w+){0,4}?)\s*(?:$|[.,;:(]|"
    r"\b(?:of|for|in|on|from|by|with|at|to|between|given|based|using|that|which|and|or)\b)",
    re.IGNORECASE,
)
#: What things are counted in.
_COUNTING: Final = words_of("""
thing things one ones stuff lot rest ding dinger sache chose choses truc cosa cosas
copy copies piece pieces pair pairs dozen units kilo kilos litre litres stuck exemplar pieza piezas
""")
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
    if kit.tool.name in text or box.nearness(kit) > 0:
        # What is near by its meaning may be said in words that nothing here knows.
        return False
    want = wanted(text, spans, box)
    told = told_of(box.kits)
    if is_untold(plan, want, text, told, box) or is_undoing(plan.origin.request, kit, box):
        return True
    if want is None:
        return False
    if not want.verb and not want.thing:
        return False
    if not want.verb:
        return _is_other_question(want, plan, text, kit, is_alone=len(box.kits) == 1)
    return (
        _is_foreign_act(want, text, told, box)
        or _is_left_undone(want, text, kit, box)
        or _is_foreign_thing(want, plan, text, call, told, box)
        or _is_guessed(want, plan, text, call, told, box)
        or _is_done_to_others(want, plan, text, call, box)
    )


def _is_foreign_act(want: Wanted, text: str, told: ToolWords, box: Toolbox) -> bool:
    """Whether the verb is one that no tool does, nor tells of."""
    verb = folded(want.verb)
    joint = {concept for start, end, concept in phrasal(text) if folded(text[start:end]) == verb}
    if any(joint & (acts_of(kit.tool) | kit.opening) for kit in box.kits):
        # `File an issue` is no file.
        return False
    if joint & _ENDING:
        return True
    if verb in _BROAD or any(fits(want.verb, kit.tool) or makes_of(want.verb, kit.tool) for kit in box.kits):
        return False
    if told.tells(verb) and told_of_acts(box.kits).tells(verb):
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
    if kit.is_acting or not want.is_command:
        return False
    if verb in _SETTING and not told_of((kit,)).tells(verb):
        # `Add Ann Lee as a new customer` finds no customer.
        made = [other for other in box.kits if other.is_acting and fits(verb, other.tool)]
        said = {folded(word) for word in WORD.findall(text)} - STOPS - {verb}
        return not phrasal(text) and not any(_is_thing_of(word, other) for other in made for word in said)
    if verb in _BROAD or is_reading(verb) or fits(verb, kit.tool):
        return False
    for other in box.kits:
        if other.is_acting and fits(verb, other.tool) and any(map(told_of((other,)).tells, want.thing)):
            # `Send everyone a mail`: to whom is what is not known.
            return False
    return _is_verb(verb) and stem(verb) not in map(stem, words_told(kit)) and not phrasal(text)


def _is_thing_of(word: str, kit: Kit) -> bool:
    return any(stem(one) == stem(word) or listed_concepts(one) & listed_concepts(word) for one in things_of(kit))


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


def _is_foreign_thing(want: Wanted, plan: Plan, text: str, call: Call, told: ToolWords, box: Toolbox) -> bool:
    """Whether what is wanted, which no tool speaks of, is neither a name of the tool's thing nor words to look for."""
    kit = next(kit for kit in box.kits if kit.key == call.tool)
    is_nothing = want.is_value or _COUNTING.issuperset(want.thing)
    if is_nothing or any(map(told.tells, want.thing)):
        return False
    is_plain = any(map(is_ordinary, want.thing))
    has_id = _has_own_id(call, kit, box)
    if has_id and (not is_plain or want.is_named or not want.determiner or not plan.questions):
        return False
    if not has_id and (_says_thing(want, kit) or _is_initialled(want, told) or _is_said(kit, text, want.verb)):
        # `Vacuum the hallway` says by its verb what the tool is for, `Set the study to 20 degrees` by its unit, and
        # initials do for what they stand for.
        return False
    if any(_is_telling(call, field, kit) for field in kit.fields):
        return False
    taking = next((field for field in kit.fields if _takes(call, field, want)), None)
    if has_id and taking is None:
        # `Transfer the bonus for C-3` is nothing that is done to C-3.
        return True
    if taking is None:
        if (
            not is_plain
            and "en" not in tongues_of(text)
            and folded(want.verb) not in _BROAD
            and fits(want.verb, kit.tool)
        ):
            # A word of another tongue that no table has may be the thing.
            return False
        is_open = bool(plan.questions) or kit.is_acting or want.is_named
        return is_open and (want.determiner != "" or (is_plain and not want.is_named))
    is_own_act = folded(want.verb) in kit.verbs or bool(commanded(want.verb) & acts_of(kit.tool))
    if taking.name in SOUGHT or (is_own_act and (not things_of(kit) or taking.concepts & _ANYTHING)):
        return False
    return want.determiner in ("one", "own") or (want.determiner == "the" and is_plain)


def _is_guessed(want: Wanted, plan: Plan, text: str, call: Call, told: ToolWords, box: Toolbox) -> bool:
    """Whether a tool that writes was taken for lack of a better one: nothing says its act, nor what it is for."""
    kit = next(kit for kit in box.kits if kit.key == call.tool)
    if not kit.is_acting or not plan.questions:
        return False
    values = str([*call.inputs.values()]).casefold()
    left = [span for span in spans_of(text) if span.kind == "id" and span.text.casefold() not in values]
    if any(box.knows_prefix(span.text) for span in left) and not _is_own(want.verb, kit):
        # `Change the address of SH-6` of a tool that takes no shipment.
        return not any(other.is_acting and _is_own(want.verb, other) for other in box.kits)
    if not call.inputs and kit.required and len(spans_of(text)) > 1:
        # `Order three copies of the Atlas from the publisher`: nothing that is said is anything that the tool takes.
        words = {folded(word) for word in WORD.findall(text)} - STOPS - {folded(want.verb)}
        return any(is_ordinary(word) and not told.tells(word) for word in words)
    if folded(want.verb) not in _BROAD or _is_own(want.verb, kit) or not things_of(kit):
        return False
    said = {folded(word) for word in WORD.findall(text[text.find(want.verb) + len(want.verb) :])} - STOPS
    if phrasal(text) or any(map(told.tells, said)):
        return False
    taken = {folded(word) for value in call.inputs.values() for word in WORD.findall(str(value))}
    # `Put V-12 up for adoption` is no appointment for that reason, on a day that is not said.
    is_lacking = any(field.name not in call.inputs for field in kit.required)
    is_english = "en" in tongues_of(text)
    stray = said - taken - _BY_THE_WAY
    return any(is_plain_word(word, is_english=is_english) for word in stray) or bool(is_lacking and said & taken)


def _is_done_to_others(want: Wanted, plan: Plan, text: str, call: Call, box: Toolbox) -> bool:
    """Whether the act is one that tools do to other things alone, and the thing is of a tool with another act."""
    kit = next(kit for kit in box.kits if kit.key == call.tool)
    verb = folded(want.verb)
    if not (kit.is_acting and plan.questions and want.is_command) or verb in _BROAD or is_reading(verb):
        return False
    meant = commanded(verb)
    if fits(verb, kit.tool) or makes_of(verb, kit.tool) or phrasal(text) or not _is_verb(verb):
        return False
    if any(is_like(stem(verb), stem(one)) for one in things_of(kit)):
        # `Ship SO-5` makes a shipment of it.
        return False
    if meant & (acts_of(kit.tool) | kit.opening | kit.extra | kit.described):
        return False
    ids = {field.name for field in kit.fields if field.kind == "id" and field.name in call.inputs}
    return not any(
        ids & {field.name for field in other.fields} or any(_is_thing_of(word, other) for word in want.thing)
        for other in box.kits
        if other.is_acting and fits(verb, other.tool)
    )


def _is_own(verb: str, kit: Kit) -> bool:
    return folded(verb) in kit.verbs or bool((commanded(verb) & acts_of(kit.tool)) and folded(verb) not in _BROAD)


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
    said = {folded(word) for word in WORD.findall(str(value))} if value is not None else set()
    return bool(said & {*want.thing})


def _is_said(kit: Kit, text: str, verb: str) -> bool:
    """Whether a word stands for what the tool is for."""
    things = frozenset[str]().union(*map(listed_concepts, things_of(kit)))
    words = [word for word in map(folded, WORD.findall(text)) if word not in STOPS and word != folded(verb)]
    return any(listed_concepts(word) & things for word in words)


def _is_initialled(want: Wanted, told: ToolWords) -> bool:
    initials = "".join(word[0] for word in want.thing)
    return len(initials) > 2 and initials in told.stems


def _says_thing(want: Wanted, kit: Kit) -> bool:
    """Whether the verb says what the tool is for; `write` says no note where it is a poem that is to be written."""
    plain, meant = folded(want.verb), commanded(want.verb) if want.determiner != "one" else frozenset()
    return any(stem(one) == stem(plain) or one in meant for one in things_of(kit))


def _is_other_question(want: Wanted, plan: Plan, text: str, kit: Kit, *, is_alone: bool) -> bool:
    """Whether a question asks for what the tool does not speak of, and names nothing of what the tool gives."""
    if want.determiner == "one" and plan.questions and not want.is_named:
        # `What is a thermostat?` asks for what the word means.
        return True
    # What is chosen among several has more that speaks for it.
    given = _given(kit) if is_alone else []
    thing = [word for word in want.thing if word not in MEASURES] or want.thing
    if not given or any(map(told_of((kit,)).tells, thing)):
        return False
    given = [word for word in given if word not in MEASURES] or given
    told = ToolWords(frozenset(map(stem, given)), frozenset[str]().union(*map(listed_concepts, given)))
    return not any(map(told.tells, {folded(word) for word in WORD.findall(text)} - STOPS))


def _given(kit: Kit) -> list[str]:
    """The words of what a tool that reads gives, as its description says it: `Get the current price of a stock`."""
    found = None if kit.is_acting else _GIVES.match(kit.tool.description)
    return [word for word in map(folded, raw_words(found["what"])) if word not in STOPS] if found is not None else []
