"""Arguments that are read out of a text, by kind."""

from __future__ import annotations

from typing import Any

import pytest

from toolpath.planner.offline.fill import fill
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.request.moments import days_in
from toolpath.planner.offline.slots import slots_of
from toolpath.planner.offline.tool_parts import tool_parts
from toolpath.planner.offline.written_dates import write_date


def read(text: str, optional: tuple[str, ...] = (), **properties: dict[str, Any]) -> list[dict[str, Any]]:
    required = [name for name in properties if name not in optional]
    slots = slots_of({"type": "object", "properties": properties, "required": required})
    return [{name: found.value for name, found in call.items()} for call in fill(slots, text).calls]


NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        ("a rate of 5% for 3 years", {"rate": NUMBER, "years": INTEGER}, {"rate": 0.05, "years": 3}),
        ("width of 20 and height of 10", {"height": INTEGER, "width": INTEGER}, {"height": 10, "width": 20}),
        ("an amount of $1,250.50", {"amount": NUMBER}, {"amount": 1250.5}),
        ("a budget of $2 million", {"budget": INTEGER}, {"budget": 2_000_000}),
        ("a wire with a length of 5m", {"length": INTEGER}, {"length": 5}),
        ("a chord progression with four chords", {"chords": INTEGER}, {"chords": 4}),
        ("numbers [3, 4, 5]", {"numbers": {"type": "array", "items": INTEGER}}, {"numbers": [3, 4, 5]}),
        ("the numbers 3, 4 and 5", {"numbers": {"type": "array", "items": INTEGER}}, {"numbers": [3, 4, 5]}),
        ("write to ann@example.org", {"email": TEXT}, {"email": "ann@example.org"}),
        ("derivative of the function 3x^2 + 2x", {"function": TEXT}, {"function": "3x**2 + 2x"}),
        ("from Paris to Rome", {"origin": TEXT, "destination": TEXT}, {"origin": "Paris", "destination": "Rome"}),
        ("to Rome from Paris", {"origin": TEXT, "destination": TEXT}, {"origin": "Paris", "destination": "Rome"}),
        ("titled 'A day' by Ann", {"title": TEXT, "author": TEXT}, {"title": "A day", "author": "Ann"}),
        ("on May 3rd, 2021", {"date": TEXT}, {"date": "2021-05-03"}),
        ("on May 3rd, 2021", {"date": {**TEXT, "description": "as MM/DD/YYYY"}}, {"date": "05/03/2021"}),
        ("sort by popularity", {"sort": {**TEXT, "enum": ["popularity", "price"]}}, {"sort": "popularity"}),
        ("USD to Euros", {"base_currency": TEXT, "to_currency": TEXT}, {"base_currency": "USD", "to_currency": "EUR"}),
    ],
)
def test_a_text_gives_its_arguments(text: str, properties: dict[str, Any], expected: dict[str, Any]) -> None:
    assert read(text, **properties) == [expected]


def test_a_switch_is_on_when_said_and_off_when_said_in_the_negative() -> None:
    switch = {"include_human_impact": {"type": "boolean"}}
    assert read("growth including human impact", **switch) == [{"include_human_impact": True}]
    assert read("growth without human impact", **switch) == [{"include_human_impact": False}]
    assert read("growth", **switch) == [{}]


def test_what_is_said_once_holds_for_every_call() -> None:
    made = read("the history of Islam in Egypt and Turkey", religion=TEXT, country=TEXT)
    assert [one["country"] for one in made] == ["Egypt", "Turkey"]


def test_equal_groups_of_numbers_are_calls_of_their_own() -> None:
    text = "one garden with a base of 10 and a height of 5, another with a base of 15 and a height of 7"
    assert read(text, base=INTEGER, height=INTEGER) == [{"base": 10, "height": 5}, {"base": 15, "height": 7}]


def test_a_default_of_the_schema_fills_what_is_required() -> None:
    assert read("nothing", page={"type": "integer", "default": 1}) == [{"page": 1}]


def test_an_optional_parameter_that_nothing_points_to_stays_out() -> None:
    assert read("about Paris", optional=("nickname",), nickname=TEXT) == [{}]


@pytest.mark.parametrize("text", ["2021-02-30", "13/13/2020", "February 31, 2020"])
def test_a_day_that_does_not_exist_is_no_date(text: str) -> None:
    assert [*days_in(text, None)] == []


def test_a_date_is_written_as_its_parameter_wants_it() -> None:
    assert write_date("2021-05-03", "month-day-year") == "05-03-2021"
    assert write_date("2021-05-03", "any day") == "2021-05-03"


def test_quoted_text_is_never_cut() -> None:
    assert tool_parts("Say 'one, then two', then stop it") == ["Say 'one, then two'", "stop it"]


def test_a_clause_may_begin_with_a_word_of_a_tool() -> None:
    assert tool_parts("Invest 20 and withdraw 10", ["withdraw"]) == ["Invest 20", "withdraw 10"]


def test_a_capital_of_grammar_is_no_name() -> None:
    assert [one.text for one in mentions("Allocate money. Following Ann") if one.kind == "name"] == ["Following Ann"]
