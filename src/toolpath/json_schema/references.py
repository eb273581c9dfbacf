"""References of a schema that cannot be followed, or would take too long to follow."""

from __future__ import annotations

from typing import Final, NamedTuple

from toolpath.json_schema.document import SchemaDocument, SchemaNode, subschemas
from toolpath.json_schema.faults import Fault
from toolpath.values import JsonObject

#: Schemas that one value may have to be compared with, counted along all references without going into the value.
_MOST_PATHS: Final = 100_000
_LONGEST_CHAIN: Final = 500
#: The validator's own preparation takes time with the square of their number: 1 s here.
_MOST_REFERENCES: Final = 20_000
_IN_PLACE_LISTS: Final = ("anyOf", "oneOf", "allOf")
_IN_PLACE: Final = ("not", "if", "then", "else")


def lost_references(schema: JsonObject) -> list[Fault]:
    """Each `$ref` that leads out of the schema or names nothing in it."""
    document = SchemaDocument(schema)
    lost: list[Fault] = []
    for node in subschemas(SchemaNode(schema)):
        reference = node.get("$ref")
        if not isinstance(reference, str) or document.target(reference) is not None:
            continue
        if reference.startswith("#"):
            lost.append((f"{node.at}/$ref", f"the reference {reference!r} names nothing in this schema"))
        else:
            lost.append(
                (f"{node.at}/$ref", f"the reference {reference!r} leads out of this schema, and nothing is fetched")
            )
    return lost


def tangle(document: SchemaDocument) -> Fault | None:
    """The fault of a schema whose references fan out or chain so far that validating would not end in time."""
    referring = [node for node in subschemas(SchemaNode(document.root)) if "$ref" in _keywords(node)]
    if len(referring) > _MOST_REFERENCES:
        return "", f"more than {_MOST_REFERENCES} references are not followed"
    known: dict[int, _Reach] = {}
    for node in referring:
        reach = _reach(document, node, known)
        if reach.paths > _MOST_PATHS or reach.depth > _LONGEST_CHAIN:
            return f"{node.at}/$ref", "the references from here branch or chain too often to be followed"
    return None


class _Reach(NamedTuple):
    """Number of schemas a value meets at one place, those behind references too, and the longest way to one."""

    paths: int
    depth: int


def _reach(document: SchemaDocument, start: SchemaNode, known: dict[int, _Reach]) -> _Reach:
    entered: set[int] = {id(start.schema)}
    stack = [(start, _in_place(document, start))]
    while stack:
        node, parts = stack[-1]
        waiting = next(
            (part for part in parts if id(part.schema) not in known and id(part.schema) not in entered), None
        )
        if waiting is not None:
            entered.add(id(waiting.schema))
            stack.append((waiting, _in_place(document, waiting)))
            continue
        stack.pop()
        # A loop ends where it meets itself: the validator stops there.
        reached = [known.get(id(part.schema), _Reach(1, 0)) for part in parts]
        known[id(node.schema)] = _Reach(
            min(_MOST_PATHS + 1, 1 + sum(reach.paths for reach in reached)),
            1 + max((reach.depth for reach in reached), default=0),
        )
    return known[id(start.schema)]


def _in_place(document: SchemaDocument, node: SchemaNode) -> list[SchemaNode]:
    keywords = _keywords(node)
    parts = [part for key in _IN_PLACE_LISTS if key in keywords for part in node.list(key)]
    parts += [part for key in _IN_PLACE if key in keywords and (part := node.child(key)) is not None]
    if "dependentSchemas" in keywords:
        parts += node.map("dependentSchemas").values()
    if "$ref" in keywords and (target := document.target(keywords["$ref"])) is not None:
        parts.append(target)
    return [part for part in parts if isinstance(part.schema, dict)]


def _keywords(node: SchemaNode) -> JsonObject:
    return node.schema if isinstance(node.schema, dict) else {}
