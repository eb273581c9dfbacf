"""A JSON value around its leaves: finding the strings, making the whole from code, putting results in. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from toolpath.errors import OverBudget
from toolpath.expressions import operate
from toolpath.expressions.emit import Emitter, Run, plain_path
from toolpath.expressions.leaf import Leaf
from toolpath.expressions.shape import schema_of
from toolpath.values import MAX_DEPTH, Json, JsonObject, key_pointer, type_name

# Leaves by the JSON pointers of their strings.
Leaves = dict[str, Leaf]
_AT: dict[str, Any] = {"lineno": 1, "col_offset": 0}
_TEMPLATE = re.compile(r"\{\{")
#: What may hold text.
_INNER = frozenset({str, dict, list})


def texts(value: Json, marked: Callable[[str], object] = _TEMPLATE.search) -> Iterator[tuple[str, str | None]]:
    """Every string in the value that is marked, with its pointer, in order; None where it is too deep."""
    if type(value) is str:
        if marked(value):
            yield "", value
        return
    stack: list[tuple[str, Json, int]] = [("", value, 0)]
    while stack:
        at, item, depth = stack.pop()
        if type(item) is str:
            yield at, item
        elif depth > MAX_DEPTH:
            yield at, None
        elif type(item) is dict:
            stack += [
                (at + key_pointer(key), inner, depth + 1)
                for key, inner in reversed(item.items())
                if type(inner) in _INNER and (type(inner) is not str or marked(inner))
            ]
        elif type(item) is list:
            below = [
                (f"{at}/{index}", inner, depth + 1)
                for index, inner in enumerate(item)
                if type(inner) in _INNER and (type(inner) is not str or marked(inner))
            ]
            stack += reversed(below)


def plain_function(value: Json, leaves: Leaves) -> tuple[Run, bool] | None:
    """What `function_of_value` gives, put together of functions that are there, where all templates are plain paths.

    Compiling code takes as long as a hundred evaluations, and most templates are evaluated a few times.
    """
    made: dict[str, Run] = {}
    charged = False
    for at, leaf in leaves.items():
        if leaf.whole is not None:
            run = plain_path(leaf.whole.tree)
            if run is None:
                return None
            made[at] = run
        else:
            parts = [piece if isinstance(piece, str) else plain_path(piece.tree) for piece in leaf.pieces]
            if None in parts:
                return None
            charged = True
            made[at] = _text_of(tuple(cast(list[str | Run], parts)))
    return _put_together(value, "", made) or _always(value), charged


def _text_of(parts: tuple[str | Run, ...]) -> Run:
    def text_of(frame: Any, budget: Any) -> Json:
        return "".join([part if isinstance(part, str) else operate.text(part(frame, budget), budget) for part in parts])

    return text_of


def _put_together(value: Json, at: str, made: Mapping[str, Run]) -> Run | None:
    """The function that makes a part of the value; None where there is no template in it."""
    if type(value) is str:
        return made.get(at) if "{{" in value else None
    if type(value) is dict:
        runs: list[tuple[str, Run]] = []
        for key, item in value.items():
            if type(item) in _INNER and (type(item) is not str or "{{" in item):
                run = _put_together(item, at + key_pointer(key), made)
                if run is not None:
                    runs.append((key, run))
        return _object_of(value, tuple(runs)) if runs else None
    items = [
        _put_together(item, f"{at}/{index}", made) if type(item) in _INNER else None for index, item in enumerate(value)
    ]
    if not any(items):
        return None
    return _list_of(tuple([run or _always(item) for run, item in zip(items, value, strict=True)]))


def _object_of(fixed: JsonObject, runs: tuple[tuple[str, Run], ...]) -> Run:
    def object_of(frame: Any, budget: Any) -> Json:
        value = fixed.copy()
        for key, run in runs:
            value[key] = run(frame, budget)
        return value

    return object_of


def _list_of(items: tuple[Run, ...]) -> Run:
    return lambda frame, budget: [item(frame, budget) for item in items]


def _always(value: Json) -> Run:
    return lambda frame, budget: value


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
    """What is known of the type of the value."""
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
