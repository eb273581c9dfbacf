"""Calls that a condition and its command make together: what one of them leaves out, the other one says. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.comparisons import COMPARES, is_moved, is_small
from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.presence import is_of_presence
from toolpath.checks.request.units import MEASURES
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.planner.offline.request.compared import concepts_said, operands
from toolpath.planner.offline.request.conditions import without_told
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.links import PALE
from toolpath.planner.offline.request.parts import ClausePart, part_of
from toolpath.planner.offline.request.told_texts import is_told as is_to_be_told
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField
from toolpath.values import Json, JsonObject


def asked_of(
    kit: Kit, part: ClausePart, body: Sequence[tuple[Fitted, ClausePart]], box: Toolbox, text: str
) -> Fitted | None:
    """The call of a tool that reads what a condition speaks of: of its values, of the command's, of its words."""
    fitted = fit(kit, part, box, text, with_words=False)
    if fitted.missing:
        # `feed hive 13 if it weighs …`: what the command takes for that, by its name.
        pointed = _POINTING.search(part.text) is not None and not _names_another(kit, part)
        told = {one.name: value for one in fitted.missing for value in _taken_for(one, body)} if pointed else {}
        if len(told) == len(fitted.missing) and all(len(each.calls) == 1 for each, _ in body):
            return msgspec.structs.replace(fitted, missing=(), calls=({**fitted.calls[0], **told},))
        # `if it is closed`, `unless it has shipped`: it is what the command names.
        inner = (one for each, _ in body for one in each.taken)
        own = part_of(text, part.start, part.end, part.spans)
        joined = msgspec.structs.replace(own, spans=tuple(sorted({*own.spans, *inner}, key=lambda one: one.start)))
        fitted = fit(kit, joined, box, text, with_words=False)
    if fitted.missing:
        plain = without_told(kit, part)
        words = tuple(one for one in plain.words if not is_of_presence(one.text))
        fitted = fit(kit, msgspec.structs.replace(plain, words=words), box, text)
        # Plain words are less sure to be what it is asked for.
        fitted = msgspec.structs.replace(fitted, sure=0.0)
    return None if fitted.missing or len(fitted.calls) != 1 else fitted


def _names_another(kit: Kit, part: ClausePart) -> bool:
    """Whether a condition has words of its own that its tool does not know: `it is cold in the cellar`, of a room."""
    options = [str(option) for one in kit.outputs for option in one.options]
    things = frozenset[str]().union(kit.given, *kit.named, *map(concepts_of, options))
    return any(
        not (one.is_stop or one.concepts & things or is_small(one.text) or is_moved(one.text))
        and folded(one.text) not in MEASURES
        and COMPARES.search(one.text) is None
        for one in part.words
    )


#: It speaks of what the command names, and of nothing else that no tool knows: `if it weighs less`.
_POINTING: Final = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|there|this|that|these|those|es|er|sie|ihn|ihm|ihr|ihre|dort|da"
    r"|il|elle|ils|elles|lui|y|là|ce|ça|él|ella|ello|ahí|allí|eso|esto)\b(?!['\u2019]s\s+\w+ing)",
    re.IGNORECASE,
)


def _taken_for(field: ToolField, body: Sequence[tuple[Fitted, ClausePart]]) -> Iterator[Json]:
    """Values that a command takes for a parameter of the same name, kind and options: no `kind` of something else."""
    for each, _ in body:
        for other in each.kit.fields:
            if (other.name, other.kind, other.options) == (field.name, field.kind, field.options):
                yield from (call[other.name] for call in each.calls if other.name in call)


def completed(
    fitted: Fitted, part: ClausePart, asked: ClausePart, box: Toolbox, text: str, read: Fitted | None
) -> Fitted:
    """The call with what its clause leaves out and the condition says: `If B-3 is back, lend it to M-2`."""
    if not fitted.missing or len(fitted.calls) != 1 or fitted.given:
        return fitted
    compared = operands(asked)
    spans = (*(one for one in asked.spans if one not in compared), *part.spans)
    whole = msgspec.structs.replace(part, spans=tuple(sorted(spans, key=lambda one: one.start)))
    other = fit(fitted.kit, whole, box, text, with_words=False)
    if len(other.calls) != 1:
        return fitted
    said = {one.name: other.calls[0][one.name] for one in fitted.missing if one.name in other.calls[0]}
    said |= _of_what_is_read(fitted, said, read)
    missing = tuple(one for one in fitted.missing if one.name not in said)
    return msgspec.structs.replace(fitted, calls=({**fitted.calls[0], **said},), missing=missing)


def _of_what_is_read(fitted: Fitted, said: JsonObject, read: Fitted | None) -> JsonObject:
    """The plain text that a call lacks, which is the one text that is looked for: `if rye runs low, order 5 kg`."""
    missing = [one for one in fitted.missing if one.name not in said]
    if read is None or len(missing) != 1 or missing[0].kind != "text" or is_to_be_told(missing[0]):
        return {}
    kinds = {one.name: one.kind for one in read.kit.fields}
    texts = [value for name, value in read.calls[0].items() if kinds.get(name) == "text" and isinstance(value, str)]
    return {missing[0].name: texts[0]} if len(texts) == 1 else {}


def readable(kit: Kit, part: ClausePart, body: Sequence[tuple[Fitted, ClausePart]]) -> Kit | None:
    """The tool as a condition asks it, with what it has to be asked for as a parameter that it needs; None: it cannot.

    A list that may be had whole tells nothing of one thing: `if there is no butter left` asks for the butter.
    """
    if kit.required or kit.is_acting or not (kit.outputs or kit.lists):
        return None if kit.is_acting or not (kit.outputs or kit.lists) else kit
    if not kit.fields:
        things = (
            frozenset[str]().union(*(concepts_of(one) for one in raw_words(kit.tool.name) if not is_reading(one)))
            - PALE
        )
        # What it lists whole tells nothing of one thing: `if the table jobs is empty`.
        return msgspec.structs.replace(kit, lists=()) if things & concepts_said(part) and kit.outputs else None
    wanted = {one.name for each, _ in body for one in each.kit.required}
    asked = [one for one in kit.fields if one.kind in ("text", "id", "place") and one.name in wanted]
    asked = asked or [one for one in kit.fields if one.kind == "text" and _NAMES & {*raw_words(one.name)}]
    if len(asked) != 1:
        return None
    fields = [msgspec.structs.replace(one, required=True) if one == asked[0] else one for one in kit.fields]
    return msgspec.structs.replace(kit, fields=tuple(fields))


#: Words of parameters that take what a thing is called.
_NAMES: Final = frozenset(("name", "title", "query", "q", "search", "keyword", "item", "product"))
