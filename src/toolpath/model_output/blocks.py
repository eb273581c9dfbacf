"""JSON inside a text: where a value may begin, which format it is of, and when a damaged one matters."""

from __future__ import annotations

import re

from toolpath.errors import ReadError
from toolpath.model_output.found import ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.single import names_a_tool
from toolpath.model_output.tolerant import STOP, Values
from toolpath.notation.nodes import DocumentNode

#: Where a value that may hold a call begins: an object with a key, an empty one, a list of objects.
_COMMENTS = r"\s*(?:(?:(?://|#)[^\n]{0,300}\n|/\*(?:[^*]{0,200}+\*(?!/)){0,5}+[^*]{0,200}+\*/)\s*){0,9}"
START = rf"\{{(?={_COMMENTS}(?:[\"'“}}]|[A-Za-z_]\w*\s*:))|\[(?={_COMMENTS}[{{\]])"
_START = re.compile(START)
#: Words without which nothing damaged can have been meant as a call or plan.
_MEANT = re.compile(
    r"\b(?:tool|tools|tool_\w+|function|functions|function_\w+|action|action_input|name|arguments|parameters|args"
    r"|toolChain|steps|executionOrder|dependsOn|depends_on|output|natural_language_response)\b"
)
_LOOKED_AT = 2_000
_MORE = re.compile(r"\s*,\s*[\"'][^\"'\n]{0,80}[\"']\s*:")
_SURPLUS = re.compile(r"\s*[}\]]")


def begins_value(page: Page, at: int) -> bool:
    """A JSON value that may hold calls begins here."""
    return _START.match(page.text, at) is not None


def read_block(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A JSON value in the text: its calls, an error where it was meant as one, or prose."""
    try:
        return shape_of(page, match.start(), marked=False)
    except ReadError as error:
        at = max(match.end(), page.where(error))
        if not _MEANT.search(page.text, match.start(), min(match.start() + _LOOKED_AT, at + 100)):
            return TextPiece(end=at)
        return TextPiece(end=at, error=error)


def shape_of(page: Page, at: int, *, marked: bool) -> TextPiece:
    """The shape of the value that begins here. Raises `ReadError` for one that is unreadable, or marked and no call."""
    values = Values(page)
    node, end = values.value(at)
    found = _found(node, page, marked)
    if found is None:
        if marked:
            raise page.broken("This is no call: it names no tool.", at)
        if values.cut is not None:
            raise page.broken("The text ends early.", values.cut, "It may have been cut off.")
        if names_a_tool(node):
            unsure = page.broken("This names a tool, and its fields are not those of a call.", at)
            return TextPiece(end=end, error=unsure, doubtful=True)
        return TextPiece(end=end)
    if values.cut is not None and found.plan is not None:
        raise page.broken("The plan ends early.", values.cut, "It may have been cut off.")
    return TextPiece(end=_whole(page, end), found=found)


def _found(node: DocumentNode, page: Page, marked: bool) -> ReaderResult | None:
    for shape in page.shapes:
        found = shape(page, node, marked)
        if found is not None:
            return found
    return None


def _whole(page: Page, end: int) -> int:
    """The end of the value. Raises `ReadError` where more of it follows a bracket that closed it too early."""
    if _MORE.match(page.text, end):
        raise page.broken("A bracket closed the value too early: more of it follows.", end)
    surplus = _SURPLUS.match(page.text, end)
    if surplus is None:
        return end
    after = page.skip(surplus.end())
    if STOP.match(page.text, after) is None and page.text[surplus.end() : surplus.end() + 1] != "\n":
        raise page.broken("A bracket closes what was not opened.", surplus.end() - 1)
    page.repair("a closing bracket too many", surplus.end() - 1)
    return surplus.end()
