"""Look-up of what a schema says about the place that a path leads to."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from toolpath.json_schema.coerce import types_of
from toolpath.json_schema.describe import type_text
from toolpath.json_schema.document import ANNOTATIONS, SchemaDocument, SchemaNode
from toolpath.values import JsonObject

Found = Literal["found", "missing", "unknown"]
Key = str | int | None

_MOST_KEYS: Final = 40
_MOST_BRANCHES: Final = 64
#: Schemas that one key is looked for in; each may be a level of recursion.
_MOST_PLACES: Final = 100


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a schema describes a place, and how."""

    found: Found
    schema: JsonObject | None
    """Of the place, where found; `{}` where it may hold anything."""
    root: JsonObject
    """What `$ref` in the schema refers to."""
    optional: bool = False
    """Something on the way may be absent or null."""
    reason: str = ""
    """Why it is missing or not known."""
    available: tuple[str, ...] = ()
    """Keys that are there instead, with their types, e.g. `id: string`."""


class _Reach(msgspec.Struct, frozen=True):
    """Places that one key leads to from one place."""

    found: Found
    nodes: tuple[SchemaNode, ...] = ()
    optional: bool = False


_UNKNOWN: Final = _Reach("unknown")
_MISSING: Final = _Reach("missing")


def locate(schema: JsonObject | None, path: tuple[Key, ...]) -> Located:
    """The part of the schema that describes the value at the path; None in the path is a computed key or index.

    A property that an object's schema does not declare is missing, unless the schema declares none at all or says
    that there are more. In alternatives it is found if any of them has it.
    """
    if not isinstance(schema, dict):
        return Located(found="unknown", schema=None, root={}, reason="there is no schema")
    document = SchemaDocument(schema)
    here = SchemaNode(schema)
    optional = False
    for index, key in enumerate(path):
        reach = _step(document, here, key, {})
        if reach.found != "found":
            return Located(
                found=reach.found,
                schema=None,
                root=schema,
                optional=optional,
                reason=_reason(document, here, path[:index], key, reach.found),
                available=_available(document, here),
            )
        optional = optional or reach.optional
        here = _together(reach.nodes, "anyOf")
    found = here.schema if isinstance(here.schema, dict) else {}
    return Located(found="found", schema=found, root=schema, optional=optional or _may_be_null(document, here))


def path_text(path: tuple[Key, ...]) -> str:
    """The path as an expression writes it, e.g. `.user.tags[0]`; `[…]` is a computed key."""
    texts = []
    for key in path:
        if isinstance(key, str):
            texts.append(f".{key}" if key.isidentifier() else f"[{key!r}]")
        else:
            texts.append("[…]" if key is None else f"[{key}]")
    return "".join(texts)


def _step(document: SchemaDocument, node: SchemaNode, key: Key, known: dict[int, _Reach]) -> _Reach:
    """Where the key leads from the place; `known` holds what was found for places on the way to the same value."""
    if not isinstance(node.schema, dict) or len(known) > _MOST_PLACES:
        return _MISSING if node.schema is False else _UNKNOWN
    mark = id(node.schema)
    if mark not in known:
        # What is met again while it is looked at leads back to itself and says nothing more.
        known[mark] = _UNKNOWN
        known[mark] = _by_rules(document, node, key, known)
    return known[mark]


def _by_rules(document: SchemaDocument, node: SchemaNode, key: Key, known: dict[int, _Reach]) -> _Reach:
    parts = _conjuncts(document, node)
    if parts is None:
        return _UNKNOWN
    reaches = [_own(document, node, key)] if not parts[0] else []
    for together in parts[1]:
        reaches.append(_step(document, together, key, known))
    reaches += [_any(document, branches, key, known) for branches in parts[2]]
    return _all(document, node, reaches, key)


def _conjuncts(
    document: SchemaDocument, node: SchemaNode
) -> tuple[bool, tuple[SchemaNode, ...], list[tuple[SchemaNode, ...]]] | None:
    """Whether the reference replaces all else, the schemas that hold as well, and the groups of alternatives."""
    together: list[SchemaNode] = []
    if "$ref" in node.schema:  # type: ignore[operator]  # the caller has seen that it is an object
        target = document.target(node.get("$ref"))
        if target is None:
            return None
        if document.replaces_siblings:
            return True, (target,), []
        together.append(target)
    together += node.list("allOf")
    return False, tuple(together), [group for key in ("anyOf", "oneOf") if (group := node.list(key))]


def _all(document: SchemaDocument, node: SchemaNode, reaches: list[_Reach], key: Key) -> _Reach:
    found = [reach for reach in reaches if reach.found == "found"]
    if found:
        nodes = tuple(_together(reach.nodes, "anyOf") for reach in found)
        optional = all(reach.optional for reach in found) and not (key is not None and _requires(node, str(key)))
        return _Reach("found", (_together(nodes, "allOf"),), optional)
    return _MISSING if any(reach.found == "missing" for reach in reaches) else _UNKNOWN


def _any(document: SchemaDocument, branches: tuple[SchemaNode, ...], key: Key, known: dict[int, _Reach]) -> _Reach:
    reaches = [_step(document, branch, key, known) for branch in branches[:_MOST_BRANCHES]]
    found = [reach for reach in reaches if reach.found == "found"]
    if found:
        nodes = tuple(node for reach in found for node in reach.nodes)
        return _Reach("found", nodes, len(found) < len(reaches) or any(reach.optional for reach in found))
    return _MISSING if all(reach.found == "missing" for reach in reaches) else _UNKNOWN


