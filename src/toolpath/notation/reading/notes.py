"""Notes of a reader: findings, and where each part of the canonical form stands in the text."""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.errors import Finding, Severity, closest
from toolpath.model.plan import Source
from toolpath.notation.nodes import DocumentNode
from toolpath.values import Json

#: More findings than these help nobody.
MAX_FINDINGS = 500
_LONGEST_SHOWN = 60
_WITHOUT_PARTS = frozenset({str, bool, float, type(None)})
#: Those that fit into 64 bits.
_INTEGERS = range(-(2**63), 2**64)


def shown(value: object) -> str:
    """The value as a message quotes it: short, and in quotes where it is text."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def below(path: str, key: str | int) -> str:
    """The JSON pointer of a member of what `path` points to."""
    text = str(key)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return f"{path}/{text}"


class Notes:
    """Findings and positions of one reading."""

    def __init__(self, file: str = "") -> None:
        self.file = file
        self.findings: list[Finding] = []
        self.positions: dict[str, tuple[int, int]] = {}

    def source(self) -> Source:
        """The source, as the plan keeps it."""
        return Source(self.file, self.positions, tuple(self.findings))

    def place(self, path: str, node: DocumentNode) -> None:
        """Remember where this part of the canonical form stands."""
        if node.line:
            self.positions[path] = node.place

    def error(
        self,
        code: str,
        message: str,
        path: str,
        node: DocumentNode | tuple[int, int] | None,
        *,
        hint: str = "",
        suggestions: Iterable[str] = (),
    ) -> None:
        """Note a fault that blocks a start."""
        self._add("error", code, message, path, node, hint=hint, suggestions=suggestions)

    def warning(self, code: str, message: str, path: str, node: DocumentNode | None, *, hint: str = "") -> None:
        """Note something that is probably not meant."""
        self._add("warning", code, message, path, node, hint=hint)

    def information(self, code: str, message: str, path: str, node: DocumentNode | None, *, hint: str = "") -> None:
        """Note something good to know."""
        self._add("information", code, message, path, node, hint=hint)

    def _add(
        self,
        severity: Severity,
        code: str,
        message: str,
        path: str,
        node: DocumentNode | tuple[int, int] | None,
        *,
        hint: str = "",
        suggestions: Iterable[str] = (),
    ) -> None:
        if len(self.findings) > MAX_FINDINGS:
            return
        if len(self.findings) == MAX_FINDINGS:
            self.findings.append(
                Finding(
                    code="too_many_findings",
                    severity="error",
                    message=f"There are more than {MAX_FINDINGS} findings; the rest is not listed.",
                    hint="Mend these first.",
                )
            )
            return
        line, column = node.place if isinstance(node, DocumentNode) else node or (0, 0)
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                message=message,
                path=path,
                line=line or None,
                column=column or None,
                hint=hint,
                suggestions=tuple(suggestions),
            )
        )

    def wrong_type(self, path: str, node: DocumentNode, expected: str, hint: str = "") -> None:
        """Note that a value is not of the type its field has; `expected` reads like `text` or `a list of ids`."""
        self.error("wrong_type", f"{expected} is expected here, not {_described(node)}.", path, node, hint=hint)

    def missing(self, path: str, name: str, node: DocumentNode | None, hint: str = "") -> None:
        """Note that a field is not there that must be."""
        self.error("missing_field", f"Missing required field: {name}", path, node, hint=hint)

    def repeats(self, path: str, node: DocumentNode) -> None:
        """Note the keys that a mapping holds more than once."""
        for repeat in node.repeats:
            self.error(
                "duplicate_key",
                f"The key {shown(repeat.key)} is given twice; the first one counts.",
                below(path, repeat.key),
                (repeat.line, repeat.column),
                hint="Remove one of them.",
            )

    def value(self, path: str, node: DocumentNode) -> Json:
        """The node as plain JSON, with the places of all its parts noted."""
        if not node.line:
            try:
                return _bare(node)
            except _IsToldOf:
                pass
        return self._value(path, node)

    def _value(self, path: str, node: DocumentNode) -> Json:
        self.place(path, node)
        match node.value:
            case dict() as members:
                if node.repeats:
                    self.repeats(path, node)
                # What stands in no text and has no parts is its value: there is nothing to note of it.
                return {
                    key: item.value
                    if type(item.value) in _WITHOUT_PARTS and not item.line
                    else self._value(below(path, key), item)
                    for key, item in members.items()
                }
            case list() as items:
                return [
                    item.value
                    if type(item.value) in _WITHOUT_PARTS and not item.line
                    else self._value(f"{path}/{index}", item)
                    for index, item in enumerate(items)
                ]
            case bool():
                return node.value
            case int() as number if number not in _INTEGERS:
                self.error(
                    "number_out_of_range",
                    f"The number {shown(node.written or number)} does not fit into 64 bits.",
                    path,
                    node,
                    hint="Write it as text, in quotes.",
                )
                return None
            case value:
                return value


class _IsToldOf(Exception):  # a signal that never leaves this file
    """Of a part of a value something is to be noted: its place, or what is wrong with it."""


def _bare(node: DocumentNode) -> Json:
    """The node as plain JSON, where it stands in no text. Raises `_IsToldOf` where something is to be noted of it."""
    value = node.value
    if node.line or node.repeats:
        raise _IsToldOf
    if type(value) is dict:
        return {
            key: item.value if type(item.value) in _WITHOUT_PARTS and not item.line else _bare(item)
            for key, item in value.items()
        }
    if type(value) is list:
        return [item.value if type(item.value) in _WITHOUT_PARTS and not item.line else _bare(item) for item in value]
    if type(value) is int and value not in _INTEGERS:
        raise _IsToldOf
    return value


def alike(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Names that may have been meant; none for what is too long to be one."""
    return closest(name, candidates) if len(name) <= 100 else ()


_KINDS = {"null": "nothing", "object": "a mapping", "array": "a list"}


def _described(node: DocumentNode) -> str:
    return _KINDS.get(node.kind) or f"{'text ' if isinstance(node.value, str) else ''}{shown(_written(node))}"


def _written(node: DocumentNode) -> object:
    return node.value if isinstance(node.value, str) else node.written or node.value
