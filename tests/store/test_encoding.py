"""Texts of an append: a line each, whatever is in them, and the event named that has none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.errors import StoreError
from toolpath.model.events import StepSucceeded, decode_event, encode_event
from toolpath.store.encoding import texts_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def gave(seq: int, output: Any) -> StepSucceeded:
    return StepSucceeded(seq, 1.0, "a", output)


@given(st.lists(json_values, max_size=5))
def test_each_event_has_its_own_text(outputs: list[Any]) -> None:
    events = [gave(seq, output) for seq, output in enumerate(outputs, 4)]
    texts, size, uses = texts_of("run_1", events, 3, largest=10_000_000, most=100)
    assert texts == [encode_event(event) for event in events]
    assert [decode_event(text) for text in texts] == events
    assert (size, uses) == (sum(map(len, texts)), [])


def test_ends_of_lines_inside_a_text_end_no_event() -> None:
    outputs = ["a\nb\r\nc\rd", {"\n": "\u2028\u2029\x85\x0b\x0c\x1c\x1e"}, ""]
    events = [gave(seq, output) for seq, output in enumerate(outputs, 1)]
    assert [decode_event(text) for text in texts_of("run_1", events, 0, largest=1_000, most=100).texts] == events


@pytest.mark.parametrize(
    ("output", "largest", "most", "told"),
    [("\ud800", 1_000, 100, "Event 2"), ("a" * 500, 400, 100, "Event 2"), ("a", 1_000, 1, "number 2")],
)
def test_the_event_that_cannot_be_written_is_named(output: str, largest: int, most: int, told: str) -> None:
    with pytest.raises(StoreError, match=told):
        texts_of("run_1", [gave(1, "a"), gave(2, output), gave(3, "b")], 0, largest=largest, most=most)


def test_blobs_are_named_in_the_order_of_their_events() -> None:
    first, second = "sha256:" + "b" * 64, "sha256:" + "a" * 64
    events = [gave(1, {"$blob": first}), gave(2, "none"), gave(3, [{"$blob": second}, {"$blob": first}])]
    assert texts_of("run_1", events, 0, largest=10_000, most=100).uses == [first, second, first]
