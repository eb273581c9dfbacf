"""Numbers said in words."""

from __future__ import annotations

import pytest

from toolpath.checks.request.tongues import Tongue
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.number_words import numbers_in_words
from toolpath.planner.offline.request.spans import spans_of

ALL: tuple[Tongue, ...] = ("de", "en", "es", "fr")


@pytest.mark.parametrize(
    ("tongue", "text", "values"),
    [
        ("en", "sixty-two chairs for seventeen people", [62, 17]),
        ("en", "four hundred and eleven copies", [411]),
        ("de", "dreiundvierzig Stühle für sechzehn Leute", [43, 16]),
        ("de", "zweihundertfünf Kopien", [205]),
        ("fr", "soixante-dix-huit chaises pour seize personnes", [78, 16]),
        ("es", "ochenta y seis sillas para dieciséis personas", [86, 16]),
        ("en", "the third of them and one more", []),
        ("fr", "une chaise", []),
        ("en", "half a million rows, 3 million lines", []),
        ("en", "room 4 nine people", [9]),
        ("en", "", []),
        ("en", "\ud800 \u0663 \u4e94 seven", [7]),
    ],
)
def test_numbers_are_read_in_words(tongue: Tongue, text: str, values: list[int]) -> None:
    assert [one.value for one in numbers_in_words(text, (tongue,))] == values


def test_a_word_of_two_languages_is_a_number_only_where_the_language_is_known() -> None:
    assert numbers_in_words("once", ALL) == ()
    assert [one.value for one in numbers_in_words("once", ("es",))] == [11]
    assert [one.value for one in numbers_in_words("seventeen", ALL)] == [17]


def test_a_number_in_words_is_one_value_with_its_place() -> None:
    text = "Please order three hundred screws"
    (found,) = [one for one in spans_of(text) if one.kind == "number"]
    assert (found.value, text[found.start : found.end]) == (300, "three hundred")
    (mention,) = [one for one in mentions(text) if one.kind == "number"]
    assert (mention.value, mention.text) == (300, "three hundred")


@pytest.mark.parametrize(
    ("text", "minutes"), [("wait for forty-five minutes", 45), ("bitte vierzig Minuten warten", 40)]
)
def test_a_length_of_time_is_said_in_words(text: str, minutes: int) -> None:
    assert [(one.value, one.unit) for one in spans_of(text) if one.kind == "duration"] == [(minutes, "minute")]
