"""Slips of people who have another language in mind, and how it is written here. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TIME: Final = "Only 'run.started_at' tells of time; use a tool for others."
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
    (r"\b(?:AND|OR|NOT)\b", "Write `and`, `or`, `not` in small letters."),
    (r"\|\s*\w+\s*:", "Write what a filter takes in round brackets, e.g. `| truncate(5)`."),
    (r"^\s*[#/]\s*\w+", "There are no blocks: write `a if condition else b`, `when` at the step, or a loop."),
    (r"\btypeof\b", "Ask `x is string`, `x is number`, `x is sequence` or `x is mapping`."),
    (r"\binstanceof\b", "Ask `x is string`, `x is number`, `x is sequence` or `x is mapping`."),
    (r"\bnew\s+Date\b", _TIME),
    (r"\bnew\b", "Nothing is made in an expression: leave `new` out, or use a tool."),
    (r"\b(?:await|async)\b", "Leave it out: a step that is read has ended."),
    (r"<\s*(?=[A-Za-z_][\w.]*\s*>)", "Leave the `<` and `>` out."),
    (r"@", "Leave the `@` out."),
    (r"\bfor\b", "Write `items | map(lambda x: x.id)`."),
    (r"^\s*\.(?=\w)", "Leave the first dot out."),
    (r"\$\.", "Leave the `$.` out."),
    (r"\$", "Leave the `$` out."),
    (r"\+\+|--", "Write `x + 1`; an expression changes nothing."),
    (r"[;]", "Write one expression."),
    ("[\u201c\u201d\u201e\u2018\u2019]", "Write straight quotes: 'text'."),
)
_JOIN = "Join texts with `~`: 'text' ~ value; or write the text outside the braces: text {{ value }}."
_FORMATTED = re.compile(r"\b[fF](?=['\"])|'\s*%\s*\(")
#: Methods, functions and filters of other languages → the filter of this one.
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
    **dict.fromkeys(("touppercase", "toupper", "uppercase", "upcase", "ucase", "strtoupper"), "upper"),
    "upper": "upper",
    **dict.fromkeys(("tolowercase", "tolower", "lowercase", "downcase", "lcase", "strtolower"), "lower"),
    "lower": "lower",
    **dict.fromkeys(("titlecase", "totitle", "capitalizeall"), "title"),
    "capitalise": "capitalize",
    "strip": "trim",
    "trim": "trim",
    "jsonstringify": "json",
    "stringify": "json",
    "dumps": "json",
    "jsonencode": "json",
    "inspect": "json",
    "urlescape": "urlencode",
    "encodeuricomponent": "urlencode",
    "isempty": "length == 0",
    "uniq": "unique",
    "distinct": "unique",
    "compact": "select",
    "where": "selectattr('field', 'eq', value)",
    "pluck": "map(attribute='field')",
    "orderby": "sort(attribute='field')",
    "sortby": "sort(attribute='field')",
    "ifempty": "default(…, true)",
    "coalesce": "default(…)",
    "defaultifnone": "default(…, true)",
    "dict2items": "items",
    "toentries": "items",
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


#: Filters of other languages that are no filter here → what is written instead.
_NO_FILTER: Final = {
    **dict.fromkeys(("append", "prepend", "concat", "format", "sprintf", "printf"), _JOIN),
    **dict.fromkeys(("plus", "add"), "Write `a + b`."),
    **dict.fromkeys(("minus", "subtract"), "Write `a - b`."),
    **dict.fromkeys(("times", "multiply"), "Write `a * b`."),
    **dict.fromkeys(("dividedby", "divide"), "Write `a / b`."),
    **dict.fromkeys(("modulo", "mod"), "Write `a % b`."),
    **dict.fromkeys(("contains", "includes"), "Write `part in whole`."),
    **dict.fromkeys(("ternary", "iif"), "Write `a if condition else b`."),
    **dict.fromkeys(("safe", "escape", "e", "raw"), "Leave it out: nothing is escaped here."),
    **dict.fromkeys(("attr", "get"), "Write `value.key` or `value['key']`."),
    **dict.fromkeys(("date", "strftime", "now"), "Dates are text here: use a tool for them."),
    **dict.fromkeys(("fromjson", "parsejson", "jsondecode"), "Texts are not parsed here: let the tool give an object."),
}


def filter_hint(name: str, known: Callable[[str], bool]) -> str:
    """The hint for a filter of another language; empty: none is known."""
    folded = _folded(name)
    if folded in _NO_FILTER:
        return _NO_FILTER[folded]
    found = FILTERS.get(folded) or (folded if known(folded) else "")
    return f"Write `| {found}`." if found else ""


def sign_hint(source: str, offset: int) -> str:
    """The hint for the sign at, or shortly before, the place where parsing ended; empty: none is known."""
    if not source.strip():
        return "Write what is to be read between the braces, e.g. {{ inputs.name }}."
    if source.lstrip().startswith("{{"):
        return "One pair of braces is enough: take the inner one out."
    if source.startswith("{"):
        return "Write two braces on each side: {{ a.field }}."
    for found in _FORMATTED.finditer(source):
        if found.start() <= offset <= found.end() + 1:
            return _JOIN
    for pattern, hint in _SIGNS:
        for found in re.finditer(pattern, _without_texts(source)):
            if found.start() - 2 <= offset <= found.end() + 1:
                return hint
    return ""


def call_hint(name: str, known: Callable[[str], bool]) -> str:
    """The hint for a call."""
    folded = _folded(name)
    if folded in ("includes", "contains"):
        return "Write `part in whole`."
    if folded == "format":
        return _JOIN
    if folded in ("typeof", "type", "isinstance"):
        return "Ask `x is string`, `x is number`, `x is sequence` or `x is mapping`."
    if folded in ("now", "today", "utcnow", "date", "time"):
        return _TIME
    if folded in ("startswith", "endswith"):
        return "Compare a slice: `text[:3] == 'abc'`."
    found = FILTERS.get(folded) or (name if known(name) else "")
    return f"Write `value | {found}`." if found else "Use a filter, or a tool for it."


def _folded(name: str) -> str:
    return name.lower().replace("_", "").rpartition(".")[2]


def _without_texts(source: str) -> str:
    """The source with what stands in quotes blanked, so that no sign in it counts."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: " " * len(found.group()), source)
