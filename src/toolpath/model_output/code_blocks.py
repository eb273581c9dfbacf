"""Blocks of Python in which a model calls tools: smolagents' `Code:` and `<code>`, Gemini's `print(default_api.…)`.

Only lines that are one call with plain values are read; nothing is evaluated, and code that does more is refused.
"""

from __future__ import annotations

import re

import msgspec

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME, read_call

_TAG = r"(?:code|tool_code|python|execute(?:_[a-z]{1,20})?)"
AGENT = rf"^Code:[ \t]*\n\s{{0,9}}```(?:py|python)?[ \t]*\n|^<{_TAG}>\s{{0,9}}"
_KEPT = r"[A-Za-z_]\w{0,80}[ \t]*=[ \t]*"
PRINTED = rf"(?:<ctrl\d{{1,4}}>call[ \t]*\n)?^[ \t]*(?:{_KEPT})?(?:print\([ \t]*)?(?=default_api\.\w{{1,120}}\()"
#: A fence that says that its text is calls, which print what they give or keep it under a name.
FENCE = rf"```(?:tool_code|tool_calls?|function_calls?)[ \t]*\n(?=\s{{0,9}}(?:print\(|{_KEPT}{NAME}\())"
#: Where a model closes its code; a `Thought:` before it says the same: this is no code for people.
_AGENT_END = re.compile(rf"```[ \t]*<end_code>|</{_TAG}>")
_THOUGHT = re.compile(r"^[ \t]*\**Thought(?: \d{1,3})?\**:", re.M)
_END = re.compile(rf"\s*(?:```(?:[ \t]*<end_code>)?|</{_TAG}>|<end_code>|\Z)")
#: Printing calls nothing where nothing in it is called.
_PRINT = re.compile(r"print\((?:[^()\n\"']|\"[^\"\n()]*\"|'[^'\n()]*')*+\)[ \t]*(?=\n|\Z|```)")
_STATEMENT = re.compile(
    rf"(?:[A-Za-z_]\w*[ \t]*=(?!=)[ \t]*)?(?:await[ \t]+)?(print\([ \t]*(?:await[ \t]+)?)?(?={NAME}\()"
)
_LINE = re.compile(rf"[ \t]*(?:#[^\n]*)?(?=\n|;|\Z|```|</{_TAG}>)")
#: A text that is code and nothing else: a block, or a line that keeps or awaits what a call gives.
_ALONE = re.compile(
    rf"```(?:py|python|tool_code)?[ \t]*\n\s{{0,9}}(?=[^`]*+```\s*+\Z)|(?={_KEPT}|await[ \t])(?=[^\n]*+\s*+\Z)"
)
_CALLS = re.compile(rf"(?:{_KEPT}|await[ \t]+)?{NAME}\([ \t]*\w+[ \t]*=")
#: A block of JavaScript that is nothing but calls: of what is not plain none can be made.
_SCRIPT = re.compile(
    rf"```(?:js|javascript|ts|typescript)[ \t]*\n\s{{0,9}}(?=(?:await[ \t]+)?{NAME}\(\{{[^`]*+```\s*+\Z)"
)
_BETWEEN = re.compile(r"(?:[\s;]+|#[^\n]*)*+")
_ANSWERS = ("final_answer",)


def read_agent_code(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The code of an agent; None for code that is shown to people."""
    thought = page.search(_THOUGHT, 0)
    is_agents = thought is not None and thought.start() < match.start()
    if is_agents or page.search(_AGENT_END, match.end()):
        return _block(page, match.end())
    if match.group().startswith("<") and _CALLS.match(page.text, match.end()):
        cut = page.broken("The code that begins here is not closed.", match.start(), "It may have been cut off.")
        return TextPiece(end=match.end(), error=cut, doubtful=True)
    return None


def read_code(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A block whose fence says that it is calls."""
    return _block(page, match.end())


def read_printed(page: Page, match: re.Match[str]) -> TextPiece | None:
    """One or more lines that call `default_api`."""
    start = match.start()
    return _block(page, page.text.index("call", start) + len("call") if page.text[start] == "<" else start)


def read_alone(page: Page, at: int) -> TextPiece | None:
    """Code that is all there is, where each line calls a tool with named values; None for any other code."""
    script = _SCRIPT.match(page.text, at)
    if script is not None:
        return _named(_block(page, script.end()))
    opening = _ALONE.match(page.text, at)
    if opening is None:
        return None
    try:
        piece = _block(page, opening.end())
    except ReadError:
        return None
    calls = piece.found.calls if piece.found else ()
    is_named = all(isinstance(call.inputs, dict) and call.inputs for call in calls)
    return piece if calls and is_named else None


def _named(piece: TextPiece) -> TextPiece:
    """The calls with the one object that each is given as its arguments by name."""
    if piece.found is None:
        return piece
    calls = tuple(
        msgspec.structs.replace(call, inputs=call.inputs[0])
        if isinstance(call.inputs, list) and len(call.inputs) == 1 and isinstance(call.inputs[0], dict)
        else call
        for call in piece.found.calls
    )
    return msgspec.structs.replace(piece, found=msgspec.structs.replace(piece.found, calls=calls))


def _block(page: Page, at: int) -> TextPiece:
    calls: list[ModelCall] = []
    prose: list[str] = []
    at = _past(page, at)
    while not _END.match(page.text, at):
        shown = _PRINT.match(page.text, at)
        if shown is None:
            call, at = _statement(page, at)
            if call.tool in _ANSWERS:
                prose.append(_told(call))
            else:
                calls.append(call)
        at = _past(page, shown.end() if shown else at)
    ending = _END.match(page.text, at)
    found = ReaderResult(format="code", calls=tuple(calls), prose="\n".join(prose) or None, marked=True)
    return TextPiece(end=ending.end() if ending else at, found=found)


def _statement(page: Page, at: int) -> tuple[ModelCall, int]:
    """The call that a line is. Raises `ReadError` for a line that is more."""
    opening = _STATEMENT.match(page.text, at)
    if opening is None:
        raise page.broken("This line of code is no call of a tool with plain values.", at)
    call, end = read_call(page, opening.end())
    if opening.group(1):
        end = page.skip(end)
        if not page.text.startswith(")", end):
            raise page.broken("This line of code is more than a call of a tool with plain values.", end)
        end += 1
    if not _LINE.match(page.text, end):
        raise page.broken("This line of code is more than a call of a tool with plain values.", end)
    return call, end


def _past(page: Page, at: int) -> int:
    match = _BETWEEN.match(page.text, at)
    return match.end() if match else at


def _told(call: ModelCall) -> str:
    """The text of the closing call, for people."""
    given = list(call.inputs.values()) if isinstance(call.inputs, dict) else call.inputs
    return "\n".join(str(one) for one in given) if isinstance(given, list) else str(given)
