"""Pieces of Python source: names, types and literals made of JSON, texts that may stand in a docstring."""

from __future__ import annotations

import keyword
import re

import msgspec

from toolpath.values import Json, JsonObject

_LONGEST_LINE = 120
_PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
    "null": "None",
}
#: Names that the generated module uses itself.
TAKEN = frozenset({"ctx", "TOOL", "Any", "Literal", "RunContext", "run_composite", "inputs", "self"})
#: What Python admits in no source, or what would end a line or turn its direction.
_HIDDEN = re.compile(r"[\x00-\x1f\x7f]")


class GeneratedArgument(msgspec.Struct, frozen=True):
    """One argument of the generated function."""

    name: str
    """Of the input."""
    python: str
    """Of the argument: the same, made fit for Python."""
    annotation: str
    default: str | None
    """Its source text; None: the argument must be given."""
    omitted: bool
    """None means that the input is not given at all."""
    description: str


def python_name(name: str, taken: frozenset[str] | set[str] = frozenset()) -> str:
    """The name as a Python name that is no keyword and not taken: `max-results` → `max_results`, `from` → `from_`."""
    safe = re.sub(r"\W", "_", name, flags=re.ASCII) or "value"
    if safe[0].isdigit():
        safe = f"_{safe}"
    while keyword.iskeyword(safe) or keyword.issoftkeyword(safe) or safe in taken or safe.startswith("__"):
        bare = safe.lstrip("_")
        safe = f"{bare if bare.isidentifier() else f'value_{bare}'.rstrip('_')}_"
    return safe


def arguments_of(schema: JsonObject) -> list[GeneratedArgument]:
    """The arguments of the function, those that must be given first."""
    required = schema.get("required", [])
    taken = set(TAKEN)
    found: list[GeneratedArgument] = []
    for name, part in schema.get("properties", {}).items():
        described = part if isinstance(part, dict) else {}
        python = python_name(name, taken)
        taken.add(python)
        annotation = annotation_of(described)
        default, omitted = None, False
        if name not in required:
            default, omitted = _default(described)
            if omitted and annotation not in ("Any", "None") and not annotation.endswith("| None"):
                annotation = f"{annotation} | None"
        description = " ".join(str(described.get("description", "")).split())
        found.append(GeneratedArgument(name, python, annotation, default, omitted, description))
    return sorted(found, key=lambda argument: argument.default is not None)


def _default(schema: JsonObject) -> tuple[str, bool]:
    """The default as source text, and whether it stands for 'not given': the run fills in lists and mappings."""
    value = schema.get("default")
    if value is None or isinstance(value, dict | list):
        return "None", True
    return literal(value), False


def annotation_of(schema: JsonObject) -> str:
    """The Python type of what a JSON Schema describes, as source text."""
    words = schema.get("enum")
    if isinstance(words, list) and 0 < len(words) <= 8 and all(isinstance(word, str | None) for word in words):
        return f"Literal[{', '.join(literal(word) for word in words)}]"
    kinds = schema.get("type")
    each = kinds if isinstance(kinds, list) else [kinds]
    names = [_type_name(kind, schema) for kind in each]
    return "Any" if "Any" in names else " | ".join(dict.fromkeys(names))


def _type_name(kind: Json, schema: JsonObject) -> str:
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict):
        return f"list[{annotation_of(items)}]"
    return _PYTHON_TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"


def literal(value: Json, indent: str = "") -> str:
    """A JSON value as Python source: `True`, `None`, quotes and escapes are Python's; mappings over several lines."""
    inner = indent + "    "
    match value:
        case str():
            return _quoted(value)
        case dict() if value:
            members = (f"{inner}{literal(key)}: {literal(item, inner)},\n" for key, item in value.items())
            return "{\n" + "".join(members) + indent + "}"
        case list() if value:
            return "[\n" + "".join(f"{inner}{literal(item, inner)},\n" for item in value) + indent + "]"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    """The text in those quotes that need the fewer escapes, double ones where it is the same."""
    bare = re.sub(r"\\(.)", lambda found: "'" if found[1] == "'" else found[0], ascii(text)[1:-1])
    quote = "'" if bare.count('"') > bare.count("'") else '"'
    return quote + bare.replace(quote, f"\\{quote}") + quote


def line(text: str) -> str:
    """The text on one line of visible characters, as it may stand in a docstring."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")
    escaped = escaped.encode("ascii", "backslashreplace").decode()
    shown = _HIDDEN.sub(lambda found: f"\\x{ord(found[0]):02x}", escaped)
    return shown[:-1] + "'" if shown.endswith('"') else shown


def finished(lines: list[str]) -> str:
    """The lines as the text of a file."""
    text = "\n".join(lines) + "\n"
    if any(len(line) > _LONGEST_LINE for line in text.splitlines()):
        # A text of the composite cannot be broken without changing it.
        return f"# ruff: noqa: E501\n{text}"
    return text


def flat(value: Json) -> str:
    """A JSON value as Python source on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{literal(key)}: {flat(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(flat(item) for item in value) + "]"
        case _:
            return literal(value)
