"""A plan by the words of tools and parameters alone, for a request that is not read as people's. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from toolpath.catalog.words import raw_words
from toolpath.checks.request.mandate import mandated
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.offline.backward import chained
from toolpath.planner.offline.carried_values import carried, widened, without_repeats
from toolpath.planner.offline.confidence import Evidence, confidence, is_fitting
from toolpath.planner.offline.conjoined import conjoined
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.estimates import estimated
from toolpath.planner.offline.fill import Filling, fill
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.gist_for_tools import LONGEST_REQUEST, beyond_length, undenied_tools
from toolpath.planner.offline.linked_outputs import link
from toolpath.planner.offline.match import CUED, is_like, words_of
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.offered_request import OfferedRequest
from toolpath.planner.offline.owners import owners_of
from toolpath.planner.offline.plain_command import is_commanded, is_plain
from toolpath.planner.offline.rank import RankedTool, Ranker, candidate
from toolpath.planner.offline.reasons import with_reason
from toolpath.planner.offline.refusal import refusal
from toolpath.planner.offline.refused_values import asked_where_refused
from toolpath.planner.offline.request.asking import about
from toolpath.planner.offline.same_tool_again import onward
from toolpath.planner.offline.tool_parts import tool_parts
from toolpath.values import Json, JsonObject

#: What a plain command counts as at least: of those in the development records, four of five are right.
PLAIN = 0.5
_ANOTHER = re.compile(r"\b(?:another|second|third|fourth|fifth|same|other)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:these|those|both|each|they|their|them|same|all)\b", re.IGNORECASE)


def planned_by_words(offered: OfferedRequest) -> Plan:
    """The plan by the words of tools and parameters alone, for requests that are not read as people's."""
    request, text = offered.request, offered.text
    ranker = Ranker([candidate(tool) for tool in undenied_tools(request, offered.offer.tools_for(text))])
    drafts = _drafts(text, ranker)
    if not drafts:
        raise refusal(text, ranker)
    linked = [onward(draft, text) for draft in link(chained(drafts, ranker, text))]
    evidence = _evidence(text, linked, ranker)
    is_said = is_plain(text, linked, evidence)
    if not is_fitting(evidence) and not is_said and not is_commanded(text, linked):
        raise refusal(text, ranker)
    sure = confidence(evidence)
    return _plan(offered, linked, max(sure, PLAIN) if is_said else sure)


def _drafts(text: str, ranker: Ranker) -> list[Draft]:
    """The tools chosen, in the order of the request, with the part of it that is theirs and their calls."""
    if not ranker.candidates or not text:
        return []
    verbs = {raw_words(one.tool.name)[0] for one in ranker.candidates if raw_words(one.tool.name)}
    parts = tool_parts(text, verbs, ranker.things()) or [text]
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
    groups = _parts_of_calls(one, parts, ranker)
    if len(groups) < 2:
        return None
    fillings = [fill(one.slots, group, about=about) for group in groups]
    first = fillings[0].calls[0]
    told = [
        {str(call[slot.name].value) for slot in needed if slot.name in call}
        for filling in fillings
        for call in filling.calls
    ]
    if any(one_call == other for index, one_call in enumerate(told) for other in told[:index]):
        return None
    shared = {slot.name for slot in needed if slot.name in first}
    if fillings[0].missing or any(slot.name not in shared for filling in fillings for slot in filling.missing):
        return None
    calls = [
        {**{slot.name: first[slot.name] for slot in filling.missing if slot.name in first}, **call}
        for filling in fillings
        for call in filling.calls
    ]
    used = frozenset[int]().union(*(filling.used for filling in fillings))
    return Draft(one, own, ranker.fit(one, own), Filling(tuple(calls), (), used))


def _parts_of_calls(one: RankedTool, parts: Sequence[str], ranker: Ranker) -> list[str]:
    """The parts of the request, each joined to the one before where it does not ask for a call of its own."""
    needed = [slot for slot in one.slots if slot.required]
    groups: list[str] = []
    is_begun = False
    for part in parts:
        said = fill(needed, part, about=one.name | one.description).calls[0]
        firm = sum(
            found.sure >= CUED and (found.mention is None or found.mention.kind != "phrase") for found in said.values()
        )
        is_enough = firm > 0 and 2 * firm >= len(needed)
        if groups and (not is_begun or not is_enough or not _is_call(one, part, groups[0], ranker)):
            groups[-1] = f"{groups[-1]} . {part}"
        else:
            groups.append(part)
        is_begun = is_begun or is_enough
    return groups


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


def _plan(offered: OfferedRequest, drafts: Sequence[Draft], sure: float) -> Plan:
    request, catalog = offered.request, offered.offer.catalog
    steps: list[Call] = []
    questions: list[str] = [*beyond_length(request)]
    reasons: list[str] = []
    for draft in drafts:
        for number, step_id in enumerate(draft.ids):
            inputs: JsonObject = {name: _literal(found.value) for name, found in draft.filling.calls[number].items()}
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
    plan = with_reason(plan, offered.why, catalog)
    return asked_where_refused(mandated(plan, request, catalog), catalog)


def _reason(draft: Draft, number: int, step_id: str) -> str:
    fit = draft.fit
    said = f"{fit.name:.0%} of its name, {fit.description:.0%} of its description is said"
    why = f"{step_id}: {draft.candidate.tool.key} fits ({said})"
    parts = [f"{name} from {found.because}" for name, found in draft.filling.calls[number].items()]
    parts += [
        f"{name} from {value}" for name, value in (draft.links[number] if number < len(draft.links) else {}).items()
    ]
    return "; ".join([why, *parts]) + "."


def _literal(value: Json) -> Json:
    """The value as a plan's input that is read as itself: what looks like a template is none."""
    match value:
        case str():
            return value.replace("{{", "{{ '{{' }}") if "{{" in value else value
        case list():
            return [_literal(item) for item in value]
        case dict():
            return {str(key): _literal(item) for key, item in value.items()}
        case _:
            return value
