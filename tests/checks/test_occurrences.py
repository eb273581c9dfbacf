"""Places of a text are those that a pattern made of it would find."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolpath.checks.request.occurrences import occurrences, whole_words

TEXTS = st.text(st.sampled_from("aAbBß éÉ_-.1İ\u017f \u0301"), max_size=30)


@given(TEXTS, TEXTS)
def test_whole_words_are_those_of_a_pattern(text: str, said: str) -> None:
    pattern = rf"(?<!\w){re.escape(said)}(?!\w)"
    expected = [one.span() for one in re.finditer(pattern, text)] if said else []
    assert [tuple(one) for one in whole_words(text, said)] == expected
    everywhere = [one.span() for one in re.finditer(re.escape(said), text)] if said else []
    assert [tuple(one) for one in occurrences(text, said)] == everywhere


@given(TEXTS.map(lambda text: text.replace("İ", "").replace("\u017f", "")), TEXTS)
def test_letters_are_alike_as_for_a_pattern(text: str, said: str) -> None:
    said = said.replace("İ", "").replace("\u017f", "")
    pattern = rf"(?<!\w){re.escape(said)}(?!\w)"
    expected = [one.span() for one in re.finditer(pattern, text, re.IGNORECASE)] if said else []
    assert [tuple(one) for one in whole_words(text, said, ignoring_case=True)] == expected
