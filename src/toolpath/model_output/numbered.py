"""Plans and transcripts line by line: `1. search("x")` with `$1`, `#E1 = Search[x]`, `Function:` and `Parameters:`."""

from __future__ import annotations

import re

import msgspec

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME, read_call
from toolpath.model_output.references import numbers_in
from toolpath.model_output.single import arguments, tool_name
from toolpath.model_output.tolerant import Values

NUMBERED = rf"^[ \t]*(\d{{1,4}})[.)][ \t]+(?={NAME}\()"
EVIDENCE = rf"^[ \t]*(?:Plan:[^\n]*?[ \t])?#E(\d{{1,4}})[ \t]*=[ \t]*({NAME})[ \t]*\["
FUNCTION = (
    rf"(?:^[ \t]*(?:\d{{1,4}}[.)][ \t]*)?Function|✿FUNCTION✿):[ \t]*({NAME})[ \t]*\n"
    r"[ \t]*(?:Parameters|Arguments|✿ARGS✿):[ \t]*"
)
_LINE_END = re.compile(r"[ \t]*(?:<END_OF_PLAN>|</?\w+>)?[ \t]*(?=\n|\Z)")
_RAW = re.compile(rf"({NAME})\(([^()\[\]{{}}\"'=\n]*)\)")
_RETURNS = re.compile(r"\s*(?:Retruns|Returns?|Response|Observation|Output|✿RESULT✿):")
_NEXT = re.compile(r"^[ \t]*\d{1,4}[.)][ \t]*(?:Function|Final (?:Response|Answer|Thought)|Thought|Action)\b", re.M)


def read_numbered(page: Page, match: re.Match[str]) -> TextPiece | None:
    """One line of a numbered plan; None for a line of prose that only looks like one."""
    number, at = int(match.group(1)), match.end()
    try:
        call, end = read_call(page, at)
    except ReadError as error:
        return _damaged(page, at, number, error)
    line_end = _LINE_END.match(page.text, end)
    if line_end is None:
        return None
    return _numbered(call, number, line_end.end())


def _numbered(call: ModelCall, number: int, end: int) -> TextPiece:
    call = msgspec.structs.replace(call, id=str(number), depends_on=numbers_in(call.inputs, number))
    return TextPiece(end=end, found=ReaderResult(format="numbered", calls=(call,), marked=True))


def _damaged(page: Page, at: int, number: int, error: ReadError) -> TextPiece | None:
    """A line whose arguments lack their quotes, or whose last bracket is missing; else the error, or prose."""
    raw = _RAW.match(page.text, at)
    ended = _LINE_END.match(page.text, raw.end()) if raw else None
    line, column = page.place(at)
    if raw and ended:
        page.repair("an argument without quotes", at)
        call = ModelCall(tool=raw.group(1), inputs=[raw.group(2).strip()], line=line, column=column)
        return _numbered(call, number, ended.end())
    if raw:
        return None
    line_end = page.text.find("\n", at)
    line_end = len(page.text) if line_end < 0 else line_end
    written = page.text[at:line_end].rstrip().removesuffix("<END_OF_PLAN>").rstrip()
    # Nothing of the next line may count.
    closed = Page(f"{written})")
    try:
        call, end = read_call(closed, 0)
    except ReadError:
        return TextPiece(end=line_end, error=error)
    # Only where a line follows: the last one may have been cut off.
    if end != len(closed.text) or not page.text[line_end:].strip():
        return TextPiece(end=line_end, error=error)
    page.repair("a missing ')' at the end of a line", at + len(written))
    return _numbered(msgspec.structs.replace(call, line=line, column=column), number, line_end)


def read_evidence(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`#E1 = Tool[text]`: the text up to the bracket that ends the line is the tool's one input."""
    line_end = page.text.find("\n", match.end())
    line_end = len(page.text) if line_end < 0 else line_end
    written = page.text[match.end() : line_end].rstrip()
    if not written.endswith("]"):
        error = page.broken("A ']' is expected at the end of this line.", match.end() + len(written))
        return TextPiece(end=line_end, error=error)
    number = int(match.group(1))
    line, column = page.place(match.start(2))
    call = ModelCall(
        tool=tool_name(match.group(2), page, match.start(2)),
        inputs=written[:-1].strip(),
        id=f"E{number}",
        depends_on=tuple(f"E{one}" for one in numbers_in(written, number, sign="#E")),
        line=line,
        column=column,
    )
    return TextPiece(end=line_end, found=ReaderResult(format="evidence", calls=(call,), marked=True))


def read_function_lines(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`Function: tool`, `Parameters: {…}`, and the result that the transcript holds."""
    try:
        node, end = Values(page).whole(page.skip(match.end()))
        inputs = arguments(node, page)
    except ReadError as error:
        return TextPiece(end=max(match.end(), page.where(error)), error=error)
    if _RETURNS.match(page.text, end):
        following = page.search(_NEXT, end)
        end = following.start() if following else len(page.text)
    line, column = page.place(match.start(1))
    name = tool_name(match.group(1), page, match.start(1))
    call = ModelCall(tool=name, inputs=inputs, line=line, column=column)
    return TextPiece(end=end, found=ReaderResult(format="function and parameters", calls=(call,), marked=True))
