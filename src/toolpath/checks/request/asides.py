"""Asides in a request that make its command none: a comment, `/s`, `jk`; a slip put right: `*V-8`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.seen import Seen

_JOKES: Final = re.compile(
    r"<!--|(?<!\S)(?:/s|/j|/jk|j/k)(?![\w/])|(?<![\w-])(?:jk|kidding|lol\s+no|not\s+really)(?![\w-])", re.IGNORECASE
)
_PUT_RIGHT: Final = re.compile(r"(?:^|[\n.;!,])\s*\*(?P<right>\w[\w-]*)(?![\w*])(?!\s*\w[^*\n]*\*)")


def asides(seen: Seen) -> Iterator[str]:
    """A question for each aside that takes back or puts right what the request commands."""
    for found in _JOKES.finditer(seen.request):
        start, end = found.span()
        if "/" not in found.group() and seen.plain[start:end] != seen.request[start:end]:
            continue
        yield f"The request says {found.group()!r}: is it meant in earnest?"
    for one in _PUT_RIGHT.finditer(seen.request):
        yield f"'*{one['right']}' puts something right: what is meant?"
