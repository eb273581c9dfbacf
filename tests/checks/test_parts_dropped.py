"""Parts of a request that a value nearby seems to tell, and that nothing does: amounts, channels, whom else to tell."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.checks.commanded import tool
from tests.checks.test_whole_requests import by_model, by_rules

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.model.plan import Call
from toolpath.values import JsonObject

NUMBER = {"type": "number"}
CONVERSION = {
    "type": "object",
    "properties": {"amount": NUMBER, "currency": {"type": "string"}},
    "required": ["amount"],
}


def catalog(*tools: Any) -> Catalog:
    return Catalog({one.key: one for one in tools})


def converting(output: JsonObject | None) -> Catalog:
    inputs = {"amount": "number", "from_currency": "string", "to_currency": "string"}
    fx = tool("fx.convert", "Convert an amount of money from one currency into another.", "read", **inputs)
    return catalog(msgspec.structs.replace(fx, output_schema=output))


CALENDAR = catalog(tool("cal.create_event", "Create an event.", title="string", start="string"))
MAIL = catalog(tool("mail.send_email", "Send an email.", to="string", body="string"))
HOTEL = catalog(tool("travel.book_room", "Book a room in a hotel.", hotel="string", start="string"))
CHAT = catalog(
    tool("chat.post_message", "Post a message to a channel.", channel="string", text="string"),
    tool("mail.send_email", "Send an email.", to="string", body="string"),
)
PRINTER = catalog(tool("print.print_document", "Print a document.", path="string", copies="integer"))
SHOP = catalog(
    tool("shop.buy_tickets", "Buy tickets for an event.", event="string", quantity="integer"),
    tool("shop.order_book", "Order a book.", title="string", quantity="integer"),
)


def told(plan: Any) -> list[dict[str, Any]]:
    return [dict(step.inputs) for step in plan.steps if isinstance(step, Call)]


@pytest.mark.parametrize("start", ["2026-05-03T10:00", "2026-05-10T09:30", "2026-05-03T09:10"])
@pytest.mark.parametrize("when", ["in 10 minutes", "within 10 days", "for 10 hours", "every 10 mins"])
def test_digits_of_a_date_or_time_say_no_amount(start: str, when: str) -> None:
    request = f"Create an event titled Standup at {start} {when}"
    calls = (("cal.create_event", {"title": "Standup", "start": start}),)
    for plan in (by_model(calls, request, CALENDAR), by_rules(request, CALENDAR)):
        assert plan is not None
        assert any("'10'" in question for question in plan.questions), plan.questions


@pytest.mark.parametrize("value", [10, "10 minutes", "10min", "PT10M", "every 10 minutes"])
def test_an_amount_that_is_told_is_not_asked_about(value: Any) -> None:
    known = catalog(tool("cal.remind", "Set a reminder.", text="string", minutes="string"))
    calls = (("cal.remind", {"text": "tea", "minutes": value}),)
    assert by_model(calls, "Set a reminder about tea in 10 minutes", known).questions == ()


@pytest.mark.parametrize("count", ["two", "2", "Two"])
def test_how_many_is_not_told_by_a_date_and_is_by_as_many_calls(count: str) -> None:
    request = f"Book {count} rooms in the Ritz on 2026-05-02"
    call = ("travel.book_room", {"hotel": "Ritz", "start": "2026-05-02"})
    assert any(count in question for question in by_model((call,), request, HOTEL).questions)
    assert not any(count in question for question in by_model((call, call), request, HOTEL).questions)


@pytest.mark.parametrize("end", ["and tell Bob", "and tell bob", ", tell bob too", "and notify bob", "and ping Ann"])
@pytest.mark.parametrize("begin", ['Send an email to bob saying "hi"', "Email bob@example.org saying hello"])
def test_whom_else_to_tell_is_not_dropped(begin: str, end: str) -> None:
    to = "bob@example.org" if "@" in begin else "bob"
    request, call = f"{begin} {end}", ("mail.send_email", {"to": to, "body": "hi" if "hi" in begin else "hello"})
    for plan in (by_model((call,), request, MAIL), by_rules(request, MAIL)):
        verb, whom = end.removeprefix(",").removeprefix("and").removesuffix(" too").split()
        assert plan is None or any(whom in one or verb in one for one in plan.questions)


def test_who_is_told_in_a_call_of_their_own_is_no_question() -> None:
    request = 'Send an email to bob@example.org saying "hi" and email ann@example.org saying "hello"'
    calls = (
        ("mail.send_email", {"to": "bob@example.org", "body": "hi"}),
        ("mail.send_email", {"to": "ann@example.org", "body": "hello"}),
    )
    assert by_model(calls, request, MAIL).questions == ()
    one = "Email bob@example.org and tell him that dinner is ready"
    said = (("mail.send_email", {"to": "bob@example.org", "body": "Dinner is ready"}),)
    assert by_model(said, one, MAIL).questions == ()


@pytest.mark.parametrize("then", ["then to EUR", "and then to EUR", ", then to EUR", "then that to EUR"])
@pytest.mark.parametrize(("output", "path"), [(CONVERSION, ".amount"), (NUMBER, "")])
def test_the_same_again_goes_on_with_what_came_of_it(then: str, output: JsonObject, path: str) -> None:
    plan = by_rules(f"Convert 100 GBP to USD {then}", known := converting(output))
    assert plan is not None
    assert told(plan) == [
        {"amount": 100, "from_currency": "GBP", "to_currency": "USD"},
        {"amount": f"{{{{ convert{path} }}}}", "from_currency": "USD", "to_currency": "EUR"},
    ]
    assert plan.questions == ()
    assert not [finding for finding in check(plan, known) if finding.severity == "error"]


def test_where_nobody_knows_what_comes_of_it_the_same_again_is_asked_about() -> None:
    plan = by_rules("Convert 100 GBP to USD then to EUR", converting(None))
    assert plan is not None
    assert any("then to EUR" in question for question in plan.questions)


def test_two_goals_at_once_are_two_calls_of_the_same_value() -> None:
    plan = by_rules("Convert 100 GBP to USD and to EUR", converting(CONVERSION))
    assert plan is not None
    assert [call["amount"] for call in told(plan)] == [100, 100]


@pytest.mark.parametrize(
    "request_text", ['Post "hi all" to #general', 'Post the message "hi all" in #general', 'post "hi all" on #general']
)
def test_a_channel_is_the_value_of_a_channel(request_text: str) -> None:
    plan = by_rules(request_text, CHAT)
    assert plan is not None
    assert told(plan) == [{"channel": "#general", "text": "hi all"}]
    assert plan.questions == ()


def test_a_channel_that_no_value_has_is_asked_about_and_so_is_what_to_post() -> None:
    wrong = (("chat.post_message", {"channel": "random", "text": "hi all"}),)
    assert any("#general" in one for one in by_model(wrong, 'Post "hi all" to #general', CHAT).questions)
    plan = by_rules("post the results to #general", CHAT)
    assert plan is not None
    assert plan.questions
    both = by_rules('Email bob@example.org saying hi and post "done" to #general', CHAT)
    assert both is not None
    assert told(both)[1] == {"channel": "#general", "text": "done"}


@pytest.mark.parametrize(
    ("request_text", "known", "expected"),
    [
        ("Buy two tickets for Hamlet", SHOP, {"event": "Hamlet", "quantity": 2}),
        ("Buy 12 tickets for Hamlet", SHOP, {"event": "Hamlet", "quantity": 12}),
        ("Order 3 copies of Dune", SHOP, {"title": "Dune", "quantity": 3}),
        ('Order three copies of "Dune"', SHOP, {"title": "Dune", "quantity": 3}),
        ("Print 3 copies of /tmp/a.txt", PRINTER, {"path": "/tmp/a.txt", "copies": 3}),
    ],
)
def test_a_number_before_what_it_counts_is_the_quantity(
    request_text: str, known: Catalog, expected: dict[str, Any]
) -> None:
    plan = by_rules(request_text, known)
    assert plan is not None
    assert told(plan) == [expected]
    assert plan.questions == ()


def test_one_of_them_counts_too() -> None:
    plan = by_rules("Print two copies of /tmp/a.txt and one of /tmp/b.txt", PRINTER)
    assert plan is None or plan.questions or [call["copies"] for call in told(plan)] == [2, 1]