def _own(document: SchemaDocument, node: SchemaNode, key: Key) -> _Reach:
    """The reach of the schema's own keywords, without its references and alternatives."""
    match key:
        case str():
            return _property(document, node, key)
        case int() if _is_object(node):
            # On an object a number names the key of that text.
            return _property(document, node, str(key))
        case int():
            return _item(node, key)
        case None:
            return _computed(node)


def _is_object(node: SchemaNode) -> bool:
    types = types_of(node.schema)  # type: ignore[arg-type]
    if not types:
        return "properties" in node.schema and "items" not in node.schema  # type: ignore[operator]
    return "object" in types and "array" not in types


def _property(document: SchemaDocument, node: SchemaNode, name: str) -> _Reach:
    types = types_of(node.schema)  # type: ignore[arg-type]
    if types and "object" not in types:
        return _MISSING
    optional = not _requires(node, name) or (len(types) > 1)
    declared = node.child("properties", name)
    if declared is not None:
        return _MISSING if declared.schema is False else _Reach("found", (declared,), optional)
    for pattern, part in node.map("patternProperties").items():
        if document.matches(pattern, name):
            return _Reach("found", (part,), optional)
    more = node.child("additionalProperties")
    if more is not None and isinstance(more.schema, dict) and more.schema:
        return _Reach("found", (more,), optional)
    if more is not None and more.schema is False:
        return _MISSING
    return _MISSING if node.get("properties") and more is None else _UNKNOWN


def _item(node: SchemaNode, index: int) -> _Reach:
    types = types_of(node.schema)  # type: ignore[arg-type]
    if types and "array" not in types:
        # An index into text is a character of it.
        return _Reach("found", (SchemaNode({"type": "string"}),), True) if "string" in types else _MISSING
    if not types and "properties" in node.schema:  # type: ignore[operator]
        return _MISSING
    most = node.get("maxItems")
    if isinstance(most, int | float) and index >= most:
        return _MISSING
    first = node.list("prefixItems") or node.list("items")
    rest = node.child("additionalItems" if isinstance(node.get("items"), list) else "items")
    if 0 <= index < len(first):
        return _Reach("found", (first[index],), len(types) > 1)
    nodes = (*(first if index < 0 else ()), *(() if rest is None or rest.schema is False else (rest,)))
    if nodes:
        return _Reach("found", nodes, len(types) > 1)
    return _MISSING if rest is not None else _UNKNOWN


def _computed(node: SchemaNode) -> _Reach:
    types = types_of(node.schema)  # type: ignore[arg-type]
    if types and not {"array", "object"} & set(types):
        return _MISSING
    if "array" in types and "object" not in types:
        return _item(node, -1)
    more = node.child("additionalProperties")
    if "object" in types and not node.get("properties") and more is not None and isinstance(more.schema, dict):
        return _Reach("found", (more,), True)
    return _UNKNOWN


def _requires(node: SchemaNode, name: str) -> bool:
    required = node.get("required")
    return isinstance(required, list) and name in required


def _together(nodes: tuple[SchemaNode, ...], key: str) -> SchemaNode:
    """Several places as one schema; an address in the document is lost by that."""
    unique = list({id(node.schema): node for node in nodes}.values())
    if len(unique) == 1:
        return unique[0]
    return SchemaNode({key: [node.schema for node in unique]}, unique[0].at)


def _may_be_null(document: SchemaDocument, node: SchemaNode, depth: int = 0) -> bool:
    if depth > 8 or not isinstance(node.schema, dict):
        return False
    if "$ref" in node.schema and (target := document.target(node.schema["$ref"])) is not None:
        return _may_be_null(document, target, depth + 1)
    if "null" in types_of(node.schema):
        return True
    return any(_may_be_null(document, part, depth + 1) for key in ("anyOf", "oneOf") for part in node.list(key))


def _available(document: SchemaDocument, node: SchemaNode) -> tuple[str, ...]:
    found: dict[str, str] = {}
    waiting = [(node, 0)]
    while waiting and len(found) < _MOST_KEYS:
        here, depth = waiting.pop(0)
        if depth > 8 or not isinstance(here.schema, dict):
            continue
        for name, part in here.map("properties").items():
            found.setdefault(name, type_text(part.schema))
        target = document.target(here.get("$ref")) if "$ref" in here.schema else None
        parts = [part for key in ("allOf", "anyOf", "oneOf") for part in here.list(key)]
        waiting += [(part, depth + 1) for part in ([target] if target is not None else []) + parts]
    return tuple(f"{name}: {kind}" for name, kind in list(found.items())[:_MOST_KEYS])


def _reason(document: SchemaDocument, node: SchemaNode, before: tuple[Key, ...], key: Key, found: Found) -> str:
    place = path_text(before) or "the value"
    resolved = document.resolve(node) or node
    kind = type_text(resolved.schema)
    what = path_text((key,))
    if found == "unknown":
        bare = not isinstance(resolved.schema, dict) or not (resolved.schema.keys() - ANNOTATIONS)
        return (
            f"{place} has no type" if bare else f"the schema of {place} ({kind}) does not say whether {what} is there"
        )
    if isinstance(key, str) and kind.startswith("array"):
        return f"{place} is an {kind}: take one item, e.g. [0]{what}"
    return f"{place} is {_article(kind)} without {what}"


def _article(kind: str) -> str:
    if kind.startswith(("one of", "anything", "nothing", '"')):
        return kind
    return f"an {kind}" if kind[:1] in "aeio" else f"a {kind}"
