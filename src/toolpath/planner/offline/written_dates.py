"""Days as parameters want them written: `MM/DD/YYYY` where a description says so. Pure.

Which day a request means is read by `request/moments.py` alone.
"""

from __future__ import annotations

import re
from datetime import date

_FORMATS = {
    "%Y-%m-%d": r"yyyy-mm-dd|iso ?8601|year-month-day|yyyy-MM-dd",
    "%m/%d/%Y": r"mm/dd/yyyy|month/day/year",
    "%d/%m/%Y": r"dd/mm/yyyy|day/month/year",
    "%m-%d-%Y": r"mm-dd-yyyy|month-day-year",
    "%d-%m-%Y": r"dd-mm-yyyy|day-month-year",
    "%Y/%m/%d": r"yyyy/mm/dd|year/month/day",
    "%d.%m.%Y": r"dd\.mm\.yyyy",
}


def write_date(iso: str, description: str) -> str:
    """The date in the form that the description names, else as `YYYY-MM-DD`."""
    if len(iso) > 10:
        # A moment, which its request wrote out: the day alone would cut the time off.
        return iso
    for form, pattern in _FORMATS.items():
        if re.search(pattern, description, re.IGNORECASE):
            return date.fromisoformat(iso).strftime(form)
    return iso
