"""Numbers that the words around them bound, change or measure, times that do not exist, and verbs taken for names."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.commanded import tool
from tests.checks.test_whole_requests import by_model, by_rules

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Plan
from toolpath.model.tool import Tool


def catalog(*tools: Tool) -> Catalog:
    return Catalog({one.key: one for one in tools})


STOCK = catalog(tool("stock.scrap", "Scrap damaged pieces of an article.", sku="string", quantity="integer"))
DESK = catalog(
    tool("desk.wake_up_call", "Set a wake-up call for a room.", room="string", time="string"),
    tool("desk.request_cleaning", "Request cleaning of a room.", room="string", day="string"),
)
CROWD = catalog(tool("crowd.expel_student", "Expel a student from the school.", student="string"))
LIMITS = catalog(
    tool("stock.set_limits", "Set limits of an article.", sku="string", min_quantity="integer", max_quantity="integer")
)
DISCOUNT = catalog(tool("shop.set_discount", "Set the discount of an article.", article="string", percent="number"))

BOUND = (
    *("at most", "at least", "up to", "less than", "more than", "no more than", "fewer than", "about", "around"),
    *("roughly", "approximately", "nearly", "almost", "half of", "a third of", "double", "minus", "negative"),
    *("höchstens", "mindestens", "etwa", "weniger als", "die Hälfte von", "au plus", "environ", "jusqu'à"),
    *("moins de", "la moitié de", "al menos", "como máximo", "hasta", "menos de", "la mitad de"),
)


def both(request: str, known: Catalog, name: str, **inputs: Any) -> list[Plan]:
    ruled = by_rules(request, known)
    return [by_model(((name, inputs),), request, known), *([ruled] if ruled is not None else [])]


@pytest.mark.parametrize("before", BOUND)
def test_a_number_that_is_a_bound_or_a_part_is_not_taken_as_it_is(before: str) -> None:
    request = f"Scrap {before} 30 pieces of SKU-88"
    for plan in both(request, STOCK, "stock.scrap", sku="SKU-88", quantity=30):
        assert plan.questions, request


@pytest.mark.parametrize("after", ["% of", " percent of", " Prozent von", " pieces or more of", " pieces or so of"])
def test_a_number_that_is_a_share_or_a_guess_is_not_taken_as_it_is(after: str) -> None:
    for plan in both(f"Scrap 30{after} SKU-88", STOCK, "stock.scrap", sku="SKU-88", quantity=30):
        assert plan.questions


@pytest.mark.parametrize("pack", ["pallets", "boxes", "cartons", "kg", "dozen", "tons", "Paletten", "cajas"])
def test_a_number_of_packs_is_no_number_of_pieces(pack: str) -> None:
    for plan in both(f"Scrap 3 {pack} of SKU-88", STOCK, "stock.scrap", sku="SKU-88", quantity=3):
        assert plan.questions
    packed = tool("stock.scrap", f"Scrap {pack} of an article.", sku="string", quantity="integer")
    plan = by_model((("stock.scrap", {"sku": "SKU-88", "quantity": 3}),), f"Scrap 3 {pack} of SKU-88", catalog(packed))
    assert plan.questions == ()


def test_a_number_that_is_said_as_it_is_is_not_asked_about() -> None:
    calls = (("stock.scrap", {"sku": "SKU-88", "quantity": 30}),)
    for request in ("Scrap 30 pieces of SKU-88", "Scrap 30 of SKU-88", "Please scrap exactly 30 pieces of SKU-88"):
        assert by_model(calls, request, STOCK).questions == ()


def test_a_parameter_that_is_a_bound_or_a_share_takes_one() -> None:
    limits = (("stock.set_limits", {"sku": "SKU-88", "min_quantity": 5, "max_quantity": 30}),)
    said = "Set limits of SKU-88 to at least 5 and at most 30"
    assert not any("'at " in one for one in by_model(limits, said, LIMITS).questions)
    discount = (("shop.set_discount", {"article": "A-100", "percent": 10}),)
    assert by_model(discount, "Set a discount of 10% of article A-100", DISCOUNT).questions == ()


def test_an_amount_below_zero_is_one_where_the_plan_has_it() -> None:
    pay = catalog(tool("pay.book", "Book an amount to an account.", account="string", amount="number"))
    calls = (("pay.book", {"account": "A-7", "amount": -45}),)
    assert not any("minus" in one for one in by_model(calls, "Book minus 45 to account A-7", pay).questions)


@pytest.mark.parametrize("time", ["25:00", "24:30", "12:75", "99:99"])
def test_a_time_that_does_not_exist_is_asked_about(time: str) -> None:
    request = f"Set a wake-up call for room 12 at {time}"
    for plan in both(request, DESK, "desk.wake_up_call", room="12", time=time):
        assert any(time in one for one in plan.questions)


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13-01", "2025-02-29"])
def test_a_day_that_does_not_exist_is_asked_about(day: str) -> None:
    request = f"Request cleaning of room 12 on {day}"
    for plan in both(request, DESK, "desk.request_cleaning", room="12", day=day):
        assert any(day in one for one in plan.questions)


@pytest.mark.parametrize("time", ["00:00", "23:59", "24:00", "6:30"])
def test_a_time_that_exists_is_not_asked_about(time: str) -> None:
    calls = (("desk.wake_up_call", {"room": "12", "time": time}),)
    assert by_model(calls, f"Set a wake-up call for room 12 at {time}", DESK).questions == ()


@pytest.mark.parametrize(("said", "code"), [("pounds", "GBP"), ("dollars", "USD"), ("£", "GBP"), ("CHF", "CHF")])
def test_a_currency_that_is_said_is_not_replaced_by_a_default(said: str, code: str) -> None:
    waive = tool("fines.waive_fine", "Waive a fine of a member.", member="string", amount="number", currency="string")
    schema = waive.input_schema
    schema["properties"]["currency"]["default"] = "EUR"
    schema["required"] = ["member", "amount"]
    known = catalog(waive)
    amount = f"{said}3" if said == "£" else f"3 {said}"
    request = f"Waive a fine of {amount} for M-17"
    without, other = {"member": "M-17", "amount": 3}, {"member": "M-17", "amount": 3, "currency": "EUR"}
    for inputs in (without, other):
        assert by_model((("fines.waive_fine", inputs),), request, known).questions
    ruled = by_rules(request, known)
    assert ruled is None or ruled.questions or dict(ruled.steps[0].inputs)["currency"] == code  # type: ignore[union-attr]
    right = (("fines.waive_fine", {**without, "currency": code}),)
    assert by_model(right, request, known).questions == ()
    euros = (("fines.waive_fine", without),)
    assert by_model(euros, "Waive a fine of 3 euros for M-17", known).questions == ()


@pytest.mark.parametrize("request_text", ["Expel Tom Miller", "EXPEL TOM", "Expel Tom and Lena", "Expel the student"])
def test_the_verb_of_a_command_is_no_part_of_a_name(request_text: str) -> None:
    plan = by_rules(request_text, CROWD)
    for step in plan.steps if plan is not None and not plan.questions else ():
        assert "expel" not in str(dict(step.inputs)).casefold()  # type: ignore[union-attr]
    name = "Expel" if request_text.endswith("student") else " ".join(request_text.split()[:2])
    assert by_model((("crowd.expel_student", {"student": name}),), request_text, CROWD).questions


def test_a_name_after_the_verb_of_a_command_is_taken_without_it() -> None:
    plan = by_rules("Expel Tom Miller", CROWD)
    assert plan is not None
    assert dict(plan.steps[0].inputs) == {"student": "Tom Miller"}  # type: ignore[union-attr]
    assert plan.questions == ()


@pytest.mark.parametrize("who", ["Tom's brother", "Tom\u2019s best friend", "whoever cheated", "somebody", "who lied"])
def test_somebody_who_is_not_named_is_asked_about(who: str) -> None:
    request = f"Expel {who}"
    taken = "Tom" if who.startswith("Tom") else who
    for plan in both(request, CROWD, "crowd.expel_student", student=taken):
        assert plan.questions


def test_what_belongs_to_a_name_and_is_a_thing_of_the_tool_is_not_asked_about() -> None:
    cancel = catalog(tool("hotel.cancel_booking", "Cancel the booking of a guest.", guest="string"))
    calls = (("hotel.cancel_booking", {"guest": "Ann"}),)
    assert by_model(calls, "Cancel Ann's booking", cancel).questions == ()
    assert (
        by_model((("crowd.expel_student", {"student": "Tom's brother"}),), "Expel Tom's brother", CROWD).questions == ()
    )


CLASSES = catalog(tool("gym.book_class", "Book a place in a class.", class_name="string", date="string"))
HOTEL = catalog(
    tool("hotel.cancel_stay", "Cancel a stay at the hotel.", "destructive", reservation_id="string"),
    tool("hotel.request_cleaning", "Request cleaning of a room.", room="string"),
)


@pytest.mark.parametrize(
    "before", ["before", "after", "by", "until", "no later than", "vor dem", "bis zum", "avant le"]
)
def test_a_day_that_is_a_bound_is_not_taken_for_the_day(before: str) -> None:
    request = f"Book a class of yoga {before} 2026-12-03"
    for plan in both(request, CLASSES, "gym.book_class", class_name="yoga", date="2026-12-03"):
        assert plan.questions, request
    until = catalog(tool("gym.freeze_card", "Freeze a card.", card="string", until="string"))
    calls = (("gym.freeze_card", {"card": "K-7", "until": "2026-12-03"}),)
    plan = by_model(calls, "Freeze card K-7 until 2026-12-03", until)
    assert not any("'until'" in one for one in plan.questions)


@pytest.mark.parametrize(
    "when", ["vor dem 3. Februar", "avant le 3 février", "antes del miércoles", "vor Samstag", "avant samedi"]
)
def test_a_bound_is_heard_with_its_accents(when: str) -> None:
    request = f"Book a class of yoga {when}"
    plan = by_model((("gym.book_class", {"class_name": "yoga", "date": "2027-02-03"}),), request, CLASSES)
    assert any("is no 'date'" in one for one in plan.questions), plan.questions


@pytest.mark.parametrize("verb", ["Increase", "Raise", "Lower", "Reduce", "Bump"])
def test_a_change_by_a_number_does_not_set_that_number(verb: str) -> None:
    known = catalog(tool("stock.set_minimum", "Set the minimum of an article.", sku="string", minimum="integer"))
    request = f"{verb} the minimum of SKU-88 by 10"
    for plan in both(request, known, "stock.set_minimum", sku="SKU-88", minimum=10):
        assert plan.questions
    by = catalog(tool("stock.change", f"{verb} the minimum of an article.", sku="string", by="integer"))
    plan = by_model((("stock.change", {"sku": "SKU-88", "by": 10}),), request, by)
    assert not any("what comes of it" in one for one in plan.questions)


@pytest.mark.parametrize("part", ["half", "half of", "a quarter of"])
def test_a_part_of_something_with_its_whole_amount_is_asked_about(part: str) -> None:
    fines = catalog(tool("fines.waive_fine", "Waive the fine of a member.", member="string", amount="number"))
    request = f"Waive {part} the fine of M-17, 4"
    for plan in both(request, fines, "fines.waive_fine", member="M-17", amount=4):
        assert plan.questions


@pytest.mark.parametrize("who", ["the brother of Tom", "a friend of Tom"])
def test_somebody_of_somebody_is_not_that_somebody(who: str) -> None:
    for plan in both(f"Expel {who}", CROWD, "crowd.expel_student", student="Tom"):
        assert plan.questions
    assert by_model((("crowd.expel_student", {"student": "Tom"}),), "Expel the student Tom", CROWD).questions == ()


@pytest.mark.parametrize("thing", ["room 12", "the guest in room 12", "floor 3"])
def test_the_number_of_one_thing_is_not_that_of_another(thing: str) -> None:
    request = f"Cancel the stay of {thing}"
    for plan in both(request, HOTEL, "hotel.cancel_stay", reservation_id=thing.rsplit(maxsplit=1)[-1]):
        assert plan.questions
    calls = (("hotel.cancel_stay", {"reservation_id": "12"}),)
    for said in ("Cancel stay 12", "Cancel stay number 12", "Cancel the stay with the reservation id 12"):
        assert by_model(calls, said, HOTEL).questions == (), said


def test_whoever_has_a_thing_is_not_that_thing() -> None:
    for plan in both("Request cleaning of the room of Ann", HOTEL, "hotel.request_cleaning", room="Ann"):
        assert plan.questions
    city = catalog(tool("alerts.add_alert", "Add an alert for a city.", city="string"))
    calls = (("alerts.add_alert", {"city": "Paris"}),)
    assert by_model(calls, "Add an alert for the city of Paris", city).questions == ()
