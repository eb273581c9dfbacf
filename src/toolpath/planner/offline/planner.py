"""A request in words becomes a plan by rules alone: clauses, tools, arguments, links. Pure and deterministic."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.mandate import agrees_beside, mandated
from toolpath.checks.request.seen import is_offered
from toolpath.checks.request.sentences import narrowed
from toolpath.checks.request.verbs import folded
from toolpath.errors import NoToolFits
from toolpath.model.plan import Block, Call, Origin, Plan, every_step
from toolpath.planner.offline.answered import answered
from toolpath.planner.offline.backward import chained
from toolpath.planner.offline.carried import carried, widened, without_repeats
from toolpath.planner.offline.clauses import clauses
from toolpath.planner.offline.confidence import Evidence, confidence, is_fitting
from toolpath.planner.offline.conjoined import conjoined
from toolpath.planner.offline.coordination import may_join, one_by_one
from toolpath.planner.offline.corrections import doubts_of_words
from toolpath.planner.offline.days_gone import days_gone
from toolpath.planner.offline.doubtful_readings import doubts_of_readings
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.estimates import estimated
from toolpath.planner.offline.fill import Filling, fill
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.letters import is_of_letters
from toolpath.planner.offline.linked_outputs import link
from toolpath.planner.offline.lookup import LookedUp, Lookup, sought
from toolpath.planner.offline.match import CUED, is_like, words_of
from toolpath.planner.offline.meant import LONGEST_REQUEST, allowed, asked, meant
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.named_things import names_nothing
from toolpath.planner.offline.narrowing import doubts_of_lists
from toolpath.planner.offline.offered_request import MOST_TOOLS, OfferedRequest, Offering
from toolpath.planner.offline.one_by_one import put_together, surer
from toolpath.planner.offline.onward import onward
from toolpath.planner.offline.owners import owners_of
from toolpath.planner.offline.plain_command import is_commanded, is_plain
from toolpath.planner.offline.rank import RankedTool, Ranker, candidate
from toolpath.planner.offline.reasons import with_reason
from toolpath.planner.offline.refused import asked_where_refused
from toolpath.planner.offline.request.asking import about, told_once
from toolpath.planner.offline.request.kinds import is_of_kind
from toolpath.planner.offline.request.reader import SURE, UNSURE, RequestReading, read_request
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.spelling import Spelled, spelled
from toolpath.planner.offline.request.toolbox import Toolbox
from toolpath.planner.offline.request.weekdays import days_that_may_be_two
from toolpath.planner.offline.rivals import rivals
from toolpath.planner.offline.unserved import is_unserved
from toolpath.planner.offline.warrants import Warrant, is_vouched, is_warranted, unwarranted, warrants
from toolpath.planner.records import NO_TOOLS
from toolpath.values import Json, JsonObject

#: What a plain command counts as at least: of those in the development records, four of five are right.
_PLAIN = 0.5
#: What a request has to name of a tool that its words alone refuse: to be planned, and to be asked about.
_WHOLE, _ASKED = 0.8, 1.2
#: What names so much of its tool is not asked about because the words of tools fit another one.
_NAMED = 1.3
#: What the other rules have to count as, for their values to stand where those read are others: where the reading is
#: sure, and where it is not.
_SURER, _SURE_ENOUGH = 0.7, 0.5
#: The most that a plan with an open question counts as.
_OPEN = 0.4
_ENGLISH = re.compile(
    r"\b(?:the|of|is|what|for|my|and|from|with|how|do|to|you|i|are|that|an?|about|out|find|show|get)\b", re.IGNORECASE
)
_ANOTHER = re.compile(r"\b(?:another|second|third|fourth|fifth|same|other)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:these|those|both|each|they|their|them|same|all)\b", re.IGNORECASE)


def looked_up(request: str, catalog: Catalog, search: Lookup, near: Mapping[str, float] | None = None) -> Lookup:
    """The tools that `plan_offline` looks at for this request, as its `search`; `near`: their nearness by meaning."""
    few = len(catalog.tools) <= MOST_TOOLS
    return LookedUp(() if few else tuple(search.search(sought(asked(request)), MOST_TOOLS)), near or {})


def plan_offline(
    request: str,
    catalog: Catalog,
    *,
    tools: Sequence[str] | None = None,
    search: Lookup | None = None,
    today: date | None = None,
) -> Plan:
    """The plan that the request asks for, with reasons, confidence and open questions in its `origin`.

    `tools` names those that may be used (none: all); `search` saves indexing the catalogue again; `today` is what days
    like `Friday` are counted from: without it they are not read. What the request does not say is asked for, never
    invented. Raises `NoToolFits`, naming the nearest tools; `ToolNotFound` for a name in `tools` that no tool has.
    """
    heard = OfferedRequest(narrowed(request), Offering(catalog, tools, search, today))
    try:
        plan = _planned_and_asked(heard)
    except NoToolFits:
        read = _answering(heard)
        if read is None:
            raise
        plan = read
    origin = msgspec.structs.replace(plan.origin, request=request[:LONGEST_REQUEST])
    return msgspec.structs.replace(plan, origin=origin, description=request[:200])


def _answering(heard: OfferedRequest) -> Plan | None:
    """The plan of a question that one reading tool alone answers, in words that no tool has."""
    request = heard.request
    found = answered(request[:LONGEST_REQUEST], heard.box, heard.offer.today)
    if found is None:
        return None
    kit, inputs = found
    step = Call(id=kit.tool.name, tool=kit.key, inputs=inputs)
    said = f"{request[:200]!r} means {kit.key}: it takes what the question names and tells what it asks for."
    plan = _read(request, RequestReading((step,), (), UNSURE, (said,)), heard.offer.catalog, ())
    return None if plan.questions else plan


def _planned_and_asked(heard: OfferedRequest) -> Plan:
    """The plan of a request, with a question for each evidence that it lacks."""
    request, box, catalog, today = heard.request, heard.box, heard.offer.catalog, heard.offer.today
    spans = spans_of(request[:LONGEST_REQUEST], today)
    mended = spelled(request[:LONGEST_REQUEST], heard.offered, spans)
    is_mended = bool(mended.changes)
    plan = _told(OfferedRequest(mended.text, heard.offer) if is_mended else heard)
    plan = _mended(plan, request, mended, catalog) if is_mended else plan
    said = heard.text if mended.text == request else meant(mended.text, heard.offered)
    spans = spans_of(said, today)
    if names_nothing(plan, said, spans, box) or is_unserved(plan, said, spans, box):
        # Something always fits best.
        raise _refusal(asked(request), Ranker([candidate(tool) for tool in heard.offered]))
    if plan.questions:
        once = tuple(told_once(plan.questions))
        return msgspec.structs.replace(plan, origin=msgspec.structs.replace(plan.origin, questions=once))
    found = warrants(plan, said, box, today)
    if (plan.confidence or 0.0) < _OPEN and _acts(plan, catalog) and not is_vouched(found):
        # What nobody would run is no plan that writes: it is a question.
        return _asked_about(plan, catalog)
    questions = [*rivals(plan, said, box), *unwarranted(found), *doubts_of_lists(plan, said, box, today)]
    questions += [*doubts_of_readings(plan, request, box), *doubts_of_words(plan, request, box, today)]
    questions += days_that_may_be_two(request, spans, today) if _acts(plan, catalog) else ()
    questions += days_gone(plan, catalog, today)
    return _asking(_weighed(plan, found, is_acting=_acts(plan, catalog)), questions)


def _weighed(plan: Plan, found: Sequence[Warrant], *, is_acting: bool) -> Plan:
    """The plan, less sure where evidence lacks, and not unsure where all of it is there."""
    sure = plan.confidence or 0.0
    if not is_warranted(found):
        sure = min(sure, UNSURE)
    elif is_acting and sure < _OPEN:
        sure = _PLAIN
    return msgspec.structs.replace(plan, origin=msgspec.structs.replace(plan.origin, confidence=sure))


def _mended(plan: Plan, request: str, mended: Spelled, catalog: Catalog) -> Plan:
    """The plan of a request whose words were mended: it says how they were read."""
    told = [f"Read {said!r} as {meant!r}." for said, meant in mended.changes]
    values = [
        str(value)
        for _, step in every_step(plan.block)
        if isinstance(step, Call)
        for name, value in step.inputs.items()
        if not is_offered(value, catalog.get(step.tool), name)
    ]
    # A value is as it was typed, or is asked about.
    taken = [said for said, meant in mended.changes if any(re.search(rf"\b{meant}\b", one) for one in values)]
    origin = plan.origin
    questions = (*origin.questions, *(f"Is {said!r} spelled as it is meant?" for said in taken))
    sure = min(plan.confidence or 0.0, _OPEN if taken else UNSURE)
    reasoning = "\n".join((*told, origin.reasoning))
    origin = msgspec.structs.replace(
        origin, request=request[:LONGEST_REQUEST], questions=questions, reasoning=reasoning, confidence=sure
    )
    return msgspec.structs.replace(plan, origin=origin, description=request[:200])


def _told(heard: OfferedRequest) -> Plan:
    """The plan of the request as a whole, or of all that it joins, said one by one."""
    apart = _said_apart(heard)
    try:
        plan = _planned(heard)
    except NoToolFits:
        if apart is None:
            raise
        return apart
    if apart is None:
        return plan
    sure, questions = surer(plan, apart, is_acting=_acts(apart, heard.offer.catalog))
    return _asking(sure, questions)


def _said_apart(heard: OfferedRequest) -> Plan | None:
    """The plan of what the request joins, each thing planned by itself; None where that leaves a question."""
    request, text, catalog = heard.request, heard.text, heard.offer.catalog
    if not may_join(text):
        return None
    box = heard.box
    kinds = frozenset[str]().union(*(kit.described.union(*kit.named) for kit in box.kits))
    verbs = frozenset[str]().union(*(kit.verbs for kit in box.kits))
    said = one_by_one(
        text,
        spans_of(text, heard.offer.today),
        lambda word: folded(word) in verbs or bool(concepts_of(word) & box.acts),
        lambda word: bool(concepts_of(word) & kinds),
    )
    if said is None:
        return None

    def planned(one: str) -> Plan | None:
        try:
            return _planned(OfferedRequest(one, heard.offer))
        except NoToolFits:
            return None

    plan = put_together(said.clauses, planned, catalog)
    if plan is None or not agrees_beside(plan, request, catalog):
        return None
    calls = [step for step in plan.steps if isinstance(step, Call)]
    origin = msgspec.structs.replace(
        plan.origin, request=request[:LONGEST_REQUEST], estimates=estimated(calls, catalog)
    )
    plan = msgspec.structs.replace(plan, description=request[:200], origin=origin)
    plan = asked_where_refused(mandated(plan, said.text, catalog), catalog)
    return None if [one for one in plan.questions if one not in origin.questions] else plan


def _planned(heard: OfferedRequest) -> Plan:
    text, box, catalog = heard.text, heard.box, heard.offer.catalog
    reading = read_request(text, box, heard.offer.today)
    if reading is None:
        ruled = _by_rules(heard)
        if _misfits(ruled, box):
            # `AP-23` is no day: what is taken so was never meant.
            raise _refusal(text, Ranker([candidate(tool) for tool in heard.offered]))
        return ruled
    read = _read(heard.request, reading, catalog, heard.why)
    if is_of_letters(text, read, box):
        raise _refusal(text, Ranker([candidate(tool) for tool in heard.offer.tools_for(text)]))
    if _is_done(reading, read) and reading.confidence >= SURE and _acts(read, catalog):
        return read
    try:
        ruled = _by_rules(heard)
    except NoToolFits:
        # The words of tools are English: of another language their refusal says nothing.
        if _ENGLISH.search(text) and reading.meant < (_WHOLE if _is_done(reading, read) else _ASKED):
            raise
        return read
    return _preferred(reading, read, ruled, box, catalog)


def _is_done(reading: RequestReading, read: Plan) -> bool:
    return reading.is_whole and not read.questions


def _preferred(reading: RequestReading, read: Plan, ruled: Plan, box: Toolbox, catalog: Catalog) -> Plan:
    """The plan that was read, or the one that the words of tools make, which takes values from more than it reads."""
    is_other = _tools_of(ruled) != _tools_of(read)
    if _is_done(reading, read):
        if not is_other and _is_surer(ruled, read) and not _misfits(ruled, box):
            # The same tools with other values, which the other rules are sure of.
            return _asked_about(read, catalog) if _acts(read, catalog) else ruled
        if ruled.questions or reading.meant >= _WHOLE:
            return _asked_about(read, catalog) if is_other and reading.meant < _NAMED else read
    if reading.is_doubted and read.questions and _acts(ruled, catalog):
        return read
    if _misfits(ruled, box) or (_acts(read, catalog) and is_other and not _acts(ruled, catalog)):
        # What only reads does not stand for what was commanded.
        return read
    return ruled if not ruled.questions or len(ruled.questions) < len(read.questions) else read


def _tools_of(plan: Plan) -> set[str]:
    return {step.tool for _, step in every_step(plan.block) if isinstance(step, Call)}


def _acts(plan: Plan, catalog: Catalog) -> bool:
    return any(not catalog.tools[tool].is_read for tool in _tools_of(plan))


def _is_surer(ruled: Plan, read: Plan) -> bool:
    """Whether one plan is whole and surer than the other, which it is not."""
    needed = _SURER if (read.confidence or 0.0) >= SURE else _SURE_ENOUGH
    return not ruled.questions and (ruled.confidence or 0.0) >= needed and ruled.steps != read.steps


def _asked_about(plan: Plan, catalog: Catalog) -> Plan:
    """The plan with a question, where it would act and the words of the request may mean another tool."""
    acting = sorted(tool for tool in _tools_of(plan) if not catalog.tools[tool].is_read)
    if not acting:
        return plan
    return _asking(plan, [f"Is {', '.join(acting)} what is meant?"])


def _asking(plan: Plan, questions: Sequence[str]) -> Plan:
    """The plan with these questions."""
    if not questions:
        return plan
    asked = (*plan.questions, *dict.fromkeys(questions))
    sure = min(plan.confidence or 0.0, _OPEN)
    return msgspec.structs.replace(plan, origin=msgspec.structs.replace(plan.origin, questions=asked, confidence=sure))


def _misfits(plan: Plan, box: Toolbox) -> bool:
    """Whether an argument is not of the kind that its parameter is: a name for a telephone number."""
    kits = {kit.key: kit for kit in box.kits}
    return any(
        not is_of_kind(value, field, box)
        for _, step in every_step(plan.block)
        if isinstance(step, Call) and step.tool in kits
        for field in kits[step.tool].fields
        if (value := step.inputs.get(field.name)) is not None
    )


def _read(request: str, reading: RequestReading, catalog: Catalog, why: Sequence[str]) -> Plan:
    """The plan of what was read, asked about where the request does not command it."""
    calls = [step for _, step in every_step(Block(steps=reading.steps)) if isinstance(step, Call)]
    origin = Origin(
        request=request[:LONGEST_REQUEST],
        reasoning="\n".join(reading.reasons),
        confidence=reading.confidence,
        questions=(*_too_long(request), *reading.questions),
        estimates=estimated(calls, catalog),
    )
    plan = Plan(name="plan", description=request[:200], steps=reading.steps, origin=origin)
    plan = with_reason(plan, why, catalog)
    return asked_where_refused(mandated(plan, request, catalog), catalog)


def _by_rules(heard: OfferedRequest) -> Plan:
    """The plan by the words of tools and parameters alone, for requests that are not read as people's."""
    request, text = heard.request, heard.text
    ranker = Ranker([candidate(tool) for tool in allowed(request, heard.offer.tools_for(text))])
    drafts = _drafts(text, ranker)
    if not drafts:
        raise _refusal(text, ranker)
    linked = [onward(draft, text) for draft in link(chained(drafts, ranker, text))]
    evidence = _evidence(text, linked, ranker)
    is_said = is_plain(text, linked, evidence)
    if not is_fitting(evidence) and not is_said and not is_commanded(text, linked):
        raise _refusal(text, ranker)
    sure = confidence(evidence)
    return _plan(heard, linked, max(sure, _PLAIN) if is_said else sure)


