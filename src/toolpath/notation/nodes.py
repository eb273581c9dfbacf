"""Text, bytes or plain values → a tree of nodes that know their line and column. YAML 1.2 and JSON; nothing of plans.

Raises `ReadError` where there is no tree at all. What can be worked around (keys given twice) is noted on the node.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from toolpath.errors import Finding, ReadError
from toolpath.values import MAX_DEPTH, Json, type_name

#: Bytes of text that are read at all. A plan of 10,000 steps takes about one million.
MAX_SIZE = 5_000_000
#: Values in one tree, aliases counted as often as they are used.
MAX_NODES = 500_000
#: Steps in one document, where the reader is not told less.
MAX_STEPS = 1_000_000
#: What lists of steps are called, in whichever notation.
STEP_LISTS = frozenset({"steps", "parallel", "tools", "toolChain", "tool_chain"})


class TooManySteps(ReadError):
    """A document has more steps than a plan may have; nothing else of it was looked at."""


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """A key that its mapping holds already; the first one counts."""

    key: str
    line: int
    column: int


class DocumentNode(msgspec.Struct, frozen=True, gc=False):
    """One value of the tree and where it stands. Lines and columns count from 1; 0: no text, no position."""

    value: Any
    """None, bool, int, float, str, `list[Node]` or `dict[str, Node]`."""
    line: int = 0
    column: int = 0
    key_line: int = 0
    """Of the key, for a member of a mapping."""
    key_column: int = 0
    written: str = ""
    """A number or null as it was written, since `1.10` is a version too."""
    repeats: tuple[Repeat, ...] = ()

    @property
    def place(self) -> tuple[int, int]:
        """Where to point for this value: at a plain value itself, at the key of a mapping or list."""
        if self.key_line and isinstance(self.value, dict | list):
            return self.key_line, self.key_column
        return self.line, self.column

    @property
    def kind(self) -> str:
        """The JSON name of the value's type, e.g. `object`."""
        return type_name(self.value)


def refusal(message: str, place: tuple[int, int] | None = None, hint: str = "", *, file: str = "") -> ReadError:
    """The error that says what no tree could be made of, with its place in the message and as a finding."""
    if place is None:
        return ReadError(f"{file}: {message}" if file else message, hint=hint)
    line, column = place
    finding = Finding(code="unreadable", severity="error", message=message, line=line, column=column, hint=hint)
    where = f"{file}:{line}:{column}" if file else f"line {line}, column {column}"
    return ReadError(f"{where}: {message}", findings=[finding], hint=hint)


def text_of(source: str | bytes, *, file: str = "", max_size: int = MAX_SIZE) -> str:
    """The source as text of bounded size, without byte order mark."""
    if len(source) > max_size:
        raise refusal(
            f"The text has {len(source):,} bytes; at most {max_size:,} are read.",
            hint="Split it into several plans, and keep data in files that tools read.",
            file=file,
        )
    text = _decoded(source, file) if isinstance(source, bytes) else source
    return text.removeprefix("\ufeff")


