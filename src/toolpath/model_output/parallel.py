"""`multi_tool_use.parallel`: one call of a tool that is none, which holds the calls that are meant."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolpath.model_output.found import ModelCall
from toolpath.model_output.page import Page
from toolpath.notation.nodes import DocumentNode
from toolpath.values import Json

_NAMES = ("multi_tool_use.parallel", "multi_tool_use", "functions.multi_tool_use.parallel")


def spread(calls: Iterable[ModelCall], page: Page) -> tuple[ModelCall, ...]:
    """The calls, with those inside `multi_tool_use.parallel` in its place. Raises `ReadError`."""
    return tuple(one for call in calls for one in (_inside(call, page) if call.tool in _NAMES else (call,)))


def _inside(call: ModelCall, page: Page) -> tuple[ModelCall, ...]:
    at = DocumentNode(None, call.line, call.column)
    uses = call.inputs.get("tool_uses") if isinstance(call.inputs, dict) else None
    if not isinstance(uses, list) or len(call.inputs) != 1:
        raise page.broken(f"{call.tool} is expected to hold 'tool_uses', a list of calls.", at)
    return tuple(_one(use, call, page, at) for use in uses)


def _one(use: Json, call: ModelCall, page: Page, at: DocumentNode) -> ModelCall:
    name = use.get("recipient_name") if isinstance(use, dict) else None
    inputs = use.get("parameters", {}) if isinstance(use, dict) else None
    if not isinstance(name, str) or not name or not isinstance(inputs, dict):
        raise page.broken("Each of 'tool_uses' has a 'recipient_name' and 'parameters'.", at)
    return msgspec.structs.replace(call, tool=name.removeprefix("functions."), inputs=inputs, id="")