def _drafts(text: str, ranker: Ranker) -> list[Draft]:
    """The tools chosen, in the order of the request, with the part of it that is theirs and their calls."""
    if not ranker.candidates or not text:
        return []
    verbs = {raw_words(one.tool.name)[0] for one in ranker.candidates if raw_words(one.tool.name)}
    parts = clauses(text, verbs, ranker.things()) or [text]
    whole = {one.tool.key: ranker.fit(one, text) for one in ranker.candidates}
    owners = owners_of(parts, ranker, whole)
    drafts: list[Draft] = []
    for one, indices in owners:
        mine = [parts[index] for index in indices]
        own = " . ".join(mine) if len(owners) > 1 else text
        drafts.append(
            _joined(one, own, text, ranker)
            or _apart(one, mine, own, ranker)
            or _draft(one, own, text, ranker, earlier=drafts)
        )
    return drafts


def _joined(one: RankedTool, own: str, text: str, ranker: Ranker) -> Draft | None:
    """The calls that conjunctions join, where each of them says enough."""
    filling = conjoined(one.slots, own, about=one.name | one.description)
    if filling is None or (filling.missing and own != text):
        return None
    return Draft(one, own, ranker.fit(one, own), filling)


def _apart(one: RankedTool, parts: Sequence[str], own: str, ranker: Ranker) -> Draft | None:
    """The calls where several parts each say all that a call needs, or all but what the first of them says."""
    about = one.name | one.description
    needed = [slot for slot in one.slots if slot.required]
    groups: list[str] = []
    is_begun = False
    for part in parts:
        said = fill(needed, part, about=about).calls[0]
        firm = sum(
            found.sure >= CUED and (found.mention is None or found.mention.kind != "phrase") for found in said.values()
        )
        is_enough = firm > 0 and 2 * firm >= len(needed)
        if groups and (not is_begun or not is_enough or not _is_call(one, part, groups[0], ranker)):
            groups[-1] = f"{groups[-1]} . {part}"
        else:
            groups.append(part)
        is_begun = is_begun or is_enough
    if len(groups) < 2:
        return None
    fillings = [fill(one.slots, group, about=about) for group in groups]
    first = fillings[0].calls[0]
    shared = {slot.name for slot in needed if slot.name in first}
    told = [
        {str(call[slot.name].value) for slot in needed if slot.name in call}
        for filling in fillings
        for call in filling.calls
    ]
    if any(one_call == other for index, one_call in enumerate(told) for other in told[:index]):
        return None
    if fillings[0].missing or any(slot.name not in shared for filling in fillings for slot in filling.missing):
        return None
    calls = [
        {**{name: found for name, found in first.items() if name in {slot.name for slot in filling.missing}}, **call}
        for filling in fillings
        for call in filling.calls
    ]
    used = frozenset[int]().union(*(filling.used for filling in fillings))
    return Draft(one, own, ranker.fit(one, own), Filling(tuple(calls), (), used))


