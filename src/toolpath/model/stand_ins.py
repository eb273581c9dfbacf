"""Stand-ins: texts that stand for what a person typed into a password field, wherever it is kept or shown. Pure.

`[secret:…]` is handed on like any text. In the arguments of a call it becomes what it stands for, at the last moment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from toolpath.values import Json, JsonObject

_STAND_IN: Final = re.compile(r"\[secret:([0-9a-f]{24})\]")
#: What the name of an argument has in it that takes a secret, where its schema does not say so.
_TAKES: Final = re.compile(r"pass(?!enger|age|ive)|secret|token|credential|api[_-]?key|(?<![a-z])pin(?![a-z])", re.I)


def stand_in(name: str) -> str:
    """The text that stands for the secret of this name: 24 hexadecimal digits."""
    return f"[secret:{name}]"


def names_in(value: Json) -> Iterator[str]:
    """Names of the secrets that stand-ins in the value stand for."""
    match value:
        case str():
            yield from _STAND_IN.findall(value)
        case dict():
            for key, item in value.items():
                yield from _STAND_IN.findall(key)
                yield from names_in(item)
        case list():
            for item in value:
                yield from names_in(item)


def filled(value: Json, known: Mapping[str, str]) -> Json:
    """The value with what is known in the place of its stand-ins."""
    match value:
        case str():
            return _STAND_IN.sub(_found_in(known), value)
        case dict():
            return {_STAND_IN.sub(_found_in(known), key): filled(item, known) for key, item in value.items()}
        case list():
            return [filled(item, known) for item in value]
        case _:
            return value


def _found_in(known: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda found: known.get(found[1], found[0])


def misplaced(inputs: JsonObject, schema: JsonObject) -> list[str]:
    """The arguments with a stand-in that take no secret by their schema: `format: password`, `writeOnly`, or a name
    as `password`, `api_key` or `token`."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return [
        name
        for name, value in inputs.items()
        if any(names_in(value)) and not (_takes_secret(known.get(name)) or _TAKES.search(name))
    ]


def _takes_secret(schema: Json) -> bool:
    return isinstance(schema, dict) and (schema.get("format") == "password" or schema.get("writeOnly") is True)
