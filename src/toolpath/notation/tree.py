"""Any source of a document → its tree: text is told apart as JSON or YAML, plain values are taken as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolpath.errors import ReadError
from toolpath.notation.json_text import read_json
from toolpath.notation.nodes import MAX_SIZE, MAX_STEPS, DocumentNode, TooManySteps, refusal, text_of, tree_of_values
from toolpath.notation.yaml_text import read_yaml


def read_tree(
    source: str | bytes | Mapping[str, Any], *, file: str = "", max_size: int = MAX_SIZE, most_steps: int = MAX_STEPS
) -> DocumentNode:
    """The tree of a document whose top is a mapping.

    Raises `ReadError`, with line and column, for what is neither YAML nor JSON, no mapping, or larger or deeper than
    any plan. Lists of steps with more than `most_steps` in them are read no further.
    """
    node = _node(source, file, max_size, most_steps)
    if not isinstance(node.value, dict):
        raise refusal(
            f"The document is {_named(node.kind)}, where a mapping with fields such as 'steps' is expected.",
            (node.line, node.column) if node.line else None,
            "Put a list of steps under the key 'steps'." if isinstance(node.value, list) else "",
            file=file,
        )
    return node


def _node(source: Any, file: str, max_size: int, most_steps: int) -> DocumentNode:
    if isinstance(source, bytearray | memoryview):
        source = bytes(source)
    if not isinstance(source, str | bytes):
        return tree_of_values(source, file=file, most_steps=most_steps)
    text = text_of(source, file=file, max_size=max_size)
    start = text.lstrip(" \t\r\n")
    if not start:
        raise refusal("The text is empty.", hint="A plan is a mapping with 'steps'.", file=file)
    if start[0] not in "{[":
        return read_yaml(text, file=file, most_steps=most_steps)
    try:
        return read_json(text, file=file, most_steps=most_steps)
    except TooManySteps:
        raise
    except ReadError as no_json:
        if file.lower().endswith(".json"):
            raise
        # YAML's flow style looks like JSON with bare words; what begins as JSON is meant as JSON.
        try:
            return read_yaml(text, file=file, most_steps=most_steps)
        except ReadError:
            if start[1:].lstrip()[:1] in ('"', "}", "{", "[", "]", "/"):
                raise no_json from None
            raise


def _named(kind: str) -> str:
    return {"null": "empty", "array": "a list", "string": "one piece of text"}.get(kind, f"a {kind}")
