"""What a request joins to a value of the plan is done too, or is asked about."""

from __future__ import annotations

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline
from toolpath.testing.scripted import scripted

_PRODUCT = {"type": "object", "properties": {"product": {"type": "string"}}, "required": ["product"]}
_TOOLS = (
    scripted("get_price", then={}, effect="read", description="Get the price of a product.", input_schema=_PRODUCT),
    scripted("order_product", then={}, effect="write", description="Order a product.", input_schema=_PRODUCT),
)


def _made_of(request: str) -> Plan:
    return plan_offline(request, Catalog({tool.key: tool for tool in _TOOLS}))


@pytest.mark.parametrize(
    "said",
    [
        "tea and of milk",
        "tea and milk",
        "tea as well as of milk",
        "tea as well as milk",
        "tea along with milk",
        "tea together with milk",
        "tea, milk too",
        "tea, and of milk too",
        "tea and also of milk",
        "tea and that of milk",
        "tea and the one of milk",
    ],
)
def test_what_is_joined_is_done_or_asked_about(said: str) -> None:
    _assert_all_of_it(_made_of(f"Get the price of {said}"), "milk")
    _assert_all_of_it(_made_of(f"Order {said.replace('of ', '')}"), "milk")


@pytest.mark.parametrize(
    ("said", "things"),
    [
        ("Zeige den Preis von Tee und von Milch", ("Tee", "Milch")),
        ("Zeige den Preis von Tee sowie Milch", ("Tee", "Milch")),
        ("Affiche le prix de thé et de lait", ("thé", "lait")),
        ("Affiche le prix du thé et du lait", ("thé", "lait")),
        ("Muestra el precio de té y de leche", ("té", "leche")),
    ],
)
def test_what_is_joined_in_other_languages_is_done_or_asked_about(said: str, things: tuple[str, ...]) -> None:
    for thing in things:
        _assert_all_of_it(_made_of(said), thing)


@pytest.mark.parametrize(
    "said",
    [
        "Get the price of tea and tell me",
        "Get the price of tea and show it",
        "Get the price of tea and the price of milk",
        "Get the price of tea and thank you",
    ],
)
def test_what_is_no_thing_is_not_asked_about(said: str) -> None:
    assert _made_of(said).questions == ()


def _assert_all_of_it(plan: Plan, thing: str) -> None:
    taken = [str(value) for step in plan.steps if isinstance(step, Call) for value in step.inputs.values()]
    asked = [one for one in (*plan.questions, *taken) if thing in one]
    assert asked, (plan.steps, plan.questions)
    assert plan.questions or len(taken) > 1, plan.steps
