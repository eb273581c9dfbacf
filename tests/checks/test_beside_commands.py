"""What stands beside a command: what is said not to be done is never done, and the command is not asked about."""

from __future__ import annotations

import pytest
from tests.checks.commanded import tool

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.clauses import clauses_of
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline

DESK = (
    tool("desk.close_ticket", "Close a ticket.", ticket_id="string"),
    tool("desk.reopen_ticket", "Reopen a ticket.", ticket_id="string"),
    tool("desk.delete_ticket", "Delete a ticket.", "destructive", ticket_id="string"),
    tool("desk.send_reminder", "Send a reminder for a ticket.", ticket_id="string"),
    tool("desk.set_price", "Set the price of a dish.", dish_id="string", price="number"),
    tool("desk.mark_sold_out", "Mark a dish as sold out.", dish_id="string"),
    tool("desk.create_list", "Create a list.", name="string"),
    tool("desk.get_ticket", "Get a ticket.", "read", ticket_id="string"),
)
CATALOG = Catalog({one.key: one for one in DESK})


def planned(request: str) -> Plan | None:
    try:
        return plan_offline(request, CATALOG)
    except NoToolFits:
        return None


def calls(plan: Plan | None) -> list[tuple[str, dict[str, object]]]:
    found = [] if plan is None else [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    return [(one.tool, dict(one.inputs)) for one in found]


def done(request: str) -> list[tuple[str, dict[str, object]]]:
    """What a run of its plan would call."""
    plan = planned(request)
    if plan is None or plan.questions or (plan.confidence or 0.0) < Settings().planner_floor:
        return []
    return calls(plan)


CLOSE = [("desk.close_ticket", {"ticket_id": "T-31"})]


@pytest.mark.parametrize(
    "request_text",
    [
        "Close T-31 but leave T-32 alone",
        "close T-31, not T-32",
        "Close T-31, but don't delete it",
        "Close T-31 and don't send a reminder",
        "Don't delete T-31, close it",
        "dont delete T-31 yet, just close it",
        "Don't send a reminder for T-31, close it instead",
        "Close T-31 but whatever you do don't delete it, thanks",
        "Schließe T-31, aber lösche T-32 nicht",
        "T-31 schließen, nicht löschen",
        "Ferme le ticket T-31 mais ne le supprime surtout pas",
        "Cierra T-31, pero no la borres",
        "Close T-31, they're coming back for the other one",
        "Close T-31 please, nobody answers any more",
        "close T-31, just for me",
        "Close T-31 and whatever you do don't delete anything",
        "T-31 nicht löschen, nur schließen",
    ],
)
def test_the_command_beside_a_denied_act_is_done_and_the_denied_one_is_not(request_text: str) -> None:
    assert done(request_text) == CLOSE


@pytest.mark.parametrize(
    "request_text",
    [
        "Close T-31, but don't start yet",
        "Close T-31. Don't.",
        "Close T-31, no, T-32",
        "Close T-31, but don't do it today",
        "Close T-31, not before Friday",
        "Close T-31 but not T-31",
        "Close T-31 but don't close it",
        "Close T-31, but don't shut T-31",
        "Close all tickets but T-31",
        "Close T-31, but for T-32",
        "Close T-31 but only on Friday",
        "Close T-31. I take that back",
        "Close T-31, that was the plan",
        "Close T-31, it's only a dream",
        "Close T-31, it isn't ours",
        "Close T-31, there's still time",
        "This came in from Anna. Close T-31",
        "I got this message. Close T-31",
        "Ferme T-31, c'est faux",
        "Cierra T-31, es mentira",
        "Close T-31, but ask me first",
        "Schließe T-31, aber nicht heute",
        "Ferme le ticket T-31, mais pas encore",
        "Cierra T-31, pero todavía no",
    ],
)
def test_what_takes_back_the_command_itself_is_no_other_act(request_text: str) -> None:
    assert done(request_text) == []


def test_a_tool_whose_act_is_denied_is_in_no_plan() -> None:
    for request_text in ("Don't delete anything, shut T-31", "No reminders, but don't delete T-31, close it"):
        assert "desk.delete_ticket" not in [name for name, _ in calls(planned(request_text))]


@pytest.mark.parametrize("denied", ["Don't delete T-31", "Lösche T-31 nicht", "Ne supprime pas T-31", "No borres T-31"])
def test_what_is_only_denied_is_asked_about(denied: str) -> None:
    assert done(denied) == []


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ('I need a new list called "Groceries"', ("desk.create_list", {"name": "Groceries"})),
        ("Could you close T-31 for me?", CLOSE[0]),
        ("hi! can you close T-31? ta", CLOSE[0]),
        ("T-31 schließen bitte", CLOSE[0]),
    ],
)
def test_a_wish_of_one_thing_is_a_command(request_text: str, expected: tuple[str, dict[str, object]]) -> None:
    plan = planned(request_text)
    assert calls(plan) == [expected]
    assert plan is not None
    assert not [one for one in plan.questions if "would act" in one or "destroy" in one]


@pytest.mark.parametrize(
    "request_text",
    [
        "D-22 should cost 18.50 from now on",
        "D-22 should have cost 18.50",
        "D-14 is sold out",
        "D-14 is already sold out",
        "T-31 can be closed",
        "T-31 needs to be closed",
        "the customer says T-31 can be closed",
        "T-31 should be closed by now",
        "T-31 should have been closed",
        "T-31 is closed",
        "Tom thinks D-22 should cost 18.50",
        "Maybe D-22 should cost 18.50",
        "Should D-22 cost 18.50?",
        "D-22 should not cost 18.50",
        "D-14 is not sold out",
        "I've marked D-14 sold out",
        "T-31 can be deleted",
        "Could you delete T-31?",
        "Can you close a ticket?",
        "Can you close tickets like T-31?",
        "D-14 is almost sold out",
        "I don't need a new list",
        "she needs a new list called Groceries",
        "Anna will T-31 schließen",
        "Wir haben vergessen, T-31 zu schließen",
        "T-31 wurde geschlossen",
    ],
)
def test_what_others_wish_what_is_so_and_what_destroys_is_asked_about(request_text: str) -> None:
    assert done(request_text) == []


@pytest.mark.parametrize(
    ("request_text", "moods"),
    [
        ("Set up a call between Lena and Mark", ["command"]),
        ("Ship #### with fedex, has to be express", ["command", "other"]),
        ("send each no-show from yesterday a text", ["command"]),
        ("tell Ann that the room isn't ready", ["command"]),
        ("#### bis #### verlängern und #### stornieren", ["command", "command"]),
        ("#### quittieren und checkout neu starten", ["command", "command"]),
        ("start it once daily", ["command"]),
        ("Roll back cart to revision 12", ["command"]),
        ("tell #ops the failover is done", ["command"]),
        ("Close #### and throw out grade ####", ["command", "command"]),
        ("active stuff only", ["other"]),
        ("Put #### in bed #### yesterday", ["report"]),
        ("Order #### was cancelled", ["report"]),
    ],
)
def test_moods_are_known_by_grammar(request_text: str, moods: list[str]) -> None:
    assert [clause.mood for clause in clauses_of(request_text, lambda _: False)] == moods
