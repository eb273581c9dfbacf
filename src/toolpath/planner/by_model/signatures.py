"""Signatures of tools as a model reads them: `key(a: type, b?: x|y = x) -> {…} [write] description`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from toolpath.model.tool import Tool, ToolStats
from toolpath.values import JsonObject, encode

_TYPES: Final = {"string": "str", "integer": "int", "number": "num", "boolean": "bool", "null": "null"}
_DEEPEST: Final = 6
#: Types that one signature tells, however often a schema refers to itself, and characters of a name in it.
_MOST_TYPES: Final = 500
_LONGEST_NAME: Final = 100
#: Characters of all parameters of a tool, of all that it gives, and of all that it can do.
_PARAMETERS: Final = 6_000
_OUTPUT: Final = 3_000
_CAPABILITIES: Final = 300
#: Room in which another signature may still fit.
_ROOM: Final = 60


class Detail(msgspec.Struct, frozen=True):
    """Detail of a signature: characters of descriptions, levels of objects, and whether the rest is told."""

    description: int
    parameter: int
    """Of what a parameter is described with; 0: nothing."""
    inputs: int
    """Levels of objects."""
    outputs: int
    options: int
    """Values of an enum."""
    has_more: bool
    """Limits, capabilities, examples and statistics."""


#: From the most detailed on.
DETAILS: Final = (
    Detail(500, 120, 4, 3, 40, True),
    Detail(200, 60, 3, 2, 20, True),
    Detail(110, 0, 2, 2, 12, False),
    Detail(60, 0, 1, 1, 8, False),
    Detail(30, 0, 1, 1, 5, False),
    Detail(0, 0, 1, 0, 5, False),
)


def signature(tool: Tool, detail: Detail, stats: ToolStats | None = None) -> str:
    """The signature of a tool, in one line."""
    text = f"{tool.key}({cut(_parameters(tool.input_schema, detail), _PARAMETERS)})"
    if tool.output_schema is not None:
        output = _Types(tool.output_schema, detail.options).text(tool.output_schema, detail.outputs)
        text += f" -> {cut(output, _OUTPUT)}"
    if tool.effect != "read":
        text += f" [{tool.effect}]"
    if detail.description and tool.description:
        text += f" {cut(' '.join(tool.description.split()), detail.description)}"
    return f"{text}{_more(tool, stats)}" if detail.has_more else text


def signatures(tools: Sequence[tuple[Tool, ToolStats | None]], *, first: int, size: int) -> tuple[tuple[int, str], ...]:
    """The signatures of as many tools as `size` characters hold, the best first, each with its tool's place.

    The `first` ones are told in more detail than the others.
    """
    made: dict[tuple[int, int], str] = {}

    def of(index: int, level: int) -> str:
        if (index, level) not in made:
            made[index, level] = signature(tools[index][0], DETAILS[level], tools[index][1])
        return made[index, level]

    last = len(DETAILS) - 1
    for near, far in ((0, 0), (0, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5), (last, last)):
        found: list[str] = []
        left = size
        for index in range(len(tools)):
            text = of(index, near if index < first else far)
            left -= len(text) + 3
            if left < 0:
                break
            found.append(text)
        if len(found) == len(tools):
            return tuple(enumerate(found))
        if len(tools) - first > size // 20:
            # No signature is so short that all of them could fit.
            break
    few: list[tuple[int, str]] = []
    left = size
    for index in range(len(tools)):
        if left < _ROOM:
            break
        text = of(index, 1 if index < first else 3)
        # A long one hides none of those behind it.
        if len(text) + 3 <= left:
            left -= len(text) + 3
            few.append((index, text))
    return tuple(few)


def _parameters(schema: JsonObject, detail: Detail) -> str:
    types = _Types(schema, detail.options)
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return "…" if schema.get("additionalProperties") not in (False, None) else ""
    return ", ".join(types.members(properties, schema.get("required"), detail.inputs, told=detail.parameter))


class _Types:
    """Types of one schema, whose definitions are looked up in it."""

    def __init__(self, root: JsonObject, options: int) -> None:
        self._root = root
        self._options = options
        self._left = _MOST_TYPES

    def members(self, properties: JsonObject, required: Any, depth: int, *, told: int = 0) -> list[str]:
        """The members of an object, those first that have to be given."""
        needed = set(required) if isinstance(required, list) else set()
        found: list[str] = []
        for name, schema in sorted(properties.items(), key=lambda one: one[0] not in needed):
            if self._left <= 0:
                found.append("…")
                break
            given = self._resolved(schema)
            text = f"{_named(name)}{'' if name in needed else '?'}: {self.text(given, depth)}"
            if "default" in given and given["default"] is not None:
                text += f" = {cut(encode(given['default']).decode(), 40)}"
            said = given.get("description")
            if told and isinstance(said, str) and said:
                text += f" ({cut(' '.join(said.split()), told)})"
            found.append(text)
        return found

    def text(self, schema: Any, depth: int, level: int = 0) -> str:
        """The type that a schema describes."""
        self._left -= 1
        if level > _DEEPEST or self._left < 0:
            return "…"
        given = self._resolved(schema)
        options = given.get("enum") or ([given["const"]] if "const" in given else None)
        if isinstance(options, list):
            return self._choice(options)
        several = given.get("anyOf") or given.get("oneOf")
        if isinstance(several, list):
            texts = dict.fromkeys(self.text(one, depth, level + 1) for one in several[:8])
            return "|".join(text for text in texts if text != "null") or "null"
        kind = given.get("type")
        if isinstance(kind, list):
            return "|".join(_TYPES.get(one, str(one)) for one in kind if one != "null")
        if kind == "array":
            return f"[{self.text(given.get('items', {}), depth, level + 1)}]"
        if kind == "object" or given.get("properties"):
            return self._object(given, depth, level)
        form = given.get("format")
        if kind == "string" and isinstance(form, str):
            return cut(form, 20)
        return _TYPES.get(str(kind), "any")

    def _object(self, given: JsonObject, depth: int, level: int) -> str:
        """The fields of an object, or that it has some."""
        properties = given.get("properties")
        if depth <= 0 or not isinstance(properties, dict) or not properties:
            return "{…}"
        return "{" + ", ".join(self._inner(properties, given.get("required"), depth - 1, level + 1)) + "}"

    def _choice(self, options: list[Any]) -> str:
        """The values to choose from, as many as are told."""
        shown = [str(one) for one in options[: self._options]]
        return cut("|".join([*shown, *(["…"] if len(options) > len(shown) else [])]), 200)

    def _inner(self, properties: JsonObject, required: Any, depth: int, level: int) -> list[str]:
        needed = set(required) if isinstance(required, list) else set()
        shown = [
            f"{_named(name)}{'' if not needed or name in needed else '?'}{self._short(schema, depth, level)}"
            for name, schema in list(properties.items())[:40]
        ]
        return [*shown, *(["…"] if len(properties) > len(shown) else [])]

    def _short(self, schema: Any, depth: int, level: int) -> str:
        """The type after a name; that of a text, which most are, is left out."""
        text = self.text(schema, depth, level)
        return "" if text == "str" else f": {text}"

    def _resolved(self, schema: Any) -> JsonObject:
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {}
            ref = schema.get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#/"):
                parts = schema.get("allOf")
                return (
                    {**parts[0], **schema}
                    if isinstance(parts, list) and parts and isinstance(parts[0], dict)
                    else schema
                )
            found: Any = self._root
            for part in ref[2:].split("/"):
                found = found.get(part) if isinstance(found, dict) else None
            schema = found
        return {}


def _more(tool: Tool, stats: ToolStats | None) -> str:
    found = [f" LIMIT: {cut(text, 200)}" for text in tool.limitations[:10]]
    if tool.capabilities:
        found.append(f" CAN: {cut(', '.join(tool.capabilities[:10]), _CAPABILITIES)}")
    found += [
        f" EXAMPLE: {cut(one.query, 200)} => {cut(encode(one.parameters).decode(), 300)}" for one in tool.examples[:2]
    ]
    known: list[str] = []
    if stats is not None and stats.calls:
        known = [
            f"{stats.calls} calls",
            f"{stats.failure_rate or 0:.0%} failed",
            f"{stats.average_duration or 0:.2g} s",
        ]
    if tool.cost is not None:
        known.append(f"{tool.cost:g} USD")
    return "".join([*found, f" STATISTICS: {', '.join(known)}" if known else ""])


def _named(name: str) -> str:
    return cut(" ".join(name.split()), _LONGEST_NAME)


def cut(text: str, size: int) -> str:
    """The text in at most `size` characters, ending in … where something is left out."""
    return text if len(text) <= size else text[: size - 1] + "…"
