"""One tool several times and several tools at once: rows of values, shared units, tools named beside one another."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool
from tests.planner.offline.test_offline_arguments import INTEGER, NUMBER, TEXT, read
from tests.planner.offline.test_shapes_of_requests import calls, planned

from toolpath.catalog.search import ToolSearch
from toolpath.catalog.snapshot import Catalog
from toolpath.planner.offline.planner import plan_offline

NUMBERS = {"type": "array", "items": {"type": "number"}}
DATE = {"type": "string", "description": "The date, YYYY-MM-DD."}
RATE = {"type": "number", "description": "The rate as a decimal."}
PUMPS = {"pressure": NUMBER, "depth": NUMBER}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a pressure of 8 bar and depths of 2 m, 3 m and 7 m", [(8, 2), (8, 3), (8, 7)]),
        (
            "pressures of 3 bar, 4 bar and 6 bar and depths of 20 m, 30 m and 40 m respectively",
            [(3, 20), (4, 30), (6, 40)],
        ),
    ],
)
def test_a_unit_said_with_each_value_is_no_end_of_a_list(text: str, told: list[tuple[float, float]]) -> None:
    assert [(call["pressure"], call["depth"]) for call in read(text, **PUMPS)] == told


def test_a_preposition_said_with_each_value_is_no_end_of_a_list() -> None:
    found = read("tides in Brest on 2026-03-01 and on 2026-04-01", harbour=TEXT, date=DATE)
    assert [call["date"] for call in found] == ["2026-03-01", "2026-04-01"]


def test_what_a_number_counts_is_no_name_of_the_next_one() -> None:
    found = read("a ferry with 4 decks, 7 cabins and 900 seats", decks=INTEGER, cabins=INTEGER, seats=INTEGER)
    assert found == [{"decks": 4, "cabins": 7, "seats": 900}]


def test_a_share_is_no_count() -> None:
    found = read("6% over 12 years", rate=RATE, years=INTEGER, times={"type": "integer"}, optional=("times",))
    assert found == [{"rate": 0.06, "years": 12}]


@pytest.mark.parametrize(
    "text", ["the sums of 4 and 9, 5 and 12", "the sums of two pairs of numbers: (4, 9) and (5, 12)"]
)
def test_rows_of_values_are_a_call_each(text: str) -> None:
    plan = planned(f"Calculate {text}.", tool("m.sum", "The sum of two numbers.", "read", a=INTEGER, b=INTEGER))
    assert calls(plan) == [("m.sum", {"a": 4, "b": 9}), ("m.sum", {"a": 5, "b": 12})]


def test_rows_of_lists_are_a_call_each() -> None:
    text = "Calculate the overlap of [1, 2] with [3, 4], [5, 6] with [7, 8], and [9, 1] with [2, 2]."
    made = calls(planned(text, tool("overlap", "Calculate the overlap of lists.", "read", left=NUMBERS, right=NUMBERS)))
    assert [(inputs["left"], inputs["right"]) for _, inputs in made] == [
        ([1, 2], [3, 4]),
        ([5, 6], [7, 8]),
        ([9, 1], [2, 2]),
    ]


def test_what_one_row_says_of_itself_is_not_lost() -> None:
    kind = {"type": "string", "enum": ["steel", "wooden"]}
    tools = tool("bridge.load", "The load a bridge bears.", "read", span=INTEGER, place=TEXT, kind_=kind)
    made = calls(
        planned("The load of a bridge with span 40 in Porto and of a wooden bridge with span 9 in Bern", tools)
    )
    assert [inputs.get("kind") for _, inputs in made] == [None, "wooden"]


def test_plain_words_in_a_row_are_a_call_each() -> None:
    tools = tool("ore.price", "The current price of an ore.", "read", ore=TEXT)
    made = calls(planned("What is the price of cobalt, nickel and lithium ore?", tools))
    assert [inputs["ore"] for _, inputs in made][:2] == ["cobalt", "nickel"]
    assert len(made) == 3


MEDIAN = tool("median", "The median of numbers.", "read", numbers=NUMBERS)
SPREAD = tool("sample_spread", "The spread of numbers.", "read", numbers=NUMBERS)


def test_tools_named_beside_one_another_are_all_meant() -> None:
    made = calls(planned("Give me the median and the sample spread of 4, 8 and 15.", MEDIAN, SPREAD))
    assert sorted(made) == [("median", {"numbers": [4, 8, 15]}), ("sample_spread", {"numbers": [4, 8, 15]})]


def test_of_tools_that_are_not_joined_one_is_meant() -> None:
    made = calls(planned("Calculate the sample spread of [4, 8, 15] below the median", MEDIAN, SPREAD))
    assert [key for key, _ in made] == ["sample_spread"]


def test_what_is_quoted_says_nothing_of_the_tool() -> None:
    tide = tool("tide_time", "When the tide comes.", "read", harbour=TEXT)
    reword = tool("translate", "Translate text.", "read", text=TEXT, language=TEXT)
    made = calls(planned("When does the tide come in Brest? Also translate 'tide' to Breton.", tide, reword))
    assert [key for key, _ in made] == ["tide_time", "translate"]


def test_a_sentence_in_quotation_marks_is_what_somebody_is_told() -> None:
    whom, what = {**TEXT, "description": "Who gets it."}, {**TEXT, "description": "What it says."}
    send = tool("send_sms", "Send a text message.", "write", to=whom, message=what)
    made = calls(planned("Send Olga a text message: 'the boat leaves at nine'.", send))
    assert made == [("send_sms", {"to": "Olga", "message": "the boat leaves at nine"})]


def test_an_amount_in_another_currency_is_converted() -> None:
    codes = {"amount": NUMBER, "from_currency": TEXT, "to_currency": TEXT}
    made = calls(planned("How much is 70 SEK in CHF?", tool("currency_convert", "Convert money.", "read", **codes)))
    assert made == [("currency_convert", {"amount": 70, "from_currency": "SEK", "to_currency": "CHF"})]


def test_values_in_brackets_are_one_list() -> None:
    made = calls(planned("Compute the median of [3, 1, 9].", MEDIAN))
    assert made == [("median", {"numbers": [3, 1, 9]})]


def test_very_many_rows_are_read_at_once() -> None:
    tools: dict[str, Any] = {one.key: one for one in (MEDIAN, SPREAD)}
    catalog = Catalog(tools)
    text = "the median of " + ", ".join(f"{n} and {n + 1}" for n in range(400))
    assert plan_offline(text, catalog, search=ToolSearch(catalog.tools.values())).steps


UNITS = tool(
    "u.convert", "Convert a value from one unit to another.", "read", value=NUMBER, from_unit=TEXT, to_unit=TEXT
)


def test_the_verb_of_the_first_part_is_that_of_the_others_which_lack_it() -> None:
    plan = planned("Convert 10 miles to kilometers and 150 pounds to kilograms.", UNITS)
    assert not plan.questions
    assert calls(plan) == [
        ("u.convert", {"value": 10, "from_unit": "miles", "to_unit": "kilometers"}),
        ("u.convert", {"value": 150, "from_unit": "pounds", "to_unit": "kilograms"}),
    ]


def test_a_part_without_a_verb_may_be_of_another_tool_that_reads() -> None:
    money = tool("m.change", "Change an amount of money.", "read", amount=NUMBER, from_currency=TEXT, to_currency=TEXT)
    plan = planned("Convert 12 feet to meters and 80 CAD to EUR.", UNITS, money)
    assert {name for name, _ in calls(plan)} == {"u.convert", "m.change"} or plan.questions


def test_a_place_and_what_it_lies_in_are_no_two_parts() -> None:
    find = tool("s.find", "Find a salon in a city.", "read", city=TEXT)
    assert len(calls(planned("Search for a salon located in Emeryville, CA?", find))) == 1
