"""Requests taken apart, by others and by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.errors import ReadError
from toolpath.planner.decompose import Decomposition, SubQuery, decompose, read_decomposition


def test_a_decomposition_is_read_as_other_systems_write_it() -> None:
    found = read_decomposition(
        {
            "originalQuery": "Compare a and b",
            "queryType": "comparative",
            "subQueries": [
                {"id": "s1", "query": "look up a", "suggestedTool": "vector-search", "dependencies": [], "priority": 2},
                {"id": "s2", "query": "look up b", "dependencies": ["s1", "gone", "s2"]},
                "just a text",
            ],
            "executionPlan": {"stages": []},
            "synthesisRequired": True,
            "synthesisPrompt": "Compare.",
            "extractedEntities": ["a", "b"],
            "confidence": 0.4,
        }
    )
    assert found == Decomposition(
        original_query="Compare a and b",
        query_type="comparative",
        sub_queries=(
            SubQuery(id="s1", query="look up a", suggested_tool="vector-search", priority=2),
            SubQuery(id="s2", query="look up b", dependencies=("s1",)),
            SubQuery(id="q3", query="just a text"),
        ),
        synthesis_required=True,
        synthesis_prompt="Compare.",
        extracted_entities=("a", "b"),
        confidence=0.4,
    )
    assert found.stages == (("s1", "q3"), ("s2",))
    assert read_decomposition(found) is found


@pytest.mark.parametrize(
    "value",
    [
        {"query": "\ud800"},
        {"query": "x", "subQueries": [{"query": "a \udfff"}]},
        {"query": "x", "subQueries": [{"query": "a", "suggestedTool": "\ud800"}]},
        {"query": "x", "\ud800": 1},
        {"query": "x", "extractedEntities": ["\ud800"]},
    ],
)
def test_half_a_character_is_an_error(value: dict[str, object]) -> None:
    with pytest.raises(ReadError, match="no Unicode"):
        read_decomposition(value)


@pytest.mark.parametrize(
    "value",
    [{}, {"originalQuery": 1}, {"originalQuery": "x", "subQueries": 7}, {"query": "x", "subQueries": [{"id": 1}]}],
)
def test_what_is_no_decomposition_is_an_error(value: dict[str, object]) -> None:
    with pytest.raises(ReadError):
        read_decomposition(value)


def test_a_circle_among_the_parts_ends() -> None:
    parts = [{"id": "a", "query": "x", "dependencies": ["b"]}, {"id": "b", "query": "y", "dependencies": ["a"]}]
    assert read_decomposition({"query": "x", "subQueries": parts}).stages == (("a",), ("b",))


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        ("What is a terminator's toughness?", "simple_lookup", 1),
        ("Terminator vs Dreadnought", "comparative", 2),
        ("What is the difference between Rust and Go?", "comparative", 2),
        ("Create author Alice, then create blog by Alice", "multi_hop", 2),
        ("Find flights to Paris and add them to my calendar", "multi_hop", 2),
        ("Create authors Alice and Bob simultaneously", "simple_lookup", 1),
        ("Search the web for cats and send a mail to Bob", "procedural", 2),
        ("Build a list of 2000 points", "list_building", 1),
        ("hello", "conversational", 0),
        ("", "conversational", 0),
    ],
)
def test_a_request_is_taken_apart_by_rules(text: str, kind: str, parts: int) -> None:
    found = decompose(text)
    assert (found.query_type, len(found.sub_queries)) == (kind, parts)
    assert found.confidence is not None


def test_a_part_that_says_it_needs_the_part_before() -> None:
    found = decompose("Get the weather in Paris, convert it to Fahrenheit and send it to Bob")
    assert [part.dependencies for part in found.sub_queries] == [(), ("q1",), ("q2",)]


def test_more_cuts_are_less_sure() -> None:
    few, many = decompose("Get a, then get b"), decompose("Get a, then get b, then get c, then get d, then get e")
    assert (few.confidence or 0) > (many.confidence or 0)


@given(st.text(max_size=300))
def test_any_text_is_taken_apart_into_bounded_parts_in_order(text: str) -> None:
    found = decompose(text)
    assert len(found.sub_queries) <= 10
    seen: set[str] = set()
    for part in found.sub_queries:
        assert set(part.dependencies) <= seen
        seen.add(part.id)


def test_a_long_text_is_taken_apart_quickly() -> None:
    assert len(decompose("then and , " * 20_000).sub_queries) <= 10
    assert len(decompose("get x and " * 20_000).sub_queries) <= 10


@pytest.mark.parametrize(
    ("entities", "read"),
    [(None, ()), (5, (5,)), (True, (True,)), ("Ada", ("Ada",)), ({"who": "Ada"}, ({"who": "Ada"},))],
)
def test_entities_are_read_whatever_their_shape(entities: object, read: tuple[object, ...]) -> None:
    found = read_decomposition({"query": "look up Ada", "subQueries": [], "extractedEntities": entities})
    assert found.extracted_entities == read
