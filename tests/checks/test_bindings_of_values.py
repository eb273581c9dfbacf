"""A value goes where the words beside it put it, and one that is written for two is asked about: in every plan."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.commanded import tool
from tests.checks.test_whole_requests import by_model, by_rules

from toolpath.catalog.snapshot import Catalog

TOOLS = (
    tool("org.merge_teams", "Merge two teams.", "destructive", keep_id="string", drop_id="string"),
    tool("org.set_manager", "Set the manager of an employee.", employee_id="string", manager_id="string"),
    tool("org.rename_person", "Rename a person.", person_id="string", name="string"),
    tool("org.create_person", "Create a person.", name="string", email="string"),
    tool("depot.move_stock", "Move stock.", source="string", target="string", quantity="integer"),
    tool("depot.sell_stock", "Sell an article.", article="string", quantity="integer", unit_price="number"),
    tool("depot.book_delivery", "Book a delivery.", delivery_id="string", date="string"),
    tool("depot.pay_supplier", "Pay a supplier, in euros (Euro).", supplier="string", amount="number"),
    tool("lamp.switch_lamp", "Switch a lamp on.", lamp="string", brightness="integer"),
    tool("lamp.start_fan", "Start the fan of a room.", room="string"),
    tool("talk.add_member", "Add a user to a channel.", channel="string", user="string"),
    tool("talk.set_topic", "Set the topic of a channel.", channel="string", topic="string"),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


def asked(request: str, key: str, **inputs: Any) -> tuple[str, ...]:
    return by_model(((key, inputs),), request, CATALOG).questions


@pytest.mark.parametrize(
    ("request_text", "key", "inputs"),
    [
        # The preposition is of the other parameter.
        ("Move 5 from W-1 to W-2", "depot.move_stock", {"source": "W-2", "target": "W-1", "quantity": 5}),
        ("Move to W-2 from W-1 5 pieces", "depot.move_stock", {"source": "W-2", "target": "W-1", "quantity": 5}),
        ("Verschiebe 5 Stück von W-1 nach W-2", "depot.move_stock", {"source": "W-2", "target": "W-1", "quantity": 5}),
        ("Mueve 5 desde W-1 hasta W-2", "depot.move_stock", {"source": "W-2", "target": "W-1", "quantity": 5}),
        ("Merge G-1 into G-2", "org.merge_teams", {"keep_id": "G-1", "drop_id": "G-2"}),
        ("Merge G-1 and G-2", "org.merge_teams", {"keep_id": "G-1", "drop_id": "G-2"}),
        ("Move 5 between W-1 and W-2", "depot.move_stock", {"source": "W-1", "target": "W-2", "quantity": 5}),
        ("Sell 10 of V-2 at 3000", "depot.sell_stock", {"article": "V-2", "quantity": 3000, "unit_price": 10}),
        ("Sell 10 pieces of V-2 at 3000", "depot.sell_stock", {"article": "V-2", "quantity": 3000, "unit_price": 10}),
        # The whole, or each.
        ("Sell 10 of V-2 for 3000", "depot.sell_stock", {"article": "V-2", "quantity": 10, "unit_price": 3000}),
        ("Vends 10 V-2 pour 3000", "depot.sell_stock", {"article": "V-2", "quantity": 10, "unit_price": 3000}),
        # Two days, two numbers.
        ("Book delivery D-1 on 5/12/2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-05-12"}),
        ("Book delivery D-1 on 5/12/2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-05"}),
        ("Book delivery D-1 on 5-12-26", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-05"}),
        ("Book delivery D-1 on 5/12", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-05"}),
        ("Buche die Lieferung D-1 am 5.12.2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-05-12"}),
        ("Book delivery D-1 on 7/8/26", "depot.book_delivery", {"delivery_id": "D-1", "date": "7"}),
        ("Pay Acme 4.500 euros", "depot.pay_supplier", {"supplier": "Acme", "amount": 4.5}),
        ("Zahle Acme 4.500 Euro", "depot.pay_supplier", {"supplier": "Acme", "amount": 4.5}),
        ("Zahle Acme 4,500 Euro", "depot.pay_supplier", {"supplier": "Acme", "amount": 4.5}),
        # A half is no number of pieces.
        ("Sell half of V-2 at 30", "depot.sell_stock", {"article": "V-2", "quantity": 0.5, "unit_price": 30}),
        # Ids are no names.
        ("Set the email of E-12 to a@b.org", "org.create_person", {"name": "E-12", "email": "a@b.org"}),
        # A number is no name, and a length of time is no room.
        ("Start the fan for 10 minutes", "lamp.start_fan", {"room": "10"}),
        ("Sell 140 of 25 at 3", "depot.sell_stock", {"article": "140", "quantity": 25, "unit_price": 3}),
        ("Switch the hall lamp on at 7", "lamp.switch_lamp", {"lamp": "hall", "brightness": 7}),
        ("Schalte die Lampe im Flur um 7 an", "lamp.switch_lamp", {"lamp": "Flur", "brightness": 7}),
        # A channel is none of its users.
        ("Add ann to #dev", "talk.add_member", {"channel": "ann", "user": "#dev"}),
        ("Set the topic of #dev to Launch", "talk.set_topic", {"channel": "Launch", "topic": "#dev"}),
        ("Add @ann to #dev", "talk.add_member", {"channel": "@ann", "user": "#dev"}),
    ],
)
def test_a_value_in_another_place_is_asked_about(request_text: str, key: str, inputs: dict[str, Any]) -> None:
    assert asked(request_text, key, **inputs)


@pytest.mark.parametrize(
    ("request_text", "key", "inputs"),
    [
        ("Move 5 from W-1 to W-2", "depot.move_stock", {"source": "W-1", "target": "W-2", "quantity": 5}),
        ("Move 5 to W-2 from W-1", "depot.move_stock", {"source": "W-1", "target": "W-2", "quantity": 5}),
        ("Move 5 pieces into W-2 out of W-1", "depot.move_stock", {"source": "W-1", "target": "W-2", "quantity": 5}),
        ("Verschiebe 5 von W-1 nach W-2", "depot.move_stock", {"source": "W-1", "target": "W-2", "quantity": 5}),
        ("Merge G-1 into G-2", "org.merge_teams", {"keep_id": "G-2", "drop_id": "G-1"}),
        ("Set the manager of E-1 to E-2", "org.set_manager", {"employee_id": "E-1", "manager_id": "E-2"}),
        ("Sell 10 of V-2 at 3000", "depot.sell_stock", {"article": "V-2", "quantity": 10, "unit_price": 3000}),
        ("Sell 10 of V-2 for 3000 each", "depot.sell_stock", {"article": "V-2", "quantity": 10, "unit_price": 3000}),
        ("Book delivery D-1 on 25/12/2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-25"}),
        ("Book delivery D-1 on 5/5/2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-05-05"}),
        ("Buche die Lieferung D-1 am 5.12.2026", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-05"}),
        ("Book delivery D-1 on 2026-12-05", "depot.book_delivery", {"delivery_id": "D-1", "date": "2026-12-05"}),
        ("Pay Acme 4,500 euros", "depot.pay_supplier", {"supplier": "Acme", "amount": 4500}),
        ("Zahle Acme 4.500 Euro", "depot.pay_supplier", {"supplier": "Acme", "amount": 4500}),
        ("Pay Acme 4.50 euros", "depot.pay_supplier", {"supplier": "Acme", "amount": 4.5}),
        ("Rename person E-1 to Mary", "org.rename_person", {"person_id": "E-1", "name": "Mary"}),
        ("Create a person named E-12 with email a@b.org", "org.create_person", {"name": "E-12", "email": "a@b.org"}),
        ("Start the fan of room 10", "lamp.start_fan", {"room": "10"}),
        ("Switch the hall lamp on at brightness 7", "lamp.switch_lamp", {"lamp": "hall", "brightness": 7}),
        ("Switch the hall lamp on at 70", "lamp.switch_lamp", {"lamp": "hall", "brightness": 70}),
        ("Add ann to #dev", "talk.add_member", {"channel": "#dev", "user": "ann"}),
        ("Set the topic of #dev to Launch", "talk.set_topic", {"channel": "#dev", "topic": "Launch"}),
    ],
)
def test_a_value_in_its_own_place_is_not_asked_about(request_text: str, key: str, inputs: dict[str, Any]) -> None:
    assert not asked(request_text, key, **inputs)


@pytest.mark.parametrize("separator", [", ", " - ", "; ", ". ", " … "])
@pytest.mark.parametrize(
    ("command", "particles"),
    [
        (
            "Sell 10 pieces of V-2",
            "no,|sorry,|actually|wait,|oops,|I mean|rather|make that|better|well,|scratch that,|correction:",
        ),
        ("Verkaufe 10 Stück von V-2", "nein,|besser|lieber|ach,|quatsch,|ich meine|Moment,|eigentlich|Korrektur:|doch"),
        ("Vends 10 pièces de V-2", "non,|plutôt|pardon,|enfin,|je veux dire|attends,|mieux|correction :"),
        ("Vende 10 piezas de V-2", "no,|mejor|perdón,|digo,|espera,|quiero decir|más bien|corrección:"),
    ],
)
def test_what_is_put_right_is_asked_about(command: str, particles: str, separator: str) -> None:
    acted = []
    for particle in particles.split("|"):
        request = f"{command}{separator}{particle} 12"
        plans = (
            by_model((("depot.sell_stock", {"article": "V-2", "quantity": 10}),), request, CATALOG),
            by_rules(request, CATALOG),
        )
        acted += [request for plan in plans if plan is not None and not plan.questions]
    assert acted == []


@pytest.mark.parametrize(
    "trailer",
    ["and so on", "etc", "etc.", "et cetera", "and the like", "usw.", "und so weiter", "y así", "et ainsi de suite"],
)
def test_what_goes_on_without_a_name_is_asked_about(trailer: str) -> None:
    calls = (("org.rename_person", {"person_id": "E-1", "name": "Mary"}),)
    assert by_model(calls, f"Rename person E-1 to Mary {trailer}", CATALOG).questions
    assert by_model(calls, f"Rename person E-1 to Mary, {trailer}", CATALOG).questions


@pytest.mark.parametrize(
    ("request_text", "target"),
    [
        ("Mueve 5 piezas desde Lima hacia Riga", "hacia Riga"),
        ("Move 5 pieces from Lima towards Riga", "towards Riga"),
        ("Verschiebe 5 Stück von Lima Richtung Riga", "Richtung Riga"),
        ("Move 5 pieces from Lima to wherever", "to wherever"),
    ],
)
def test_a_value_with_the_word_before_it_is_asked_about(request_text: str, target: str) -> None:
    assert asked(request_text, "depot.move_stock", source="Lima", target=target, quantity=5)


@pytest.mark.parametrize("value", [3, 0.03])
@pytest.mark.parametrize("request_text", ["Raise the pay of Acme by 3%", "Increase Acme by 3 percent", "Pay Acme 3%"])
def test_a_share_is_no_amount(request_text: str, value: float) -> None:
    assert asked(request_text, "depot.pay_supplier", supplier="Acme", amount=value)


@pytest.mark.parametrize("filler", ["er,", "um,", "uh", "hmm,", "äh,", "ähm", "euh,", "eh,"])
def test_a_list_with_a_filler_in_it_is_asked_about(filler: str) -> None:
    calls = (
        ("org.rename_person", {"person_id": "E-1", "name": "Mary"}),
        ("org.rename_person", {"person_id": "E-2", "name": "Mary"}),
    )
    assert by_model(calls, f"Rename person E-1, {filler} E-2 to Mary", CATALOG).questions
    assert not by_model(calls, "Rename persons E-1, E-2 to Mary", CATALOG).questions


@pytest.mark.parametrize(
    ("request_text", "inputs"),
    [
        ("Book 2 express delivery D-2 on 2026-12-05", {"delivery_id": "D-2", "date": "2026-12-05"}),
        ("Book 7 express and slow delivery D-7 on 2026-12-05", {"delivery_id": "D-7", "date": "2026-12-05"}),
    ],
)
def test_the_digits_of_an_id_are_no_number_besides(request_text: str, inputs: dict[str, Any]) -> None:
    assert asked(request_text, "depot.book_delivery", **inputs)


def test_an_id_where_no_id_is_taken_is_asked_about() -> None:
    pay = tool("claims.pay_claim", "Pay a claim.", claim_id="string", iban="string", amount="number")
    catalog = Catalog({pay.key: pay})
    request_text = "Pay claim CL-5 1200 to DE89370400440532013000"
    right = {"claim_id": "CL-5", "iban": "DE89370400440532013000", "amount": 1200}
    wrong = {"claim_id": "DE89370400440532013000", "iban": "CL-5", "amount": 1200}
    assert not by_model(((pay.key, right),), request_text, catalog).questions
    assert by_model(((pay.key, wrong),), request_text, catalog).questions


@pytest.mark.parametrize("unit", ["pesos", "roubles", "zloty", "Kronen", "bitcoin", "points"])
def test_an_amount_in_a_currency_that_nobody_knows_is_asked_about(unit: str) -> None:
    assert asked(f"Pay Acme 500 {unit}", "depot.pay_supplier", supplier="Acme", amount=500)


@pytest.mark.parametrize("pattern", ["*.txt", "/tmp/*", "notes*.md", "E-*"])
def test_a_pattern_of_names_is_no_name(pattern: str) -> None:
    remove = tool("files.delete_file", "Delete a file.", "destructive", path="string")
    catalog = Catalog({remove.key: remove})
    plan = by_rules(f"Delete {pattern}", catalog)
    assert plan is None or plan.questions or plan.steps[0].inputs == {"path": pattern}  # type: ignore[union-attr]
    taken = pattern.replace("*", "").strip("./")
    assert by_model(((remove.key, {"path": taken}),), f"Delete {pattern}", catalog).questions


@pytest.mark.parametrize("said", ["ach nein", "no", "non non", "nicht"])
def test_a_word_that_takes_back_is_no_value(said: str) -> None:
    request_text = f"Sell 10 pieces of V-2 at 7, {said}, 5"
    calls = (
        ("depot.sell_stock", {"article": "V-2", "quantity": 10, "unit_price": 7}),
        ("depot.sell_stock", {"article": said, "quantity": 5, "unit_price": 7}),
    )
    assert by_model(calls, request_text, CATALOG).questions


def test_a_plan_that_nobody_would_run_asks() -> None:
    catalog = Catalog({one.key: one for one in (*TOOLS, tool("deals.create_deal", "Create a deal.", contact="string"))})
    for request in ("Raise the pay of E-5 by 3 points", "Set E-4 to low, E-5 to high", "Fan for 10"):
        plan = by_rules(request, catalog)
        assert plan is None or plan.questions or (plan.confidence or 0.0) >= 0.4, request
