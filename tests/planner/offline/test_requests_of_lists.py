"""Requests that look something up: one of a list, all of it, or what belongs to a thing that is named."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import made_calls

TEXT = {"type": "string"}
EMAIL = {"type": "string", "format": "email"}


def items(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": fields}}


def id_of(thing: str, prefix: str) -> dict[str, Any]:
    return {"type": "string", "description": f"Id of the {thing}, such as {prefix}-12"}


SACKS = {
    "sacks": items(sack_id=TEXT, weight={"type": "number"}, size={"type": "integer"}, farmer_email=EMAIL, farm_id=TEXT)
}
GRADE = {"type": "string", "enum": ["fresh", "stale"]}
TOOLS = (
    Tool(
        name="list_sacks",
        description="List the sacks of coffee of a barn.",
        effect="read",
        input_schema={"type": "object", "properties": {"barn": {"type": "string", "description": "Path of the barn"}}}
        | {"required": []},
        output_schema={"type": "object", "properties": SACKS},
    ),
    Tool(
        name="find_sacks",
        description="Find sacks by their grade.",
        effect="read",
        input_schema={"type": "object", "properties": {"grade": GRADE}},
        output_schema={"type": "object", "properties": SACKS},
    ),
    tool(
        "get_sack",
        "Show one sack.",
        "read",
        {"sack_id": TEXT, "farm_id": TEXT, "picker": {"type": "object", "properties": {"email": EMAIL}}},
        sack_id=id_of("sack", "SK"),
    ),
    tool(
        "get_farm",
        "Show one farm.",
        "read",
        {"name": TEXT, "email": EMAIL},
        farm_id={**TEXT, "description": "Id of the farm"},
    ),
    tool("ship_sack", "Ship a sack.", "write", sack_id=id_of("sack", "SK")),
    tool(
        "assign_sack",
        "Assign a sack to a roaster.",
        "write",
        sack_id=id_of("sack", "SK"),
        agent={**TEXT, "description": "Name of the person"},
    ),
    tool(
        "send_mail",
        "Send a mail.",
        "write",
        to={**EMAIL, "description": "Recipient"},
        text={**TEXT, "description": "Text"},
    ),
)


def planned(request: str, *tools: Tool) -> Plan:
    return plan_offline(request, Catalog({one.key: one for one in tools or TOOLS}))


def calls(plan: Plan) -> list[tuple[str, dict[str, Any], str]]:
    return [(one.tool, dict(one.arguments), one.over) for one in made_calls(plan)]


STALE = ("find_sacks", {"grade": "stale"}, "")
OVER = "{{ find_sacks.sacks }}"


@pytest.mark.parametrize(
    "request_text",
    [
        "Find the stale sacks and ship each of them",
        "Find the stale sacks and ship them",
        "Ship every stale sack",
    ],
)
def test_all_that_a_list_holds_is_gone_over(request_text: str) -> None:
    plan = planned(request_text)
    assert not plan.questions
    assert calls(plan) == [STALE, ("ship_sack", {"sack_id": "{{ item.sack_id }}"}, OVER)]


def test_what_narrows_a_list_is_no_value_of_the_call_made_for_its_items() -> None:
    plan = planned("Assign all stale sacks to Amira")
    assert not plan.questions
    assert calls(plan) == [STALE, ("assign_sack", {"sack_id": "{{ item.sack_id }}", "agent": "Amira"}, OVER)]


@pytest.mark.parametrize(
    "request_text",
    ['Mail the farmer of every stale sack "Collect it"', 'Send the farmer of each stale sack a mail: "Collect it"'],
)
def test_those_whom_a_list_names_are_written_to(request_text: str) -> None:
    plan = planned(request_text)
    assert calls(plan) == [STALE, ("send_mail", {"to": "{{ item.farmer_email }}", "text": "Collect it"}, OVER)]


def test_nobody_is_written_to_whose_list_the_request_does_not_speak_of() -> None:
    plan = planned('Send everyone a mail saying "Collect it"')
    assert plan.questions or not any(over for _, _, over in calls(plan))


@pytest.mark.parametrize(
    ("request_text", "chosen"),
    [
        ("Ship the first stale sack", "{{ find_sacks.sacks[0].sack_id }}"),
        ("Ship the largest stale sack", "{{ (find_sacks.sacks | sort(attribute='size') | last).sack_id }}"),
        ("Ship the smallest stale sack", "{{ (find_sacks.sacks | sort(attribute='size') | first).sack_id }}"),
    ],
)
def test_one_of_a_list_is_picked_as_the_request_says(request_text: str, chosen: str) -> None:
    plan = planned(request_text)
    assert not plan.questions
    assert calls(plan) == [STALE, ("ship_sack", {"sack_id": chosen}, "")]


def test_what_a_list_cannot_be_sorted_by_is_asked() -> None:
    assert planned("Ship the cheapest stale sack").questions


FILES = {"files": items(path=TEXT, size={"type": "integer"})}
SHRED = tool("shred_file", "Shred a file.", "write", path={**TEXT, "description": "Path of the file"})
LISTING = tool(
    "list_files", "List the files of a folder.", "read", FILES, folder={**TEXT, "description": "Path of the folder"}
)


def test_a_pick_out_of_a_folder_is_not_the_folder() -> None:
    plan = planned("Shred the first file in /attic", SHRED, LISTING)
    assert not plan.questions
    assert calls(plan)[1] == ("shred_file", {"path": "{{ list_files.files[0].path }}"}, "")


@pytest.mark.parametrize("request_text", ["Shred the largest file in /attic", "Shred the smallest /attic file"])
def test_a_pick_that_no_step_makes_is_asked_about(request_text: str) -> None:
    assert planned(request_text, SHRED).questions


def test_a_list_is_looked_for_where_the_request_says_and_not_where_its_items_go() -> None:
    copy = tool(
        "copy_file",
        "Copy a file into a folder.",
        "write",
        path={**TEXT, "description": "Path of the file"},
        folder={**TEXT, "description": "Folder to copy to"},
    )
    plan = planned("Copy each file from /attic into /cellar", copy, LISTING)
    assert not plan.questions
    assert calls(plan) == [
        ("list_files", {"folder": "/attic"}, ""),
        ("copy_file", {"path": "{{ item.path }}", "folder": "/cellar"}, "{{ list_files.files }}"),
    ]


@pytest.mark.parametrize(
    ("request_text", "tools", "read"),
    [
        ("Show the farm of sack SK-3", "get_farm", {"farm_id": "{{ get_sack.farm_id }}"}),
        (
            'Mail the picker of SK-3 "Well done"',
            "send_mail",
            {"to": "{{ get_sack.picker.email }}", "text": "Well done"},
        ),
    ],
)
def test_what_belongs_to_a_named_thing_is_read_first(request_text: str, tools: str, read: dict[str, Any]) -> None:
    plan = planned(request_text)
    assert not plan.questions
    assert calls(plan) == [("get_sack", {"sack_id": "SK-3"}, ""), (tools, read, "")]


STAFF = {"id": TEXT, "name": TEXT, "email": EMAIL, "manager_id": TEXT}
PEOPLE = (
    tool("get_worker", "Show one worker.", "read", STAFF, worker_id=id_of("worker", "WK")),
    tool(
        "find_workers",
        "Find the workers of a shift.",
        "read",
        {"workers": items(**STAFF)},
        shift=TEXT | {"enum": ["late"]},
    ),
    tool(
        "send_mail",
        "Send a mail.",
        "write",
        to={**EMAIL, "description": "Recipient"},
        text={**TEXT, "description": "Text"},
    ),
)


@pytest.mark.parametrize(
    "request_text",
    [
        'Mail the manager of WK-12 "Please approve"',
        'Mail the manager of worker WK-12 "Please approve"',
        'Mail the manager of every late worker "Please approve"',
        'Mail the daughter of WK-12 "Please approve"',
        'Mail the daughter of every late worker "Please approve"',
        'Find the late workers and mail the manager of each "Please approve"',
        'Find the late workers and mail all of their managers "Please approve"',
        'Show worker WK-12 and mail their manager "Please approve"',
        'For each late worker, mail the manager "Please approve"',
    ],
)
def test_nobody_is_written_to_in_place_of_somebody_of_theirs(request_text: str) -> None:
    plan = planned(request_text, *PEOPLE)
    assert plan.questions or not any(tool == "send_mail" for tool, _, _ in calls(plan))


@pytest.mark.parametrize(
    "request_text",
    [
        "Ship the first stale sack and the first fresh sack",
        "Ship the largest stale sacks",
        "Ship the largest and the smallest stale sack",
    ],
)
def test_several_picks_and_a_pick_of_several_are_asked_about(request_text: str) -> None:
    assert planned(request_text).questions


MEETINGS = (
    tool("get_meeting", "Show a meeting.", "read", {"guests": items(email=EMAIL)}, meeting_id=id_of("meeting", "M")),
    tool("invite", "Invite somebody to a meeting.", "write", meeting_id=id_of("meeting", "M"), email=EMAIL),
)


def test_those_of_one_thing_are_not_read_from_another() -> None:
    plan = planned("Invite all guests of M-3 to M-4", *MEETINGS)
    told = ("invite", {"meeting_id": "M-4", "email": "{{ item.email }}"}, "{{ get_meeting.guests }}")
    assert plan.questions or calls(plan) == [("get_meeting", {"meeting_id": "M-3"}, ""), told]


def test_a_list_in_two_places_is_not_read_in_one_and_written_in_the_other() -> None:
    where = {**TEXT, "description": "Repository as owner/name"}
    listing = tool(
        "list_issues", "List the issues of a repository.", "read", {"issues": items(number=TEXT)}, repository=where
    )
    close = tool(
        "close_issue",
        "Close an issue.",
        "write",
        repository=where,
        number={**TEXT, "description": "Number of the issue"},
    )
    plan = planned("Close every issue in acme/web and acme/api", listing, close)
    assert plan.questions or all("acme/web" in str(one) or "acme/api" in str(one) for one in calls(plan))
    assert plan.questions or len({one.get("repository") for _, one, _ in calls(plan)}) == 1
