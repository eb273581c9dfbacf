"""Every value of a request lands in the one parameter that the words beside it say, or a question is asked."""

from __future__ import annotations

import random
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.planner.offline.bound_requests import LANGUAGES, NEGATED, STRAY, Case, case_of

from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline

TODAY = date(2026, 3, 10)
SEEDS = some.integers(min_value=0, max_value=10**9)


def planned(request: str, case: Case) -> Plan | None:
    try:
        return plan_offline(request, case.catalog, today=TODAY)
    except NoToolFits:
        return None


def runs(plan: Plan | None) -> bool:
    """Whether the plan may be run as it is; every tool of these worlds writes."""
    return plan is not None and not plan.questions


def calls_of(plan: Plan) -> list[tuple[str, dict[str, object]]]:
    return [(step.tool, dict(step.inputs)) for _, step in every_step(plan.block) if isinstance(step, Call)]


@settings(derandomize=True)
@given(SEEDS)
def test_each_value_lands_in_its_own_parameter_or_a_question_is_asked(seed: int) -> None:
    case = case_of(seed)
    plan = planned(case.request, case)
    if plan is not None and runs(plan):
        assert calls_of(plan) == [(case.tool, case.inputs)], case.request


@settings(derandomize=True)
@given(SEEDS, some.sampled_from((" ", ", ", ". ")))
def test_what_is_said_besides_never_leaves_the_plan_as_it_was(seed: int, separator: str) -> None:
    case = case_of(seed)
    trailer = random.Random(seed).choice(STRAY[case.language])
    request = f"{case.request}{separator}{trailer}"
    plan = planned(request, case)
    assert not runs(plan), request


@settings(derandomize=True)
@given(SEEDS)
def test_what_is_taken_back_is_not_done(seed: int) -> None:
    case = case_of(seed)
    frame = random.Random(seed).choice(NEGATED[case.language])
    command = case.request if frame.startswith(("{", "¿{")) else case.request[0].lower() + case.request[1:]
    request = frame.format(command)
    assert not runs(planned(request, case)), request


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_of_these_commands_are_planned(language: str) -> None:
    """A planner that always asks is no planner."""
    cases = [case for case in map(case_of, range(160)) if case.language == language]
    assert len(cases) > 20
    right = sum((plan := planned(case.request, case)) is not None and runs(plan) for case in cases)
    assert right > 0.4 * len(cases)


@settings(derandomize=True)
@given(SEEDS, some.sampled_from((" lately", " as usual", " the usual way", " quaint", " zu Hause", " bientôt")))
def test_a_plan_that_is_hardly_sure_asks(seed: int, trailer: str) -> None:
    case = case_of(seed)
    plan = planned(case.request.split(" ", 2)[-1] + trailer, case)
    assert plan is None or plan.questions or (plan.confidence or 0.0) >= 0.4
