"""A JSON value around its leaves: finding the strings, making the whole from code, putting results in. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from toolpath.errors import OverBudget
from toolpath.expressions import operate
from toolpath.expressions.emit import Emitter, Run
from toolpath.expressions.leaf import Leaf, LeafPiece
from toolpath.expressions.names import Root
from toolpath.expressions.shape import schema_of
from toolpath.expressions.tree import Path, Reference, Tree
from toolpath.values import MAX_DEPTH, Json, JsonObject, key_pointer, type_name

# Leaves by the JSON pointers of their strings.
Leaves = dict[str, Leaf]
_AT: dict[str, Any] = {"lineno": 1, "col_offset": 0}
_TEMPLATE = re.compile(r"\{\{")
#: Kinds of names whose values are in the frame, and those of them that are in an object there.
_AT_HAND = frozenset({"output", "item", "last", "run", "state", "inputs"})
_NAMED = frozenset({"state", "inputs"})
#: What may hold text.
_INNER = frozenset({str, dict, list})
_CONTAINERS = frozenset({dict, list})


Text = tuple[str, str | None]


def texts(value: Json, marked: Callable[[str], object] = _TEMPLATE.search) -> list[Text]:
    """Every string in the value that is marked, with its pointer, in order; None where it is too deep."""
    if type(value) is str:
        return [("", value)] if marked(value) else []
    found: list[Text] = []
    if type(value) in _CONTAINERS:
        _find_texts(value, ("", 0), marked, found)
    return found


def _find_texts(value: Json, place: tuple[str, int], marked: Callable[[str], object], found: list[Text]) -> None:
    """`place`: pointer of the value, and how deep it is."""
    at, depth = place
    if depth > MAX_DEPTH:
        found.append((at, None))
    elif type(value) is dict:
        for key, inner in value.items():
            if type(inner) is str:
                if marked(inner):
                    found.append((at + key_pointer(key), inner))
            elif type(inner) in _CONTAINERS:
                _find_texts(inner, (at + key_pointer(key), depth + 1), marked, found)
    else:
        for index, inner in enumerate(value):
            if type(inner) is str:
                if marked(inner):
                    found.append((f"{at}/{index}", inner))
            elif type(inner) in _CONTAINERS:
                _find_texts(inner, (f"{at}/{index}", depth + 1), marked, found)


class PlainValue:
    """Makes a value whose templates are plain paths, by walking through it: without code of its own.

    Compiling code takes as long as a hundred evaluations, and most templates are evaluated a few times.
    """

    __slots__ = ("_holders", "_leaves", "_value")

    def __init__(self, value: Json, leaves: Leaves) -> None:
        self._value = value
        self._leaves = leaves
        self._holders = _holders(leaves)

    def __call__(self, frame: Any, budget: Any) -> Json:
        """The value. Fails with any error where something is missing, as the fast form of code does."""
        return self._made(self._value, "", frame, budget)

    def _made(self, value: Json, at: str, frame: Any, budget: Any) -> Json:
        """A part of the value; what has no template in it is not made anew."""
        if at in self._leaves:
            return _given(self._leaves[at], frame, budget)
        if at not in self._holders:
            return value
        if type(value) is dict:
            return {
                key: self._made(item, at + key_pointer(key), frame, budget) if type(item) in _INNER else item
                for key, item in value.items()
            }
        return [
            self._made(item, f"{at}/{index}", frame, budget) if type(item) in _INNER else item
            for index, item in enumerate(value)
        ]


def plain_value(value: Json, leaves: Leaves) -> tuple[PlainValue, bool] | None:
    """The quicker form of `function_of_value`, where all templates are plain paths into the frame; else None."""
    charged = False
    for leaf in leaves.values():
        charged = charged or leaf.whole is None
        for piece in leaf.pieces:
            if type(piece) is LeafPiece and not _is_at_hand(piece.tree):
                return None
    return PlainValue(value, leaves), charged


def _is_at_hand(of: Tree) -> bool:
    root = of.reference.root if type(of) is Path else None
    return type(root) is Root and not root.up and root.kind in _AT_HAND


def _given(leaf: Leaf, frame: Any, budget: Any) -> Json:
    """The value of a string whose templates are plain paths: each of them is one of its references, in their order."""
    if leaf.whole is not None:
        return at_hand(leaf.references[0], frame)
    references = iter(leaf.references)
    return "".join(
        [
            piece if isinstance(piece, str) else operate.text(at_hand(next(references), frame), budget)
            for piece in leaf.pieces
        ]
    )


def at_hand(reference: Reference, frame: Any) -> Json:
    """The value that the frame has for the reference."""
    root: Any = reference.root
    if root.kind == "output":
        value = frame.outputs[root.key]
    else:
        value = getattr(frame, root.kind)
        if root.key and root.kind in _NAMED:
            value = value[root.key]
    for key in reference.path:
        value = value[key]
    return value


def function_of_value(value: Json, leaves: Leaves, *, condition: bool) -> tuple[Run, bool]:
    """One function that makes the value, in the fast form, and whether it needs a budget."""
    if not leaves and not condition:
        return lambda frame, budget: value, False
    emitter = Emitter()
    body = _emit(emitter, value, "", leaves, _holders(leaves))
    if condition:
        body = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), body, **_AT), **_AT)
    return emitter.function(body), emitter.charged


def _emit(emitter: Emitter, value: Json, at: str, leaves: Leaves, holders: frozenset[str]) -> ast.expr:
    """The code that makes the value; what has no template in it is not made anew."""
    leaf = leaves.get(at)
    if leaf is not None:
        whole = leaf.whole
        if whole is not None:
            return emitter.emit(whole.tree)
        return emitter.text(piece if isinstance(piece, str) else piece.tree for piece in leaf.pieces)
    if at not in holders:
        return emitter.constant(value)
    if type(value) is dict:
        keys = [emitter.constant(key) for key in value]
        made = [_emit(emitter, item, at + key_pointer(key), leaves, holders) for key, item in value.items()]
        return ast.Dict([*keys], made, **_AT)
    made = [_emit(emitter, item, f"{at}/{index}", leaves, holders) for index, item in enumerate(value)]
    return ast.List(made, ast.Load(), **_AT)


def _holders(leaves: Leaves) -> frozenset[str]:
    """Pointers of the objects and lists in which there are templates."""
    found: set[str] = set()
    for at in leaves:
        while at and (at := at.rpartition("/")[0]) not in found:
            found.add(at)
    return frozenset(found)


def filled(value: Json, found: Mapping[str, Json]) -> Json:
    """The value with the strings at these pointers replaced."""
    try:
        return _filled(value, "", found)
    except RecursionError:
        raise OverBudget("The value is nested too deeply to be made.") from None


def _filled(value: Json, at: str, found: Mapping[str, Json]) -> Json:
    if at in found:
        return found[at]
    if type(value) is dict:
        return {key: _filled(item, at + key_pointer(key), found) for key, item in value.items()}
    if type(value) is list:
        return [_filled(item, f"{at}/{index}", found) for index, item in enumerate(value)]
    return value


def schema_of_value(value: Json, leaves: Leaves) -> JsonObject | None:
    """The schema of the value, as far as it is known."""
    return _schema(value, "", leaves, _holders(leaves))


def _schema(value: Json, at: str, leaves: Leaves, holders: frozenset[str]) -> JsonObject | None:
    leaf = leaves.get(at)
    if leaf is not None:
        return schema_of(leaf.whole.tree) if leaf.whole is not None else {"type": "string"}
    if at not in holders:
        return {"type": type_name(value), "const": value}
    if type(value) is dict:
        properties = {key: _schema(item, at + key_pointer(key), leaves, holders) or {} for key, item in value.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    made = [_schema(item, f"{at}/{index}", leaves, holders) or {} for index, item in enumerate(value)]
    return {"type": "array", "prefixItems": made, "items": False, "minItems": len(made)}
