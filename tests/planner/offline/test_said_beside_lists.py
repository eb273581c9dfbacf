"""What is said beside a list or a condition: a flag by what it denies, the text by a word for it, a thing by `it`."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.planned_over import calls_of, planned

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
DAY = {"type": "string", "format": "date"}
ROOM = {"type": "string", "enum": ["single", "double", "loft"]}


def listed(name: str, /, **fields: Any) -> dict[str, Any]:
    return {name: {"type": "array", "items": {"type": "object", "properties": fields}}}


TOOLS = (
    tool(
        "list_pilots",
        "Lists the pilots of a squad.",
        "read",
        listed("pilots", pilot_id=TEXT, email=TEXT, trained=FLAG),
        squad={"type": "string", "enum": ["red", "blue"]},
        untrained_only_={**FLAG, "description": "Only those who are not trained yet"},
    ),
    tool("mail_pilot", "Mail a pilot.", "write", {}, to={**TEXT, "format": "email"}, subject=TEXT, body=TEXT),
    tool(
        "issue_permit",
        "Issue the permit of a pilot.",
        "write",
        {"permit_id": TEXT},
        pilot_id={**TEXT, "description": "Number of the pilot, e.g. PI-4"},
    ),
    tool("get_drone", "Look up a drone.", "read", {"insured": FLAG}, tag={**TEXT, "description": "Such as DR-0412"}),
    tool("open_case", "Open a case.", "write", {}, title=TEXT, urgency_={"type": "string", "enum": ["low", "high"]}),
    tool(
        "check_rooms", "Rooms that are free.", "read", {"rooms_left": {"type": "integer"}}, arrival=DAY, room_type=ROOM
    ),
    tool("book_room", "Book a room for a guest.", "write", {}, guest_name=TEXT, arrival=DAY, room_type=ROOM),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


@pytest.mark.parametrize("squad", ["red", "blue"])
@pytest.mark.parametrize("said", ["who isn't trained yet", "who is not trained", "who hasn't been trained"])
def test_a_list_is_asked_for_those_of_whom_it_is_denied(squad: str, said: str) -> None:
    plan = planned(f'Mail everybody in the {squad} squad {said}. Subject "Course", text "Please sign up."', CATALOG)
    assert not plan.questions
    read, mail = calls_of(plan)
    assert read.inputs == {"squad": squad, "untrained_only": True}
    assert (mail.when, mail.inputs["subject"], mail.inputs["body"]) == (None, "Course", "Please sign up.")


def test_those_of_whom_it_is_said_are_no_list_of_the_others() -> None:
    plan = planned('Mail everybody in the red squad who is trained. Subject "Course", text "Please sign up."', CATALOG)
    assert all(one.inputs.get("untrained_only") is None for one in calls_of(plan))
    assert plan.questions or [one.when for one in calls_of(plan)][1:] == ["{{ item.trained }}"]


@pytest.mark.parametrize("word", ["text", "message", "body"])
def test_the_text_is_named_by_a_word_for_it(word: str) -> None:
    plan = planned(f"Mail ann@air.org with the subject 'Course' and the {word} 'Please sign up.'", CATALOG)
    assert not plan.questions
    assert calls_of(plan)[0].inputs == {"to": "ann@air.org", "subject": "Course", "body": "Please sign up."}


def test_whom_it_is_from_is_not_whom_it_goes_to() -> None:
    plan = planned("Mail with the subject 'Course' and the text 'Please sign up.' from ann@air.org", CATALOG)
    assert plan.questions or all(one.inputs.get("to") != "ann@air.org" for one in calls_of(plan))


def test_a_thing_that_is_named_is_meant_though_a_title_names_it_too() -> None:
    plan = planned(
        "Look at DR-0412. If it isn't insured, open a high urgency case titled 'DR-0412 not insured'.", CATALOG
    )
    assert not plan.questions
    assert [one.when for one in calls_of(plan)] == [None, "{{ not get_drone.insured }}"]


def test_a_thing_that_only_a_title_names_is_asked_about() -> None:
    plan = planned("If it isn't insured, open a case titled 'DR-0412 not insured'.", CATALOG)
    acts = [one for one in calls_of(plan) if not CATALOG.tools[one.tool].is_read]
    assert plan.questions or not acts


def test_what_is_free_is_booked_as_it_was_looked_for() -> None:
    text = "If there's still a double room on 3 June, book it for Ivan Petrov."
    plan = plan_offline(text, CATALOG, tools=["check_rooms", "book_room"], today=date(2026, 5, 13))
    assert not plan.questions
    assert calls_of(plan)[1].inputs == {"guest_name": "Ivan Petrov", "arrival": "2026-06-03", "room_type": "double"}


@pytest.mark.parametrize("text", ["Permit PI-4", "Issue the permit of PI-4"])
def test_what_is_issued_goes_by_its_noun(text: str) -> None:
    plan = planned(text, CATALOG)
    assert [one.inputs for one in calls_of(plan)] == [{"pilot_id": "PI-4"}]
