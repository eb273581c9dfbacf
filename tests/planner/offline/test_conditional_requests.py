"""Conditions of requests: what a tool tells becomes the `when` of what depends on it, and none is ever lost."""

from __future__ import annotations

import pytest
from tests.planner.offline.conditional_requests import TOOLS, conditionals, unreadable

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline

LANGUAGES = ("en", "de", "fr", "es")


def planned(request: str) -> Plan | None:
    try:
        return plan_offline(request, TOOLS)
    except NoToolFits:
        return None


def writes(plan: Plan) -> dict[str, str | None]:
    calls = [step for step in plan.steps if isinstance(step, Call)]
    return {call.tool: call.when for call in calls if not TOOLS.tools[call.tool].is_read}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_condition_that_a_tool_tells_is_what_the_command_depends_on(language: str) -> None:
    for one in conditionals(language):
        plan = planned(one.text)
        assert plan is not None, one.text
        assert not plan.questions, one.text
        assert writes(plan) == one.whens, one.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_condition_that_no_tool_tells_is_never_left_out(language: str) -> None:
    for request in unreadable(language):
        plan = planned(request)
        assert plan is None or plan.questions or not writes(plan), request


@pytest.mark.parametrize(
    "request_text",
    [
        "Lösche AC-21 wegen der Miete, es sei denn, es regnet",
        "Delete AC-21 because of the rent, unless it rains",
        "Falls niemand da ist, lösche AC-21",
        "Ist Anna da, lösche AC-21",
        "¿Está Ana? Entonces borra AC-21",
        "If there is anything wrong, delete AC-21",
        "If nobody answers, delete AC-21",
    ],
)
def test_what_is_no_list_of_a_tool_is_no_condition_on_one(request_text: str) -> None:
    plan = planned(request_text)
    assert plan is None or plan.questions or not writes(plan)


def test_a_list_is_no_condition_where_nothing_of_it_is_spoken_of() -> None:
    finding = Tool(
        name="find_people",
        description="Search the people of a house.",
        effect="read",
        input_schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        output_schema={"type": "object", "properties": {"people": {"type": "array", "items": {"type": "object"}}}},
    )
    tools = Catalog({**TOOLS.tools, finding.key: finding})
    for request in (
        "If Ann is there, delete AC-21",
        "es regnet? Dann lösche AC-21",
        "Falls niemand da ist, lösche AC-21",
    ):
        try:
            plan = plan_offline(request, tools)
        except NoToolFits:
            continue
        assert plan.questions, request
    plan = plan_offline('If you find nobody called "Ann Lee", delete AC-21', tools)
    deleting = [step for step in plan.steps if isinstance(step, Call) and step.tool == "delete_account"]
    assert [step.when for step in deleting] == ["{{ find_people.people | length == 0 }}"]


@pytest.mark.parametrize(
    "request_text",
    [
        "Check AC-21. Not closed yet? Then delete it.",
        "Prüfe AC-21. Noch nicht geschlossen? Dann lösche es.",
        "Regarde AC-21. Pas encore fermé ? Alors supprime-le.",
        "Mira AC-21. ¿Todavía no cerrada? Entonces bórrala.",
    ],
)
def test_a_short_question_for_what_is_not_yet_so_is_a_condition(request_text: str) -> None:
    plan = planned(request_text)
    assert plan is not None
    assert not plan.questions
    assert writes(plan) == {"delete_account": "{{ get_account.status != 'closed' }}"}


@pytest.mark.parametrize("request_text", ["Check AC-21. Not sure yet? Then delete it.", "AC-21 not closed? Delete it."])
def test_a_short_question_that_no_tool_tells_is_asked_about(request_text: str) -> None:
    plan = planned(request_text)
    assert plan is None or plan.questions or not writes(plan)
