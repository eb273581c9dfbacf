"""A request in words becomes a plan by rules alone: clauses, tools, arguments, links. Pure and deterministic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.clauses import narrowed
from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.mandate import agrees_beside, mandated
from toolpath.checks.request.seen import is_offered
from toolpath.checks.request.verbs import folded
from toolpath.errors import NoToolFits
from toolpath.model.plan import Block, Call, Origin, Plan, every_step
from toolpath.planner.offline.answered import answered
from toolpath.planner.offline.by_words import PLAIN, planned_by_words
from toolpath.planner.offline.coordination import may_join, one_by_one
from toolpath.planner.offline.corrections import doubts_of_words
from toolpath.planner.offline.days_gone import days_gone
from toolpath.planner.offline.doubtful_readings import doubts_of_readings
from toolpath.planner.offline.estimates import estimated
from toolpath.planner.offline.gist_for_tools import LONGEST_REQUEST, bare_request, beyond_length, gist_for
from toolpath.planner.offline.letters import is_of_letters
from toolpath.planner.offline.lookup import LookedUp, Lookup, sought
from toolpath.planner.offline.named_things import names_nothing
from toolpath.planner.offline.narrowing import doubts_of_lists
from toolpath.planner.offline.offered_request import MOST_TOOLS, OfferedRequest, Offering
from toolpath.planner.offline.one_by_one import put_together, surer
from toolpath.planner.offline.out_of_scope import is_unserved
from toolpath.planner.offline.rank import Ranker, candidate
from toolpath.planner.offline.reasons import with_reason
from toolpath.planner.offline.refusal import refusal
from toolpath.planner.offline.refused_values import asked_where_refused
from toolpath.planner.offline.request.asking import told_once
from toolpath.planner.offline.request.kinds import is_of_kind
from toolpath.planner.offline.request.reader import SURE, UNSURE, RequestReading, read_request
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.spelling import Spelled, spelled
from toolpath.planner.offline.request.toolbox import Toolbox
from toolpath.planner.offline.request.weekdays import days_that_may_be_two
from toolpath.planner.offline.rivals import rivals
from toolpath.planner.offline.warrants import Warrant, is_vouched, is_warranted, unwarranted, warrants

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


def looked_up(request: str, catalog: Catalog, search: Lookup, near: Mapping[str, float] | None = None) -> Lookup:
    """The tools that `plan_offline` looks at for this request, as its `search`; `near`: their nearness by meaning."""
    few = len(catalog.tools) <= MOST_TOOLS
    return LookedUp(() if few else tuple(search.search(sought(bare_request(request)), MOST_TOOLS)), near or {})


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
    offered = OfferedRequest(narrowed(request), Offering(catalog, tools, search, today))
    try:
        plan = _planned_and_asked(offered)
    except NoToolFits:
        read = _answering(offered)
        if read is None:
            raise
        plan = read
    origin = msgspec.structs.replace(plan.origin, request=request[:LONGEST_REQUEST])
    return msgspec.structs.replace(plan, origin=origin, description=request[:200])


def _answering(offered: OfferedRequest) -> Plan | None:
    """The plan of a question that one reading tool alone answers, in words that no tool has."""
    request = offered.request
    found = answered(request[:LONGEST_REQUEST], offered.box, offered.offer.today)
    if found is None:
        return None
    kit, inputs = found
    step = Call(id=kit.tool.name, tool=kit.key, inputs=inputs)
    said = f"{request[:200]!r} means {kit.key}: it takes what the question names and tells what it asks for."
    plan = _read(request, RequestReading((step,), (), UNSURE, (said,)), offered.offer.catalog, ())
    return None if plan.questions else plan


def _planned_and_asked(offered: OfferedRequest) -> Plan:
    """The plan of a request, with a question for each evidence that it lacks."""
    request, box, catalog, today = offered.request, offered.box, offered.offer.catalog, offered.offer.today
    spans = spans_of(request[:LONGEST_REQUEST], today)
    mended = spelled(request[:LONGEST_REQUEST], offered.tools, spans)
    is_mended = bool(mended.changes)
    plan = _planned_whole_or_apart(OfferedRequest(mended.text, offered.offer) if is_mended else offered)
    plan = _mended(plan, request, mended, catalog) if is_mended else plan
    said = offered.text if mended.text == request else gist_for(mended.text, offered.tools)
    spans = spans_of(said, today)
    if names_nothing(plan, said, spans, box) or is_unserved(plan, said, spans, box):
        # Something always fits best.
        raise refusal(bare_request(request), Ranker([candidate(tool) for tool in offered.tools]))
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
        sure = PLAIN
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


def _planned_whole_or_apart(offered: OfferedRequest) -> Plan:
    """The plan of the request as a whole, or of all that it joins, said one by one."""
    apart = _said_apart(offered)
    try:
        plan = _planned(offered)
    except NoToolFits:
        if apart is None:
            raise
        return apart
    if apart is None:
        return plan
    sure, questions = surer(plan, apart, is_acting=_acts(apart, offered.offer.catalog))
    return _asking(sure, questions)


def _said_apart(offered: OfferedRequest) -> Plan | None:
    """The plan of what the request joins, each thing planned by itself; None where that leaves a question."""
    request, text, catalog = offered.request, offered.text, offered.offer.catalog
    if not may_join(text):
        return None
    box = offered.box
    kinds = frozenset[str]().union(*(kit.described.union(*kit.named) for kit in box.kits))
    verbs = frozenset[str]().union(*(kit.verbs for kit in box.kits))
    said = one_by_one(
        text,
        spans_of(text, offered.offer.today),
        lambda word: folded(word) in verbs or bool(concepts_of(word) & box.acts),
        lambda word: bool(concepts_of(word) & kinds),
    )
    if said is None:
        return None

    def planned(one: str) -> Plan | None:
        try:
            return _planned(OfferedRequest(one, offered.offer))
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


def _planned(offered: OfferedRequest) -> Plan:
    text, box, catalog = offered.text, offered.box, offered.offer.catalog
    reading = read_request(text, box, offered.offer.today)
    if reading is None:
        by_words = planned_by_words(offered)
        if _misfits(by_words, box):
            # `AP-23` is no day: what is taken so was never meant.
            raise refusal(text, Ranker([candidate(tool) for tool in offered.tools]))
        return by_words
    read = _read(offered.request, reading, catalog, offered.why)
    if is_of_letters(text, read, box):
        raise refusal(text, Ranker([candidate(tool) for tool in offered.offer.tools_for(text)]))
    if _is_done(reading, read) and reading.confidence >= SURE and _acts(read, catalog):
        return read
    try:
        by_words = planned_by_words(offered)
    except NoToolFits:
        # The words of tools are English: of another language their refusal says nothing.
        if _ENGLISH.search(text) and reading.meant < (_WHOLE if _is_done(reading, read) else _ASKED):
            raise
        return read
    return _preferred(reading, read, by_words, box, catalog)


def _is_done(reading: RequestReading, read: Plan) -> bool:
    return reading.is_whole and not read.questions


def _preferred(reading: RequestReading, read: Plan, by_words: Plan, box: Toolbox, catalog: Catalog) -> Plan:
    """The plan that was read, or the one that the words of tools make, which takes values from more than it reads."""
    is_other = _tools_of(by_words) != _tools_of(read)
    if _is_done(reading, read):
        if not is_other and _is_surer(by_words, read) and not _misfits(by_words, box):
            # The same tools with other values, which the other rules are sure of.
            return _asked_about(read, catalog) if _acts(read, catalog) else by_words
        if by_words.questions or reading.meant >= _WHOLE:
            return _asked_about(read, catalog) if is_other and reading.meant < _NAMED else read
    if reading.is_doubted and read.questions and _acts(by_words, catalog):
        return read
    if _misfits(by_words, box) or (_acts(read, catalog) and is_other and not _acts(by_words, catalog)):
        # What only reads does not stand for what was commanded.
        return read
    return by_words if not by_words.questions or len(by_words.questions) < len(read.questions) else read


def _tools_of(plan: Plan) -> set[str]:
    return {step.tool for _, step in every_step(plan.block) if isinstance(step, Call)}


def _acts(plan: Plan, catalog: Catalog) -> bool:
    return any(not catalog.tools[tool].is_read for tool in _tools_of(plan))


def _is_surer(by_words: Plan, read: Plan) -> bool:
    """Whether one plan is whole and surer than the other, which it is not."""
    needed = _SURER if (read.confidence or 0.0) >= SURE else _SURE_ENOUGH
    return not by_words.questions and (by_words.confidence or 0.0) >= needed and by_words.steps != read.steps


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
        questions=(*beyond_length(request), *reading.questions),
        estimates=estimated(calls, catalog),
    )
    plan = Plan(name="plan", description=request[:200], steps=reading.steps, origin=origin)
    plan = with_reason(plan, why, catalog)
    return asked_where_refused(mandated(plan, request, catalog), catalog)
