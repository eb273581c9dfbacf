"""Rivals of the tools of a plan that writes: others that the same command may mean. Pure.

A verb says what is done, and not to which thing: it is no sign of a tool whose thing is called alike, as `reserva`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import STOPS, concepts_of
from toolpath.checks.request.openings import bare
from toolpath.checks.request.tools import fits, verbs_of
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, things_of

#: What may be an id, and is no sign of a tool by its form.
_ANY: Final = frozenset(("id", "text"))


def rivals(plan: Plan, request: str, box: Toolbox) -> Iterator[str]:
    """A question for each call that writes where another tool that writes may be meant as well."""
    kits = {kit.key: kit for kit in box.kits if kit.is_acting}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    for call in calls:
        kit = kits[call.tool]
        verbs = _verbs(request, kit)
        said = _said(request, verbs)
        for other in kits.values():
            if (
                other is not kit
                and verbs
                and _is_like(kit, other, call, verbs)
                and _is_open(kit, other, call, said, box)
            ):
                yield f"Is {kit.key} or {other.key} what is meant?"
                break


def _verbs(request: str, kit: Kit) -> list[str]:
    """The verbs by which the request commands the tool."""
    found = clauses_of(bare(request), lambda word: fits(word, kit.tool))
    return [one.verb for one in found if one.mood == "command" and one.verb and fits(one.verb, kit.tool)]


def _said(request: str, verbs: Sequence[str]) -> list[str]:
    """The words of the request but for its verbs, each of which is taken away once."""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-]*\d)", request)
    for verb in verbs:
        if verb in words:
            words.remove(verb)
    return [word for word in words if folded(word) not in STOPS]


def _is_like(kit: Kit, other: Kit, call: Call, verbs: Sequence[str]) -> bool:
    """Whether the other tool is commanded by the same verb, and takes what this call gives."""
    own = [folded(verb) for verb in verbs]
    if _are_set_alike(kit, other, verbs):
        return True
    if not any(fits(verb, other.tool) for verb in verbs):
        return False
    if any(verb in verbs_of(kit.tool) and verb not in verbs_of(other.tool) for verb in own):
        return False
    given = [field for field in kit.fields if field.name in call.inputs]
    firm = [field.kind for field in given if field.kind in _ANY]
    return bool(firm) and len(other.required) == len(kit.required) and _kinds(kit) == _kinds(other)


def _are_set_alike(kit: Kit, other: Kit, verbs: Sequence[str]) -> bool:
    """Whether both set a thing, told by its name, to a state that the verb says: `close` of a slope, and of a lift."""
    if any(verb in raw_words(kit.tool.name) for verb in map(folded, verbs)):
        return False
    states = [[field for field in one.required if field.kind in ("bool", "enum")] for one in (kit, other)]
    things = [[field for field in one.required if field.kind not in ("bool", "enum")] for one in (kit, other)]
    if any(len(one) != 1 for one in (*states, *things)) or any(field.prefix for (field,) in things):
        return False
    told = _described(other) | _meant(raw_words(other.tool.description[:400])[:1])
    told |= _meant(str(option) for option in states[1][0].options)
    return any(folded(verb) in told or concepts_of(verb) & told for verb in verbs)


def _kinds(kit: Kit) -> list[str]:
    return sorted("id" if field.kind in _ANY else field.kind for field in kit.required)


def _is_open(kit: Kit, other: Kit, call: Call, said: Sequence[str], box: Toolbox) -> bool:
    """Whether nothing that is said is of this tool alone, or an id is one of the other's."""
    mine, theirs = _meant(things_of(kit)), _meant(things_of(other))
    if not mine - theirs:
        return False
    if _has_id_of(other, call, box) and not _has_id_of(kit, call, box):
        return True
    if _is_told(mine - theirs, said):
        return False
    if _is_told(theirs - mine, said):
        return True
    own, rest = _described(kit), _described(other)
    # An id that both take says nothing of which is meant.
    is_own = _has_id_of(kit, call, box) and not _has_id_of(other, call, box)
    return not (_is_told(own - rest, said) or is_own)


def _is_told(words: frozenset[str], said: Sequence[str]) -> bool:
    return any(folded(word) in words or concepts_of(word) & words for word in said)


def _described(kit: Kit) -> frozenset[str]:
    # The first word says what is done.
    words = raw_words(kit.tool.description[:400])[1:]
    fields = (word for field in kit.fields for word in raw_words(f"{field.name} {field.description}"))
    return _meant(chain(words, fields))


def _meant(words: Iterable[str]) -> frozenset[str]:
    telling = [folded(word) for word in words if folded(word) not in STOPS]
    return frozenset(telling).union(*(concepts_of(word) for word in telling))


def _has_id_of(kit: Kit, call: Call, box: Toolbox) -> bool:
    """Whether a value begins as ids of the tool do."""
    prefixes = [box.prefix_of(field).casefold() for field in kit.fields if field.kind == "id"]
    values = [value.casefold() for value in call.inputs.values() if isinstance(value, str)]
    return any(prefix and value.startswith(prefix) for prefix in prefixes for value in values)
