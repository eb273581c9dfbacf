"""What a gold plan's arguments have to be, worked out from the recorded outputs alone.

Written apart from the expression language and sharing nothing with it, so that the two can prove each other right.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.records import Record


class NoSuchValue(Exception):
    """A reference to something that was not recorded."""


def expected_arguments(record: Record) -> dict[str, dict[str, Any]]:
    """Step → arguments with every reference replaced. Raises `NoSuchValue`."""
    return {step.step: _filled(step.arguments, record.recorded_outputs) for step in record.gold_plan}


def _filled(value: Any, outputs: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, outputs) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, outputs) for item in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    pieces: list[Any] = []
    rest = value
    while (start := rest.find("{{")) >= 0 and (end := rest.find("}}", start)) >= 0:
        pieces += [rest[:start], _looked_up(rest[start + 2 : end].strip(), outputs)]
        rest = rest[end + 2 :]
    pieces.append(rest)
    if len(pieces) == 3 and pieces[0] == "" and pieces[2] == "":
        return pieces[1]
    return "".join(piece if isinstance(piece, str) else _text(piece) for piece in pieces)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _looked_up(reference: str, outputs: dict[str, Any]) -> Any:
    """Walk `step.name[3].name` character by character."""
    names: list[str | int] = []
    word = ""
    for character in reference + ".":
        if character in ".[":
            if word:
                names.append(word)
            word = ""
        elif character == "]":
            names.append(int(word))
            word = ""
        else:
            word += character
    value: Any = outputs
    for name in names:
        try:
            value = value[name]
        except (KeyError, IndexError, TypeError):
            raise NoSuchValue(f"{{{{{reference}}}}}: nothing at {name!r}") from None
    return value


def same(actual: Any, expected: Any) -> bool:
    """Whether two JSON values are equal, of the same types; 1 and 1.0 are one number, true and 1 are not."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(same(actual[key], expected[key]) for key in actual)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(actual, int | float) and isinstance(expected, int | float):
        return actual == expected
    return type(actual) is type(expected) and bool(actual == expected)


def same_but_for_form(actual: Any, expected: Any) -> bool:
    """As `same`, where a number may also stand for its text and the other way round, at any depth: what a lossless
    fit to a schema may change."""
    if same(actual, expected):
        return True
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(same_but_for_form(actual[key], expected[key]) for key in actual)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(same_but_for_form, actual, expected))
    texts = [value for value in (actual, expected) if isinstance(value, str)]
    others = [value for value in (actual, expected) if isinstance(value, bool | int | float)]
    if len(texts) != 1 or len(others) != 1:
        return False
    try:
        read = json.loads(texts[0])
    except ValueError:
        return False
    return isinstance(read, bool | int | float) and same(read, others[0])
