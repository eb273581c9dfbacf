"""Filters of text and numbers. Bounded functions of JSON with Jinja's names; each takes the budget and its subject."""

from __future__ import annotations

import math
import re
import textwrap
import urllib.parse

import msgspec

from toolpath.errors import OverBudget
from toolpath.expressions.budget import MAX_TEXT, WorkBudget
from toolpath.expressions.operate import bounded, json_text, text, whole, wrong
from toolpath.values import Json, type_name

_word = re.compile(r"\w+")
#: Digits in a text that is read as a number.
_MAX_DIGITS = 300
_MAX_WIDTH = 10_000


def _text(value: Json, budget: WorkBudget, name: str) -> str:
    if type(value) is not str:
        raise wrong(f"{name} needs text, not {type_name(value)}.", "Make it text with | string.")
    budget.text(len(value))
    return value


def _whole(value: Json, name: str, what: str, limit: int = MAX_TEXT) -> int:
    value = whole(value)
    if type(value) is not int:
        raise wrong(f"{name}: {what} is an integer, not {type_name(value)}.")
    if abs(value) > limit:
        raise OverBudget(f"{name}: {what} is at most {limit}.")
    return value


def string(budget: WorkBudget, value: Json) -> str:
    """The value as it stands inside text."""
    return text(value, budget)


def to_json(budget: WorkBudget, value: Json, indent: Json = None) -> str:
    """The value as JSON text; compact, unless `indent` says how many blanks a level takes."""
    compact = json_text(value, budget)
    if indent is None:
        return compact
    # A line of formatted JSON ends with one of these, and is indented by at most its depth.
    lines = sum(map(compact.count, ",[{]}"))
    budget.text(len(compact) + lines * (2 + budget.weigh(value) * _whole(indent, "json", "indent", 8)))
    return msgspec.json.format(compact, indent=indent)


def lower(budget: WorkBudget, value: Json) -> str:
    """The text in small letters."""
    return _text(value, budget, "lower").lower()


def upper(budget: WorkBudget, value: Json) -> str:
    """The text in capitals."""
    return _text(value, budget, "upper").upper()


def capitalize(budget: WorkBudget, value: Json) -> str:
    """The text with its first letter a capital and the others small."""
    return _text(value, budget, "capitalize").capitalize()


def title(budget: WorkBudget, value: Json) -> str:
    """The text with each word capitalised."""
    return _word.sub(lambda found: found[0].capitalize(), _text(value, budget, "title"))


def trim(budget: WorkBudget, value: Json, chars: Json = None) -> str:
    """The text without blanks, or `chars`, at both ends."""
    return _text(value, budget, "trim").strip(None if chars is None else _text(chars, budget, "trim"))


def replace(budget: WorkBudget, value: Json, old: Json, new: Json, count: Json = None) -> str:
    """The text with `old` replaced by `new`, at most `count` times."""
    source, old, new = (_text(part, budget, "replace") for part in (value, old, new))
    times = source.count(old) if old else len(source) + 1
    if count is not None:
        times = max(min(times, _whole(count, "replace", "count")), 0)
    budget.text(len(source) + times * max(len(new) - len(old), 0))
    return source.replace(old, new, times)


def split(budget: WorkBudget, value: Json, separator: Json = None, limit: Json = None) -> list[str]:
    """The parts of the text between separators; between blanks where none is given."""
    source = _text(value, budget, "split")
    at = None if separator is None else _text(separator, budget, "split")
    if at == "":
        raise wrong("split: the separator is empty.")
    budget.charge(len(source) >> 1 if at is None else source.count(at))
    return source.split(at, -1 if limit is None else _whole(limit, "split", "limit"))


def truncate(
    budget: WorkBudget, value: Json, length: Json = 255, killwords: Json = False, end: Json = "...", leeway: Json = 5
) -> str:
    """The text cut to `length` characters, between words unless `killwords`, with `end` behind."""
    source, tail = _text(value, budget, "truncate"), _text(end, budget, "truncate")
    length = _whole(length, "truncate", "length")
    if length < len(tail):
        raise wrong(f"truncate: length is at least {len(tail)}, the length of its end.")
    if len(source) <= length + _whole(leeway, "truncate", "leeway"):
        return source
    cut = source[: length - len(tail)]
    return (cut if killwords else cut.rsplit(" ", 1)[0]) + tail


def center(budget: WorkBudget, value: Json, width: Json = 80) -> str:
    """The text in the middle of `width` characters."""
    return _text(value, budget, "center").center(_whole(width, "center", "width", _MAX_WIDTH))


