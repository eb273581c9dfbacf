"""Conditions on how much there is of something: the tool that tells it is asked, and the number fills nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}


NUMBER_OF_TANK = {"type": "integer", "description": "Number of the tank"}
READ_TANK = tool(
    "read_tank",
    "What the sensors of a tank show.",
    "read",
    {"tank": WHOLE, "level_l": NUMBER, "weight_kg": NUMBER, "age_days": WHOLE, "pump_on": {"type": "boolean"}},
    tank=NUMBER_OF_TANK,
)
FILL_TANK = tool("fill_tank", "Fill water into a tank.", "write", {}, tank=NUMBER_OF_TANK, litres=NUMBER)
CLEAN_TANK = tool("clean_tank", "Clean a tank.", "write", {"tank": WHOLE}, tank=NUMBER_OF_TANK)
LIST_GOODS = tool(
    "find_goods",
    "What is in the store; without a name everything.",
    "read",
    {"goods": {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "kg": NUMBER}}}},
    good_=TEXT,
    shelf_={"type": "string", "enum": ["cold", "dry"]},
)
ORDER_GOOD = tool("order_good", "Order a good.", "write", {"order_id": TEXT}, good=TEXT)
DYE_STOCK = tool("dye_stock", "How much of a dye is left.", "read", {"dye": TEXT, "kilograms": NUMBER}, dye=TEXT)
ORDER_DYE = tool("order_supply", "Order dye from the mill.", "write", {"order_id": TEXT}, supply=TEXT, packs=WHOLE)
ROBOT = tool(
    "robot_status",
    "State of the mowing robot.",
    "read",
    {"battery": WHOLE, "state": {"type": "string", "enum": ["docked", "mowing"]}, "basket_full": {"type": "boolean"}},
)
MOW = tool("start_robot", "Send the mowing robot out.", "write", {}, lawn={"type": "string", "enum": ["front", "back"]})
TOOLS = Catalog(
    {
        one.key: one
        for one in (READ_TANK, FILL_TANK, CLEAN_TANK, LIST_GOODS, ORDER_GOOD, DYE_STOCK, ORDER_DYE, ROBOT, MOW)
    }
)


class Meant(NamedTuple):
    """What a request means: what is read, with what, and what is written when."""

    read: str
    asked: dict[str, Any]
    write: str
    given: dict[str, Any]
    when: str


def tank(when: str) -> Meant:
    return Meant("read_tank", {"tank": 13}, "fill_tank", {"tank": 13, "litres": 40}, when)


CLEANED = Meant("read_tank", {"tank": 13}, "clean_tank", {"tank": 13}, "read_tank.weight_kg < 90")
DYE = Meant("dye_stock", {"dye": "madder"}, "order_supply", {"supply": "madder", "packs": 5}, "dye_stock.kilograms < 3")
GOOD = Meant("find_goods", {"good": "yeast"}, "order_good", {"good": "yeast"}, "find_goods.goods | length == 0")
BASKET = Meant("robot_status", {}, "start_robot", {"lawn": "front"}, "not robot_status.basket_full")


def planned(request: str) -> Plan | None:
    try:
        return plan_offline(request, TOOLS)
    except NoToolFits:
        return None


def calls(plan: Plan | None) -> list[Call]:
    return [one for one in plan.steps if isinstance(one, Call)] if plan is not None else []


@pytest.mark.parametrize(
    ("request_text", "meant"),
    [
        # The measure says which of several numbers is compared, and what is to be done has its own number.
        ("If tank 13 is below 200 l, fill 40 litres into tank 13", tank("read_tank.level_l < 200")),
        ("fill 40 litres into tank 13 if it weighs less than 90 kg", tank("read_tank.weight_kg < 90")),
        ("Reinige Tank 13, wenn er weniger als 90 kg wiegt", CLEANED),
        # What the command leaves out is what was looked for.
        ("if we're down to under 3 kg of madder order 5 packs", DYE),
        ("if there are less than 3 kilos of madder left, order 5 packs", DYE),
        # A list that may be had whole is asked for the one thing.
        ("if there's no yeast left, order yeast", GOOD),
        ("If there is no yeast, order yeast", GOOD),
        # What needs to be told nothing is asked where its own thing is spoken of.
        ("If the basket of the robot is not full, start the robot on the front lawn", BASKET),
    ],
)
def test_how_much_there_is_is_read_of_the_value_that_is_counted_so(request_text: str, meant: Meant) -> None:
    plan = planned(request_text)
    assert plan is not None
    assert not plan.questions
    read, write = calls(plan)
    assert (read.tool, read.inputs) == (meant.read, meant.asked)
    assert (write.tool, write.inputs, write.when) == (meant.write, meant.given, f"{{{{ {meant.when} }}}}")


@pytest.mark.parametrize("word", ["madder", "weld", "indigo"])
@pytest.mark.parametrize(
    "form",
    [
        "if there's no {} left, order 2 packs",
        "if there are less than 3 litres of {} left, order 5 packs",
        "if we have no more than 3 kg of {} or so, order 5 packs",
        "if somebody needs {}, order 5 packs of it",
        "if {} is nice, order 5 packs",
        "if there was no {} yesterday, order it",
        "Falls kein {} da ist, bestell es",
        "s'il n'y a plus de {}, commande-le",
        "si no queda {}, pide 5 paquetes",
    ],
)
def test_nothing_is_written_of_words_that_only_say_that_there_is_none(form: str, word: str) -> None:
    for call in calls(plan := planned(form.format(word))):
        if plan is None or plan.questions or TOOLS.tools[call.tool].is_read:
            continue
        assert call.when is not None, form
        assert call.inputs.get("supply", word) == word, form
        assert call.inputs.get("good", word) == word, form


def test_the_other_case_takes_nothing_that_the_first_one_would_have_given() -> None:
    plan = planned("If tank 13 is below 200 l, clean it, otherwise fill 40 litres into it")
    assert plan is not None
    assert not [one for one in calls(plan) if "clean_tank" in str(one.inputs)]


@pytest.mark.parametrize(
    "request_text",
    [
        "If tank 13 holds less than 5 bar, clean tank 13",
        "If there are more than 20 euros in tank 13, clean tank 13",
        "If tank 13 has had under 20 visitors, clean tank 13",
        "If dye madder is empty, order 5 packs",
    ],
)
def test_what_no_value_is_counted_in_is_asked(request_text: str) -> None:
    plan = planned(request_text)
    assert plan is None or plan.questions or not [one for one in calls(plan) if not TOOLS.tools[one.tool].is_read]
