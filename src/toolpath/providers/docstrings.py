"""Reader of docstrings: a description and the meaning of each parameter, in Google, NumPy or Sphinx form. Pure."""

from __future__ import annotations

import inspect
import re

import msgspec


class DocText(msgspec.Struct, frozen=True):
    """A docstring taken apart."""

    description: str = ""
    """All text before the first section."""
    parameters: dict[str, str] = {}
    returns: str = ""


_PARAMETERS = frozenset({"args", "arguments", "parameters", "params", "keyword args", "keyword arguments"})
_OTHERS = frozenset(
    {
        *("returns", "return", "yields", "yield", "raises", "raise", "example", "examples", "note", "notes"),
        *("warning", "warnings", "see also", "references", "attributes", "todo", "warns", "other parameters"),
    }
)
_SPHINX = re.compile(
    r":(param|parameter|arg|argument|key|keyword|returns?|rtype|type|raises?|except|exception)\b([^:]*):"
)
_ENTRY = re.compile(r"(\*{0,2}\w+)\s*(?:\([^)]*\)|\[[^\]]*\])?\s*:(?:\s+(.*)|$)")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


def read_docstring(text: str | None) -> DocText:
    """The parts of a docstring; what is in no known form is description."""
    if not text or not text.strip():
        return DocText()
    lines = inspect.cleandoc(text).splitlines()
    if any(_SPHINX.match(line) for line in lines):
        return _read_sphinx(lines)
    description, sections = _split(lines)
    parameters: dict[str, str] = {}
    returns = ""
    for title, body, is_numpy in sections:
        if title in _PARAMETERS:
            parameters |= _numpy_entries(body) if is_numpy else _google_entries(body)
        elif title in ("returns", "return"):
            returns = _joined(_dedented(body))
    return DocText(description, parameters, returns)


def _split(lines: list[str]) -> tuple[str, list[tuple[str, list[str], bool]]]:
    """The text before the first section, and each section as (title, lines, underlined)."""
    sections: list[tuple[str, list[str], bool]] = []
    before: list[str] = []
    current = before
    position = 0
    while position < len(lines):
        line = lines[position]
        title = line.strip().removesuffix(":").lower()
        if title in _PARAMETERS or title in _OTHERS:
            underlined = position + 1 < len(lines) and re.fullmatch(r"\s*-{3,}\s*", lines[position + 1]) is not None
            if underlined or (line.rstrip().endswith(":") and line[:1].strip()):
                current = []
                sections.append((title, current, underlined))
                position += 2 if underlined else 1
                continue
        current.append(line)
        position += 1
    return "\n".join(before).strip(), sections


def _google_entries(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    current: list[str] | None = None
    indent = next((_indent(line) for line in lines if line.strip()), 0)
    for line in lines:
        match = _ENTRY.match(line.strip()) if line.strip() and _indent(line) <= indent else None
        if match is not None:
            current = entries.setdefault(match.group(1).lstrip("*"), [])
            current.append(match.group(2) or "")
        elif current is not None:
            current.append(line)
    return {name: _joined(text) for name, text in entries.items()}


def _numpy_entries(lines: list[str]) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = _NUMPY_ENTRY.match(line) if line.strip() and _indent(line) == 0 else None
        if match is not None:
            current = []
            for name in match.group(1).split(","):
                entries[name.strip().lstrip("*")] = current
        else:
            current.append(line)
    return {name: _joined(text) for name, text in entries.items()}


def _read_sphinx(lines: list[str]) -> DocText:
    before: list[str] = []
    parameters: dict[str, list[str]] = {}
    returns: list[str] = []
    current = before
    for line in lines:
        match = _SPHINX.match(line)
        if match is None:
            current.append(line)
            continue
        kind, name = match.group(1), match.group(2).split()
        rest = line[match.end() :]
        if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and name:
            current = parameters.setdefault(name[-1].lstrip("*"), [])
        elif kind in ("return", "returns"):
            current = returns
        else:
            current = []
        current.append(rest)
    return DocText(
        "\n".join(before).strip(), {name: _joined(text) for name, text in parameters.items()}, _joined(returns)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: list[str]) -> list[str]:
    return inspect.cleandoc("\n".join(["", *lines])).splitlines()


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
