"""Affinity of a value for a parameter: by its form, and by the words before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.parts import ClausePart
from toolpath.planner.offline.request.spans import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField
from toolpath.planner.offline.request.values_of_fields import in_unit

#: Forms that one kind of parameter alone can hold.
_ONE_KIND: Final[Mapping[str, str]] = {
    **{form: form for form in ("email", "phone", "pattern", "url", "day", "moment", "time", "percent")},
    "iban": "id",
}
_TOLD: Final = frozenset(("message", "text", "body", "content"))


def affinity(span: Span, field: ToolField, kit: Kit, box: Toolbox) -> float:
    """How likely the value is meant for the parameter by its form alone, 0 to 3.5; 0: it cannot be."""
    match span.kind:
        case form if form in _ONE_KIND:
            return 3.0 if field.kind == _ONE_KIND[form] else 0.0
        case "money":
            return _affinity_of_money(span, field)
        case "duration":
            return 3.0 if field.kind == "duration" and in_unit(span, field) is not None else 0.0
        case "id" | "code":
            return _affinity_of_id(span, field, box)
        case "slash" | "path":
            return _affinity_of_path(span, field)
        case "number":
            return _affinity_of_number(span, field)
        case "list":
            return 3.0 if field.is_list else 0.0
        case "name":
            return 0.0 if _is_option(span, kit) else _affinity_of_name(field)
        case _:
            # What somebody is told is a sentence sooner than its reader is.
            is_sentence = field.name in _TOLD and len(span.text.split()) > 2
            return _affinity_of_text(field, box) + 0.6 * is_sentence


def _affinity_of_money(span: Span, field: ToolField) -> float:
    if span.value is None:
        return 2.5 if field.kind == "currency" else 0.0
    return 3.0 if field.kind == "money" else 0.0


def _affinity_of_path(span: Span, field: ToolField) -> float:
    if field.kind == "path" and _is_folder(field):
        return 2.6 if re.search(r"\.\w{1,5}$", span.text) is None else 1.0
    if span.kind == "path":
        return 3.0 if field.kind == "path" else 0.0
    if field.kind == "repo":
        return 3.0 if span.text.count("/") == 1 else 0.0
    return 2.4 if field.kind == "path" else 2.2 if "branch" in field.concepts else 0.0


def _affinity_of_id(span: Span, field: ToolField, box: Toolbox) -> float:
    if field.kind == "id":
        prefix = box.prefix_of(field)
        if prefix:
            return 3.5 if span.text.casefold().startswith(prefix.casefold()) else 0.0
        return 0.0 if box.knows_prefix(span.text) else 2.2
    if field.options:
        return 0.0
    if field.kind == "text" and not box.knows_prefix(span.text) and not field.is_list:
        return 1.4 + 0.4 * field.required
    return 0.0


def _affinity_of_number(span: Span, field: ToolField) -> float:
    if isinstance(span.value, float) and field.is_whole:
        return 0.0
    match field.kind:
        case "number":
            return 2.0 + 0.3 * field.required
        case "money":
            return 1.6
        case "duration" | "percent":
            return 1.2
        case _:
            return 0.0


def _affinity_of_text(field: ToolField, box: Toolbox) -> float:
    match field.kind:
        case "text":
            return 2.2 + 0.5 * field.required
        case "person" | "company" | "place":
            return 1.6 + 0.3 * field.required
        case "path":
            return 1.2
        case "id":
            return 0.0 if box.prefix_of(field) else 0.8
        case _:
            return 0.0


def _affinity_of_name(field: ToolField) -> float:
    match field.kind:
        case "person" | "place" | "company":
            return 2.0 + 0.4 * field.required
        case "text":
            return 1.2 + 0.4 * field.required
        case _:
            return 0.0


def _is_option(span: Span, kit: Kit) -> bool:
    return any(folded(span.text) == folded(str(one)) for field in kit.fields for one in field.options)


def _is_folder(field: ToolField) -> bool:
    return bool({"folder", "directory", "dir"} & {*field.name.split("_")})


def cue_of(span: Span, field: ToolField, part: ClausePart, text: str) -> float:
    """How much the words beside the value point to the parameter, 0 to about 3."""
    before = [word for word in part.words if word.end <= span.start][-3:]
    between = text[before[-1].end : span.start] if before else ""
    score = 0.0
    if span.kind == "money" and field.kind == "currency":
        # `450 EUR in GBP`: what has an amount is given, what has none is wanted.
        score += 1.5 * bool({"to", "target"} & {*field.name.split("_")})
    for word in reversed(before):
        if any(other.start < span.start and other.start > word.end for other in part.spans):
            break
        plain = folded(word.text)
        if plain in CUES and score < 1.5:
            wanted = CUES[plain]
            if wanted & {*field.name.split("_"), field.name} or (
                plain in ("until", "bis") and field.name.endswith("out")
            ):
                return score + 1.5
        if not word.is_stop and word.concepts & field.concepts - {"name"}:
            score += 1.6
        if not word.is_stop:
            break
    after = next((word for word in part.words if word.start >= span.end), None)
    if (
        span.kind in ("number", "duration")
        and after is not None
        and after.concepts & (field.concepts | field.described)
    ):
        score += 1.5
    if "-" in between and field.name in ("destination", "check_out", "date_to", "until"):
        score += 1.0
    return score
