"""Links of requests: whom something is for, the first of what is found, an address that another tool gives."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}
AMOUNT = {"type": "number"}
TODAY = date(2027, 3, 1)


def listed(**fields: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": fields}}


SHOP = (
    tool(
        "get_boat",
        "Look up a boat by its mark.",
        "read",
        {"mark": TEXT, "berth": TEXT, "keeper_name": TEXT, "keeper_phone": TEXT},
        mark={"type": "string", "description": "Mark on the hull"},
    ),
    tool("text_keeper", "Send a text message to a keeper.", "write", {}, phone=TEXT, message=TEXT),
    tool(
        "find_animal",
        "Find an animal by its name.",
        "read",
        {"animal_id": TEXT, "weight_kg": {"type": "number"}},
        name={"type": "string", "description": "Name of the animal"},
        keeper_last_name_={"type": "string", "description": "Last name of whoever keeps it"},
    ),
    tool("record_weight", "Write down a weight.", "write", {}, animal_id=TEXT, weight_kg={"type": "number"}),
    tool("book_visit", "Book a visit for an animal.", "write", {}, animal_id=TEXT, date=DAY, reason_=TEXT),
    tool(
        "find_subscription",
        "Find a subscription by who gets it.",
        "read",
        {"subscription_id": TEXT},
        subscription_id_={"type": "string", "pattern": r"^SB-\d+$"},
        receiver_={"type": "string", "description": "Name of whoever gets it"},
    ),
    tool("end_subscription", "End a subscription for good.", "destructive", {}, subscription_id=TEXT),
    tool("get_translation", "A translation, with who does it.", "read", {"translator": TEXT, "status": TEXT},
         order_id={"type": "string", "description": "e.g. OR-510"}),
    tool("send_note", "Send a note to a translator.", "write", {}, translator=TEXT, text=TEXT),
    tool("find_guide", "Find a guide by name.", "read", {"guide_id": TEXT, "email": TEXT}, name=TEXT),
    tool("write_mail", "Send a mail.", "write", {}, to={"type": "string", "format": "email"}, subject=TEXT, body=TEXT),
    tool("find_dishes", "Search the dishes of the house.", "read",
         {"dishes": listed(dish_id=TEXT, title=TEXT, minutes={"type": "integer"})},
         ingredient_={"type": "string", "description": "Main ingredient"}),
    tool("plan_supper", "Put a meal into the plan.", "write", {}, date=DAY,
         meal={"type": "string", "description": "What is eaten"}),
    tool("list_orders", "Orders by client or state.", "read", {"orders": listed(order_no=TEXT, due_on=DAY)},
         client_=TEXT, state_={"type": "string", "enum": ["open", "packed"]}),
    tool("read_recipe", "A recipe.", "read",
         {"title": TEXT, "ingredients": listed(name=TEXT, amount=AMOUNT, unit=TEXT)},
         recipe_id={"type": "string", "description": "e.g. RC-12"}),
    tool("add_to_basket", "Put something into the basket.", "write", {},
         good={"type": "string", "description": "What to buy"}, amount_=AMOUNT, unit_=TEXT),
    tool("list_tracks", "Runs for skiers, by colour.", "read", {"tracks": listed(track=TEXT, colour=TEXT)},
         colour_={"type": "string", "enum": ["red", "black"]}),
    tool("groom_track", "Send a machine onto a track.", "write", {},
         track={"type": "string", "description": "Name of the track"}),
    tool("pack_order", "Pack an order.", "write", {}, order_no=TEXT),
)  # fmt: skip
TOOLS = Catalog({one.key: one for one in SHOP})


def planned(request: str) -> Plan | None:
    try:
        return plan_offline(request, TOOLS, today=TODAY)
    except NoToolFits:
        return None


def calls(plan: Plan | None) -> list[Call]:
    return [one for _, one in every_step(plan.block) if isinstance(one, Call)] if plan is not None else []


@pytest.mark.parametrize(
    ("request_text", "read", "asked", "linked"),
    [
        # A form that no tool shows is of the one that takes it.
        ('Text the keeper of HH-TT 90 "your keel is dry"', "get_boat", {"mark": "HH-TT 90"},
         ("phone", "get_boat.keeper_phone")),
        # A second name narrows the first one down.
        ("Record 3.8 kg for Minka", "find_animal", {"name": "Minka"}, ("animal_id", "find_animal.animal_id")),
        ("Erfasse bei Minka 3,8 kg", "find_animal", {"name": "Minka"}, ("animal_id", "find_animal.animal_id")),
        # A text that need not be there is not what it is booked for.
        ("Book a visit for Minka on 9 April", "find_animal", {"name": "Minka"}, ("animal_id", "find_animal.animal_id")),
        # What a thing goes by is told by the description, and by a parameter that need not be there.
        ("End the subscription of Ines Falk", "find_subscription", {"receiver": "Ines Falk"},
         ("subscription_id", "find_subscription.subscription_id")),
        # A question is answered, and what it tells is pointed to.
        ("Who's doing OR-517? Send them a note that the source has changed", "get_translation", {"order_id": "OR-517"},
         ("translator", "get_translation.translator")),
        # The only address of who was found.
        ("Find the guide Ines Falk and mail her with the subject 'Fee' and the body 'It is due.'", "find_guide",
         {"name": "Ines Falk"}, ("to", "find_guide.email")),
        # An item is what it is called, where its name is wanted.
        ("Find dishes with leeks and plan the first one for tomorrow", "find_dishes", {"ingredient": "leeks"},
         ("meal", "find_dishes.dishes[0].title")),
        ("Pack all the open orders of Delmas", "list_orders", {"client": "Delmas", "state": "open"},
         ("order_no", "item.order_no")),
    ],
)  # fmt: skip
def test_what_a_command_needs_is_read_first(
    request_text: str, read: str, asked: dict[str, Any], linked: tuple[str, str]
) -> None:
    plan = planned(request_text)
    assert plan is not None
    assert not plan.questions
    first, last = calls(plan)
    assert (first.tool, first.inputs) == (read, asked)
    assert last.inputs[linked[0]] == f"{{{{ {linked[1]} }}}}"


@pytest.mark.parametrize(
    ("request_text", "asked", "given"),
    [
        ("Put all the ingredients of RC-40 into the basket", {"recipe_id": "RC-40"},
         {"good": "{{ item.name }}", "amount": "{{ item.amount }}", "unit": "{{ item.unit }}"}),
        ("Groom all the red runs", {"colour": "red"}, {"track": "{{ item.track }}"}),
        ("groom every black run", {"colour": "black"}, {"track": "{{ item.track }}"}),
    ],
)  # fmt: skip
def test_what_a_list_holds_goes_by_its_name(request_text: str, asked: dict[str, Any], given: dict[str, Any]) -> None:
    plan = planned(request_text)
    assert plan is not None
    assert not plan.questions
    read, write = calls(plan)
    assert (read.inputs, write.inputs) == (asked, given)


@pytest.mark.parametrize(
    "request_text",
    [
        "Text the keeper of the boat next to HH-TT 90 'your keel is dry'",
        "Book a visit for the animal that bit Minka on 9 April",
        "End the subscription of the man who knows Ines Falk",
        "Who's doing OR-517? Don't send them a note that the source has changed",
        "Put all the ingredients of RC-40 but the eggs into the basket",
        "Don't groom all the red runs",
        "groom all the green runs",
        "Should I pack all the open orders of Delmas?",
        "If dishes with leeks are any good, plan the first one for tomorrow",
    ],
)
def test_what_is_only_beside_a_name_is_asked_about(request_text: str) -> None:
    plan = planned(request_text)
    writes = [one for one in calls(plan) if not TOOLS.tools[one.tool].is_read]
    assert plan is None or plan.questions or not writes
