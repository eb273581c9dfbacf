"""Answers of model interfaces: content blocks, messages, choices, candidates; and a whole exchange as one object."""

from __future__ import annotations

import msgspec

from toolpath.model_output.found import ModelCall, ReaderResult
from toolpath.model_output.page import Page
from toolpath.model_output.router import read_router
from toolpath.model_output.single import plain, single_call
from toolpath.notation.nodes import DocumentNode

_BLOCK_TYPES = ("tool_use", "function_call", "server_tool_use")
_TEXT_TYPES = ("text", "output_text", "message", "reasoning", "thinking", "redacted_thinking")
#: Keys that lead from the top of an answer to the message in it.
_WAYS = (("choices", "message"), ("candidates", "content"), ("output", "message"))


def read_native(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """An answer of a model interface: Anthropic's and OpenAI's content blocks, Gemini's parts, chat completions."""
    blocks = _blocks(node)
    if blocks is not None:
        return _of_blocks(blocks, page)
    message = _message(node)
    if message is None:
        return None
    found = read_native(page, message, marked) or read_router(page, message, marked)
    if found is None or found.format.startswith(("native", "content")):
        return found
    return msgspec.structs.replace(found, format=f"native {found.format}")


def _message(node: DocumentNode) -> DocumentNode | None:
    """The one message inside an answer."""
    if not isinstance(node.value, dict):
        return None
    for outer, inner in _WAYS:
        around = node.value.get(outer)
        if around is None:
            continue
        first = around.value[0] if isinstance(around.value, list) and around.value else around
        if isinstance(first.value, dict) and inner in first.value:
            found: DocumentNode = first.value[inner]
            return found if isinstance(found.value, dict) else None
    return None


def _blocks(node: DocumentNode) -> list[DocumentNode] | None:
    """The content blocks of an answer, where at least one of them is a call."""
    members = node.value
    found: object = members
    if isinstance(members, dict):
        if _is_block(node):
            return [node]
        found = next((members[key].value for key in ("content", "parts", "output") if key in members), None)
    if not isinstance(found, list) or not any(_is_block(item) for item in found):
        return None
    return found


def _is_block(node: DocumentNode) -> bool:
    if not isinstance(node.value, dict):
        return False
    kind = node.value.get("type")
    return (kind is not None and kind.value in _BLOCK_TYPES) or bool(node.value.keys() & {"functionCall", "toolUse"})


def _of_blocks(blocks: list[DocumentNode], page: Page) -> ReaderResult:
    calls: list[ModelCall] = []
    prose: list[str] = []
    for block in blocks:
        if _is_block(block):
            call = single_call(block, page, marked=True)
            if call is None:
                raise page.broken("This block is no call: it names no tool.", block)
            calls.append(call)
        elif isinstance(block.value, dict):
            text = block.value.get("text")
            if text is not None and isinstance(text.value, str):
                prose.append(text.value)
            elif getattr(block.value.get("type"), "value", None) not in _TEXT_TYPES:
                page.repair("a block that is neither call nor text left out", page.offset(block))
    return ReaderResult(format="content blocks", calls=tuple(calls), prose="\n".join(prose) or None, marked=True)


def read_exchange(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"input": …, "tools": [definitions], "output": [calls]}`: the task, the tools and the calls as one object."""
    members = node.value
    if not isinstance(members, dict) or "output" not in members or not members.keys() & {"tools", "input", "query"}:
        return None
    output = members["output"]
    if not isinstance(output.value, list):
        return None
    if node.repeats:
        plain(node, page)
    calls: list[ModelCall] = []
    for item in output.value:
        call = single_call(item, page)
        if call is None:
            if not calls and item is output.value[0]:
                return None
            raise page.broken("This item of 'output' is no call.", item)
        calls.append(call)
    return ReaderResult(format="input, tools and output", calls=tuple(calls), marked=marked)
