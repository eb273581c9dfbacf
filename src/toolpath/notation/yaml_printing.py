"""A JSON value → YAML text in block style that YAML 1.2 (and 1.1) reads as the same value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from toolpath.values import MAX_DEPTH, Json

# Text that needs no quotes: no indicator in front, nothing that any version of YAML takes for something else.
_BARE = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./@+$-]|(?: (?=[A-Za-z0-9_])))*|[0-9]{1,9}[smh]", re.ASCII)
_MEANS_SOMETHING = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
# Characters that JSON leaves in text and YAML does not admit, or takes for a line end.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_NOT_IN_BLOCK = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
#: YAML reads a key without `?` only up to 1,024 characters.
_LONGEST_KEY = 1000


def print_yaml(value: Json) -> str:
    """The value as YAML text. Raises `ValueError` for what is no JSON, or nested deeper than any reader goes."""
    if isinstance(value, dict | list | tuple) and value:
        return "\n".join(_lines(value, "", 0)) + "\n"
    return _scalar(value) + "\n"


def _lines(value: Json, indent: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise ValueError(f"The value is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _member(key, item, indent, depth)
    else:
        for item in value:
            yield from _item(item, indent, depth)


def _member(key: Json, item: Json, indent: str, depth: int) -> Iterator[str]:
    if not isinstance(key, str):
        raise ValueError(f"The key {key!r:.60} is no text.")
    name = _text(key)
    if len(name) > _LONGEST_KEY:
        yield f"{indent}? {name}"
        lead = f"{indent}:"
    else:
        lead = f"{indent}{name}:"
    if isinstance(item, dict | list | tuple) and item:
        yield lead
        yield from _lines(item, indent + "  ", depth + 1)
    elif isinstance(item, str) and _fits_block(item):
        yield from _block_text(lead, item, indent + "  ")
    else:
        yield f"{lead} {_scalar(item)}"


def _item(item: Json, indent: str, depth: int) -> Iterator[str]:
    if isinstance(item, dict | list | tuple) and item:
        inner = _lines(item, indent + "  ", depth + 1)
        yield f"{indent}- {next(inner)[len(indent) + 2 :]}"
        yield from inner
    elif isinstance(item, str) and _fits_block(item):
        yield from _block_text(f"{indent}-", item, indent + "  ")
    else:
        yield f"{indent}- {_scalar(item)}"


def _scalar(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise ValueError("NaN and infinity are no JSON.")
            return repr(value)
        case str():
            return _text(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            raise ValueError(f"{type(value).__name__} is no JSON.")


def _text(text: str) -> str:
    if len(text) < 200 and _BARE.fullmatch(text) and text.lower() not in _MEANS_SOMETHING:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _fits_block(text: str) -> bool:
    """Several lines that read well, and that survive, below a `|`."""
    if "\n" not in text or text[0] in " \n" or text.endswith("\n\n") or _NOT_IN_BLOCK.search(text):
        return False
    return not any(line.endswith(" ") for line in text.split("\n"))


def _block_text(lead: str, text: str, indent: str) -> Iterator[str]:
    yield f"{lead} |" if text.endswith("\n") else f"{lead} |-"
    for line in text.removesuffix("\n").split("\n"):
        yield f"{indent}{line}" if line else ""