def _decoded(source: bytes, file: str) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        before = source[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise refusal(
            f"The byte 0x{source[error.start]:02x} is not UTF-8.", (line, column), "Save the file as UTF-8.", file=file
        ) from None


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a character of the text."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def whole_text(text: str) -> str | None:
    """The text with pairs of surrogate escapes joined; None where a half is left over, which is no character."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def tree_of_values(value: Any, *, file: str = "", most_steps: int = MAX_STEPS) -> DocumentNode:
    """The tree of plain Python values. Raises `ReadError` for what is no JSON, is too deep or too large."""
    return _Wrapper(file, most_steps).node(value, _TOP, 0)


#: The way to a value, its last key first: a pointer is made of it where one is told.
_Way = tuple[Any, ...]
_TOP: _Way = ()
_PLAIN = frozenset({int, bool, type(None)})


class _Wrapper:
    """Counts the nodes it makes, so that a value that holds itself ends."""

    def __init__(self, file: str, most_steps: int) -> None:
        self.file = file
        self.count = self.steps = 0
        self.most_steps = most_steps

    def node(self, value: Any, at: _Way, depth: int) -> DocumentNode:
        kind = type(value)
        if (kind is str and value.isascii()) or kind in _PLAIN:
            return DocumentNode(value)
        if kind is dict:
            return DocumentNode(self._members(value, at, depth))
        if kind is list:
            return DocumentNode(self._items(value, at, depth))
        if isinstance(value, str):
            return (
                DocumentNode(str(value)) if whole_text(value) is not None else self._fail(at, "holds half a character")
            )
        if value is None or isinstance(value, bool | int):
            return DocumentNode(value)
        if isinstance(value, float):
            return DocumentNode(value) if math.isfinite(value) else self._fail(at, "is not a number that JSON has")
        if isinstance(value, Mapping):
            return DocumentNode(self._members(value, at, depth))
        if isinstance(value, list | tuple):
            return DocumentNode(self._items(value, at, depth))
        return self._fail(at, f"is {type(value).__name__}, which is no JSON")

    def _members(self, value: Mapping[Any, Any], at: _Way, depth: int) -> dict[str, DocumentNode]:
        if not STEP_LISTS.isdisjoint(value):
            for name in STEP_LISTS & value.keys():
                listed = value[name]
                self.steps += len(listed) if isinstance(listed, list | tuple) else 0
            if self.steps > self.most_steps:
                raise too_many_steps(self.most_steps, file=self.file)
        self._count(value, depth)
        return {
            # What most members are is a node at once.
            key: DocumentNode(item)
            if (type(item) is str and item.isascii()) or type(item) in _PLAIN
            else self.node(item, (key, at), depth + 1)
            for key, item in zip(self._keys(value, at), value.values(), strict=True)
        }

    def _items(self, value: list[Any] | tuple[Any, ...], at: _Way, depth: int) -> list[DocumentNode]:
        self._count(value, depth)
        return [
            DocumentNode(item)
            if (type(item) is str and item.isascii()) or type(item) in _PLAIN
            else self.node(item, (index, at), depth + 1)
            for index, item in enumerate(value)
        ]

    def _count(self, value: Collection[Any], depth: int) -> None:
        """Count the members, before any of them is looked at."""
        self.count += len(value)
        if self.count > MAX_NODES or (value and depth >= MAX_DEPTH):
            raise too_deep(file=self.file) if value and depth >= MAX_DEPTH else too_many(file=self.file)

    def _keys(self, value: Mapping[Any, Any], at: _Way) -> Iterable[str]:
        """The names of the members; nearly all are plain text, which is seen of all at once."""
        try:
            if "".join(value).isascii():
                return value
        except TypeError:
            pass
        return [self._key(key, at) for key in value]

    def _key(self, key: Any, at: _Way) -> str:
        if isinstance(key, str) and whole_text(key) is not None:
            return key
        self._fail(at, f"has the key {key!r:.60}, which is no text")
        raise AssertionError

    def _fail(self, at: _Way, what: str) -> DocumentNode:
        keys: list[str] = []
        while at:
            key, at = at
            keys.append(f"/{key}")
        raise refusal(
            f"The value at {''.join(reversed(keys)) or 'the top'} {what}.",
            hint="Use objects, lists, text and numbers.",
            file=self.file,
        )


def too_deep(place: tuple[int, int] | None = None, *, file: str = "") -> ReadError:
    """The error for nesting beyond what every reader and writer here can walk."""
    return refusal(
        f"The nesting is deeper than {MAX_DEPTH} levels.",
        place,
        "Call another plan as a tool instead of nesting further.",
        file=file,
    )


def too_many(place: tuple[int, int] | None = None, *, file: str = "") -> ReadError:
    """The error for trees that are larger than any plan, aliases of aliases among them."""
    return refusal(
        f"There are more than {MAX_NODES:,} values, aliases counted as often as they are used.",
        place,
        "Split it into several plans, and keep data in files that tools read.",
        file=file,
    )


def too_many_steps(most: int, place: tuple[int, int] | None = None, *, file: str = "") -> TooManySteps:
    """The error for a plan of more steps than the settings admit."""
    line, column = place or (0, 0)
    found = Finding(
        code="too_many_steps",
        severity="error",
        message=f"The plan has more than {most:,} steps.",
        path="/steps",
        line=line or None,
        column=column or None,
        hint="Loop over the data instead, or raise 'max_plan_steps'.",
    )
    message = f"{file}: {found.message}" if file else found.message
    return TooManySteps(message, findings=[found], hint=found.hint)


def plain(node: DocumentNode) -> Json:
    """The node as a plain JSON value."""
    match node.value:
        case dict() as members:
            return {key: plain(item) for key, item in members.items()}
        case list() as items:
            return [plain(item) for item in items]
        case value:
            return value
