"""Calls that a condition and its command make together: what one of them leaves out, the other one says. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from toolpath.planner.offline.request.conditions import operands, without_told
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.parts import ClausePart, part_of
from toolpath.planner.offline.request.toolbox import Kit, Toolbox


def asked_of(
    kit: Kit, part: ClausePart, body: Sequence[tuple[Fitted, ClausePart]], box: Toolbox, text: str
) -> Fitted | None:
    """The call of a tool that reads what a condition speaks of: of its values, of the command's, of its words."""
    fitted = fit(kit, part, box, text, with_words=False)
    if fitted.missing:
        # `if it is closed`, `unless it has shipped`: it is what the command names.
        inner = (one for each, _ in body for one in each.taken)
        own = part_of(text, part.start, part.end, part.spans)
        joined = msgspec.structs.replace(own, spans=tuple(sorted({*own.spans, *inner}, key=lambda one: one.start)))
        fitted = fit(kit, joined, box, text, with_words=False)
    if fitted.missing:
        known = {name: value for each, _ in body for call in each.calls for name, value in call.items()}
        told = {one.name: known[one.name] for one in fitted.missing if one.name in known}
        if len(told) == len(fitted.missing) and all(len(each.calls) == 1 for each, _ in body):
            return msgspec.structs.replace(fitted, missing=(), calls=({**fitted.calls[0], **told},))
        fitted = fit(kit, without_told(kit, part), box, text)
    return None if fitted.missing or len(fitted.calls) != 1 else fitted


def completed(fitted: Fitted, part: ClausePart, asked: ClausePart, box: Toolbox, text: str) -> Fitted:
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
    missing = tuple(one for one in fitted.missing if one.name not in said)
    return msgspec.structs.replace(fitted, calls=({**fitted.calls[0], **said},), missing=missing)
