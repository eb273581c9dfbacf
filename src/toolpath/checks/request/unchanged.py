"""Changes that say nothing of what is to be changed: `Change the reservation R-340`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.seen import Seen
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

#: Verbs of names of tools that do nothing to a thing of which nothing is said to be otherwise.
_CHANGING: Final = frozenset(
    re.findall(
        r"\S+",
        """update change edit modify amend adjust alter patch revise configure reconfigure reschedule rename resize move
        reassign set correct
        aktualisiere aendere andere bearbeite modifier changer actualizar cambiar modificar editar""",
    )
)
#: What says which thing is meant.
_WHICH: Final = frozenset(
    re.findall(
        r"\S+",
        """id ids no nr number num key code ref reference slug uuid sku plate path repo repository owner project
        workspace account user tenant namespace""",
    )
)


def unchanged(seen: Seen) -> Iterator[str]:
    """A question for each call of a tool that changes things which is told the thing and nothing that it could set."""
    for call, tool, _ in seen.acting:
        if tool is None or not _CHANGING.intersection(raw_words(tool.name)[:1]):
            continue
        free = _free(tool)
        if free and not any(name in call.inputs for name in free) and _names_only(call.inputs, tool, seen):
            named = " or ".join(repr(name) for name in free[:5])
            yield f"{call.id}: what is to be changed: {named}? The request says nothing of it."


def read_back(seen: Seen) -> Iterator[str]:
    """A question for each value that a change would set to what a step has just read of the same thing."""
    reads = {call.id: call for call, tool, _ in seen.calls if tool is not None and tool.is_read}
    for call, tool, _ in seen.acting:
        if tool is None or not _SETTING.intersection(raw_words(tool.name)[:1]):
            continue
        for name, value in call.inputs.items():
            found = _READ.fullmatch(value) if isinstance(value, str) else None
            source = reads.get(found["step"]) if found is not None else None
            if found is None or source is None or found["name"] != name or raw_words(name)[-1] in _WHICH:
                continue
            shared = [one for one, said in source.inputs.items() if call.inputs.get(one) == said]
            if shared and len(shared) == len(source.inputs):
                yield f"{call.id}: {name!r} would be set to what it is. What is it to be?"


_SETTING: Final = _CHANGING | {"put", "write", "raise", "lower", "increase", "decrease"}
_READ: Final = re.compile(r"\{\{\s*(?:steps\.)?(?P<step>\w+)(?:\.output)?\.(?P<name>\w+)\s*\}\}")


def _free(tool: Tool) -> list[str]:
    """The parameters that a call may set; none where the tool sets something by itself."""
    properties, required = plain_inputs(tool).get("properties"), plain_inputs(tool).get("required")
    if not isinstance(properties, dict):
        return []
    needed = required if isinstance(required, list) else []
    free = {name: schema for name, schema in properties.items() if name not in needed}
    if any(isinstance(schema, dict) and schema.get("default") is not None for schema in free.values()):
        return []
    return [str(name) for name in free]


def _names_only(inputs: JsonObject, tool: Tool, seen: Seen) -> bool:
    """Whether all that the call is told only says which thing is meant."""
    things = {stem(folded(word)) for word in raw_words(tool.name)[1:]}
    told = f"{tool.name} {tool.description[:200]}"
    things |= {stem(folded(word)) for word in raw_words(told)} if not things else set()
    return bool(inputs) and all(
        raw_words(name)[-1:] and _is_which(name, things) and not _is_new(str(value), seen)
        for name, value in inputs.items()
    )


def _is_which(name: str, things: set[str]) -> bool:
    words = raw_words(name)
    return words[-1] in _WHICH or (len(words) == 1 and stem(folded(words[0])) in things)


def _is_new(value: str, seen: Seen) -> bool:
    """Whether the request says it as what something becomes: `Change the volume to 30`."""
    return re.search(rf"\b(?:to|auf|zu|in|à|en|a)\s+{re.escape(value)}(?!\w)", seen.whole, re.IGNORECASE) is not None
