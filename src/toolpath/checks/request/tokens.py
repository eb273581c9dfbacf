"""Tokens of a request: quotations, digits with what they count, dates. Pure."""

from __future__ import annotations

import re
from typing import Final

QUOTED: Final = re.compile(
    # What opens a quotation ends another one: each of many in a row would be tried with all that follows.
    r'"([^"\n]{1,4000})"|“([^“”\n]{1,4000})[”“]|„([^„“”"\n]{1,4000})[“”"]|«\s*([^«»\n]{1,4000}?)\s*»|`([^`\n]{1,4000})`'
    r"|(?<![\w])[\u2018']([^'\n]{1,4000}?(?:['\u2019][a-z][^'\n]{0,200}?){0,20})[\u2019'](?![\w])"
)
"""Quotations, whatever marks they stand in; the group that matched is what is quoted."""
#: What stands at the edges of a token and is none of it.
EDGES: Final = ".,;:!?¿¡()[]{}<>'\u2018\u2019*…"
#: Digits and what they count, in one token: `5kg`, `3rd`, `10am`, `20%`.
COUNTED: Final = re.compile(
    r"[-+~#$€£¥]{0,2}(?P<number>\d+(?:[.,]\d+)*)\s?(?:%|°|st|nd|rd|th|er|re|e|k|m|kg|g|mg|lbs?|km|cm|mm|mi|ft|in|hz"
    r"|khz|mhz|ghz|ms|s|min|mins|h|hrs?|hours?|d|"
    r"days?|weeks?|months?|years?|years?-old|[ap]\.?m|l|ml|gb|mb|kb|tb|w|kw|v|mph|x|€|\$|£|eur|usd|gbp|chf|uhr|m/s"
    r"|km/h|m/s\^?2|°c|°f|c|f|-\w+)?",
    re.IGNORECASE,
)
#: A date or a time in digits.
DATED: Final = re.compile(r"\d{1,4}([-/.:])\d{1,2}(?:\1\d{1,4})?(?:t\d{1,2}:\d{2}.*|z)?", re.IGNORECASE)


def quoted_by(found: re.Match[str]) -> str:
    """The text within the marks of a quotation."""
    return next(group for group in found.groups() if group is not None).strip()
