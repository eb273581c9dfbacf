"""Things that a request names by what they are: everyone in sales, the drafts, the one with the most votes."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.verbs import meanings_of
from toolpath.model.plan import Plan
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import made_calls

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}


def items(**fields: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": fields}}


def one_of(*options: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*options]}


def number_of(thing: str, example: str) -> dict[str, Any]:
    return {"type": "string", "description": f"Number of the {thing}, e.g. {example}"}


OK = {"ok": {"type": "boolean"}}
TOOLS = (
    tool(
        "search_posts",
        "Search the posts of the blog.",
        "read",
        {"posts": items(post_id=TEXT, title=TEXT, votes=WHOLE, written_on={**TEXT, "format": "date"})},
        status_=one_of("draft", "published", "hidden"),
        author_={**TEXT, "description": "Name of the author"},
    ),
    tool("publish_post", "Publish a post.", "write", OK, post_id=number_of("post", "PO-3")),
    tool("delete_post", "Delete a post.", "destructive", OK, post_id=number_of("post", "PO-3")),
    tool(
        "search_members",
        "Search members of the club.",
        "read",
        {"members": items(member_id=TEXT, name=TEXT, team=TEXT)},
        name_={**TEXT, "description": "Name of the member"},
        team_=one_of("rowing", "sailing"),
    ),
    tool("send_invitation", "Send an invitation.", "write", OK, member_id=number_of("member", "ME-7")),
    tool(
        "get_order",
        "Shows an order.",
        "read",
        {"order_id": WHOLE, "tracking_code": TEXT, "total": NUMBER},
        order_id={**WHOLE, "description": "Number of the order"},
    ),
    tool(
        "track_parcel",
        "Where a parcel is.",
        "read",
        {"status": TEXT, "place": TEXT},
        tracking_code={**TEXT, "description": "Code of the parcel, e.g. TRK991"},
    ),
    tool(
        "list_berths",
        "List the berths of the harbour.",
        "read",
        {"berths": items(number=WHOLE, length=NUMBER)},
        side_=one_of("north", "south"),
    ),
    tool("clean_boat", "Clean a boat.", "write", OK, boat_id=number_of("boat", "BT-4")),
    tool("mark_boat", "Mark a boat as sold or kept.", "write", OK, boat_id=number_of("boat", "BT-4"), as_=TEXT),
    tool(
        "list_boats",
        "List the boats of a yard.",
        "read",
        {
            "boats": items(
                boat_id=TEXT,
                name=TEXT,
                insured={"type": "boolean"},
                needs_paint={"type": "boolean"},
                state=one_of("afloat", "ashore"),
            )
        },
        kind_=one_of("dinghy", "yacht"),
    ),
    tool(
        "add_crew",
        "Add members to the crew of a boat.",
        "write",
        OK,
        boat_id=number_of("boat", "BT-4"),
        member_ids={"type": "array", "items": TEXT, "description": "Numbers of the members"},
    ),
    tool(
        "berth_boat",
        "Put a boat into a berth.",
        "write",
        OK,
        boat_id=number_of("boat", "BT-4"),
        berth_={**WHOLE, "description": "Number of the berth"},
    ),
    tool(
        "rent_berth",
        "Rent a berth to a member.",
        "write",
        OK,
        berthNumber={**WHOLE, "description": "Number of the berth"},
        member_id=number_of("member", "ME-7"),
    ),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


def planned(request_text: str) -> Plan:
    return plan_offline(request_text, CATALOG, today=date(2026, 5, 13))


@pytest.mark.parametrize(
    ("request_text", "tool_name", "narrowed", "link"),
    [
        ("publish all drafts of Kim Park", "publish_post", {"status": "draft", "author": "Kim Park"}, "post_id"),
        ("Delete every draft", "delete_post", {"status": "draft"}, "post_id"),
        ("send an invitation to everyone in sailing", "send_invitation", {"team": "sailing"}, "member_id"),
        ("Send everybody in rowing an invitation", "send_invitation", {"team": "rowing"}, "member_id"),
    ],
)
def test_what_a_list_is_narrowed_to_or_everyone_stands_for_its_items(
    request_text: str, tool_name: str, narrowed: dict[str, Any], link: str
) -> None:
    plan = planned(request_text)
    read, write = made_calls(plan)
    assert (read.arguments, write.tool) == (narrowed, tool_name)
    assert write.arguments == {link: f"{{{{ item.{link} }}}}"}
    assert not plan.questions


@pytest.mark.parametrize(
    ("request_text", "chosen"),
    [
        (
            "delete the post with the fewest votes",
            "{{ (search_posts.posts | sort(attribute='votes') | first).post_id }}",
        ),
        (
            "Publish the draft with the most votes",
            "{{ (search_posts.posts | sort(attribute='votes') | last).post_id }}",
        ),
        ("Delete the oldest hidden post", "{{ (search_posts.posts | sort(attribute='written_on') | first).post_id }}"),
    ],
)
def test_one_is_picked_by_what_the_request_names(request_text: str, chosen: str) -> None:
    plan = planned(request_text)
    assert made_calls(plan)[-1].arguments == {"post_id": chosen}


def test_what_no_item_has_picks_none() -> None:
    assert planned("delete the post with the most typos").questions


def test_somebody_looked_for_by_name_is_one_whatever_the_pronoun() -> None:
    _, write = made_calls(planned("find the member Robin Lake and send them an invitation"))
    assert write.arguments == {"member_id": "{{ search_members.members[0].member_id }}"}
    assert write.over == ""


def test_a_number_said_with_its_noun_is_read_for_what_belongs_to_it() -> None:
    read, track = made_calls(planned("where's the parcel of order 8842?"))
    assert (read.tool, read.arguments) == ("get_order", {"order_id": 8842})
    assert track.arguments == {"tracking_code": "{{ get_order.tracking_code }}"}


@pytest.mark.parametrize(
    ("request_text", "asked", "when"),
    [
        ("clean every yacht that is insured", {"kind": "yacht"}, "{{ item.insured }}"),
        ("Clean each boat that needs paint", {}, "{{ item.needs_paint }}"),
        ("clean all uninsured boats", {}, "{{ not item.insured }}"),
        ("clean all boats ashore", {}, "{{ item.state == 'ashore' }}"),
    ],
)
def test_what_a_list_cannot_be_asked_for_is_a_condition_of_each_item(
    request_text: str, asked: dict[str, Any], when: str
) -> None:
    plan = planned(request_text)
    read, write = made_calls(plan)
    assert (read.arguments, write.tool, write.when) == (asked, "clean_boat", when)
    assert not plan.questions


@pytest.mark.parametrize(
    "request_text",
    [
        "clean all boats, the insured ones first",
        "clean all boats that will be insured",
        "clean all boats that are nearly ashore",
        "clean every boat that is insured or needs paint",
        "clean all boats insured by Axa",
        "clean all boats whose owner is insured",
        "clean all boats except insured ones",
        "clean all boats that used to be insured",
    ],
)
def test_what_is_no_flag_just_so_is_asked_about(request_text: str) -> None:
    plan = planned(request_text)
    assert plan.questions or len(made_calls(plan)) < 2, plan.steps


def test_what_things_are_to_become_is_no_condition() -> None:
    plan = planned("mark every boat as insured")
    assert plan.questions or all(one.when == "" for one in made_calls(plan))


def test_a_list_of_ids_takes_the_id_of_what_was_found() -> None:
    _, write = made_calls(planned("find the member Robin Lake and add them to the crew of BT-7"))
    assert write.arguments == {"boat_id": "BT-7", "member_ids": ["{{ search_members.members[0].member_id }}"]}


def test_a_pronoun_says_what_was_found_before() -> None:
    _, write = made_calls(planned("find a berth on the north side and put BT-7 into it"))
    assert write.arguments == {"boat_id": "BT-7", "berth": "{{ list_berths.berths[0].number }}"}


def test_what_goes_by_a_number_is_linked_by_it() -> None:
    _, rent = made_calls(planned("rent the first berth on the south side to ME-4"))
    assert rent.arguments == {"berthNumber": "{{ list_berths.berths[0].number }}", "member_id": "ME-4"}


@pytest.mark.parametrize(
    "request_text",
    [
        "Lösche alle Bilder, die unscharf sind",
        "Setz den Preis aller Taschen, die rot sind, auf 40",
        "Cancela los pedidos que están retrasados",
        "Cancela todos los pedidos que son de Ana",
        "Annule les commandes qui sont en retard",
        "cancel everything we have with Bob",
    ],
)
def test_which_things_are_meant_takes_no_command_back(request_text: str) -> None:
    assert [one.mood for one in clauses_of(request_text, lambda word: bool(meanings_of(word)))] == ["command"]


@pytest.mark.parametrize(
    "request_text", ["Storniere die Bestellung, die sind zu teuer", "Lösche den Ordner, der ist leer"]
)
def test_what_is_told_of_things_is_no_command(request_text: str) -> None:
    clauses = clauses_of(request_text, lambda word: bool(meanings_of(word)))
    assert any(one.mood != "command" for one in clauses)
