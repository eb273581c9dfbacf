"""Plans of what a request joins, made one by one and put together. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.mandate import ASKING
from toolpath.model.plan import Call, Origin, Plan, every_step
from toolpath.model.tool import Tool
from toolpath.planner.offline.coordination import Said
from toolpath.planner.offline.request.told_texts import is_message
from toolpath.planner.offline.request.toolbox import kit_of
from toolpath.values import JsonObject

_AND: Final = re.compile(r"\s(?:and|plus|und|et|y)\s|,\s", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:the|an?|my|our|your|der|die|das|den|le|la|les|el|los|las)\s+", re.IGNORECASE)


def put_together(said: Sequence[Said], planned: Callable[[str], Plan | None], catalog: Catalog) -> Plan | None:
    """The plan of all that was said; None where a part of it is not planned whole, or not like the others."""
    steps: list[Call] = []
    reasons: list[str] = []
    questions: list[str] = []
    sure = 1.0
    for clause in said:
        elsewhere = [phrase for other in said if other is not clause for phrase in other.shared]
        plans = _plans(clause, planned, elsewhere)
        if plans is None:
            return None
        made = [step for plan in plans for step in plan.steps if isinstance(step, Call)]
        sure = min(sure, *(plan.confidence or 0.0 for plan in plans))
        reasons += [plan.origin.reasoning for plan in plans]
        if clause.is_elliptic and any(not catalog.tools[one.tool].is_read for one in made):
            # `Add tea to the list and milk`: what would be put where is not said.
            return None
        if len(clause.requests) > 1:
            whole = _alike(clause, made, catalog)
            if whole is None:
                return None
            made = whole
            if clause.rest and len(made) > 1 and (clause.is_row or _is_its_own(clause, made, planned)):
                alone = "all of them together" if clause.is_row else "the last one alone"
                questions.append(f"Is {clause.rest!r} said of each of them, or of {alone}?")
        steps += made
    if any("{{" in str(one.inputs) for one in steps):
        return None
    if questions:
        sure = min(sure, ASKING)
    origin = Origin(reasoning="\n".join(reasons), confidence=sure, questions=tuple(questions))
    return Plan(name="plan", steps=tuple(_named(steps)), origin=origin)


def _plans(clause: Said, planned: Callable[[str], Plan | None], elsewhere: Sequence[str]) -> list[Plan] | None:
    """The plan of each request of a clause; None where one is not whole."""
    made = [_whole(request, planned, elsewhere) for request in clause.requests]
    like = next((plan for plan in made if plan is not None), None)
    if like is None:
        return None
    if clause.is_row and None in made:
        # What is joined is meant alike: `the tv and the heater`, where a heater may be another tool's.
        at = made.index(like)
        made = [
            plan or _instead(like, clause.things[at], thing) for plan, thing in zip(made, clause.things, strict=True)
        ]
    plans = [plan for plan in made if plan is not None]
    return plans if len(plans) == len(made) and (len(made) == 1 or all(len(one.steps) == 1 for one in plans)) else None


def _whole(request: str, planned: Callable[[str], Plan | None], elsewhere: Sequence[str]) -> Plan | None:
    """The plan of one request, with what another clause says of its place where it needs it."""
    for text in (request, *(f"{request} {phrase}" for phrase in elsewhere)):
        plan = planned(text)
        is_done = plan is not None and not plan.questions and plan.confidence is not None
        if plan is not None and is_done and all(isinstance(one, Call) and one.when is None for one in plan.steps):
            return plan
    return None


def _instead(plan: Plan, thing: str, other: str) -> Plan | None:
    """The plan with another thing in place of the one that a parameter takes as it is said; None where none does."""
    (step, *more) = plan.steps
    if more or not isinstance(step, Call):
        return None
    names = [name for name, value in step.inputs.items() if isinstance(value, str) and value == _plain(thing)]
    if len(names) != 1:
        return None
    changed = msgspec.structs.replace(step, inputs={**step.inputs, names[0]: _plain(other)})
    return msgspec.structs.replace(plan, steps=(changed,))


def _plain(thing: str) -> str:
    return _ARTICLE.sub("", thing.strip())


def _alike(clause: Said, calls: Sequence[Call], catalog: Catalog) -> list[Call] | None:
    """The calls of things that are joined, as one call with a list where the tool takes one; None where they differ."""
    tools = {one.tool for one in calls}
    if len(tools) > 1:
        return None if any(not catalog.tools[one].is_read for one in tools) else list(calls)
    varying = _varying(calls)
    if not varying or (clause.is_row and len(varying) > 1):
        return None
    name = next(iter(varying))
    if len(varying) == 1 and _is_one_text(name, clause, catalog.tools[calls[0].tool]):
        return None
    if clause.is_row and any(name not in one.inputs for one in calls):
        return None
    lists = [one.inputs.get(name) for one in calls]
    if len(varying) == 1 and all(isinstance(one, list) for one in lists):
        joined = [item for one in lists if isinstance(one, list) for item in one]
        return [msgspec.structs.replace(calls[0], inputs={**calls[0].inputs, name: joined})]
    told = [str(sorted(one.inputs.items())) for one in calls]
    return list(calls) if len(set(told)) == len(told) else None


_QUOTES: Final = ('"', "'", "`", "\u201c", "\u201e", "\u00ab", "\u2018")


def _is_one_text(name: str, clause: Said, tool: Tool) -> bool:
    """Whether a tool that acts would be told a text in pieces: `fits well, nice colour`."""
    field = next((one for one in kit_of(tool).fields if one.name == name), None)
    is_told = field is not None and is_message(field) and not tool.is_read
    return is_told and not all(thing.strip().startswith(_QUOTES) for thing in clause.things)


def _varying(calls: Sequence[Call]) -> list[str]:
    names = dict.fromkeys(name for one in calls for name in one.inputs)
    return [name for name in names if any(one.inputs.get(name) != calls[0].inputs.get(name) for one in calls)]


def _is_its_own(clause: Said, calls: Sequence[Call], planned: Callable[[str], Plan | None]) -> bool:
    """Whether the first of the things is whole without what is said after the last one."""
    shorter = planned(clause.requests[0].removesuffix(clause.rest).strip())
    if shorter is None or shorter.questions or len(shorter.steps) != 1:
        return False
    inputs: JsonObject = shorter.steps[0].inputs if isinstance(shorter.steps[0], Call) else {}
    return inputs != calls[0].inputs


def _named(steps: Sequence[Call]) -> list[Call]:
    """The calls with an id each; said twice, done once."""
    taken: set[str] = set()
    made: list[Call] = []
    for step in steps:
        if any((one.tool, one.inputs) == (step.tool, step.inputs) for one in made):
            continue
        base = step.id.rstrip("0123456789").rstrip("_") or step.id
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        made.append(msgspec.structs.replace(step, id=name, depends_on=()))
    return made


def surer(plan: Plan, apart: Plan, *, is_acting: bool) -> tuple[Plan, list[str]]:
    """The one that is meant of a plan of the whole request and one of all that it joins, with what is asked besides.

    `is_acting`: the one of all that it joins writes.
    """
    if _calls_of(apart) == _calls_of(plan) and not plan.questions:
        return plan, []
    if apart.questions:
        # Of each or of all together: no reading settles that.
        return (apart if is_acting else plan), []
    one = _held_as_one(plan)
    if one and not plan.questions and is_acting:
        return apart, [f"Is {one!r} one thing, or several?"]
    is_read = not one and not is_acting and len(_calls_of(plan)) >= len(_calls_of(apart))
    # `The divisor of 40 and 50`: what is joined may as well be several parameters of one call.
    is_one = len(_calls_of(plan)) == 1 and _values_of(apart) <= _values_of(plan)
    return (plan if not plan.questions and (is_read or is_one) else apart), []


def _values_of(plan: Plan) -> set[str]:
    made = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    return {str(value) for step in made for value in step.inputs.values()}


def _held_as_one(plan: Plan) -> str:
    """The value that holds a conjunction, as `Arts and Crafts`; empty: none does."""
    values = [
        value
        for _, step in every_step(plan.block)
        if isinstance(step, Call)
        for value in step.inputs.values()
        if isinstance(value, str)
    ]
    return next((value for value in values if _AND.search(value)), "")


def _calls_of(plan: Plan) -> list[str]:
    """The calls of a plan, for telling whether another one does the same."""
    return sorted(
        str((step.tool, sorted(step.inputs.items()), step.when))
        for _, step in every_step(plan.block)
        if isinstance(step, Call)
    )
