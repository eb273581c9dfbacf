"""Links: what a request does not say is taken from what another step gives, where name and type fit. Pure.

A parameter that names a thing of another step by what that step was told (`by Alice`) is read from that step too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from toolpath.checks.request.plain_schemas import plain_outputs
from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.planner.offline.draft import Draft
from toolpath.planner.offline.fill import Filling
from toolpath.planner.offline.found import Found
from toolpath.planner.offline.match import CUED
from toolpath.planner.offline.outputs import FEEDS, OutputField, feeds, outputs_of
from toolpath.planner.offline.slots import Slot
from toolpath.values import Json

#: A value that nothing points to gives way to an output that fits so well.
_WEAK_VALUE, _STRONG_OUTPUT = 1.2, 1.15


_EACH = re.compile(r"\b(?:each|both|every)\b", re.IGNORECASE)


class ArgumentSource(msgspec.Struct, frozen=True):
    """Source of a parameter's value."""

    draft: int
    output: OutputField
    score: float


def link(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts in an order in which each follows what it needs, with ids and links."""
    wanted = [_sources(index, drafts) for index in range(len(drafts))]
    drafts = [_for_each(draft, wanted[index], drafts) for index, draft in enumerate(drafts)]
    order = _ordered(wanted)
    named = identified([drafts[index] for index in order])
    at = {index: place for place, index in enumerate(order)}
    linked: list[Draft] = []
    for place, index in enumerate(order):
        sources = {name: source for name, source in wanted[index].items() if at[source.draft] < place}
        asked = _asked(named[place], sources)
        linked.append(_linked(asked, sources, {source.draft: linked[at[source.draft]] for source in sources.values()}))
    return linked


def _for_each(draft: Draft, sources: Mapping[str, ArgumentSource], drafts: Sequence[Draft]) -> Draft:
    """The one call as many times as the step that feeds it is called, where the text says so: `a blog by each`."""
    count = max((len(drafts[source.draft].filling.calls) for source in sources.values()), default=1)
    if len(draft.filling.calls) != 1 or count < 2 or not _EACH.search(draft.text):
        return draft
    calls = tuple(
        {name: found for name, found in call.items() if name not in sources} for call in draft.filling.calls * count
    )
    filling = msgspec.structs.replace(draft.filling, calls=calls)
    return msgspec.structs.replace(draft, filling=filling)


def _sources(index: int, drafts: Sequence[Draft]) -> dict[str, ArgumentSource]:
    """Parameter → the output that feeds it best, for those that should be fed."""
    draft = drafts[index]
    found: dict[str, ArgumentSource] = {}
    for slot in draft.candidate.slots:
        values = [call[slot.name] for call in draft.filling.calls if slot.name in call]
        best = _best(slot, index, drafts)
        if best is None:
            continue
        if not values:
            is_wanted = slot.required or best.score >= 1.5
        else:
            is_wanted = _gives_way(slot, values[0], best, draft, drafts[best.draft])
        if is_wanted:
            found[slot.name] = best
    return found


def _best(slot: Slot, index: int, drafts: Sequence[Draft]) -> ArgumentSource | None:
    best: ArgumentSource | None = None
    for other, draft in enumerate(drafts):
        if other == index or draft.candidate.tool.key == drafts[index].candidate.tool.key:
            continue
        for output in outputs_of(plain_outputs(draft.candidate.tool)):
            # What was asked for earlier is likelier to be meant.
            score = feeds(slot, output, draft.candidate) - (0.3 if other > index else 0.02 * (index - other))
            if score >= FEEDS and (best is None or score > best.score):
                best = ArgumentSource(other, output, score)
    return best


def _gives_way(slot: Slot, value: Found, source: ArgumentSource, draft: Draft, other: Draft) -> bool:
    """Whether the value found in the text is only the name of what the other step gives."""
    if value.mention is None:
        return False
    told = {str(one.value).casefold() for call in other.filling.calls for one in call.values()}
    if str(value.value).casefold() in told and "id" in slot.classes:
        return True
    if "id" in slot.classes and value.mention.kind in ("name", "phrase") and source.score >= FEEDS:
        return True
    if value.mention.kind == "phrase":
        return source.score >= 0.9 or value.sure < CUED
    return value.sure < _WEAK_VALUE and source.score >= _STRONG_OUTPUT


def _ordered(wanted: Sequence[Mapping[str, ArgumentSource]]) -> list[int]:
    """Indices so that sources come first; where they go round in a circle, the order of the request."""
    order: list[int] = []
    visiting: set[int] = set()

    def visit(index: int) -> None:
        if index in order or index in visiting:
            return
        visiting.add(index)
        for source in wanted[index].values():
            visit(source.draft)
        order.append(index)

    for index in range(len(wanted)):
        visit(index)
    return order


def _linked(draft: Draft, sources: Mapping[str, ArgumentSource], from_drafts: Mapping[int, Draft]) -> Draft:
    calls: list[Mapping[str, Found]] = []
    links: list[Mapping[str, Json]] = []
    for number, call in enumerate(draft.filling.calls):
        links.append(
            {
                name: _template(from_drafts[source.draft], source.output, call.get(name), number, draft)
                for name, source in sources.items()
            }
        )
        calls.append({name: found for name, found in call.items() if name not in sources})
    missing = tuple(slot for slot in draft.filling.missing if slot.name not in sources)
    filling = Filling(tuple(calls), missing, draft.filling.used)
    ties = tuple(min(source.score, 2.0) for source in sources.values())
    return msgspec.structs.replace(draft, filling=filling, links=tuple(links), ties=ties)


def _asked(draft: Draft, sources: Mapping[str, ArgumentSource]) -> Draft:
    """Without the names that stand where an id belongs: a name is no id, so it is asked for."""
    names = {
        slot.name
        for slot in draft.candidate.slots
        if slot.name not in sources
        and slot.words[-1:] in (("id",), ("uuid",))
        and any(_is_mere_name(call[slot.name]) for call in draft.filling.calls if slot.name in call)
    }
    if not names:
        return draft
    calls = tuple({name: found for name, found in call.items() if name not in names} for call in draft.filling.calls)
    missing = tuple(
        slot for slot in draft.candidate.slots if slot.required and any(slot.name not in call for call in calls)
    )
    return msgspec.structs.replace(draft, filling=Filling(calls, missing, draft.filling.used))


def _is_mere_name(found: Found) -> bool:
    mention = found.mention
    return mention is not None and mention.kind in ("name", "phrase") and not mention.text.isupper()


def _template(source: Draft, output: OutputField, named: Found | None, number: int, draft: Draft) -> str:
    """The reference to the step that was told what is named here, else to the one of the same number, else the last."""
    ids = source.ids
    chosen = ids[min(number, len(ids) - 1)] if len(draft.filling.calls) == len(ids) else ids[-1]
    if named is not None:
        wanted = str(named.value).casefold()
        for step_id, call in zip(ids, source.filling.calls, strict=True):
            if any(str(one.value).casefold() == wanted for one in call.values()):
                chosen = step_id
                break
    return "{{ " + reference(chosen, output.path) + " }}"


def reference(step_id: str, path: Sequence[str | int]) -> str:
    """The step's output at the path, as an expression."""
    text = step_id if "-" not in step_id else f"steps['{step_id}'].output"
    for part in path:
        text += f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]"
    return text


_OTHER = re.compile(r"[^A-Za-z0-9_]")
_LONGEST = 100


def identified(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each call with an id that no other has: `name`, `name_2`."""
    taken: set[str] = set(RESERVED | KEYWORDS)
    done: list[Draft] = []
    for draft in drafts:
        ids: list[str] = []
        for _ in draft.filling.calls:
            base = _OTHER.sub("_", draft.candidate.tool.name[:_LONGEST]) or "step"
            base = base if base[0].isalpha() or base[0] == "_" else f"_{base}"
            number, made = 1, base
            while made in taken:
                number += 1
                made = f"{base}_{number}"
            taken.add(made)
            ids.append(made)
        done.append(msgspec.structs.replace(draft, ids=tuple(ids)))
    return done
