"""Days and amounts that are written so that two may be meant: `5/12/2026`, `4.500`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from toolpath.checks.request.amounts import is_money
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tongues import tongues_of
from toolpath.values import Json, walk

_DAY: Final = re.compile(
    r"(?<![\w./:-])(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second>\d{1,2})(?:(?P=sign)(?P<year>\d{4}|\d{2}))?(?![\w/:-]"
    r"|\.\w)"
)
_AMOUNT: Final = re.compile(r"(?<![\w.,/:-])(?P<whole>[1-9]\d{0,2})(?P<sign>[.,])(?P<rest>\d{3})(?![\w/:-]|[.,]\d)")
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")


def twofold(seen: Seen) -> Iterator[str]:
    """A question for each day and each amount of an acting call that the request writes so that two may be meant."""
    values = [value for call, _, _ in seen.acting for _, value in walk(call.inputs, "")]
    yield from _days(seen, values)
    yield from _amounts(seen, values)


def _days(seen: Seen, values: list[Json]) -> Iterator[str]:
    days = {tuple(map(int, found.groups())) for one in values if isinstance(one, str) for found in _ISO.finditer(one)}
    taken = {(month, day) for _, month, day in days}
    bare = {str(one) for one in values if isinstance(one, str | int) and str(one).isdigit()}
    # Only English writes both; a point stands behind the day everywhere.
    is_open = "en" in tongues_of(seen.request)
    for found in _DAY.finditer(seen.request):
        first, second = int(found["first"]), int(found["second"])
        if not (0 < first < 32 and 0 < second < 32) or (found["sign"] != "/" and not found["year"]):
            continue
        if found["year"] and not days and {found["first"], found["second"]} & bare:
            yield f"{found.group()!r}: which day is meant?"
        readings = {(month, day) for month, day in ((first, second), (second, first)) if _is_day(month, day)}
        held = readings & taken
        if not held or len(readings) < 2:
            continue
        if found["sign"] == "." or not is_open:
            if held == {(first, second)}:
                yield f"{found.group()!r}: the plan takes the month first. Which day is meant?"
            continue
        month, day = min(readings)
        yield f"{found.group()!r}: is it the day {day} of month {month}, or {month} of month {day}?"


def _is_day(month: int, day: int) -> bool:
    try:
        date(2024, month, day)
    except ValueError:
        return False
    return True


def _amounts(seen: Seen, values: list[Json]) -> Iterator[str]:
    numbers = {float(one) for one in values if isinstance(one, int | float) and not isinstance(one, bool)}
    tongues = tongues_of(seen.request)
    for found in _AMOUNT.finditer(seen.request):
        thousands, decimals = float(found["whole"] + found["rest"]), float(f"{found['whole']}.{found['rest']}")
        if not numbers & {thousands, decimals}:
            continue
        around = seen.request[max(0, found.start() - 2) : found.end() + 12]
        # English parts thousands with a comma, the others with a point; nobody pays thousandths.
        if is_money(around):
            is_other = decimals in numbers
        elif "en" in tongues:
            # Words that are English and French leave it open.
            is_other = (decimals if found["sign"] == "," else thousands) in numbers or (
                found["sign"] == "." and len(tongues) > 1
            )
        else:
            is_other = found["sign"] == "," or decimals in numbers
        if is_other:
            yield f"{found.group()!r}: is it {thousands:,.0f}, or {decimals:g}?"
