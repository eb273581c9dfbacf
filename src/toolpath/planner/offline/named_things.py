"""Named things of a request: a plan of which the request names neither an act nor a thing fits by chance. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, commanded, concepts_of, listed_concepts, phrasal
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.request.links import PALE
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import PARTICLES, Kit, Toolbox, ToolField, forms_of, is_like_examples

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
#: Kinds of fields whose values nothing else is: who gives one names what the tool is for.
_TELLING: Final = frozenset(("email", "url", "phone", "repo", "path", "pattern", "currency", "enum"))
_LONGEST: Final = 400
#: `Who is Ann Lee?` names what a tool that is given a name may be asked for.
_WHO: Final = re.compile(r"\W*(?:who|wer|qui|qui[eé]n)\b", re.IGNORECASE)


def names_nothing(plan: Plan, text: str, spans: Sequence[Span], box: Toolbox) -> bool:
    """Whether the request says no word of the one tool of the plan, and no value that only such a tool takes."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    if len(calls) != 1 or len(text) > _LONGEST or calls[0].tool not in kits:
        # Of several calls each was chosen beside the others; in a long text something is always named.
        return False
    call, kit = calls[0], kits[calls[0].tool]
    if all(map(is_reading, raw_words(kit.tool.name))) or kit.tool.name in text:
        # A tool called `search`, and no more, is for anything.
        return False
    taken = [span for span in spans if span.kind == "name" and span.value in call.inputs.values()]
    rest = _said(text, [span for span in spans if span.kind != "name" or span in taken])
    if taken and (_WHO.match(text) or all(map(is_reading, rest))):
        # `Look up Ann Lee` says nothing that the plan has not.
        return False
    words = _words(kit)
    meant = frozenset[str]().union(box.given(kit), *map(concepts_of, words)) - _READING - PALE
    if meant & {concept for _, _, concept in phrasal(text)}:
        return False
    said = _said(text, [span for span in spans if span.kind != "name"])
    if _is_parted(text, kit) or _is_all_values(plan, call, kit, text, spans):
        return False
    return not (
        any(_is_act(word, kit) or _is_thing(word, words, meant) for word in said)
        or any(_is_telling(call, field, kit, box) for field in kit.fields)
    )


def _is_parted(text: str, kit: Kit) -> bool:
    """Whether the verb and the little word of the tool's name stand apart: `Check her in`."""
    verb, *rest = raw_words(kit.tool.name)
    if not rest or rest[0] not in PARTICLES:
        return False
    return re.search(rf"\b{verb}\b[^.;!?]{{1,40}}\b{rest[0]}\b", text, re.IGNORECASE) is not None


#: Kinds of values that nobody gives but to whom they mean something.
_TYPED: Final = frozenset(("id", "day", "moment", "month", "time", "email", "path", "slash", "url", "number"))
BEING: Final = words_of("""
on in going playing showing coming come comes go goes happening happen happens running runs left planned scheduled
booked anything something anyone anybody everything ok okay out up free läuft laufen kommt kommen steht passiert
geplant frei etwas passe prévu libre quelque chose pasa previsto libre algo
""")
"""Verbs that say of anything that it is, or takes place."""


def _is_all_values(plan: Plan, call: Call, kit: Kit, text: str, spans: Sequence[Span]) -> bool:
    """Whether a question is all values that the tool takes, and the tool needs no others: `What's on this weekend?`"""
    if kit.is_acting or plan.questions or any(field.name not in call.inputs for field in kit.required):
        return False
    taken = str([*call.inputs.values()]).casefold()
    typed = [span for span in spans if span.kind in _TYPED]
    is_taken = (
        bool(call.inputs)
        and bool(typed)
        and all(span.kind not in ("id", "code", "number") or span.text.casefold() in taken for span in typed)
    )
    ids = [field for field in kit.fields if field.kind == "id" and field.name in call.inputs]
    if any(not is_like_examples(str(call.inputs[field.name]), field) for field in ids):
        return False
    return is_taken and BEING.issuperset(_said(text, spans))


def _said(text: str, hiding: Sequence[Span]) -> list[str]:
    """The words that say anything, outside of these spans."""
    hidden = list(text)
    for span in hiding:
        hidden[span.start : span.end] = " " * (span.end - span.start)
    return [word for word in map(folded, _WORD.findall("".join(hidden))) if word not in STOPS]


def _is_act(word: str, kit: Kit) -> bool:
    """Whether the word is what the tool does; that something is to be shown says nothing of what."""
    if is_reading(word):
        return False
    return fits(word, kit.tool) or any(commanded(word) & commanded(verb) for verb in kit.verbs if not is_reading(verb))


def _is_thing(word: str, words: Sequence[str], meant: AbstractSet[str]) -> bool:
    return bool(listed_concepts(word) & meant) or any(stem(word) == stem(own) or is_like(word, own) for own in words)


def _words(kit: Kit) -> list[str]:
    """The words of a tool's name, description, parameters and outputs that say what it is for."""
    texts = [kit.tool.description[:400]]
    for field in kit.fields:
        texts += [field.name, field.description[:100], *(str(one) for one in field.options)]
    texts += [one.name for one in kit.outputs]
    texts += [one.name for listed in kit.lists for one in listed.fields]
    told = [word for text in texts for word in map(folded, raw_words(text)) if word not in _SHOWN]
    # `get_time_zone` is for times.
    named = [folded(word) for word in raw_words(f"{kit.key} {kit.tool.name}")]
    return [word for word in dict.fromkeys((*named, *told)) if word not in STOPS and not is_reading(word)]


#: Words by which any tool may be told of.
_SHOWN: Final = frozenset(
    [
        "id",
        "ids",
        "such",
        "number",
        "name",
        "names",
        "text",
        "one",
        "day",
        "date",
        "time",
        "given",
        "return",
        "returns",
        "type",
    ]
)
_READING: Final = frozenset(("show", "find", "list"))


def _is_telling(call: Call, field: ToolField, kit: Kit, box: Toolbox) -> bool:
    """Whether a value is such as only this parameter takes."""
    value = call.inputs.get(field.name)
    if value is None or "{{" in str(value):
        return False
    prefix = box.prefix_of(field)
    if any(form.fullmatch(str(value)) for form in forms_of(field.examples)):
        return True
    if field.kind == "id" and prefix:
        return str(value).casefold().startswith(prefix.casefold())
    if field.kind == "money":
        # What may cost how much is looked for; what is paid is an act, which has its own words.
        return not kit.is_acting
    return field.kind in _TELLING or field.unit != ""
