"""Mandate of every plan made of words: it acts only as the request commands, and says what it leaves out. Pure.

What a request does not command plainly, the plan asks about; a plan with open questions is not run by anybody.
Planners, the plan cache, the router and fallbacks hand their plans out through `mandated` and through nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.amounts import misread
from toolpath.checks.request.asides import asides
from toolpath.checks.request.bases import bases, unfounded
from toolpath.checks.request.bindings import misbound
from toolpath.checks.request.clauses import narrowed
from toolpath.checks.request.commanded import is_in_order, uncommanded
from toolpath.checks.request.contrary_acts import contrary_acts
from toolpath.checks.request.coordinated import coordinated
from toolpath.checks.request.cuts import cut_out
from toolpath.checks.request.doubled import doubled
from toolpath.checks.request.ends_of_periods import ends_of_periods
from toolpath.checks.request.grounds import Grounds
from toolpath.checks.request.left_out import left_out, may_narrow
from toolpath.checks.request.levels import levels
from toolpath.checks.request.marked_numbers import marked
from toolpath.checks.request.meant_items import undenied_items
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.namings import misnamed, swallowed
from toolpath.checks.request.notes import is_note
from toolpath.checks.request.openings import TOPIC
from toolpath.checks.request.origins import origins
from toolpath.checks.request.parts_of_things import parts_of_things
from toolpath.checks.request.places import misplaced
from toolpath.checks.request.pointed_back import pointed_back
from toolpath.checks.request.pointers import goes_on, names_one_thing, pointers, reads_a_step, torn_apart
from toolpath.checks.request.provisos import uncarried
from toolpath.checks.request.quantifiers import asks_for_more
from toolpath.checks.request.ranges import ranges
from toolpath.checks.request.seen import FOR_BOTH, Seen, is_offered, is_preset, short, text_in
from toolpath.checks.request.several import several
from toolpath.checks.request.shared_names import shared_names
from toolpath.checks.request.texts_of_acts import texts_of_acts
from toolpath.checks.request.tools import fits
from toolpath.checks.request.turned import turned
from toolpath.checks.request.twofold import twofold
from toolpath.checks.request.uncalled import uncalled_for
from toolpath.checks.request.unchanged import read_back, unchanged
from toolpath.checks.request.uncovered import names_in, uncovered
from toolpath.checks.request.verbs import folded
from toolpath.checks.request.written_forms import formless
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

#: The most that a plan which leaves a question open counts as.
ASKING: Final = 0.4
_MOST: Final = 20
_LONGEST: Final = 20_000
_TOO_LONG: Final = f"Only the first {_LONGEST:,} characters of the request were held against this: what of the rest?"


def mandated(  # a plan, what it is held against, and how
    plan: Plan,
    request: str,
    catalog: Catalog,
    *,
    strict: bool = True,
    kept: AbstractSet[str] = frozenset(),
    known: str = "",
) -> Plan:
    """The plan with a question for all in which it does something else than the request says, and less confidence then.

    A plan that only reads, and could not show less, does no harm where a name in the request is nowhere in it: then it
    is only less sure.
    `strict`: the verb of a command has to be one of the tool that acts, as for plans made by rules; a model may know
    better, but not of tools that destroy, and what its values rest on is asked. `kept`: ids of steps that were carried
    out before; `known`: what came of them.
    """
    steps = [step for step in plan.steps if step.id not in kept]
    if not steps or not request.strip():
        return plan
    whole = narrowed(request)
    told = whole[:_LONGEST]
    seen = Seen(plan, told, catalog, kept)
    left = [*left_out(seen, strict=strict)]
    joined = [
        one for one in dict.fromkeys(coordinated(seen)) if not any(one in other for other in left if other != one)
    ]
    left += [one for one in joined if one not in left]
    unasked = () if seen.acting or may_narrow(seen) else {*names_in(seen.request, left)} - {*joined}
    cut = cut_out(seen.request, seen.own_values, shortened=not seen.acting)
    grounds = Grounds(told, catalog, known)
    questions = [
        *(() if is_note(seen) else uncommanded(seen, strict=strict)),
        *(f"The plan does nothing about {one!r}: what of it?" for one in left if one not in unasked),
        *(f"The plan takes {one}: what is meant?" for one in cut),
        *_said_once(seen),
        *_pointed(seen),
        *((_TOO_LONG,) if seen.acting and whole[_LONGEST:].strip() else ()),
        *(_of_writes(seen, strict=strict) if seen.acting else ()),
        # Rules take values out of the request and nowhere else.
        *(() if strict else unfounded(seen, grounds, kept)),
        *(() if strict else uncalled_for(seen, grounds, kept)),
    ]
    new = [one for one in dict.fromkeys(questions) if one not in plan.questions][:_MOST]
    sure = plan.confidence if plan.confidence is None or not (new or left) else min(plan.confidence, ASKING)
    origin = msgspec.structs.replace(
        plan.origin,
        rests_on=bases(seen, grounds),
        questions=(*plan.questions, *new),
        uncovered=tuple(dict.fromkeys((*plan.origin.uncovered, *left)))[:_MOST],
        confidence=sure,
    )
    return msgspec.structs.replace(plan, origin=origin)


_RULES_OF_WRITES: Final = (
    *(misread, marked, misnamed, several, misplaced, misbound, twofold, doubled, asides, turned, unchanged, read_back),
    *(formless, origins, parts_of_things, pointed_back, ranges, levels, ends_of_periods, shared_names, contrary_acts),
    texts_of_acts,
)


def _of_writes(seen: Seen, *, strict: bool) -> Iterator[str]:
    """Questions for a plan that writes: its conditions, and its values as the request says them."""
    yield from uncarried(seen, strict=strict)
    yield from undenied_items(seen)
    for rule in _RULES_OF_WRITES:
        yield from rule(seen)
    for clause in seen.clauses:
        if clause.mood == "command":
            yield from swallowed(seen, clause.verb, text_in(seen, clause))


def agrees_beside(plan: Plan, request: str, catalog: Catalog) -> bool:
    """Whether a plan of a part of the request's words agrees with what stands beside them: denials and reasons."""
    seen = Seen(plan, narrowed(request)[:_LONGEST], catalog, frozenset())
    beside = [clause for clause in seen.clauses if clause.mood in ("negation", "reason")]
    return not seen.acting or all(is_in_order(clause, seen) for clause in beside)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _said_once(seen: Seen) -> Iterator[str]:
    """A question for each value that one call takes for two parameters although the request says it once."""
    for call, tool, _ in seen.calls:
        names: dict[str, list[str]] = {}
        for name, value in call.inputs.items():
            is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            if is_plain and not (isinstance(value, str) and "{{" in value) and not is_preset(value, tool, name):
                names.setdefault(folded(str(value)), []).append(name)
        for value, alike in names.items():
            # What is found between two days is of one where they are the same.
            is_period = tool is not None and tool.is_read and _DAY.fullmatch(value) is not None
            if len(alike) > 1 + is_period and value:
                offered = all(is_offered(call.inputs[name], tool, name) for name in alike)
                count = len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", folded(seen.request)))
                # One of a few may be said in other words, and for both.
                is_free = offered and (not count or FOR_BOTH.search(seen.request) is not None)
                if count < len(alike) and not is_free:
                    often = "once" if count < 2 else f"{count} times"
                    yield f"{call.id}: {value!r} is said {often}; is it {' and '.join(alike)}?"


