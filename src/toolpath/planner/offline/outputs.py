"""Outputs of a tool as the planner sees them: fields with types and words, and how well they feed a parameter."""

from __future__ import annotations

import msgspec

from toolpath.catalog.words import STOP, raw_words, stem
from toolpath.planner.offline.match import is_like
from toolpath.planner.offline.rank import RankedTool
from toolpath.planner.offline.slots import Slot
from toolpath.values import Json, JsonObject

#: From this on, an output feeds a parameter that the request leaves open.
FEEDS = 0.75
_KEYS = frozenset(("id", "key", "uuid", "identifier", "code"))
_VERBS = frozenset(
    [
        "get",
        "create",
        "add",
        "make",
        "find",
        "search",
        "list",
        "set",
        "update",
        "delete",
        "new",
        "fetch",
        "retrieve",
        "by",
        "calculate",
        "compute",
        "generate",
        "check",
    ]
)
_MOST_FIELDS = 60


class OutputField(msgspec.Struct, frozen=True):
    """One field of a result."""

    path: tuple[str | int, ...]
    type: str
    words: tuple[str, ...]
    described: frozenset[str]


def outputs_of(
    schema: Json, path: tuple[str | int, ...] = (), depth: int = 0, root: JsonObject | None = None
) -> list[OutputField]:
    """Every field of an object that the schema describes, objects inside it included."""
    root = root if root is not None or not isinstance(schema, dict) else schema
    schema = _resolved(schema, root)
    properties = schema.get("properties") if schema is not None else None
    if not isinstance(properties, dict):
        return []
    found: list[OutputField] = []
    for name, field in properties.items():
        if not isinstance(field, dict) or not isinstance(name, str) or len(found) >= _MOST_FIELDS:
            continue
        kind = field.get("type")
        words = tuple(stem(word) for word in raw_words(name))
        described = frozenset(
            stem(word) for word in raw_words(str(field.get("description") or ""))[:40] if word not in STOP
        )
        found.append(OutputField((*path, name), str(kind or "any"), words, described))
        if depth < 2:
            found += outputs_of(field, (*path, name), depth + 1, root)
    return found


def _resolved(schema: Json, root: JsonObject | None) -> JsonObject | None:
    """The schema itself, or what its reference into the same document names."""
    if isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and root is not None:
        at: Json = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            at = at.get(part) if isinstance(at, dict) else None
        schema = at
    return schema if isinstance(schema, dict) else None


def feeds(slot: Slot, output: OutputField, source: RankedTool) -> float:
    """How well the output of that tool feeds the parameter, 0 to about 2."""
    if not _can_feed(slot.type, output.type):
        return 0.0
    wanted = [stem(word) for word in raw_words(slot.name)]
    made = [word for word in output.words if word]
    if not wanted or not made:
        return 0.0
    of_tool = {word for word in source.name if word not in _VERBS}
    both = sum(any(is_like(word, other) for other in made) for word in wanted)
    score = 1.6 * both / max(len(wanted), len(made))
    rest = [word for word in wanted if not any(is_like(word, other) for other in made)]
    if both and rest and all(any(is_like(word, other) for other in of_tool) for word in rest):
        # `author_id` is the `id` of what the tool for authors gives.
        score = 1.4
    elif not both and set(made) & _KEYS == set() and any(is_like(word, other) for word in wanted for other in of_tool):
        score = 0.4
    if set(wanted) & _KEYS and not set(made) & _KEYS:
        score *= 0.4
    telling = [word for word in wanted if word not in _KEYS] or wanted
    score += 0.3 * sum(word in output.described for word in telling) / len(telling)
    score += 0.3 * len(slot.described & (output.described | set(made))) / max(4, len(slot.described))
    return score - 0.1 * (len(output.path) - 1)


def _can_feed(wanted: str, made: str) -> bool:
    if wanted == made or "any" in (wanted, made):
        return True
    if {wanted, made} <= {"integer", "number", "float"}:
        return True
    return wanted == "string" and made in ("integer", "number", "float", "array", "object")
