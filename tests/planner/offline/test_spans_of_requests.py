"""Values of a request by their form: nothing is cut out of them, and days and times are read as people say them."""

from __future__ import annotations

import re
from datetime import date

import pytest

from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.spans import spans_of
from toolpath.planner.offline.request.toolbox import forms_of

WEDNESDAY = date(2026, 5, 13)


def values(text: str, *examples: str) -> list[object]:
    return [one.value for one in spans_of(text, WEDNESDAY, tuple(forms_of(examples)))]


def first(text: str, kind: str) -> Span:
    return next(one for one in spans_of(text, WEDNESDAY) if one.kind == kind)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("whats P-1044's obs looking like", "P-1044"),
        ("open a sev2 on checkout", "sev2"),
        ("where's B-MX 4471 and is it ok to go out?", "B-MX 4471"),
        ("check B-KL 220 in", "B-KL 220"),
        ("bump web to registry.local/web:2.8.1", "registry.local/web:2.8.1"),
        ("set it to nginx:1.27", "nginx:1.27"),
        ("tell #oncall the failover is done", "#oncall"),
        ("kill pod api-5d8-kk2 the hard way", "api-5d8-kk2"),
        ("logs of web-77-ab", "web-77-ab"),
        ("cut v2.4.0 of it", "v2.4.0"),
    ],
)
def test_a_code_is_one_value_and_nothing_is_cut_out_of_it(text: str, value: str) -> None:
    assert values(text) == [value]


def test_a_code_looks_as_the_examples_of_the_tools_do() -> None:
    assert values("who's missing from 9c", "7b") == ["9c"]
    assert values("move it to F12-3", "A1-07") == ["F12-3"]
    assert [form.pattern for form in forms_of(["P-1001"])] == [r"(?<![\w.-])(?i:P\-)\d{1,6}(?![\w-])"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("table for 4 tonight at half seven", "2026-05-13T19:30"),
        ("wake me at quarter to six tomorrow morning", "2026-05-14T05:45"),
        ("schedule it for friday 6 in the morning", "2026-05-15T06:00"),
        ("hold it until tomorrow 8am", "2026-05-14T08:00"),
        ("anything free on the 23rd at 8pm?", "2026-05-23T20:00"),
        ("ein Tisch am 23. um 20 Uhr", "2026-05-23T20:00"),
        ("el viernes a las 9 de la mañana", "2026-05-15T09:00"),
        ("mañana por la mañana a las ocho", "2026-05-14T08:00"),
        ("demain à sept heures et demie", "2026-05-14T07:30"),
        ("morgen früh um 6", "2026-05-14T06:00"),
        ("Freitag um halb acht", "2026-05-15T07:30"),
        ("meet at 8 tonight", "2026-05-13T20:00"),
        ("tomorrow afternoon at 3", "2026-05-14T15:00"),
    ],
)
def test_a_day_and_its_time_are_one_moment(text: str, value: str) -> None:
    assert first(text, "moment").value == value


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("any vans free from 22 to 25 May?", ["2026-05-22", "2026-05-25"]),
        ("vom 3. bis 7. Juni", ["2026-06-03", "2026-06-07"]),
        ("les absences depuis le 4 mai", ["2026-05-04"]),
        ("since 20 December", ["2025-12-20"]),
        ("bis 20. Mai verlängern", ["2026-05-20"]),
        ("las reservas de mañana", ["2026-05-14"]),
        ("desde el lunes", ["2026-05-11"]),
        ("she was away on monday", ["2026-05-11"]),
        ("um 7 am Montag", ["2026-05-18"]),
    ],
)
def test_days_are_read_with_what_stands_beside_them(text: str, days: list[str]) -> None:
    assert [one.value for one in spans_of(text, WEDNESDAY) if one.kind == "day"] == days


def test_a_time_of_either_half_of_the_day_is_none_until_it_is_said() -> None:
    assert first("book it for half seven", "time").value is None
    assert first("mesa a las siete y media", "time").value == "07:30"


@pytest.mark.parametrize("text", ["ten to twelve people", "table for 4 tonight", "publie le 23 et le 24"])
def test_a_number_is_no_time_for_standing_near_one(text: str) -> None:
    assert [one for one in spans_of(text, WEDNESDAY) if one.kind in ("time", "moment")] == []


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("order 20kg flour", 20, "kg"),
        ("order 20 kg flour", 20, "kg"),
        ("200 Stück davon", 200, "stuck"),
        ("drei Flaschen Riesling", 3, "flaschen"),
        ("24 botellas de Rioja", 24, "botellas"),
    ],
)
def test_a_measure_belongs_to_its_number(text: str, number: int, unit: str) -> None:
    found = first(text, "number")
    assert (found.value, found.unit) == (number, unit)


def test_words_keep_no_letters_of_codes() -> None:
    assert re.search(r"\bsev\b", " ".join(str(one.value) for one in spans_of("open a sev2", None))) is None
