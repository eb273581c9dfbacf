"""What is read first for a command: the customer of `invoice INV-7`, the member called `Ann Brook`. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.cues import CUES
from toolpath.planner.offline.request.fitting import Fitted, fit
from toolpath.planner.offline.request.links import PALE, concepts_of_path, gives, output_for
from toolpath.planner.offline.request.named import finding, is_named_by, untitled
from toolpath.planner.offline.request.parts import ClausePart, Word
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, things_of

#: That no other tool comes near.
NEAR: Final = 0.25
#: Values that name a thing by themselves.
_NAMING: Final = ("id", "slash")
#: Kinds of values that say what somebody or something is called, and words of parameters that take it.
_CALLED: Final = frozenset(("name", "quoted", "email"))
#: How well a value fits at least that a tool finds a thing by.
_LIKELY: Final = 0.5


def with_source(fitted: Fitted, part: ClausePart, box: Toolbox, text: str) -> Fitted:
    """The tool with what another one reads of a thing that the clause names: `the customer of invoice INV-7`."""
    if not fitted.missing:
        return _of_somebody(fitted, part, box, text)
    source = _source(fitted, part, box, text) if len(fitted.missing) == 1 else None
    freed = _freed(fitted, part, box, text) if source is None and len(fitted.missing) == 1 else None
    if freed is not None:
        fitted, source = freed, _source(freed, part, box, text)
    if source is None:
        return fitted
    return _with(source, fitted, part, box, text)


def _with(
    source: tuple[ToolField, Fitted, ToolField], fitted: Fitted, part: ClausePart, box: Toolbox, text: str
) -> Fitted:
    """The call that takes what another one reads, with what of the clause neither explains."""
    field, read, own = source
    # The manager of E-7 is another one than whose address it gives.
    known = frozenset[str]().union(*read.kit.named, read.kit.described, own.concepts, concepts_of_path(own))
    unused = tuple(one for one in fitted.unused if one not in read.taken)
    unsaid = tuple(one for one in fitted.unsaid if not one.concepts & known)
    score = fitted.score + 0.5 + 0.9 * len(read.taken)
    alone = fit(read.kit, part, box, text)
    said = [one for one in part.words if stem(folded(one.text)) in map(stem, things_of(fitted.kit))]
    is_other = any(not one.concepts & frozenset[str]().union(*read.kit.named, read.kit.described) for one in said)
    if not unused and not unsaid and (alone.unused or alone.unsaid or is_other):
        # The tool that reads it leaves out what this one is for.
        score = max(score, alone.score + NEAR + 0.1)
    taken = (field, read.kit, read.calls[0], own)
    return msgspec.structs.replace(fitted, unused=unused, unsaid=unsaid, score=score, source=taken)


def _of_somebody(fitted: Fitted, part: ClausePart, box: Toolbox, text: str) -> Fitted:
    """The list of what somebody has, who is found by a name: `the tickets of ann@brook.org`."""
    left = tuple(one for one in part.spans if one in fitted.unused)
    named = [one for one in left if one.kind in _CALLED]
    if fitted.kit.is_acting or not fitted.kit.lists or len(named) != 1 or len(fitted.calls) != 1:
        return fitted
    found: list[tuple[ToolField, Fitted, ToolField]] = []
    for field in fitted.kit.fields:
        if (field.kind == "id" or field.is_name) and not field.required and field.name not in fitted.calls[0]:
            source = _found_by_name(field, fitted, part, left, box, text)
            found += [source] if source is not None else []
    if len(found) != 1:
        return fitted
    return _with(found[0], msgspec.structs.replace(fitted, missing=(found[0][0],)), part, box, text)


def _freed(fitted: Fitted, part: ClausePart, box: Toolbox, text: str) -> Fitted | None:
    """The call with a name left that a text took which need not be there: whom `Book a visit for Ann` is for.

    None where that finds nothing.
    """
    field, call = fitted.missing[0], fitted.calls[0]
    names = [one.value for one in fitted.taken if one.kind == "name"]
    held = [one for one in fitted.kit.fields if not one.required and one.kind == "text" and call.get(one.name) in names]
    if not (field.kind == "id" or field.is_name) or len(held) != 1 or len(fitted.calls) != 1:
        return None
    rest = tuple(one for one in fitted.kit.fields if one != held[0])
    found = fit(msgspec.structs.replace(fitted.kit, fields=rest), part, box, text)
    found = msgspec.structs.replace(found, kit=fitted.kit)
    return None if len(found.missing) != 1 or _source(found, part, box, text) is None else found


def _source(fitted: Fitted, part: ClausePart, box: Toolbox, text: str) -> tuple[ToolField, Fitted, ToolField] | None:
    """A missing parameter, a tool that reads it by a value that is left, and the output that gives it."""
    field = fitted.missing[0]
    left = [one for one in part.spans if one in fitted.unused]
    spans = tuple(one for one in left if one.kind in (*_NAMING, "number"))
    named = tuple(one for one in left if one.kind in _CALLED)
    if not spans and len(named) == 1 and (field.kind == "id" or field.is_name):
        # `Send Ann Brook the reminder`: whom it is sent to is found by her name.
        return _found_by_name(field, fitted, part, tuple(left), box, text)
    if len(spans) != 1:
        return None
    label = next((one for one in reversed(part.words) if one.end <= spans[0].start), None)
    found: list[tuple[ToolField, Fitted, ToolField]] = []
    for kit in box.kits:
        # `The branch of PR 12 in acme/cli`: both look in the one place.
        known = fitted.calls[0] if len(kit.required) > 1 else {}
        shared = {one.name: known[one.name] for one in kit.required if one.name in known}
        if kit.is_acting or len(kit.required) - len(shared) != 1 or kit.key == fitted.kit.key:
            continue
        own = output_for(field, kit, part)
        if own is None:
            continue
        asked = next(one for one in kit.required if one.name not in shared)
        if spans[0].kind == "number" and not _is_labelled(spans[0], label, kit, asked, text):
            continue
        if own.name in {one.name for one in kit.required}:
            # What it is asked with it gives back: that is said, and nothing is to be read.
            continue
        held = frozenset(shared)
        read = fit(kit, msgspec.structs.replace(part, spans=spans, words=()), box, text, held)
        read = msgspec.structs.replace(read, calls=tuple({**shared, **call} for call in read.calls))
        is_sure = read.sure >= 1 or spans[0].kind == "number"
        # A form that no tool shows, as of a licence plate, is of the one that takes it.
        is_sure = is_sure or (read.sure >= _LIKELY and not box.knows_prefix(spans[0].text))
        if not read.missing and len(read.calls) == 1 and len(read.taken) == 1 and is_sure:
            found.append((field, read, own))
    return found[0] if len(found) == 1 else None


def _found_by_name(
    field: ToolField, fitted: Fitted, part: ClausePart, spans: tuple[Span, ...], box: Toolbox, text: str
) -> tuple[ToolField, Fitted, ToolField] | None:
    """A missing id, the one tool that finds it by what a thing is called, and the output that gives it."""
    found: list[tuple[ToolField, Fitted, ToolField]] = []
    is_address = any(one.kind == "email" for one in spans)
    for offered in box.kits:
        is_other = not offered.is_acting and offered.key != fitted.kit.key
        kit = finding(offered, is_address=is_address) if is_other else None
        own = None if kit is None else output_for(field, kit, part) or _of_first(field, kit)
        if kit is None or own is None or kit.required[0].name == own.name:
            continue
        read = fit(kit, msgspec.structs.replace(part, spans=spans, words=()), box, text)
        named = [one for one in read.taken if one.kind in _CALLED]
        is_whole = not read.missing and len(read.calls) == 1
        if own not in kit.outputs and not (named and _is_telling(named[0])):
            continue
        if is_whole and named and is_named_by(named[0], part, text, fitted.kit, kit):
            found.append((field, read, own))
    is_one = len(found) == 1 and not _takes_its_own(fitted, found[0][1], part)
    return found[0] if is_one else None


def _of_first(field: ToolField, kit: Kit) -> ToolField | None:
    """The value that a list of all that go by a name gives of the first of them; None where there is no such list."""
    if len(kit.lists) != 1 or not kit.lists[0].path:
        return None
    listed = kit.lists[0]
    things = frozenset[str]().union(concepts_of_path(listed), *kit.named) - PALE
    # A pupil's class is another thing than the pupil.
    own = [
        one for one in listed.fields if gives(field, one, kit, listed) and (one.name == "id" or one.concepts & things)
    ]
    if len(own) != 1:
        return None
    *before, last = listed.path
    return msgspec.structs.replace(own[0], path=(*before, f"{last}[0]", *own[0].path))


def _is_telling(span: Span) -> bool:
    """Whether a name is not easily that of several: the whole name of somebody, an address, a title."""
    return span.kind != "name" or " " in untitled(span.text)


def _takes_its_own(fitted: Fitted, read: Fitted, part: ClausePart) -> bool:
    """Whether a tool takes, though it need not and no word says so, what may say which thing is to be found.

    `Hold 2 seats for Hamlet on Friday`: Friday is the day of the play, and not until when.
    """
    open_kinds = {one.kind for one in read.kit.fields if one.name not in read.calls[0]}
    for field in fitted.kit.fields:
        if field.required or field.kind not in open_kinds or field.options or field.name not in fitted.calls[0]:
            continue
        names = {field.name, *raw_words(field.name)}
        near = [folded(word.text) for one in fitted.taken for word in part.before(one.start, 2)]
        if not any(word in names or CUES.get(word, frozenset()) & names for word in near):
            return True
    return False


def _is_labelled(span: Span, label: Word | None, kit: Kit, field: ToolField, text: str) -> bool:
    """Whether a number is said with the noun of what it names: `order 8842`."""
    if label is None or not field.is_name or text[label.end : span.start].strip(" #:."):
        return False
    return bool(label.concepts & frozenset[str]().union(field.concepts, field.described, *kit.named[1:]) - PALE)
