"""Narrowing of lists: a write goes over what its request picks out and nothing wider, or it is asked about. Pure.

A loop over a list that is not narrowed as it was said does what nobody asked for: `refund all orders that nobody
collected` refunds all of them. So of a write whose things a list gives each telling word has to be somewhere in the
plan: in what the tools are for, in a value, or in a condition. Whether a value is the one that is meant is asked by
`narrowed_values.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, concepts_of, phrasal
from toolpath.checks.request.idle import IDLE
from toolpath.checks.request.openings import bare
from toolpath.checks.request.other_verbs import TAKING
from toolpath.checks.request.tools import fits
from toolpath.checks.request.verbs import folded, is_particle, is_reading
from toolpath.model.plan import Call, Loop, Plan, every_step
from toolpath.planner.offline.narrowed_values import WORD, GoneOver, doubts_of_values
from toolpath.planner.offline.request.links import concepts_of_path
from toolpath.planner.offline.request.picks import PICKED
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import PARTICLES, Kit, Toolbox
from toolpath.planner.offline.unpicked import unpicked
from toolpath.planner.offline.whose import whose

_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|(?<!\w)'[^']*'(?!\w)")
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
    r"|didn['\u2019]t|nicht|nie|kein\w*|ohne|ne|pas|jamais|aucune?|sans|nunca|ning[uú]n\w*|sin)\b",
    re.IGNORECASE,
)
#: What makes another word say which one of a list: `le plus récent`.
_MOST: Final = frozenset(("plus", "mas", "moins", "menos", "most", "least", "am"))
#: `uninsured` says what a condition says, the other way round.
_OPPOSITE: Final = re.compile(r"^(?:un|in|non-?|im)(?=\w{4})")
#: Words that tell nothing of which things are meant.
_IDLE: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """one ones thing things everyone everybody anyone anybody person people first last single whole entire complete
        alles jeder jedem jeweils davon chacun chacune uno una""",
    )
)


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
    spans, held = spans_of(text, today), folded(msgspec.json.encode(plan.steps).decode())
    for one in listed:
        owned = whose(text, spans, one.lister, held)
        if owned is not None:
            yield f"{one.read.id}: whose are meant by {owned!r}?"
        yield from doubts_of_values(one, text, plain, _QUOTED.sub(" ", text), kits)


def _listed(plan: Plan, kits: dict[str, Kit]) -> list[GoneOver]:
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
    return [GoneOver(reads[name], kits[reads[name].tool], (*made,)) for name, made in writes.items()]


def _denies(calls: Sequence[Call]) -> bool:
    """Whether some call carries what is said not to be so: a flag that is off, a condition."""
    values = [value for call in calls for value in call.inputs.values()]
    flags = [word for call in calls for name, value in call.inputs.items() if value is True for word in raw_words(name)]
    if any(_OPPOSITE.match(word) for word in flags):
        # `unpaid_only`
        return True
    return any(call.when is not None for call in calls) or any(value is False or value == "none" for value in values)


def _plain(text: str, today: date | None) -> str:
    """The text without what is a value by its form, and without what is quoted."""
    hidden = list(_QUOTED.sub(lambda found: " " * len(found[0]), text))
    for span in spans_of(text, today):
        hidden[span.start : span.end] = " " * (span.end - span.start)
    return "".join(hidden)


def _stray(
    plain: str, text: str, plan: Plan, calls: Sequence[Call], listed: Sequence[GoneOver], kits: dict[str, Kit]
) -> str | None:
    """A telling word that is in no value of the plan, in no condition, and not what its tools are for."""
    known, words = _known_of(plan, calls, listed, kits)
    names = tuple(
        value for one in listed for value in one.read.inputs.values() if isinstance(value, str) and value[:1].isupper()
    )
    picks = [found.span() for found in PICKED.finditer(plain)]
    acts = {plain[at:to] for at, to, _ in phrasal(plain)}
    for found in WORD.finditer(plain):
        word = folded(found[0])
        if _is_little(word) or is_reading(word) or found[0] in acts:
            continue
        if any(start <= found.start() < end for start, end in picks) or _is_told_apart(
            found[0], calls, is_picked=bool(picks)
        ):
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


def _known_of(
    plan: Plan, calls: Sequence[Call], listed: Sequence[GoneOver], kits: dict[str, Kit]
) -> tuple[set[str], set[str]]:
    """The concepts that a plan has to do with, and the words of its values, without their endings."""
    listers = {one.read.id: one.lister for one in listed}
    known, words = set[str](), set[str]()
    for call in calls:
        kit = kits[call.tool]
        is_list = call.id in listers
        known |= _concepts_of_list(call, kit) if is_list else _concepts_of_call(kit)
        for name, value in call.inputs.items():
            field = next((one for one in kit.fields if one.name == name), None)
            said = [] if "{{" in str(value) and not is_list else WORD.findall(str(value).replace("_", " "))
            known |= frozenset[str]().union(*map(concepts_of, said)) if said else set()
            words |= {stem(folded(word)) for word in said}
            known |= field.concepts | field.described if field is not None else set()
    bound = [str(value) for call in calls for value in (*call.inputs.values(), call.when) if "{{" in str(value)]
    bound += [str(step.over) for _, step in every_step(plan.block) if isinstance(step, Loop)]
    for word in (one for value in bound for one in raw_words(value)):
        known |= concepts_of(word)
    return known, words


def _is_little(word: str) -> bool:
    """Whether a word says nothing of which things are meant."""
    return word in STOPS or word in _IDLE | IDLE | TAKING or word in PARTICLES or is_particle(word)


def _is_told_apart(word: str, calls: Sequence[Call], *, is_picked: bool) -> bool:
    """Whether a word denies what a condition carries, or makes another one pick: `le plus récent`."""
    return (_NOT.fullmatch(word) is not None and _denies(calls)) or (is_picked and folded(word) in _MOST)


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
