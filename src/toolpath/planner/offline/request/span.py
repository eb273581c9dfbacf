"""One value of a request, with its kind and its place. Pure data."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.values import Json

Kind = Literal[
    "quoted",
    "email",
    "url",
    "phone",
    "iban",
    "pattern",
    "path",
    "slash",
    "day",
    "moment",
    "month",
    "time",
    "language",
    "unit",
    "money",
    "duration",
    "percent",
    "id",
    "code",
    "number",
    "name",
    "list",
]


class Span(msgspec.Struct, frozen=True):
    """A value with its place in the request."""

    kind: Kind
    text: str
    value: Json
    start: int
    end: int
    unit: str = ""
    """Of money its currency, of a duration its unit in the singular, of a number `#` where one stands before it.

    Of a day `last` where it ends a period.
    """
