"""Values that are not written as their parameter takes them: `2027-W10` for a day, `BK-XX` for a thing. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.model.tool import Tool
from toolpath.values import Json

_FORMS: Final = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}.*"),
    "time": re.compile(r"\d{2}:\d{2}.*"),
}


#: A part of an id that somebody is yet to fill in: `BK-XX`, `BK-??`, `<order>`.
_TO_FILL_IN: Final = re.compile(
    r"(?:.*[-_/.:# ])?(?:[xX]{2,}|[nN]{2,}|y{2,}|Y{2,}|_{2,}|\?+|\*+|\.{3}|…|tbd|tbc|todo)"
    r"|<[^<>]*>|\[[^\[\]]*\]|\{+[^{}]*\}+",
)
#: Two codes as one: `BK-12 or BK-13`.
_TWO: Final = re.compile(r"\S*\d\S*(?:\s*[,;&]\s*|\s+(?:or|and|to|oder|und|bis|ou|et|o|y|/)\s+)\S*\d\S*", re.IGNORECASE)
#: A subject and its verb, which no thing is called.
_SAID: Final = re.compile(
    r"(?:you|i|he|she|we|they|it|that|there)(?:['\u2019](?:re|m|s|ll|d|ve)|\s+(?:are|am|is|was|were|will|would))\b"
    r"|(?:du\s+bist|er\s+ist|sie\s+sind|wir\s+sind|ich\s+bin|tu\s+es|vous\s+êtes|il\s+est|elle\s+est|(?:tú\s+)?eres|está[sn])\b",
    re.IGNORECASE,
)


def formless(seen: Seen) -> Iterator[str]:
    """A question for each value of a call that acts and is not written as what it is taken for."""
    for call, tool, _ in seen.acting:
        properties = plain_inputs(tool).get("properties") if tool is not None else None
        for name, value in call.inputs.items():
            schema = properties.get(name) if isinstance(properties, dict) else None
            if isinstance(value, list) and isinstance(schema, dict):
                schema = schema.get("items")
            yield from _no_addresses(schema, value, call.id, name)
            form = str(schema.get("format")) if isinstance(schema, dict) else ""
            if form not in _FORMS or not isinstance(value, str) or "{{" in value:
                continue
            if _FORMS[form].fullmatch(value) is None:
                yield f"{call.id}: {value!r} is not written as {name!r} is taken. Which {form} is meant?"
    yield from _likenesses(seen)
    yield from _no_names(seen)


def _no_addresses(schema: Json, value: Json, call: str, name: str) -> Iterator[str]:
    """A question for each text that is taken for an address and has no `@`."""
    if not isinstance(schema, dict) or schema.get("format") != "email":
        return
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and "@" not in one and "{{" not in one:
            yield f"{call}: {one!r} is no address. What is {name!r}?"


def _likenesses(seen: Seen) -> Iterator[str]:
    """A question for each value that is said only of what is like it, or without it."""
    for call, _, _ in seen.acting:
        for name, value in call.inputs.items():
            if isinstance(value, str) and value and _is_only_like(value, seen.request):
                yield f"{call.id}: the request says what is like {value!r}. What is {name!r}?"


def _no_names(seen: Seen) -> Iterator[str]:
    """A question for each thing that is yet to be named, that is two things, or a sentence."""
    for call, tool, _ in seen.acting:
        named = _things_of(tool) if tool is not None else ()
        for name in named:
            value = call.inputs.get(name)
            if not isinstance(value, str) or "{{" in value:
                continue
            if _is_open(value, seen.request) or _TWO.fullmatch(value) is not None:
                yield f"{call.id}: {value!r} is no one {name!r}. Which one is meant?"
            elif re.search(rf"\b(?:that|which|who|qui|que)\s+{re.escape(value)}(?!\w)", seen.whole, re.IGNORECASE):
                yield f"{call.id}: {value!r} tells which one is meant by what it does. What is {name!r}?"
            elif _SAID.match(value) is not None and value.casefold() in seen.plain.casefold():
                yield f"{call.id}: {value!r} is a sentence. What is {name!r}?"


def _is_only_like(value: str, request: str) -> bool:
    """Whether it is said nowhere but of what is like it, or without it: `pilsner-like malt`, `sugar-free`."""
    places = [
        *re.finditer(rf"(?<!\w){re.escape(value)}(?P<like>-?(?:like|ish|style|free|esque)\b)?", request, re.IGNORECASE)
    ]
    return bool(places) and all(one["like"] for one in places)


def _is_open(value: str, request: str) -> bool:
    """Whether it stands for something that is yet to be said."""
    bracketed = re.search(rf"<\s*{re.escape(value)}\s*>|\{{\s*{re.escape(value)}\s*\}}", request, re.IGNORECASE)
    return bracketed is not None or _TO_FILL_IN.fullmatch(value) is not None


def _things_of(tool: Tool) -> Iterator[str]:
    """The parameters that say which thing is meant, or who: the first that is needed, and those of ids."""
    properties = plain_inputs(tool).get("properties")
    required = plain_inputs(tool).get("required")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        is_text = isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema
        # Behind it may come what is written or said.
        is_first = isinstance(required, list) and required[:1] == [name]
        if is_text and (is_first or raw_words(name)[-1:] in (["id"], ["no"], ["number"], ["code"])):
            yield name
