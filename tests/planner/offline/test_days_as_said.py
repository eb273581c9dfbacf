"""Days as people say them: in words, and without a year."""

from __future__ import annotations

from datetime import date

import pytest

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.calendar_words import DAYS_OF_MONTHS
from toolpath.model.tool import Effect, Tool
from toolpath.planner.offline.planner import plan_offline

TODAY = date(2027, 5, 13)


def tool(name: str, effect: Effect) -> Tool:
    return Tool(
        name=name,
        description=f"{name.replace('_', ' ')} of a day.",
        effect=effect,
        input_schema={
            "type": "object",
            "properties": {"amount": {"type": "number"}, "day": {"type": "string", "format": "date"}},
            "required": ["day"],
        },
    )


def questions(request: str, one: Tool) -> tuple[str, ...]:
    return tuple(plan_offline(request, Catalog({one.key: one}), today=TODAY).questions)


@pytest.mark.parametrize("day", ["2 May", "May 2nd", "12 May", "1 March"])
def test_a_write_for_a_day_that_was_a_short_time_ago_asks_for_its_year(day: str) -> None:
    asked = questions(f"Add an expense of 30 on {day}", tool("add_expense", "write"))
    assert any("2027" in one and "2028" in one for one in asked)


@pytest.mark.parametrize("day", ["20 June", "14 May", "2 May 2027", "2027-05-02", "13 May", "1 January"])
def test_a_day_to_come_or_with_its_year_is_no_question(day: str) -> None:
    assert not [
        one for one in questions(f"Add an expense of 30 on {day}", tool("add_expense", "write")) if "is it" in one
    ]


def test_a_tool_that_only_reads_asks_nothing() -> None:
    assert not [one for one in questions("List the expenses on 2 May", tool("list_expenses", "read")) if "is it" in one]


@pytest.mark.parametrize("word", [*DAYS_OF_MONTHS])
def test_a_day_that_is_said_in_words_is_no_word_left_over(word: str) -> None:
    plan = plan_offline(
        f"Add an expense of 30 on the {word} of August",
        Catalog({"add_expense": tool("add_expense", "write")}),
        today=TODAY,
    )
    (step,) = plan.steps
    assert step.inputs["day"] == f"2027-08-{DAYS_OF_MONTHS[word]:02}"
    assert not plan.questions


def test_a_day_in_words_that_the_plan_does_not_hold_is_asked_about() -> None:
    plan = plan_offline(
        "Add an expense of 30 on the fifth of August for the ninth",
        Catalog({"add_expense": tool("add_expense", "write")}),
        today=TODAY,
    )
    assert plan.questions
