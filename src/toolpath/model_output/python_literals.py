"""Calls as Python writes them, `tool(name="value", count=3)`: read as text, never evaluated."""

from __future__ import annotations

import re

from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.single import plain, tool_name
from toolpath.model_output.tolerant import STOP, Values
from toolpath.values import Json, JsonObject

NAME = r"[A-Za-z_][A-Za-z0-9_\-]*(?:[.:/][A-Za-z_][A-Za-z0-9_\-]*)*"
#: A fence that says that its text is calls.
FENCE = r"```(?:tool_code|tool_calls?|function_calls?)[ \t]*\n"
_CALL = re.compile(rf"({NAME})\s*\(")
_KEYWORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*")
_BETWEEN = re.compile(r"[\s,;]*")


def begins_call(page: Page, at: int) -> bool:
    """A call, or a list of calls, begins here."""
    if page.text.startswith("[", at):
        at = page.skip(at + 1)
    return _CALL.match(page.text, at) is not None


def read_calls(page: Page, at: int) -> tuple[tuple[ModelCall, ...], int]:
    """All calls from here on, in brackets or one after the other, and where they end. Raises `ReadError`."""
    inside = page.text.startswith("[", at)
    if inside:
        at = page.skip(at + 1)
    calls: list[ModelCall] = []
    while _CALL.match(page.text, at):
        call, at = read_call(page, at)
        calls.append(call)
        after = _BETWEEN.match(page.text, at)
        following = after.end() if after else at
        if not _CALL.match(page.text, following):
            break
        at = following
    if not inside:
        return tuple(calls), at
    at = _past(page, at)
    if page.text.startswith("]", at):
        return tuple(calls), at + 1
    if STOP.match(page.text, at) and calls:
        page.repair("a missing ']' at the end", at)
        return tuple(calls), at
    raise page.broken("A comma or ']' is expected after a call.", at)


def _past(page: Page, at: int) -> int:
    at = page.skip(at)
    return page.skip(at + 1) if page.text.startswith(",", at) else at


def read_call(page: Page, at: int) -> tuple[ModelCall, int]:
    """The one call that begins here, and where it ends. Arguments by position alone give a list as inputs."""
    match = _CALL.match(page.text, at)
    if match is None:
        raise page.broken("A call is expected here: tool(name=value).", at)
    named, listed, end = _arguments(page, match.end())
    if named and listed:
        raise page.broken("Arguments by position and by name stand together.", match.end(), "Name all of them.")
    line, column = page.place(at)
    name = tool_name(match.group(1).removeprefix("default_api."), page, at)
    return ModelCall(tool=name, inputs=listed or named, line=line, column=column), end


def _arguments(page: Page, at: int) -> tuple[JsonObject, list[Json], int]:
    values = Values(page, python=True)
    named: JsonObject = {}
    listed: list[Json] = []
    at = values.skip(at)
    while not page.text.startswith(")", at):
        keyword = _KEYWORD.match(page.text, at)
        start = keyword.end() if keyword else at
        node, end = values.value(values.skip(start), 1)
        if keyword is None:
            listed.append(plain(node, page))
        elif keyword.group(1) in named:
            raise page.broken(f"The argument {keyword.group(1)!r:.60} is given twice.", at)
        else:
            named[keyword.group(1)] = plain(node, page)
        at = values.skip(end)
        if page.text.startswith(",", at):
            at = values.skip(at + 1)
        elif not page.text.startswith(")", at):
            raise page.broken("A comma or ')' is expected after an argument.", at)
    return named, listed, at + 1


def read_fence(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A fenced block of calls."""
    at = page.skip(match.end())
    if not begins_call(page, at):
        return None
    calls, end = read_calls(page, at)
    return TextPiece(end=end, found=ReaderResult(format="python calls", calls=calls, marked=True))
