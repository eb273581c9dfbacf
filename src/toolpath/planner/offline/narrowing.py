"""Narrowing of lists: a write goes over what its request picks out and nothing wider, or it is asked about. Pure.

A loop over a list that is not narrowed as it was said does what nobody asked for: `refund all orders that nobody
collected` refunds all of them. So of a write whose things a list gives each telling word has to be somewhere in the
plan: in what the tools are for, in a value, or in a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, concepts_of, listed_concepts, phrasal
from toolpath.checks.request.idle import IDLE
from toolpath.checks.request.sentences import bare
from toolpath.checks.request.stand_ins import TAKING
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded, is_particle, is_reading
from toolpath.model.plan import Call, Loop, Plan, every_step
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.links import concepts_of_path
from toolpath.planner.offline.request.picks import PICKED
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import PARTICLES, Kit, Toolbox, ToolField
from toolpath.planner.offline.unpicked import unpicked
from toolpath.values import Json

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
#: The step that an expression reads.
_READ: Final = re.compile(r"\{\{\s*\(?\s*(\w+)(?:\.|\[|\s)")
#: What leaves some of a list out.
_BUT: Final = re.compile(
    r"\b(?:except(?:ing)?|excluding|other\s+than|apart\s+from|aside\s+from|besides|save\s+for"
    r"|but\s+(?:not|for|the|my|our|[A-Z]*-?\d)|au(?:ß|ss)er|ausgenommen|bis\s+auf\s+(?:den|die|das)|aber\s+nicht|sauf"
    r"|except[ée]e?s?|hormis|à\s+part|mais\s+pas|menos\s+(?:el|la|los|las)|excepto|salvo|pero\s+no)\b",
    re.IGNORECASE,
)
#: What says that things are meant which are not so.
_NOT: Final = re.compile(
    r"\b(?:not|never|no|without|isn['\u2019]t|aren['\u2019]t|hasn['\u2019]t|haven['\u2019]t|wasn['\u2019]t|weren['\u2019]t|doesn['\u2019]t"
    r"|didn['\u2019]t|nicht|nie|kein\w*|ohne|pas|jamais|aucune?|sans|nunca|ning[uú]n\w*|sin)\b",
    re.IGNORECASE,
)
#: `uninsured` says what a condition says, the other way round.
_OPPOSITE: Final = re.compile(r"^(?:un|in|non-?|im)(?=\w{4})")
#: What begins a reason.
_WHY: Final = re.compile(
    r"(?:\b(?:because|since|due\s+to|weil|wegen|car|parce\s+que|à\s+cause\s+de|porque|por)|[:,(\u2013-])\s*"
    r"(?:of\s+)?(?:the\s+|der\s+|die\s+|las?\s+|les?\s+|el\s+)?$",
    re.IGNORECASE,
)
#: Words that tell nothing of which things are meant.
_IDLE: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """one ones thing things everyone everybody anyone anybody person people first last single whole entire complete
        alles jeder jedem jeweils davon chacun chacune uno una""",
    )
)
_SOUGHT: Final = frozenset(("query", "text", "q", "term", "terms", "keyword", "keywords", "search", "words"))
#: Words that stand before what is looked for: `every tape`, `the cheapest olive oil`.
_BEFORE: Final = re.compile(
    r"\b(?:each|every|all(?:\s+(?:of\s+)?(?:the|my|our))?|alle|jede\w?|chaque|tou(?:s|tes)\s+les|cada|tod[oa]s\s+l[oa]s)\s+$"
    r"|\b(?:for|about|für|zu|pour|sur|para|sobre)\s+(?:the\s+|das\s+|les?\s+)?$",
    re.IGNORECASE,
)


_ARTICLES: Final = frozenset(
    ("the", "my", "our", "der", "die", "das", "den", "dem", "la", "le", "les", "el", "los", "las")
)
#: Words behind which stands what narrows a list.
_OF: Final = frozenset(
    re.findall(r"\S+", "from von aus desde de du of der des del by par por in bei en dans im at chez under below")
)
#: Words before a place, which is nobody's name.
_PLACED: Final = re.compile(r"\b(?:from|in|at|aus|im|in|desde|en|dans)\s+(?:the\s+)?$", re.IGNORECASE)
#: Words before a value which say that it is not just this one that is meant, and words of parameters that say so.
_COMPARES: Final = re.compile(
    r"\b(?:near|around|before|after|beyond|past|above|below|over|under|up\s+to|until|outside|close\s+to|next\s+to|behind"
    r"|vor|hinter|über|unter|neben|ab|bis|avant|après|derrière|près\s+d[eu]|jusqu['\u2019]\w*"
    r"|antes\s+de|después\s+de|detrás\s+de|cerca\s+de|hasta)\s+(?:the\s+|l[ae]s?\s+|el\s+)?(?:[^\W\d_]+\s+)?$",
    re.IGNORECASE,
)
_ONWARD: Final = re.compile(
    r"\s+(?:on(?:wards?)?|(?:and|or)\s+(?:above|below|up|over|under|more|less|older|later|higher|lower)|oder\s+mehr|ou\s+plus"
    r"|o\s+más)(?=\s*(?:$|[.,!]))",
    re.IGNORECASE,
)
_COMPARING: Final = frozenset(
    re.findall(
        r"\S+",
        "min max minimum maximum before after since until near radius than least most over under above below within",
    )
)
#: Words before where something goes.
_TO: Final = re.compile(
    r"\b(?:to|into|onto|auf|nach|zum?|zur|in\s+(?:den|die|das)|à|au|vers|a|al|hacia)\s+(?:the\s+|l[ae]s?\s+|[^\W\d_]+\s+)?$",
    re.IGNORECASE,
)
#: Letters that the words beside a value have.
_NEAR: Final = 40


class _Listed(msgspec.Struct, frozen=True):
    """A call that gives a list, and the writes that are made for what is in it."""

    read: Call
    lister: Kit
    writes: tuple[Call, ...]


def doubts_of_lists(plan: Plan, request: str, box: Toolbox, today: date | None) -> Iterator[str]:
    """A question for each thing that a request picks out and no step does, and for each list gone over too widely."""
    yield from unpicked(plan, request, box)
    kits = {kit.key: kit for kit in box.kits}
    listed = _listed(plan, kits)
    if not listed:
        return
    text = bare(request)
    plain = _plain(text, today)
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    found = _BUT.search(_QUOTED.sub(" ", text)) or (None if _denies(calls) else _NOT.search(plain))
    if found is not None:
        yield f"What is left out by {found[0].strip()!r}?"
    stray = _stray(plain, text, plan, calls, listed, kits)
    if stray is not None:
        yield f"{listed[0].lister.key}: its list is not narrowed to {stray!r}. What is meant?"
    gone_over = {one.read.id for one in listed}
    for call in calls:
        if call.id not in gone_over and any(call.tool == one.read.tool for one in listed):
            # `Delete all trips of BT-4 and BT-5`
            yield f"What is to be done with what {call.id} lists?"
    for one in listed:
        yield from _inexact(one, text, plain)
        for field, value in _guessed(one, plain, _QUOTED.sub(" ", text), kits):
            yield f"Is {value!r} meant as {field.name!r}?"


def _listed(plan: Plan, kits: dict[str, Kit]) -> list[_Listed]:
    """Each list of the plan with the writes that are made for its items."""
    steps = [step for _, step in every_step(plan.block)]
    reads = {
        step.id: step
        for step in steps
        if isinstance(step, Call) and step.tool in kits and not kits[step.tool].is_acting and kits[step.tool].lists
    }
    writes: dict[str, list[Call]] = {}
    for step in steps:
        if isinstance(step, Loop):
            inner = [one for _, one in every_step(step.body) if isinstance(one, Call)]
            made = [one for one in inner if one.tool in kits and kits[one.tool].is_acting]
            sources = _READ.findall(str(step.over))
        elif isinstance(step, Call) and step.tool in kits and kits[step.tool].is_acting:
            made = [step]
            sources = [
                name
                for value in step.inputs.values()
                if "[" in str(value) or "|" in str(value)
                for name in _READ.findall(str(value))
            ]
        else:
            continue
        for source in sources:
            if source in reads and made:
                writes.setdefault(source, []).extend(made)
    return [_Listed(reads[name], kits[reads[name].tool], (*made,)) for name, made in writes.items()]


def _denies(calls: Sequence[Call]) -> bool:
    """Whether some call carries what is said not to be so: a flag that is off, a condition."""
    values = [value for call in calls for value in call.inputs.values()]
    return any(call.when is not None for call in calls) or any(value is False or value == "none" for value in values)


def _plain(text: str, today: date | None) -> str:
    """The text without what is a value by its form, and without what is quoted."""
    hidden = list(_QUOTED.sub(lambda found: " " * len(found[0]), text))
    for span in spans_of(text, today):
        hidden[span.start : span.end] = " " * (span.end - span.start)
    return "".join(hidden)


def _stray(
    plain: str, text: str, plan: Plan, calls: Sequence[Call], listed: Sequence[_Listed], kits: dict[str, Kit]
) -> str | None:
    """A telling word that is in no value of the plan, in no condition, and not what its tools are for."""
    listers = {one.read.id: one.lister for one in listed}
    known, words = set[str](), set[str]()
    for call in calls:
        kit = kits[call.tool]
        is_list = call.id in listers
        known |= _concepts_of_list(call, kit) if is_list else _concepts_of_call(kit)
        for name, value in call.inputs.items():
            field = next((one for one in kit.fields if one.name == name), None)
            said = [] if "{{" in str(value) and not is_list else _WORD.findall(str(value).replace("_", " "))
            known |= frozenset[str]().union(*map(concepts_of, said)) if said else set()
            words |= {stem(folded(word)) for word in said}
            known |= field.concepts | field.described if field is not None else set()
    bound = [str(value) for call in calls for value in (*call.inputs.values(), call.when) if "{{" in str(value)]
    bound += [str(step.over) for _, step in every_step(plan.block) if isinstance(step, Loop)]
    for word in (one for value in bound for one in raw_words(value)):
        known |= concepts_of(word)
    names = tuple(
        value for one in listed for value in one.read.inputs.values() if isinstance(value, str) and value[:1].isupper()
    )
    picks = [found.span() for found in PICKED.finditer(plain)]
    acts = {plain[at:to] for at, to, _ in phrasal(plain)}
    for found in _WORD.finditer(plain):
        word = folded(found[0])
        if word in STOPS or word in _IDLE | IDLE | TAKING or word in PARTICLES or found[0] in acts or is_particle(word):
            continue
        if any(start <= found.start() < end for start, end in picks) or is_reading(word):
            continue
        if text[found.end() :].lstrip(" \"„“«'(").startswith(names):
            # `den Interessenten Jan Kolb`: what somebody is, beside the name that is looked for.
            continue
        bare = _OPPOSITE.sub("", word) if any(call.when is not None for call in calls) else word
        if (
            stem(word) in words
            or (concepts_of(word) | concepts_of(bare)) & known
            or any(fits(word, kits[one.tool].tool) for one in calls)
        ):
            continue
        return found[0]
    return None


def _concepts_of_call(kit: Kit) -> frozenset[str]:
    """Concepts of all that a tool is for, takes and gives."""
    given = (field.concepts for field in kit.outputs)
    return frozenset[str]().union(*kit.named, kit.described, kit.extra, *given)


def _concepts_of_list(call: Call, lister: Kit) -> frozenset[str]:
    """Concepts of a list, but for what it could be narrowed to and is not, and for what its items have."""
    things = frozenset[str]().union(*lister.named, *map(concepts_of_path, lister.lists))
    unfilled = [field for field in lister.fields if field.name not in call.inputs]
    items = [field for one in lister.lists for field in one.fields if field.kind not in ("id", "text")]
    options = [concepts_of(str(option)) for field in (*unfilled, *items) for option in field.options]
    things |= frozenset[str]().union(
        *(field.concepts for one in lister.lists for field in one.fields if field.kind == "text")
    )
    narrowing = frozenset[str]().union(*(field.concepts for field in (*unfilled, *items)), *options)
    return things | (lister.described - narrowing)


def _inexact(one: _Listed, text: str, plain: str) -> Iterator[str]:
    """Questions where a list is not narrowed just so: `near pier 3`, `damaged and stored`, one of several for `it`."""
    words = {stem(folded(found)) for found in _WORD.findall(plain)}
    taken = {str(value) for call in one.writes for value in call.inputs.values()}
    for field in one.lister.fields:
        value = one.read.inputs.get(field.name)
        if value is None or field.kind in ("day", "moment", "time", "bool"):
            continue
        others = [str(option) for option in field.options if option != value and str(option) not in taken]
        other = next((option for option in others if stem(folded(option)) in words), None)
        if other is not None and not field.is_list:
            yield f"Is {other!r} meant, too, besides {value!r}?"
        at = _place(str(value), text)
        told = {*raw_words(field.name), *raw_words(field.description)}
        found = _COMPARES.search(text[:at]) or _ONWARD.match(text, at + len(str(value)))
        if at >= 0 and not told & _COMPARING and found is not None:
            yield f"Is {field.name!r} to be {value!r}, or what is meant by {found[0].strip()!r}?"
    first = any("[0]" in str(value) for call in one.writes for value in call.inputs.values())
    names = {folded(of.path[-1]) for of in one.lister.lists if of.path}
    said = {folded(word) for word in _WORD.findall(plain)}
    if first and PICKED.search(plain) is None and any(name in said and name.endswith("s") for name in names):
        yield f"Which one of {one.lister.key} is meant?"


def _guessed(one: _Listed, plain: str, text: str, kits: dict[str, Kit]) -> Iterator[tuple[ToolField, Json]]:
    """Plain words that a list is narrowed to, or that a write takes though it need not, and nothing says for what."""
    for field in one.lister.fields:
        value = one.read.inputs.get(field.name)
        if field.name == "name" and (place := _place(value, text)) >= 0 and _PLACED.search(text[:place]) is not None:
            yield field, value
        if _is_said_once(field, value, one.writes, text) or _is_goal(field, value, one.writes, text):
            yield field, value
        at = _place(value, plain) if field.kind in ("text", "place", "person", "company") else -1
        if (
            at < 0
            or str(value)[:1].isupper()
            or str(value) in field.examples
            or _is_named(field, plain[:at], plain[at + len(str(value)) :])
        ):
            continue
        if _points(plain[:at], field) or (field.name in _SOUGHT and _is_looked_for(plain[:at])):
            continue
        yield field, value
    for call in one.writes:
        for field in kits[call.tool].fields:
            value = call.inputs.get(field.name)
            if field.required or field.kind not in ("text", "place") or not isinstance(value, str) or "{{" in value:
                continue
            at = _place(value, text)
            if at >= 0 and not _is_named(field, text[:at], "") and _WHY.search(text[:at]) is None:
                yield field, value


def _is_said_once(field: ToolField, value: Json, writes: Sequence[Call], text: str) -> bool:
    """Whether a list is narrowed to what a write takes as something else, and the text says it only once."""
    if not isinstance(value, str | int) or isinstance(value, bool) or field.options:
        return False
    others = [name for call in writes for name, taken in call.inputs.items() if taken == value or _has(taken, value)]
    return bool(others) and field.name not in others and text.count(str(value)) < 2


def _has(taken: Json, value: Json) -> bool:
    """Whether a text that a write takes has the value in it."""
    return isinstance(taken, str) and isinstance(value, str) and "{{" not in taken and bool(value) and value in taken


def _is_goal(field: ToolField, value: Json, writes: Sequence[Call], text: str) -> bool:
    """Whether a list is narrowed to where its things are to go: `move all that lie at pier 3 to pier 12`."""
    if not any(field.name in call.inputs and call.inputs[field.name] != value for call in writes):
        return False
    found = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text)
    return found is not None and _TO.search(text[: found.start()]) is not None


def _place(value: Json, plain: str) -> int:
    """Where a text says a value in plain words; -1: nowhere."""
    if not isinstance(value, str) or not value:
        return -1
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", plain)
    return found.start() if found is not None else -1


def _is_named(field: ToolField, before: str, behind: str) -> bool:
    """Whether a word beside a value names its parameter: `with the tag draft`, `the batch namespace`."""
    words = [word for word in _WORD.findall(before[-_NEAR:])[-3:] if folded(word) not in STOPS]
    own = listed_concepts(field.name) | field.concepts
    return any(concepts_of(word) & own for word in (*words[-1:], *_WORD.findall(behind[:_NEAR])[:1]))


def _is_looked_for(before: str) -> bool:
    """Whether what follows is what a list is of: `every tape`, `the cheapest olive oil`, `macros for refunds`."""
    end = len(before.rstrip())
    return _BEFORE.search(before) is not None or any(found.end() == end for found in PICKED.finditer(before))


def _points(before: str, field: ToolField) -> bool:
    """Whether a word before a value points to its parameter: `in the hall` to a room, `from github` to a sender."""
    words = [word for word in map(folded, _WORD.findall(before[-_NEAR:])) if word not in _ARTICLES]
    last = words[-1] if words else ""
    return last in _OF and bool(CUES.get(last, frozenset()) & {field.name, *raw_words(field.name)})
