"""Gold plans in our notation, and what their arguments have to be: on cases of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.conversion import plan_data, tools_of
from benchmarks.oracle import NoSuchValue, expected_arguments, same, same_but_for_form
from benchmarks.records import Record, grouped_tools, read_records

from toolpath.catalog.registry import check_tool

CASES = Path(__file__).parents[1] / "data" / "gold"


def case(name: str) -> Record:
    return next(record for record in read_records(CASES, "boats") if record.id == name)


def test_references_become_expressions_of_our_language() -> None:
    plan = plan_data(case("boats-plain"))
    assert plan["steps"][1] == {
        "id": "s2",
        "tool": "book_boat",
        "depends_on": ["s1"],
        "inputs": {
            "hull": '{{ s1.boats[1]["Hull Number"] }}',
            "guests": "{{ s1.boats[1].seats }}",
            "note": "Crew: {{ s1.boats[1].crew }}, first {{ s1.boats[1].crew[0] }}",
        },
    }


def test_step_names_that_are_no_ids_get_one_and_dashes_are_read_as_names() -> None:
    first, second = plan_data(case("boats-lists"))["steps"]
    assert (first["id"], second["id"], second["depends_on"]) == ("first-look", "last_step", ["first-look"])
    assert second["inputs"]["hull"] == '{{ steps["first-look"].output[0].hull }}'


def test_steps_of_tools_that_share_a_state_wait_for_the_one_before() -> None:
    steps = plan_data(case("boats-order"))["steps"]
    assert [step.get("depends_on") for step in steps] == [None, ["s1"], ["s1", "s2"]]


def test_every_described_tool_is_a_usable_tool_that_keeps_its_name() -> None:
    found = tools_of(grouped_tools(CASES, case("boats-plain")) or [])
    for tool in found:
        check_tool(tool)
    assert [(tool.key, tool.aliases) for tool in found] == [
        ("find_boats", ()),
        ("book_boat", ()),
        ("harbour_tide_table_", ("harbour.tide(table)",)),
        ("mail.send", ()),
    ]


def test_the_oracle_fills_in_recorded_values_with_their_types() -> None:
    assert expected_arguments(case("boats-plain"))["s2"] == {
        "hull": "N-9",
        "guests": 12,
        "note": 'Crew: ["bo","al"], first bo',
    }


def test_the_oracle_refuses_what_was_not_recorded() -> None:
    record = case("boats-misfit")
    record.recorded_outputs["s1"]["boats"].clear()
    with pytest.raises(NoSuchValue, match="nothing at 0"):
        expected_arguments(record)


@pytest.mark.parametrize(
    ("actual", "expected", "equal", "but_for_form"),
    [
        (1, 1.0, True, True),
        (1, True, False, False),
        (0, False, False, False),
        ("5", 5, False, True),
        (2.5, "2.50", False, True),
        (True, "true", False, True),
        ("5", "5.0", False, False),
        ("five", 5, False, False),
        ({"a": [1, "2"]}, {"a": [1, 2]}, False, True),
        ({"a": 1}, {"a": 1, "b": None}, False, False),
        (None, "null", False, False),
    ],
)
def test_values_are_equal_exactly_or_but_for_their_form(
    actual: Any, expected: Any, equal: bool, but_for_form: bool
) -> None:
    assert same(actual, expected) is equal
    assert same_but_for_form(actual, expected) is but_for_form
