"""Calls of a plan that nothing in its request asks for: a stranger may have, in a description or a result. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.bases import basis_of, schema_of
from toolpath.checks.request.grounds import Grounds
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.tools import CALLING, acts, fits
from toolpath.checks.request.verbs import folded, is_reading
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.values import canonical, walk


def uncalled_for(seen: Seen, grounds: Grounds, kept: Container[str] = ()) -> Iterator[str]:
    """A question for each call that nothing in the request asks for: a stranger may have."""
    yield from _acts_uncalled_for(seen, grounds)
    yield from _twice(seen, grounds, kept)
    yield from _reads_uncalled_for(seen, grounds, kept)


def _acts_uncalled_for(seen: Seen, grounds: Grounds) -> Iterator[str]:
    """A question for each act that no command means; each command of another verb stands for one that is spoken of."""
    commands = [clause for clause in seen.clauses if clause.mood in ("command", "condition", "asked")]
    meant = {
        id(call): [one for one in commands if tool is not None and _commands(one, tool, seen)]
        for call, tool, _ in seen.acting
    }
    used = {id(one) for found in meant.values() for one in found}
    spare = sum(not is_reading(one.verb) and id(one) not in used for one in commands)
    allowed: set[str] = set()
    for call, tool, _ in seen.acting:
        if meant[id(call)] or call.tool in allowed:
            continue
        if any(_reads(other, call.id) for other, _, _ in seen.acting if meant[id(other)]):
            continue
        if spare and tool is not None and grounds.about(_named(tool)):
            spare -= 1
            allowed.add(call.tool)
            continue
        yield f"{call.tool} would act, and nothing in the request asks for that. Should it be done?"


def _reads_uncalled_for(seen: Seen, grounds: Grounds, kept: Container[str]) -> Iterator[str]:
    """A question for each read of which the request does not speak, and whose output no read of it needs."""
    for call, tool, _ in seen.calls:
        if tool is None or acts(tool) or call.id in kept or grounds.about(_named(tool)):
            continue
        feeds = [other for other, _, _ in seen.calls if _reads(other, call.id)]
        given = {basis_of(value, schema_of(tool, name), name, grounds)[0] for name, value in call.inputs.items()}
        if given & {"request", "input"} or ("output" in given and (feeds or not seen.acting)):
            continue
        if not feeds or any(acts(seen_tool) for other, seen_tool, _ in seen.calls if other in feeds):
            yield f"{call.id}: nothing in the request asks for {call.tool}. Is it to be called?"


def _twice(seen: Seen, grounds: Grounds, kept: Container[str]) -> Iterator[str]:
    """A question for an act that is to be done again just as it was done, where the request does not say so often."""
    alike: dict[bytes, list[str]] = {}
    for call, _, _ in seen.acting:
        if call.id not in kept:
            alike.setdefault(canonical([call.tool, call.inputs, call.when]), []).append(call.id)
    for ids in alike.values():
        if len(ids) > 1 and len(ids) not in grounds.numbers:
            yield f"{' and '.join(ids)} would do the same, once each. Is that meant?"


def _commands(clause: Clause, tool: Tool, seen: Seen) -> bool:
    # What it says of itself a stranger may have written; what it is called its owner has seen.
    named = msgspec.structs.replace(tool, description="")
    return fits(clause.verb, named) or (folded(clause.verb) in CALLING and tool.name in seen.request)


def _named(tool: Tool) -> str:
    """The words of its name and its parameters; what it says of itself anybody may have written."""
    properties = plain_inputs(tool).get("properties")
    names = [tool.key, *(properties if isinstance(properties, dict) else ())]
    return " ".join(word for name in names for word in raw_words(name))


def _reads(call: Call, step: str) -> bool:
    pattern = re.compile(rf"(?<![\w.'\"]){re.escape(step)}(?!\w)|\[['\"]{re.escape(step)}['\"]\]")
    return any(isinstance(value, str) and "{{" in value and pattern.search(value) for _, value in walk(call.inputs))
