"""Answers of a server as a tool's output or failure. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpath.errors import ToolFailed
from toolpath.values import Json, decode

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def output_of(result: CallToolResult) -> Json:
    """`structuredContent`; else one text, parsed if it is wholly a JSON object or array; else the content blocks.

    Raises `ToolFailed` with the server's text when it says that the call is an error.
    """
    if result.is_error:
        raise _failure(result)
    # A structured null is an answer; one that is absent is not.
    if result.structured_content is not None or "structured_content" in result.model_fields_set:
        return result.structured_content
    blocks = result.content
    if len(blocks) == 1 and blocks[0].type == "text":
        return _text(blocks[0].text)
    return _blocks(result)


def _blocks(result: CallToolResult) -> list[Json]:
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


def _text(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def _failure(result: CallToolResult) -> ToolFailed:
    texts = [block.text for block in result.content if block.type == "text"]
    message = "\n".join(texts).strip() or "The server says that the call failed, and not why."
    details = result.structured_content
    if details is None and len(texts) != len(result.content):
        details = _blocks(result)
    return ToolFailed(message, details=details)