def _is_call(one: RankedTool, part: str, first: str, ranker: Ranker) -> bool:
    """Whether the part asks for the tool again, instead of saying more of what was asked before."""
    return bool(_ANOTHER.search(part)) or 2 * ranker.fit(one, part).name > ranker.fit(one, first).name


def _draft(one: RankedTool, own: str, text: str, ranker: Ranker, *, earlier: Sequence[Draft]) -> Draft:
    about = one.name | one.description
    filling = without_repeats(fill(one.slots, own, about=about, is_all=True))
    if own != text:
        is_plural = bool(_POINTS_BACK.search(own))
        filling = carried(filling, earlier, is_plural=is_plural)
        filling = widened(filling, text, earlier, about=about, is_plural=is_plural)
    return Draft(one, own, ranker.fit(one, own), filling)


def _evidence(text: str, drafts: Sequence[Draft], ranker: Ranker) -> Evidence:
    found = [one for draft in drafts for call in draft.filling.calls for one in call.values()]
    slots = [slot for draft in drafts for slot in draft.candidate.slots]
    linked = sum(len(links) for draft in drafts for links in draft.links)
    required = sum(sum(slot.required for slot in draft.candidate.slots) for draft in drafts)
    missing = sum(len(draft.filling.missing) for draft in drafts)
    firm = [one for one in mentions(text) if one.kind != "phrase"]
    used = {str(one.mention.text) for one in found if one.mention is not None}
    weakest = min(drafts, key=lambda draft: draft.fit.score).fit
    rivals = sorted((ranker.fit(one, drafts[0].text).score for one in ranker.candidates), reverse=True)
    return Evidence(
        name=weakest.name,
        description=weakest.description,
        said=weakest.said,
        best=max(draft.fit.score for draft in drafts),
        missing=missing / required if required else 0.0,
        sure=sum(min(one.sure, 4.0) for one in found) / len(found) if found else 2.0,
        weakest=min((min(one.sure, 4.0) for one in found), default=2.0),
        phrases=sum(one.mention is not None and one.mention.kind == "phrase" for one in found) / max(1, len(found)),
        unused=sum(one.text not in used for one in firm) / len(firm) if firm else 0.0,
        lead=min(0.3, rivals[0] - rivals[1]) if len(rivals) > 1 else 0.3,
        calls=math.log(sum(len(draft.filling.calls) for draft in drafts)),
        tools=math.log(len(drafts)),
        tie=min((score for draft in drafts for score in draft.ties), default=2.0),
        unasked=sum(draft.is_unasked for draft in drafts) / len(drafts),
        linked=linked / (linked + len(found)) if linked else 0.0,
        values=math.log(1 + len(found)),
        uncued=sum(one.sure < CUED for one in found) / max(1, len(found)),
        explained=_explained(text, drafts, found, ranker),
        hard=sum(slot.type in ("array", "object", "any") for slot in slots) / max(1, len(slots)),
        free=sum(slot.required and slot.type == "string" and not slot.options for slot in slots) / max(1, len(slots)),
        left=sum(
            slot.name not in call
            for draft in drafts
            for slot in draft.candidate.slots
            for call in draft.filling.calls[:1]
        )
        / max(1, len(slots)),
    )