def _pointed(seen: Seen) -> Iterator[str]:
    """A question for each word that points to something which no argument is."""
    yield from (
        f"Is {one!r} one place? The plan takes it for two." for one in torn_apart(seen.request, _inputs(seen.calls))
    )
    reads = any(reads_a_step(call.inputs) for call, _, _ in seen.calls) or seen.has_loop
    is_again = len({call.tool for call, _, _ in seen.calls}) < len(seen.calls)
    if (on := goes_on(seen.request, is_again=is_again)) is not None and not reads:
        yield f"{on!r}: with what came of the step before? The plan takes what was said first."
    for value in seen.own_values if seen.acting else ():
        words = value.split() if isinstance(value, str) else []
        when = [word for word in words if asks_for_more(word) or (word is words[-1] and _HOW.fullmatch(word))]
        if when and len(words) > 1 and _stands_open(str(value), seen):
            yield f"The plan takes {when[0]!r} as a part of {value!r}: is it when, how or to what it is to be done?"
    for clause in seen.clauses if seen.acting else ():
        said = pointers(clause.text) if clause.mood == "command" else []
        meant = [call for call, tool, _ in seen.acting if said and tool is not None and fits(clause.verb, tool)]
        topic = TOPIC.match(clause.text)
        at = seen.plain.find(clause.text) + (topic.end() if topic is not None else 0)
        if any(reads_a_step(call.inputs) for call in meant):
            # `Add a task and comment on it`: one of them takes what the other one made.
            continue
        for call in meant:
            if not call.inputs and not seen.parameters:
                # `Skip this track`: there is one.
                continue
            if _is_about_a_statement(clause, seen) or _is_what_it_depends_on(call, seen):
                continue
            if any(_is_other_case(call, one, seen) and _is_what_it_depends_on(one, seen) for one in meant):
                # `If court 2 is free, book it, else book court 6`
                continue
            if not reads_a_step(call.inputs) and not names_one_thing(call.inputs, seen.whole[: max(0, at)], said[0]):
                yield f"{call.id}: what is {said[0]!r} in {short(seen, clause)!r}?"


def _is_what_it_depends_on(call: Call, seen: Seen) -> bool:
    """Whether it is the one thing that its condition is read of: `If checkout is degraded, restart it`."""
    read = [one for one, _, _ in seen.calls if any(re.search(rf"\b{one.id}\b", when) for when in seen.whens[id(call)])]
    given = {folded(str(value)) for one in read for value in one.inputs.values()}
    return len(read) == 1 and bool(given) and given <= {folded(str(value)) for value in call.inputs.values()}


def _is_other_case(call: Call, other: Call, seen: Seen) -> bool:
    """Whether two calls are made on conditions that differ."""
    whens = [seen.whens.get(id(one)) for one in (call, other)]
    return None not in whens and whens[0] != whens[1]


def _is_about_a_statement(clause: Clause, seen: Seen) -> bool:
    """Whether what is pointed to is what was told right before, which the plan holds: `T-88 paid 940, book that`."""
    before = seen.clauses[: seen.clauses.index(clause)]
    told = before[-1] if before else None
    return told is not None and told.mood == "reason" and not uncovered(text_in(seen, told), seen.held)


_HOW: Final = re.compile(r"[a-z]{3,}ly", re.IGNORECASE)


def _stands_open(value: str, seen: Seen) -> bool:
    """Whether the value is neither quoted nor marked as somebody's words."""
    return folded(value) in folded(seen.plain)


def _inputs(calls: Sequence[tuple[Call, Tool | None, bool]]) -> list[JsonObject]:
    return [call.inputs for call, _, _ in calls]
