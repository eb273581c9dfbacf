"""Calls as lines with labels, `Tool: x` and `Arguments: …`, in Markdown or YAML, and as a list of calls."""

from __future__ import annotations

import re

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.markup import value_in_tag
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME, read_call
from toolpath.model_output.single import arguments, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.values import Json, JsonObject

_BULLET = r"[ \t]*(?:[-*+][ \t]+|\d{1,4}[.)][ \t]+)?"
_STRONG = r"\*{0,2}"
LABELLED = (
    rf"^{_BULLET}{_STRONG}(?i:tool|function)(?:[ _](?i:name|call))?{_STRONG}:{_STRONG}[ \t]*"
    rf"[`*]{{0,2}}({NAME})[`*]{{0,2}}[ \t]*\n\s{{0,9}}{_BULLET}{_STRONG}"
    rf"(?i:arguments|parameters|params|args|inputs?|tool[ _]input){_STRONG}:{_STRONG}[ \t]*"
)
#: NexusRaven's `Call: tool(…)`, and what others write so.
_GIVEN = r"\(\s{0,9}(?:\w+\s{0,9}=|[\"'\[{\d)])"
CALLED = rf"^{_BULLET}{_STRONG}(?i:(?:(?:tool|function)[ _]?)?call){_STRONG}:{_STRONG}[ \t]*`?(?={NAME}{_GIVEN})"
BULLET = rf"^[ \t]*[-*+][ \t]+(?={NAME}\()"
_FENCE = re.compile(r"```\w*\s*|`(?=\{)")
_ITEM = re.compile(
    r"(?:[ \t]*\n){1,2}(?:[ \t]+[-*+]?|[-*+])[ \t]*[`*]{0,2}([A-Za-z_]\w*)[`*]{0,2}[ \t]*[:=][`*]{0,2}[ \t]*([^\n]*)"
)
_NONE = re.compile(r"(?:none|-|n/a)?[ \t]*(?=\n|\Z)", re.I)
_LINE_END = re.compile(r"[ \t]*(?=\n|\Z)")
_CALLED_END = re.compile(r"`?(?:<[|\w]{1,30}>)*[ \t]*(?=\n|\Z)")
_NEXT = re.compile(rf"\s*[-*+][ \t]+(?={NAME}\()")


def read_labelled(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A tool and its arguments on lines of their own: as JSON, fenced or not, or as items; in a fence, YAML is data."""
    if page.text[match.start() : match.start(1)].islower() and page.text.count("```", 0, match.start()) % 2:
        return None
    line, column = page.place(match.start(1))
    inputs, end = _inputs(page, match.end())
    call = ModelCall(tool=tool_name(match.group(1), page, match.start(1)), inputs=inputs, line=line, column=column)
    return TextPiece(end=end, found=ReaderResult(format="labelled lines", calls=(call,), marked=True))


def _inputs(page: Page, at: int) -> tuple[Json, int]:
    fence = _FENCE.match(page.text, page.skip(at))
    start = fence.end() if fence else page.skip(at)
    if page.text.startswith("{", start):
        node, end = Values(page).whole(start)
        after = page.skip(end)
        opened = fence.group().strip()[:1] * fence.group().count("`") if fence else ""
        closes = fence is not None and page.text.startswith(opened, after)
        return arguments(node, page), after + len(opened) if closes else end
    found: JsonObject = {}
    none = _NONE.match(page.text, at)
    end = none.end() if none else at
    while none and (item := _ITEM.match(page.text, end)):
        name = item.group(1)
        if name in found:
            raise page.broken(f"The argument {name!r:.60} is given twice.", item.start(1))
        if item.group(2).strip() in ("", "|", ">", "|-", ">-"):
            raise page.broken(f"The argument {name!r:.60} has no value on its line.", item.end())
        found[name] = value_in_tag(item.group(2).strip().strip("`"), quoted=True)
        end = item.end()
    if not found and not (none and none.group().strip()):
        raise page.broken("The arguments are expected here, as an object or as items 'name: value'.", at)
    return found, end


def read_called(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`Call: tool(name="value")` on a line of its own; unsure where the line goes on after it."""
    try:
        call, end = read_call(page, match.end())
    except ReadError as error:
        return TextPiece(end=max(match.end(), page.where(error)), error=error, doubtful=True)
    ended = _CALLED_END.match(page.text, end)
    if ended is None:
        unsure = page.broken("After the call its line goes on.", end)
        return TextPiece(end=end, error=unsure, doubtful=True)
    return TextPiece(end=ended.end(), found=ReaderResult(format="labelled lines", calls=(call,), marked=True))


def read_bullets(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A text that is a list of calls; one among other words could be an example, and is refused where it has values."""
    try:
        call, end = read_call(page, match.end())
    except ReadError:
        return None
    if not _LINE_END.match(page.text, end):
        return None
    if page.skip(0) < match.start() and page.text[: match.start()].rstrip()[-1:] != ">":
        if not isinstance(call.inputs, dict) or not call.inputs:
            return None
        unsure = page.broken("Whether this is a call or an example cannot be told.", match.end())
        return TextPiece(end=end, error=unsure, doubtful=True)
    calls = [call]
    while following := _NEXT.match(page.text, end):
        call, end = read_call(page, following.end())
        calls.append(call)
    if page.skip(end) < len(page.text):
        raise page.broken("After a list of calls comes what is no call.", end)
    return TextPiece(end=end, found=ReaderResult(format="list of calls", calls=tuple(calls), marked=True))
