"""Named things of a request: a plan of which the request names neither an act nor a thing fits by chance. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, commanded, concepts_of, listed_concepts, phrasal
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.request.spans import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
#: Kinds of fields whose values nothing else is: who gives one names what the tool is for.
_TELLING: Final = frozenset(("email", "url", "phone", "repo", "path", "pattern", "currency", "enum"))
_LONGEST: Final = 400
#: `Who is Ann Lee?` names what a tool that is given a name may be asked for.
_WHO: Final = re.compile(r"\W*(?:who|wer|qui|qui[eé]n)\b", re.IGNORECASE)


def names_nothing(plan: Plan, text: str, spans: Sequence[Span], box: Toolbox) -> bool:
    """Whether the request says no word of any tool of the plan, and no value that only such a tool takes."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    if len(calls) != 1 or len(text) > _LONGEST or any(call.tool not in kits for call in calls):
        # Of several calls each was chosen beside the others; in a long text something is always named.
        return False
    if any(all(map(is_reading, raw_words(kits[call.tool].tool.name))) for call in calls):
        # A tool called `search`, and no more, is for anything.
        return False
    words = _said(text, spans)
    if _WHO.match(text) and any(span.kind == "name" and _takes(span, calls) for span in spans):
        return False
    joint = frozenset(concept for _, _, concept in phrasal(text))
    return not any(
        call.tool in text
        or kits[call.tool].tool.name in text
        or joint & _concepts(kits[call.tool])
        or any(_is_of(word, kits[call.tool]) for word in words)
        or any(_is_telling(call, field, box) for field in kits[call.tool].fields)
        for call in calls
    )


def _takes(span: Span, calls: Sequence[Call]) -> bool:
    return any(value == span.value for call in calls for value in call.inputs.values())


def _said(text: str, spans: Sequence[Span]) -> list[str]:
    """The words that say anything, outside of quotations, ids, addresses and dates; names are words, too."""
    hidden = list(text)
    for span in spans:
        if span.kind != "name":
            hidden[span.start : span.end] = " " * (span.end - span.start)
    return [word for word in map(folded, _WORD.findall("".join(hidden))) if word not in STOPS]


def _is_of(word: str, kit: Kit) -> bool:
    """Whether the word is the tool's act, or its thing; that something is to be shown says nothing of what."""
    if not is_reading(word) and (fits(word, kit.tool) or commanded(word) & _acts(kit)):
        return True
    return (
        stem(word) in _stems(kit)
        or (word in map(folded, raw_words(kit.tool.name)) and not is_reading(word))
        or bool(listed_concepts(word) & _concepts(kit))
        or any(is_like(word, other) for other in _plain(kit))
    )


def _acts(kit: Kit) -> frozenset[str]:
    return frozenset[str]().union(*(commanded(verb) for verb in kit.verbs if not is_reading(verb)))


def _plain(kit: Kit) -> list[str]:
    """The words of a tool's name, description, parameters and outputs that say what it is for."""
    texts = [kit.key, kit.tool.name, kit.tool.description[:400]]
    for field in kit.fields:
        texts += [field.name, field.description[:100], *(str(one) for one in field.options)]
    texts += [one.name for one in kit.outputs]
    texts += [one.name for listed in kit.lists for one in listed.fields]
    words = dict.fromkeys(folded(word) for text in texts for word in raw_words(text))
    return [word for word in words if word not in STOPS and not is_reading(word) and word not in _SHOWN]


#: Words by which any tool may be told of.
_SHOWN: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+", "id ids such number name names text one day date time given return returns show find list get type e.g"
    )
)


def _stems(kit: Kit) -> frozenset[str]:
    return frozenset(stem(word) for word in _plain(kit))


def _concepts(kit: Kit) -> frozenset[str]:
    """Of the tool's words, without what only says that it is shown."""
    return frozenset[str]().union(*(concepts_of(word) for word in _plain(kit))) - _READING


_READING: Final = frozenset(("show", "find", "list"))


def _is_telling(call: Call, field: ToolField, box: Toolbox) -> bool:
    """Whether a value is such as only this parameter takes."""
    value = call.inputs.get(field.name)
    if value is None or "{{" in str(value):
        return False
    prefix = box.prefix_of(field)
    if field.kind == "id" and prefix:
        return str(value).casefold().startswith(prefix.casefold())
    if field.kind == "money":
        # What may cost how much is looked for; what is paid is an act, which has its own words.
        return not any(kit.is_acting for kit in box.kits if kit.key == call.tool)
    return field.kind in _TELLING or field.unit != ""