def _explained(text: str, drafts: Sequence[Draft], found: Sequence[Found], ranker: Ranker) -> float:
    """The share of the request that names a tool, a parameter or an argument."""
    known = {
        word
        for draft in drafts
        for word in draft.candidate.name | draft.candidate.description | draft.candidate.parameters
    }
    known |= {
        word for one in found for word in words_of(one.mention.text if one.mention is not None else str(one.value))
    }
    telling = [word for word in words_of(text) if not word.isdigit()]
    heads = {word[:4] for word in known}
    met = sum(word in known or (word[:4] in heads and any(is_like(word, other) for other in known)) for word in telling)
    return met / len(telling) if telling else 0.0


def _refusal(text: str, ranker: Ranker) -> NoToolFits:
    nearest = sorted(ranker.candidates, key=lambda one: (-ranker.fit(one, text).score, one.tool.key))[:3]
    names = [one.tool.key for one in nearest]
    if not text:
        return NoToolFits("The request is empty.", hint="Say what is to be done.", suggestions=names)
    connected = ", ".join(one.tool.key for one in ranker.candidates[:10])
    return NoToolFits(
        f"Agent could not determine a matching tool. Connected tools: [{connected}]",
        suggestions=names,
        hint="Say it in the words of a tool, or add a tool that does it." if connected else NO_TOOLS,
    )


