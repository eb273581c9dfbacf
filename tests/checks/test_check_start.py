"""The inputs that a run is started with."""

from __future__ import annotations

import pytest

from toolpath.checks.start import check_inputs, fill_inputs
from toolpath.model.plan import Plan

PLAN = Plan(
    inputs={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who it is for"},
            "count": {"type": "integer", "default": 3},
            "email": {"type": "string", "minLength": 3},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "count"],
    }
)
CASES = {
    "all that is needed": ({"name": "A"}, []),
    "another form of the same value": ({"name": "A", "count": "7"}, []),
    "nothing": ({}, ["missing_input /inputs"]),
    "null for what is needed": ({"name": None}, ["wrong_input /inputs/name"]),
    "null for what is optional": ({"name": "A", "email": None}, []),
    "null for what has a default": ({"name": "A", "count": None}, []),
    "a slip of the pen": ({"nmae": "A"}, ["missing_input /inputs", "unknown_input /inputs/nmae"]),
    "two wrong types": (
        {"name": "A", "count": "x", "tags": [[1]]},
        ["wrong_input /inputs/count", "wrong_input /inputs/tags/0"],
    ),
    "no object": ([1], ["wrong_input /inputs"]),
}


@pytest.mark.parametrize(("inputs", "expected"), CASES.values(), ids=CASES)
def test_everything_wrong_with_the_inputs_is_told(inputs: object, expected: list[str]) -> None:
    found = check_inputs(PLAN, inputs)  # type: ignore[arg-type]
    assert [f"{finding.code} {finding.path}" for finding in found] == expected
    assert all(finding.severity == "error" for finding in found)


def test_a_missing_input_is_described() -> None:
    (finding,) = check_inputs(PLAN, {})
    assert finding.message == "The plan needs the input 'name' (string, Who it is for)."


def test_a_surplus_input_is_told_what_may_have_been_meant() -> None:
    (finding,) = check_inputs(PLAN, {"name": "A", "emial": "x@y"})
    assert finding.suggestions == ("email",)


def test_an_open_schema_takes_more() -> None:
    assert check_inputs(Plan(inputs={**PLAN.inputs, "additionalProperties": True}), {"name": "A", "more": 1}) == ()


def test_a_plan_without_inputs_takes_none() -> None:
    assert check_inputs(Plan(), {}) == ()
    assert [finding.code for finding in check_inputs(Plan(), {"x": 1})] == ["unknown_input"]


def test_defaults_are_filled_in_and_values_take_their_form() -> None:
    assert fill_inputs(PLAN, {"name": "A"}) == {"name": "A", "count": 3, "email": None, "tags": None}
    assert fill_inputs(PLAN, {"name": "A", "count": "7"})["count"] == 7
    assert fill_inputs(PLAN, {"name": "A", "count": None})["count"] == 3


def test_filling_changes_nothing_that_was_given() -> None:
    given = {"name": "A", "tags": ["x"]}
    filled = fill_inputs(PLAN, given)
    assert given == {"name": "A", "tags": ["x"]}
    assert fill_inputs(PLAN, filled) == filled
