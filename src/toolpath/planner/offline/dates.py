"""Dates and times in a request: found, and written as a parameter wants them. Pure: no clock.

What is relative, as `tomorrow` or `next Friday`, is read by `request/moments.py`; a model is told the time by
`planner/by_model/prompt.py`.
"""

from __future__ import annotations

import re
from datetime import date

_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ],
        start=1,
    )
    for name in names.split()
}
_MONTH = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
DATE = re.compile(
    rf"\b\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}\b|\b\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}\b"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH},?\s+\d{{4}}\b",
    re.IGNORECASE,
)
TIME = re.compile(r"\bT?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?", re.IGNORECASE)
_FORMATS = {
    "%Y-%m-%d": r"yyyy-mm-dd|iso ?8601|year-month-day|yyyy-MM-dd",
    "%m/%d/%Y": r"mm/dd/yyyy|month/day/year",
    "%d/%m/%Y": r"dd/mm/yyyy|day/month/year",
    "%m-%d-%Y": r"mm-dd-yyyy|month-day-year",
    "%d-%m-%Y": r"dd-mm-yyyy|day-month-year",
    "%Y/%m/%d": r"yyyy/mm/dd|year/month/day",
    "%d.%m.%Y": r"dd\.mm\.yyyy",
}


def read_date(text: str) -> str | None:
    """The date as `YYYY-MM-DD`, or None where there is no such day. `3/4/2020` is read month first."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    month = next((_MONTHS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _MONTHS), None)
    try:
        if month is not None:
            day, year = numbers[0], numbers[1]
        elif numbers[0] > 31:
            year, month, day = numbers
        else:
            month, day, year = numbers
            if month > 12:
                month, day = day, month
        return date(year, month, day).isoformat()
    except (ValueError, IndexError):
        return None


def write_date(iso: str, description: str) -> str:
    """The date in the form that the description names, else as `YYYY-MM-DD`."""
    if len(iso) > 10:
        # A moment, which its request wrote out: the day alone would cut the time off.
        return iso
    for form, pattern in _FORMATS.items():
        if re.search(pattern, description, re.IGNORECASE):
            return date.fromisoformat(iso).strftime(form)
    return iso