def _plan(heard: OfferedRequest, drafts: Sequence[Draft], sure: float) -> Plan:
    request, catalog = heard.request, heard.offer.catalog
    steps: list[Call] = []
    questions: list[str] = [*_too_long(request)]
    reasons: list[str] = []
    for draft in drafts:
        for number, step_id in enumerate(draft.ids):
            inputs: JsonObject = {name: literal(found.value) for name, found in draft.filling.calls[number].items()}
            inputs |= draft.links[number] if number < len(draft.links) else {}
            steps.append(Call(id=step_id, tool=draft.candidate.tool.key, inputs=inputs))
            reasons.append(_reason(draft, number, step_id))
            questions += [
                f"{step_id}: what is {slot.name!r} ({about(slot.description or slot.type, slot.options)})?"
                for slot in draft.candidate.slots
                if slot.required and slot.name not in inputs
            ]
    origin = Origin(
        request=request[:LONGEST_REQUEST],
        reasoning="\n".join(reasons),
        confidence=round(sure if not questions else min(sure, 0.4), 3),
        questions=tuple(questions),
        estimates=estimated(steps, catalog),
    )
    plan = Plan(name="plan", description=request[:200], steps=tuple(steps), origin=origin)
    plan = with_reason(plan, heard.why, catalog)
    return asked_where_refused(mandated(plan, request, catalog), catalog)


def _too_long(request: str) -> tuple[str, ...]:
    if len(request) <= LONGEST_REQUEST:
        return ()
    return (f"Only the first {LONGEST_REQUEST:,} characters of the request were read: what of the rest?",)


def _reason(draft: Draft, number: int, step_id: str) -> str:
    fit = draft.fit
    said = f"{fit.name:.0%} of its name, {fit.description:.0%} of its description is said"
    why = f"{step_id}: {draft.candidate.tool.key} fits ({said})"
    parts = [f"{name} from {found.because}" for name, found in draft.filling.calls[number].items()]
    parts += [
        f"{name} from {value}" for name, value in (draft.links[number] if number < len(draft.links) else {}).items()
    ]
    return "; ".join([why, *parts]) + "."


def literal(value: Json) -> Json:
    """The value as a plan's input that is read as itself: what looks like a template is none."""
    match value:
        case str():
            return value.replace("{{", "{{ '{{' }}") if "{{" in value else value
        case list():
            return [literal(item) for item in value]
        case dict():
            return {str(key): literal(item) for key, item in value.items()}
        case _:
            return value
