"""A plan acts on the whole of a request: what narrows the command, puts it off or points elsewhere is asked about."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.test_mandate import may_write
from tests.checks.wholes import CATALOGS, COMMANDS, OPEN, OTHERWISE, POLITE, Calls, written

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.mandate import mandated
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.offline.planner import plan_offline


def by_model(calls: Calls, request: str, catalog: Catalog) -> Plan:
    """The calls as a model may plan them that takes no notice of how they are asked for."""
    steps = tuple(Call(id=f"s{number}", tool=tool, inputs=inputs) for number, (tool, inputs) in enumerate(calls))
    return mandated(Plan(steps=steps, origin=Origin(request=request, confidence=0.95)), request, catalog, strict=False)


def by_rules(request: str, catalog: Catalog) -> Plan | None:
    try:
        return plan_offline(request, catalog)
    except NoToolFits:
        return None


def calls_of(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.tool, dict(step.inputs)) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize("number", range(len(OTHERWISE)), ids=OTHERWISE.__getitem__)
def test_what_says_more_than_the_command_is_asked_about(number: int) -> None:
    acted = []
    for at, (name, command, calls) in enumerate(COMMANDS):
        request = written(OTHERWISE[number], command)
        if command.endswith("saying hello"):
            # What follows belongs to what is said.
            continue
        plans = [by_model(calls, request, CATALOGS[name])]
        if (number + at) % 3 == 0:
            # Rules read a frame alike around any command: each is planned in a third of them.
            plans += [plan for plan in [by_rules(request, CATALOGS[name])] if plan is not None]
        acted += [request for plan in plans if may_write(plan, CATALOGS[name])]
    assert acted == []


@pytest.mark.parametrize(("name", "request_text"), OPEN)
def test_what_points_to_nothing_named_is_asked_about(name: str, request_text: str) -> None:
    plan = by_rules(request_text, CATALOGS[name])
    assert plan is None or plan.questions


@pytest.mark.parametrize("frame", POLITE)
def test_a_model_that_plans_a_plain_command_is_not_asked(frame: str) -> None:
    asked = [
        (written(frame, command), plan.questions)
        for name, command, calls in COMMANDS
        if (plan := by_model(calls, written(frame, command), CATALOGS[name])).questions
    ]
    assert asked == []


def test_a_pointer_to_what_a_step_gives_or_to_the_one_thing_named_is_no_question() -> None:
    desk = CATALOGS["desk"]
    request = "Get ticket T-4 and close it"
    for value in ("T-4", "{{ s0.ticket_id }}"):
        calls = (("desk.get_ticket", {"ticket_id": "T-4"}), ("desk.close_ticket", {"ticket_id": value}))
        assert by_model(calls, request, desk).questions == ()
    wrong = (("desk.get_ticket", {"ticket_id": "T-4"}), ("desk.close_ticket", {"ticket_id": "T-40"}))
    assert by_model(wrong, request, desk).questions


@pytest.mark.parametrize("frame", POLITE)
def test_rules_that_do_a_plain_command_do_it_with_its_own_values(frame: str) -> None:
    done, wrong = 0, []
    for name, command, calls in COMMANDS:
        plan = by_rules(written(frame, command), CATALOGS[name])
        if plan is None or not may_write(plan, CATALOGS[name]):
            continue
        done += 1
        if sorted(map(repr, calls_of(plan))) != sorted(repr(call) for call in _in_order_of(plan, calls)):
            wrong.append((written(frame, command), calls_of(plan)))
    assert wrong == []
    assert done >= len(COMMANDS) - 4


def _in_order_of(plan: Plan, calls: Calls) -> list[tuple[str, dict[str, Any]]]:
    """The calls, their arguments in the order in which the plan has them."""
    made = calls_of(plan)
    return [next((one for one in made if one == (tool, inputs)), (tool, inputs)) for tool, inputs in calls]
