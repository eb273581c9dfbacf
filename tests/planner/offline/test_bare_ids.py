"""Ids of which a tool shows no form, or one of letters: what stands behind the word for their thing is one."""

from __future__ import annotations

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Plan
from toolpath.planner.offline.planner import plan_offline

STRING = {"type": "string"}
DEPOT = (
    tool(
        "ship_parcel",
        "Ship a parcel.",
        "write",
        parcel_id=STRING,
        carrier_={**STRING, "enum": ["dhl", "ups"]},
    ),
    tool(
        "switch_rate",
        "Switch a meter to another rate.",
        "write",
        meter_id={**STRING, "description": "Such as M-12"},
        rate_id={**STRING, "description": "e.g. R-DAY"},
    ),
    tool(
        "list_invoices",
        "List invoices.",
        "read",
        customer_id_=STRING,
        status_={**STRING, "enum": ["open", "paid"]},
    ),
)


def planned(text: str) -> Plan:
    return plan_offline(text, Catalog(tools={one.key: one for one in DEPOT}))


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("ship parcel 20415 with UPS", {"parcel_id": "20415", "carrier": "ups"}),
        ("Verschick Paket 20415 mit DHL", {"parcel_id": "20415", "carrier": "dhl"}),
        ("expédie le colis 20415 par UPS", {"parcel_id": "20415", "carrier": "ups"}),
        ("envía el paquete 20415 por UPS", {"parcel_id": "20415", "carrier": "ups"}),
        ("open invoices of customer 5512", {"customer_id": "5512", "status": "open"}),
        ("switch M-131 to R-NIGHT", {"meter_id": "M-131", "rate_id": "R-NIGHT"}),
    ],
)
def test_an_id_is_taken_behind_the_word_for_its_thing(text: str, inputs: dict[str, object]) -> None:
    plan = planned(text)
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert (step.inputs, plan.questions) == (inputs, ())


@pytest.mark.parametrize("text", ["ship 120 parcels", "ship 120 parcels with UPS"])
def test_a_count_of_things_is_no_id_of_one(text: str) -> None:
    assert planned(text).questions


def test_a_count_is_no_id_where_a_tool_only_reads() -> None:
    (step,) = planned("list 100 open invoices").steps
    assert isinstance(step, Call)
    assert "customer_id" not in step.inputs


#: Functions whose parameters say nothing: what the tool's own description shows is meant of the one text that it takes.
SILENT = (
    tool("get_article", "Show an article by its id, such as PT-40.", "read", article=STRING),
    tool("set_price", "Set the price of an article.", "write", article=STRING, price={"type": "number"}),
    tool("list_orders", "The orders of a customer, for example last year's.", "read", customer=STRING),
)


@pytest.mark.parametrize("text", ["Show PT-77", "Zeig mir PT-77", "Montre-moi PT-77", "Muéstrame PT-77"])
def test_an_example_in_the_description_of_a_tool_is_one_of_its_only_text(text: str) -> None:
    plan = plan_offline(text, Catalog(tools={one.key: one for one in SILENT}))
    assert [(step.tool, step.inputs) for step in plan.steps if isinstance(step, Call)] == [
        ("get_article", {"article": "PT-77"})
    ]
    assert plan.questions == ()


def test_an_example_that_is_no_id_says_nothing_of_a_value() -> None:
    with pytest.raises(NoToolFits):
        plan_offline("Show PT-77", Catalog(tools={SILENT[2].key: SILENT[2]}))
