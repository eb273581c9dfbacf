"""What people write who have another language in mind, and how it is written here. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

#: What stands where the parser gave up → what to write instead. The first that fits around that place is told.
_SIGNS: Final[tuple[tuple[str, str], ...]] = (
    (r"&&", "Write `and`."),
    (r"\|\|", "Write `or`; `x | default(y)` for what may not be there."),
    (r"\?\?", "Write `x | default(y)`."),
    (r"\?\.", "Write `.`, and `| default(…)` behind it for what may not be there."),
    (r"[!=]==", "Write `==` or `!=`."),
    (r"=>", "Write `lambda x: …`, e.g. `items | map(lambda x: x.id)`."),
    (r"\?[^?.]*:", "Write `a if condition else b`."),
    (r"`", "Write text in quotes: 'text', and join it with `~`."),
    (r"!(?!=)", "Write `not`."),
    (r"(?<![=!<>])=(?!=)", "Write `==` to compare."),
    (r"\$", "Leave the `$` out."),
    (r"\+\+|--", "Write `x + 1`; an expression changes nothing."),
    (r"[;]", "Write one expression."),
    ("[\u201c\u201d\u201e\u2018\u2019]", "Write straight quotes: 'text'."),
)
#: Methods and functions of other languages → the filter of this one.
FILTERS: Final = {
    "len": "length",
    "length": "length",
    "size": "length",
    "count": "length",
    "str": "string",
    "string": "string",
    "tostring": "string",
    "int": "int",
    "parseint": "int",
    "integer": "int",
    "float": "float",
    "number": "float",
    "parsefloat": "float",
    "touppercase": "upper",
    "upper": "upper",
    "tolowercase": "lower",
    "lower": "lower",
    "strip": "trim",
    "trim": "trim",
    "jsonstringify": "json",
    "stringify": "json",
    "dumps": "json",
    "concat": "join('')",
    "sorted": "sort",
    "substring": "truncate",
    "filter": "filter(lambda x: …)",
    "map": "map(lambda x: …)",
    "get": "default(…)",
    "includes": "",
    "contains": "",
    "startswith": "",
    "endswith": "",
}


def sign_hint(source: str, offset: int) -> str:
    """What to write instead of what stands at, or shortly before, the place where parsing ended; empty: not known."""
    if not source.strip():
        return "Write what is to be read between the braces, e.g. {{ inputs.name }}."
    if source.lstrip().startswith("{{"):
        return "One pair of braces is enough: take the inner one out."
    for pattern, hint in _SIGNS:
        for found in re.finditer(pattern, _without_texts(source)):
            if found.start() - 2 <= offset <= found.end() + 1:
                return hint
    return ""


def call_hint(name: str, known: Callable[[str], bool]) -> str:
    """What to write instead of a call."""
    folded = name.lower().replace("_", "").rpartition(".")[2]
    if folded in ("includes", "contains"):
        return "Write `part in whole`."
    if folded in ("startswith", "endswith"):
        return "Compare a slice: `text[:3] == 'abc'`."
    found = FILTERS.get(folded) or (name if known(name) else "")
    return f"Write `value | {found}`." if found else "Use a filter, or a tool for it."


def _without_texts(source: str) -> str:
    """The source with what stands in quotes blanked, so that no sign in it counts."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: " " * len(found.group()), source)
