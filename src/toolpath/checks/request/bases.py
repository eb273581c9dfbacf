"""Basis of each value in a plan: the request, an output, an input, a default, a tool's description, or nothing. Pure.

A value that a model took from nowhere, or from what a stranger wrote into a description or a result, is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.grounds import (
    CLOCK,
    FEW,
    MOMENT,
    OF_TIME,
    TELLING,
    Grounds,
    is_code,
    is_in_request,
    is_same,
    says_something,
    telling,
)
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tools import acts
from toolpath.checks.request.verbs import folded
from toolpath.errors import ExpressionError
from toolpath.expressions.constants import constants_of, reads_something
from toolpath.expressions.scan import Placeholder, scan
from toolpath.model.plan import Basis, Loop
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

#: The weakest first: what an argument of several values rests on.
_ORDER: Final[tuple[Basis, ...]] = ("nothing", "description", "result", "output", "input", "default", "request")
_SHOWN: Final = 80
_LONGEST: Final = 20_000
#: Words in names of arguments that take what the request says and nothing that is worded.
_EXACT: Final = frozenset(
    re.findall(
        r"\S+",
        """password passwd secret token pin iban account recipient recipients receiver to cc bcc email emails address
        phone url""",
    )
)
#: Several words in capitals inside a sentence: a name.
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)+")
_TO_READ: Final = re.compile(r"[A-Za-z_]\w*")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")


def bases(seen: Seen, grounds: Grounds) -> dict[str, dict[str, Basis]]:
    """The basis of each argument of each call, and of each list that is written out: id of the step → name → basis."""
    found: dict[str, dict[str, Basis]] = {}
    for call, tool, _ in seen.calls:
        found[call.id] = {
            name: basis_of(value, schema_of(tool, name), name, grounds)[0] for name, value in call.inputs.items()
        }
    for loop, _ in seen.loops:
        found[loop.id] = {"over": _basis_of_list(loop, grounds)[0]}
    return {step: arguments for step, arguments in found.items() if arguments}


def unfounded(seen: Seen, grounds: Grounds, kept: Container[str] = ()) -> Iterator[str]:
    """A question for each value that rests on nothing, or on what a stranger may have written.

    `kept`: ids of steps that were carried out before.
    """
    for call, tool, _ in seen.calls:
        if call.id in kept:
            continue
        for name, value in call.inputs.items():
            basis, said = basis_of(value, schema_of(tool, name), name, grounds)
            if _is_asked(basis, said, tool, schema_of(tool, name)):
                yield f"{call.id}: {name} is {_short(said)}, which {_WHOSE[basis]}. Is that meant?"
    for loop, tools in seen.loops:
        basis, said = _basis_of_list(loop, grounds)
        if loop.id not in kept and any(_is_asked(basis, said, tool, {}) for tool in tools):
            yield f"{loop.id}: one of its items is {_short(said)}, which {_WHOSE[basis]}. Is that meant?"


def _basis_of_list(loop: Loop, grounds: Grounds) -> tuple[Basis, Json]:
    """The basis of the list that a loop goes over. Numbers that only count are as good as how many they are."""
    over = loop.over
    if isinstance(over, list) and over and over in ([*range(len(over))], [*range(1, len(over) + 1)]):
        return _of_number(float(len(over)), len(over), "", grounds), len(over)
    return basis_of(over, {}, loop.item, grounds)


_WHOSE: Final[dict[Basis, str]] = {
    "nothing": "the request does not say",
    "description": "only the description of a tool says",
    "result": "only a result says, and not the request",
}


def _is_asked(basis: Basis, said: Json, tool: Tool | None, schema: JsonObject) -> bool:
    match basis:
        case "description":
            return True
        case "nothing":
            # How many or in which order to read does no harm.
            return acts(tool) or (isinstance(said, str) and "enum" not in schema)
        case "result":
            # What was read may say where to go on reading; what is done with it the request says.
            return acts(tool) or (isinstance(said, str) and ("@" in said or "://" in said))
        case _:
            return False


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 2] + "…" + text[-1]


def schema_of(tool: Tool | None, name: str) -> JsonObject:
    """The schema of an argument; empty where there is none."""
    properties = plain_inputs(tool).get("properties") if tool is not None else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) else {}


def basis_of(value: Json, schema: JsonObject, name: str, grounds: Grounds) -> tuple[Basis, Json]:
    """The basis of an argument, and the value in it that this is said of: the weakest."""
    if value == schema.get("default") and "default" in schema:
        return "default", value
    found: list[tuple[Basis, Json]] = []
    match value:
        case dict():
            properties = schema.get("properties")
            inner = properties if isinstance(properties, dict) else {}
            for key, item in value.items():
                part = inner.get(key)
                found.append(basis_of(item, part if isinstance(part, dict) else {}, key, grounds))
        case list():
            items = schema.get("items")
            found = [basis_of(item, items if isinstance(items, dict) else {}, name, grounds) for item in value]
        case str():
            return _of_text(value, schema, name, grounds)
        case bool() | None:
            is_said = value is True and (
                grounds.about(_spoken(name)) or grounds.about(str(schema.get("description", "")))
            )
            return ("request" if is_said else "nothing" if value is True else "default"), value
        case int() | float():
            return _of_number(float(value), value, name, grounds), value
    return min(found, key=lambda one: _ORDER.index(one[0]), default=("default", value))


def _spoken(name: str) -> str:
    return " ".join(raw_words(name))


def _of_number(number: float, value: Json, name: str, grounds: Grounds) -> Basis:
    if number == 1 and isinstance(value, int):
        return "request"
    if any(is_same(number, one) for one in grounds.numbers):
        return "request"
    is_time = not OF_TIME.isdisjoint(raw_words(name))
    if is_time and grounds.says_when:
        return "request"
    return grounds.elsewhere(str(value))


def _of_text(text: str, schema: JsonObject, name: str, grounds: Grounds) -> tuple[Basis, Json]:
    rest, reads = _without_templates(text[:_LONGEST])
    plain = folded(" ".join(rest.split()))
    if not plain or not re.search(r"\w", plain):
        return (reads or "default"), text
    if plain in grounds.text or " ".join(plain.split()) in " ".join(grounds.text.split()):
        return (reads or "request"), text
    options = schema.get("enum")
    if isinstance(options, list) and text in options:
        spoken = " ".join(raw_words(text))
        is_said = len(options) == 1 or grounds.about(text) or grounds.about(spoken) or is_code(text, grounds)
        return ("request" if is_said else "nothing"), text
    if MOMENT.fullmatch(rest.strip()) or CLOCK.fullmatch(rest.strip()):
        return ("request" if grounds.says_when else grounds.elsewhere(rest)), text
    missing = [token for token in telling(rest) if not is_in_request(token, grounds)]
    missing += [
        one for one in _NAME.findall(rest) if not all(grounds.about(word) or len(word) < 3 for word in one.split())
    ]
    if missing:
        worst = [(grounds.elsewhere(token), token) for token in missing]
        return min(worst, key=lambda one: _ORDER.index(one[0]))
    is_exact = bool(raw_words(name)) and raw_words(name)[-1] in _EXACT and len(rest.split()) <= FEW
    if is_exact and (reads is None or says_something(rest)):
        return grounds.elsewhere(rest), text
    if reads is not None:
        return reads, text
    if is_code(rest.strip(), grounds) or grounds.holds(rest) or any(map(TELLING.search, rest.split())):
        return "request", text
    return grounds.elsewhere(rest), text


def _without_templates(text: str) -> tuple[str, Basis | None]:
    """The text without what it reads, and what that is."""
    if "{{" not in text:
        return text, None
    try:
        pieces = scan(text)
    except ExpressionError:
        return text, None
    # What a reference is joined with, or stands in for one, is a value as any other.
    constants = [one for piece in pieces if isinstance(piece, Placeholder) for one in constants_of(piece.source)]
    rest = " ".join([*(piece for piece in pieces if isinstance(piece, str)), *constants])
    read = [piece.source for piece in pieces if isinstance(piece, Placeholder)]
    names = [source for source in read if reads_something(source)]
    if not names:
        # Braces and other literals.
        return rest, None
    return rest, "input" if all(source.strip().startswith("inputs") for source in names) else "output"