def indent(budget: WorkBudget, value: Json, width: Json = 4, first: Json = False, blank: Json = False) -> str:
    """The text with each line but the first indented, by a number of blanks or a text."""
    source = _text(value, budget, "indent")
    by = width if type(width) is str else " " * _whole(width, "indent", "width", _MAX_WIDTH)
    lines = source.splitlines()
    budget.text(len(source) + len(lines) * len(by))
    moved = [line if at == 0 and not first else by + line if line or blank else line for at, line in enumerate(lines)]
    return "\n".join(moved)


def wordwrap(budget: WorkBudget, value: Json, width: Json = 79, break_long_words: Json = True) -> str:
    """The text broken into lines of `width` characters."""
    source = _text(value, budget, "wordwrap")
    width = _whole(width, "wordwrap", "width", _MAX_WIDTH)
    if width < 1:
        raise wrong("wordwrap: width is at least 1.")
    # Each piece cut off a long word copies the rest of it.
    longest = max(map(len, source.split()), default=0)
    budget.charge(len(source) + (longest * len(source) // width >> 8))
    wrap = textwrap.TextWrapper(
        width,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=bool(break_long_words),
        break_on_hyphens=False,
    )
    return "\n".join("\n".join(wrap.wrap(line)) for line in source.splitlines())


def wordcount(budget: WorkBudget, value: Json) -> int:
    """How many words the text has."""
    return sum(1 for _ in _word.finditer(_text(value, budget, "wordcount")))


def urlencode(budget: WorkBudget, value: Json) -> str:
    """A text quoted for a URL; an object or list of pairs as a query string."""
    if type(value) is str:
        budget.text(3 * len(value))
        return urllib.parse.quote(value.encode("utf-8", "replace"), safe="/")
    pairs = list(value.items()) if type(value) is dict else value
    if type(pairs) is not list or not all(type(pair) in (list, tuple) and len(pair) == 2 for pair in pairs):
        raise wrong("urlencode needs text, an object, or a list of pairs.")
    quoted = [
        "=".join(urllib.parse.quote_plus(text(part, budget).encode("utf-8", "replace")) for part in pair)
        for pair in pairs
    ]
    budget.text(sum(map(len, quoted)))
    return "&".join(quoted)


def to_int(budget: WorkBudget, value: Json, default: Json = 0, base: Json = 10) -> Json:
    """The integer that the value or its text stands for, without a fraction; `default` where it stands for none."""
    if type(value) is str:
        budget.text(len(value))
        base = _whole(base, "int", "base", 36)
        if len(value) > _MAX_DIGITS:
            return default
        try:
            return bounded(int(value, base))
        except ValueError:
            value = to_float(budget, value, None)
    if type(value) is float and not math.isfinite(value):
        return default
    return int(value) if type(value) in (int, float, bool) else default


def to_float(budget: WorkBudget, value: Json, default: Json = 0.0) -> Json:
    """The number that the value or its text stands for; `default` where it stands for none."""
    if (type(value) is str and len(value) > _MAX_DIGITS) or type(value) not in (str, int, float, bool):
        return default
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return default
    return found if math.isfinite(found) else default


def number(value: Json, name: str) -> Json:
    """The value, which must be a number."""
    if type(value) is not int and type(value) is not float:
        raise wrong(f"{name} needs a number, not {type_name(value)}.", "Read it from text with | int or | float.")
    return value


def absolute(budget: WorkBudget, value: Json) -> Json:
    """The number without its sign."""
    return abs(number(value, "abs"))


def rounded(budget: WorkBudget, value: Json, precision: Json = 0, method: Json = "common") -> Json:
    """The number to so many digits after the point; `common`, `ceil` or `floor`."""
    value = number(value, "round")
    digits = _whole(precision, "round", "precision", 100)
    if method == "common":
        return bounded(float(round(value, digits)))
    if method not in ("ceil", "floor"):
        raise wrong("round: method is 'common', 'ceil' or 'floor'.")
    scale = 10.0**digits
    try:
        scaled = value * scale
        return bounded((math.ceil(scaled) if method == "ceil" else math.floor(scaled)) / scale)
    except OverflowError:
        raise wrong("round: the result is no finite number.") from None


def filesizeformat(budget: WorkBudget, value: Json, binary: Json = False) -> str:
    """A number of bytes for people: `13 kB`, `4.1 MiB`."""
    size = float(number(value, "filesizeformat"))
    step = 1024 if binary else 1000
    if abs(size) < step:
        return "1 Byte" if size == 1 else f"{int(size)} Bytes"
    units = "KMGTPEZY" if binary else "kMGTPEZY"
    power = 0
    while abs(size) >= step and power < len(units):
        size /= step
        power += 1
    return f"{size:.1f} {units[power - 1]}{'iB' if binary else 'B'}"
