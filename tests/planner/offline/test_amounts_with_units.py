"""Amounts said with a unit: taken apart where a tool takes number and unit, and asked about where it cannot."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.planner.offline.planner import plan_offline
from toolpath.values import JsonObject

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
#: What a list of things to buy takes of an amount: a unit as it is said, one of some, or one that is shown.
STORES = {
    "said": tool(
        "add_to_shopping_list", "Put something on the shopping list.", "write", item=TEXT, amount_=NUMBER, unit_=TEXT
    ),
    "options": tool(
        "add_to_shopping_list",
        "Put something on the shopping list.",
        "write",
        item=TEXT,
        amount=NUMBER,
        unit={"type": "string", "enum": ["g", "kg", "l", "pieces"]},
    ),
    "shown": tool(
        "add_to_shopping_list",
        "Put something on the shopping list.",
        "write",
        item=TEXT,
        amount=NUMBER,
        unit={"type": "string", "description": "such as g, kg or l"},
    ),
}
AMOUNTS = (
    ("Put 500 g of butter on the shopping list", "butter", 500, "g", "g"),
    ("Put a kilo of flour on the shopping list", "flour", 1, "kilo", "kg"),
    ("Put half a kilo of flour on the shopping list", "flour", 0.5, "kilo", "kg"),
    ("Ajoute 500 g de beurre à la liste de courses", "beurre", 500, "g", "g"),
    ("Mets un litre de lait sur la liste de courses", "lait", 1, "litre", "l"),
    ("Setz 2 Liter Milch auf die Einkaufsliste", "Milch", 2, "Liter", "l"),
    ("Añade medio kilo de harina a la lista de la compra", "harina", 0.5, "kilo", "kg"),
)


def made(request: str, key: str) -> JsonObject:
    store = STORES[key]
    plan = plan_offline(request, Catalog({store.key: store}))
    assert not plan.questions, (request, plan.questions)
    (step,) = plan.steps
    assert isinstance(step, Call)
    return step.inputs


@pytest.mark.parametrize(("request_", "item", "amount", "said", "code"), AMOUNTS, ids=[one[0] for one in AMOUNTS])
def test_number_and_unit_are_taken_apart(request_: str, item: str, amount: float, said: str, code: str) -> None:
    assert made(request_, "said") == {"item": item, "amount": amount, "unit": said}
    for key in ("options", "shown"):
        assert made(request_, key) == {"item": item, "amount": amount, "unit": code}


def test_what_a_thing_is_packed_in_is_its_unit() -> None:
    for request, item, amount, unit in (
        ("Put 2 cartons of oat milk on the shopping list", "oat milk", 2, "cartons"),
        ("Put oat milk on the shopping list, 2 cartons", "oat milk", 2, "cartons"),
        ("Put a bag of rice on the shopping list", "rice", 1, "bag"),
        ("Mets une bouteille de lait sur la liste de courses", "lait", 1, "bouteille"),
    ):
        assert made(request, "said") == {"item": item, "amount": amount, "unit": unit}
    assert made("Put half a dozen eggs on the shopping list", "said") == {"item": "eggs", "amount": 6}


def test_a_unit_that_a_tool_does_not_take_is_asked_about() -> None:
    plain = tool("use_up", "Take food out of the store.", "write", food=TEXT, amount=NUMBER)
    store = STORES["options"]
    for one, request in (
        (plain, "use up 200 g of butter"),
        (plain, "use up 2 litres of milk"),
        (store, "Put 2 cartons of milk on the shopping list"),
    ):
        assert plan_offline(request, Catalog({one.key: one})).questions, request


def test_an_amount_without_a_number_is_one_in_the_unit_of_the_parameter() -> None:
    fed = tool("feed_hive", "Feed a hive.", "write", hive={"type": "integer"}, feed=TEXT, kilograms=NUMBER)
    for request, feed in (("feed hive 7 a kilo of fondant", "fondant"), ("Feed hive 7 1 kilo of syrup", "syrup")):
        (step,) = plan_offline(request, Catalog({fed.key: fed})).steps
        assert isinstance(step, Call)
        assert step.inputs == {"hive": 7, "feed": feed, "kilograms": 1}


@pytest.mark.parametrize("bound", ["about a kilo", "at most a kilo", "less than half a kilo", "a kilo or two"])
def test_an_amount_that_is_no_more_than_near_is_asked_about(bound: str) -> None:
    store = STORES["said"]
    assert plan_offline(f"Put {bound} of flour on the shopping list", Catalog({store.key: store})).questions
