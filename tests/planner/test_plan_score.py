"""Scores of plans against gold plans."""

from __future__ import annotations

import pytest

from toolpath.planner.scoring.score import GoldCall, MadeCall, calibration, is_equal, score_plan


def test_an_equal_plan_is_whole() -> None:
    score = score_plan([MadeCall(tool="a", arguments={"x": 1.0})], [GoldCall(tool="a", arguments={"x": 1})])
    assert score.is_whole
    assert score.tool_f1 == score.arguments == score.edge_f1 == 1


def test_a_wrong_argument_or_one_too_many_is_not_whole() -> None:
    gold = [GoldCall(tool="a", arguments={"x": 1})]
    assert score_plan([MadeCall(tool="a", arguments={"x": 2})], gold).arguments == 0
    assert score_plan([MadeCall(tool="a", arguments={"x": 1, "y": 2})], gold).arguments == 0.5
    assert not score_plan([MadeCall(tool="a", arguments={"x": 1, "y": 2})], gold).is_whole


def test_any_accepted_value_is_right_and_the_empty_one_may_be_left_out() -> None:
    gold = [GoldCall(tool="a", accepted={"city": ["NYC", "New York"], "unit": ["m", ""]})]
    assert score_plan([MadeCall(tool="a", arguments={"city": "new york"})], gold).is_whole
    assert not score_plan([MadeCall(tool="a", arguments={"city": "Boston"})], gold).is_whole


def test_calls_of_one_tool_are_compared_in_any_order() -> None:
    gold = [GoldCall(tool="a", arguments={"x": 1}), GoldCall(tool="a", arguments={"x": 2})]
    made = [MadeCall(tool="a", arguments={"x": 2}), MadeCall(tool="a", arguments={"x": 1})]
    assert score_plan(made, gold).is_whole


def test_references_are_compared_by_what_their_steps_stand_for() -> None:
    gold = [
        GoldCall(tool="a", step="s1"),
        GoldCall(tool="b", step="s2", arguments={"id": "{{s1.id}}"}, depends_on=("s1",)),
    ]
    made = [
        MadeCall(tool="a", step="first"),
        MadeCall(tool="b", step="then", arguments={"id": "{{ first.id }}"}, depends_on=("first",)),
    ]
    score = score_plan(made, gold)
    assert score.is_whole
    assert score.edge_f1 == 1


def test_a_missing_tool_and_a_missing_link_lower_their_scores() -> None:
    gold = [GoldCall(tool="a", step="1"), GoldCall(tool="b", step="2", depends_on=("1",))]
    score = score_plan([MadeCall(tool="a", step="x")], gold)
    assert score.tool_f1 == pytest.approx(2 / 3)
    assert score.edge_f1 == 0
    assert not score.are_tools_right


def test_nothing_made_where_nothing_is_wanted_is_right() -> None:
    assert score_plan([], []).is_whole


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (True, 1, False),
        (1, 1.0, True),
        ("New York!", "new york!", True),
        ([1, "A"], [1, "a"], True),
        ({"a": 1}, {"a": [1, 2], "b": [""]}, True),
        ({"c": 1}, {"a": [1]}, False),
        (None, "", False),
    ],
)
def test_values_are_compared_by_what_they_mean(left: object, right: object, equal: bool) -> None:
    assert is_equal(left, right) is equal


def test_true_confidence_has_no_error_and_false_confidence_has() -> None:
    assert calibration([(1.0, True), (0.0, False)]).error == 0
    off = calibration([(0.9, False), (0.9, True)], threshold=0.8)
    assert off.error == pytest.approx(0.4)
    assert (off.confident, off.right_of_confident) == (2, 0.5)
