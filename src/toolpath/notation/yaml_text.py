"""YAML 1.2 text → tree of nodes with positions. One document, plain values only: no tags of one's own, no merge keys.

Aliases are admitted and counted as often as they are used, so that a small text cannot become a huge tree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from toolpath.errors import ReadError
from toolpath.notation.nodes import (
    MAX_NODES,
    MAX_STEPS,
    STEP_LISTS,
    DocumentNode,
    Repeat,
    place_of,
    refusal,
    too_deep,
    too_many,
    too_many_steps,
    whole_text,
)
from toolpath.notation.quotes import quote_fault
from toolpath.values import MAX_DEPTH, Json, type_name

try:
    from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError:
    CParser = None

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_INTEGER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.nan|\.NaN|\.NAN")
# What YAML does not admit, quoted or not; surrogates are halves of characters.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAGS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "null": "null",
    "map": "object",
    "seq": "array",
}
_MISSING_COLON = "write a field as `name: value`."
#: The name of a field, with what may stand before it.
_FIELD = re.compile(r"\s*(?:- +)*[\w.-]+")
_QUOTED_TEMPLATE = re.compile(r"""(["'])[^"']*\{\{[^}]*\1[^}]*\}\}""")
_TAG_PREFIX = "tag:yaml.org,2002:"
#: Longer literals take quadratic time to convert; no float or integer of use is that long.
_MAX_DIGITS = 400


def plain_scalar(written: str) -> Json:
    """The value of an unquoted scalar by the core schema of YAML 1.2; `yes`, `on` and dates are text.

    Raises `ValueError` for infinity, NaN and numbers without end.
    """
    if written in _WORDS:
        return _WORDS[written]
    if written[0] not in "-+.0123456789":
        return written
    if len(written) > _MAX_DIGITS and (_INTEGER.fullmatch(written) or _FLOAT.fullmatch(written)):
        raise ValueError(f"has more than {_MAX_DIGITS} digits")
    if _INTEGER.fullmatch(written):
        return int(written)
    if _OTHER_INTEGER.fullmatch(written):
        return int(written, 0)
    if _FLOAT.fullmatch(written):
        value = float(written)
        if math.isfinite(value):
            return value
        raise ValueError("is too large")
    if _NOT_FINITE.fullmatch(written):
        raise ValueError("is no number that JSON has")
    return written


def read_yaml(text: str, *, file: str = "", most_steps: int = MAX_STEPS) -> DocumentNode:
    """The tree of a YAML text with exactly one document. Raises `ReadError` with line and column for anything else."""
    control = _CONTROL.search(text)
    if control is not None:
        raise refusal(
            f"The character U+{ord(control.group()):04X} may not stand in YAML.",
            place_of(text, control.start()),
            "Remove it, or write it as an escape in double quotes.",
            file=file,
        )
    if CParser is not None:
        try:
            return _Composer(file, most_steps).document(_fast_events(text))
        except (YAMLError, RecursionError, ValueError, IndexError):
            # It knows less of YAML 1.2; the parser in Python judges what it refuses, and says why.
            pass
    try:
        return _Composer(file, most_steps).document(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        raise _translated(error, text, file) from None
    except (YAMLError, RecursionError, ValueError, IndexError) as error:
        raise refusal(f"This is no YAML: {str(error).splitlines()[0]:.200}", file=file) from None


def _quoted_template(lines: list[str], line: int) -> bool:
    """The line has a template in quotes with the same quotes in it."""
    return line < len(lines) and _QUOTED_TEMPLATE.search(lines[line]) is not None


def _fast_events(text: str) -> Iterator[Any]:
    """The events of the text from the C parser, which is about twenty times as fast as the one in Python."""
    parser = CParser(text)
    try:
        while parser.check_event():
            yield parser.get_event()
    finally:
        parser.dispose()


def _translated(error: MarkedYAMLError, text: str, file: str) -> ReadError:
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem or error.context or "this is no YAML")
    if mark is None:
        return refusal(f"This is no YAML: {problem}.", file=file)
    place = (mark.line + 1, mark.column + 1)
    lines = text.splitlines()
    if mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        return refusal("A tab stands here; YAML admits none in front of a value.", place, "Use spaces.", file=file)
    begun = error.context_mark
    if "mapping values are not allowed" in problem and (told := _line_before(lines, mark)) is not None:
        hint, line = told
        return refusal(f"This is no YAML: {problem}.", (line + 1, _indent(lines[line]) + 1), hint, file=file)
    quoted = _quoted_template(lines, mark.line) or (begun is not None and _quoted_template(lines, begun.line))
    if not quoted and (quote := quote_fault(text, mark.line)) is not None:
        return refusal(f"This is no YAML: {quote.message}", (quote.line, quote.column), quote.hint, file=file)
    hint = _hint(problem, is_quoted=quoted)
    if begun is not None and (quoted or hint.startswith(("Close", "A colon"))):
        # What was begun is where the fault is; the parser has noticed it further down.
        place = (begun.line + 1, begun.column + 1)
    return refusal(f"This is no YAML: {problem}.", place, hint, file=file)


def _hint(problem: str, *, is_quoted: bool) -> str:
    """The hint for a fault that the parser names."""
    if is_quoted:
        return "A quote ends the text that begins with it: inside of \"…\" write 'x', inside of '…' write \"x\"."
    if "mapping values are not allowed" in problem or problem.endswith("but got ':'"):
        return "Put text that holds a colon and a blank in quotes."
    if "cannot start any token" in problem:
        return "Put the text in quotes."
    if "end of stream" in problem:
        return "Close the quote that opens here."
    if problem.startswith("expected ',' or"):
        return "Close the bracket that opens here, or put a comma between its parts."
    if "could not find expected ':'" in problem:
        return f"A colon is missing: {_MISSING_COLON}"
    if "<block end>" in problem:
        return "Lines that belong together begin in the same column: look at how far this one stands in."
    return ""


def _line_before(lines: list[str], mark: Any) -> tuple[str, int] | None:
    """The hint, and its line, where a field cannot begin because of how the line before it is written."""
    if mark.line >= len(lines) or not _FIELD.fullmatch(lines[mark.line][: mark.column]):
        return None
    before = mark.line - 1
    while before >= 0 and (not lines[before].strip() or lines[before].lstrip().startswith("#")):
        before -= 1
    if before < 0:
        return None
    if ": " not in lines[before] and not lines[before].rstrip().endswith(":"):
        return f"A colon is missing: {_MISSING_COLON}", before
    return "Lines that belong together begin in the same column: look at how far this one stands in.", mark.line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


class _Open:
    """A mapping or list that is being filled."""

    __slots__ = ("anchor", "count", "event", "height", "items", "key", "key_place", "members", "of_steps", "repeats")

    def __init__(self, event: Any, count: int, *, of_steps: bool) -> None:
        self.event = event
        self.anchor = event.anchor
        self.members: dict[str, DocumentNode] | None = {} if isinstance(event, MappingStartEvent) else None
        self.items: list[DocumentNode] = []
        self.repeats: list[Repeat] = []
        self.key: str | None = None
        self.key_place = (0, 0)
        self.count = count
        self.height = 0
        self.of_steps = of_steps


class _Anchored:
    """Part that an alias stands for, and how large and high it is."""

    __slots__ = ("height", "node", "size")

    def __init__(self, node: DocumentNode, size: int, height: int) -> None:
        self.node = node
        self.size = size
        self.height = height


class _Composer:
    """Builds nodes from events, without recursion."""

    def __init__(self, file: str, most_steps: int) -> None:
        self.file = file
        self.count = self.steps = 0
        self.most_steps = most_steps
        self.anchors: dict[str, _Anchored | None] = {}
        self.stack: list[_Open] = []
        self.root: DocumentNode | None = None

    def document(self, events: Iterator[Any]) -> DocumentNode:
        documents = 0
        for event in events:
            match event:
                case ScalarEvent():
                    self._scalar(event)
                case MappingStartEvent() | SequenceStartEvent():
                    self._start(event)
                case MappingEndEvent() | SequenceEndEvent():
                    self._end()
                case AliasEvent():
                    self._alias(event)
                case DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise self._error(
                            "A second document begins here; one is read.", event, "Use one file for each."
                        )
                case _:
                    pass
        if self.root is None:
            raise refusal("The text is empty.", file=self.file)
        return self.root

    def _error(self, message: str, event: Any, hint: str = "") -> ReadError:
        return refusal(message, _place(event), hint, file=self.file)

    def _grow(self, event: Any, size: int = 1) -> None:
        self.count += size
        if self.count > MAX_NODES:
            raise too_many(_place(event), file=self.file)

    def _scalar(self, event: ScalarEvent) -> None:
        self._grow(event)
        top = self.stack[-1] if self.stack else None
        if top is not None and top.members is not None and top.key is None:
            self._key(top, event.value, event)
            if event.anchor:
                self.anchors[event.anchor] = _Anchored(DocumentNode(event.value, *_place(event)), 1, 0)
            return
        value: Json = event.value
        if event.style:
            value = whole_text(value)
            if value is None:
                raise self._error("This text holds half a character (a lone surrogate escape).", event)
        elif event.ctag is None or str(event.ctag) != _TAG_PREFIX + "str":
            try:
                value = plain_scalar(value)
            except ValueError as error:
                raise self._error(
                    f"The number {event.value:.60} {error}.", event, "Write it as text, in quotes."
                ) from None
        self._check_tag(event, value)
        written = event.value if not event.style and not isinstance(value, str) else ""
        self._add(DocumentNode(value, *_place(event), *self._key_place(), written), event, 1, 0)

    def _check_tag(self, event: Any, value: Json) -> None:
        if event.ctag is None:
            return
        tag = str(event.ctag)
        kind = _TAGS.get(tag.removeprefix(_TAG_PREFIX)) if tag.startswith(_TAG_PREFIX) else None
        if tag != "!" and kind != type_name(value):
            raise self._error(f"The tag {tag:.60} is not admitted.", event, "Remove it: plain values need none.")

    def _key_place(self) -> tuple[int, int]:
        top = self.stack[-1] if self.stack else None
        return top.key_place if top is not None and top.members is not None else (0, 0)

    def _key(self, top: _Open, name: str, event: Any) -> None:
        name = whole_text(name) or ""
        top.key, top.key_place = name, _place(event)
        if top.members is not None and name in top.members:
            top.repeats.append(Repeat(name, *top.key_place))

    def _start(self, event: Any) -> None:
        self._grow(event)
        if len(self.stack) >= MAX_DEPTH:
            raise too_deep(_place(event), file=self.file)
        top = self.stack[-1] if self.stack else None
        if top is not None and top.members is not None and top.key is None:
            hint = 'Put templates in quotes: "{{ … }}".' if isinstance(event, MappingStartEvent) else "Use text as key."
            raise self._error("A mapping or list cannot be a key.", event, hint)
        self._check_tag(event, {} if isinstance(event, MappingStartEvent) else [])
        if event.anchor:
            self.anchors[event.anchor] = None
        of_steps = top is not None and top.key in STEP_LISTS
        self.stack.append(_Open(event, self.count, of_steps=of_steps))

    def _end(self) -> None:
        done = self.stack.pop()
        value = done.items if done.members is None else done.members
        node = DocumentNode(value, *_place(done.event), *self._key_place(), "", tuple(done.repeats))
        self._add(node, done.event, self.count - done.count + 1, done.height)

    def _alias(self, event: AliasEvent) -> None:
        if event.anchor not in self.anchors:
            raise self._error(f"There is no anchor &{event.anchor:.60} before this alias.", event)
        known = self.anchors[event.anchor]
        if known is None:
            raise self._error(f"The anchor &{event.anchor:.60} holds itself.", event)
        self._grow(event, known.size)
        if len(self.stack) + known.height > MAX_DEPTH:
            raise too_deep(_place(event), file=self.file)
        top = self.stack[-1] if self.stack else None
        if top is not None and top.members is not None and top.key is None:
            if not isinstance(known.node.value, str):
                raise self._error("This alias stands for no text, so it cannot be a key.", event)
            self._key(top, known.node.value, event)
            return
        here = DocumentNode(
            known.node.value, *_place(event), *self._key_place(), known.node.written, known.node.repeats
        )
        self._add(here, event, known.size, known.height)

    def _add(self, node: DocumentNode, event: NodeEvent, size: int, height: int) -> None:
        if event.anchor and not isinstance(event, AliasEvent):
            self.anchors[event.anchor] = _Anchored(node, size, height)
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        top.height = max(top.height, height + 1)
        if top.members is None:
            top.items.append(node)
            if top.of_steps:
                self.steps += 1
                if self.steps > self.most_steps:
                    raise too_many_steps(self.most_steps, (node.line, node.column), file=self.file)
            return
        if top.key is not None:
            top.members.setdefault(top.key, node)
        top.key, top.key_place = None, (0, 0)


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
