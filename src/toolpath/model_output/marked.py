"""Calls between tokens of a model, such as `<tool_call>` or `[TOOL_CALLS]`, and the bodies that stand between them."""

from __future__ import annotations

import re

import msgspec

from toolpath.errors import ReadError
from toolpath.model_output.blocks import begins_value, shape_of
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.markup import begins_element, begins_pair, element_call, read_pairs
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME, begins_call, read_call, read_calls
from toolpath.model_output.single import arguments, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.values import JsonObject

_WORD = r"(?:[\w-]+:|[|\uff5c]DSML[|\uff5c]|longcat_)?(?:tool|function)[_▁-]?calls?"
_BEGIN = rf"{_WORD}(?:[_▁]section)?(?:[_▁](?:begin|start|answer))?"
#: What opens a call. `<tool_call|>` closes one, where `<|tool_call>` opens it.
OPEN = (
    rf"<{_BEGIN}>|<[|\uff5c]{_BEGIN}[|\uff5c]?>|<start_function_call>|<TOOLCALL>|\[TOOL_CALLS?\]|<\|python_tag\|>"
    r"|<\|START_ACTION\|>|<\|action_start\|>(?:\s*<\|plugin\|>)?|<\|tools_prefix\|>|(?:\A|(?<=\s))functools(?=\[)"
    r"|<<<?function>>>?|<<<api_call>>>:?|<\|python_start\|>"
)
_OPEN = re.compile(OPEN)
_CLOSE = re.compile(
    rf"</{_BEGIN}>|<[|\uff5c]/{_BEGIN}[|\uff5c]>|<{_WORD}[|\uff5c]>|<[|\uff5c]{_WORD}(?:[_▁]section)?[_▁]end[|\uff5c]>"
    r"|<end_function_call>|</TOOLCALL>|\[/TOOL_CALLS?\]|<\|END_ACTION\|>|<\|action_end\|>|<\|tools_suffix\|>"
    r"|<\|eom_id\|>|<\|eot_id\|>|<\|python_end\|>"
)
_TURN_ENDS = ("<|eom_id|>", "<|eot_id|>")
_NAME = re.compile(NAME)
_SEPARATED = re.compile(
    rf"(?:function)?<[|\uff5c]tool[_▁]sep[|\uff5c]>\s*({NAME})\s*|({NAME})<[|\uff5c]tool[_▁]sep[|\uff5c]>\s*"
)
_THEN_ELEMENT = re.compile(r"(?:function)?<[|\uff5c]tool[_▁]sep[|\uff5c]>\s*(?=<)")
_NUMBERED = re.compile(rf"(?:functions\.)?({NAME})(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*")
_ARGS = re.compile(rf"({NAME})(?:\[CALL_ID\][\w-]+)?\[ARGS\]\s*")
_THEN_OBJECT = re.compile(rf"({NAME})\s*(?=\{{)")
_THEN_FENCE = re.compile(rf"({NAME})[ \t]*\n\s{{0,9}}(?=```(?:json)?[ \t]*\n\s{{0,9}}\{{)")
_GEMMA = re.compile(rf"call:({NAME})\s*(?=\{{)")
#: A tool's name on a line of its own, and nothing but its arguments below; titles begin with a capital letter.
_LINE = r"([a-z][A-Za-z0-9_]{0,120}(?:[.:/\-][A-Za-z_][A-Za-z0-9_]{0,120}){0,8})[ \t]*\n\s{0,9}"
_LINE_THEN_OBJECT = re.compile(rf"{_LINE}(?=\{{)")
_LINE_THEN_CODE = re.compile(rf"{_LINE}```(?:python)?[ \t]*\n\s{{0,9}}(?=tool_call\()")
_TITLES = ("json", "output", "result", "results", "response", "answer", "yaml", "example", "data", "assistant", "code")
_THEN_PAIR = re.compile(rf"({NAME})\s*(?=<(?:\w+_)?arg_key>)")
_EQUALS = re.compile(rf"({NAME})((?:[ \t]+[A-Za-z_]\w*=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<]+))+)\s*")
_EQUAL = re.compile(r"([A-Za-z_]\w*)=(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<]+)")
_FENCE = re.compile(r"```\w*\s*")
#: A tool's name and a token after it, or nothing more: no sentence goes on so.
_BEGUN = re.compile(rf"(?:functions\.|call:)?{NAME}(?::\d{{0,4}})?\s{{0,9}}(?:<|\[|\{{|\Z)")
_HEADS = (_SEPARATED, _NUMBERED, _ARGS, _GEMMA, _THEN_OBJECT, _THEN_FENCE)
#: After a token alone: "Sure {…}" is prose.
_MARKED_HEADS = (_THEN_OBJECT, _THEN_FENCE)


def read_marked(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The calls after a token that opens one."""
    at = page.skip(match.end())
    while opening := _OPEN.match(page.text, at):
        at = page.skip(opening.end())
    form = "tokens"
    calls: list[ModelCall] = []
    while True:
        try:
            body = read_body(page, at, marked=True)
        except ReadError as error:
            return TextPiece(end=max(match.end(), page.where(error)), error=error)
        if body is None:
            break
        if body.open_ended and not _CLOSE.match(page.text, page.skip(body.end)):
            return TextPiece(end=body.end, error=page.broken("The end of the call is expected here.", body.end))
        form = body.found.format if body.found and body.found.format != "call" else form
        calls += body.found.calls if body.found else ()
        at = page.skip(body.end)
        if closing := _CLOSE.match(page.text, at):
            return _piece(form, calls, closing.end())
        at = page.skip(at + 1) if page.text[at : at + 1] in (",", ";") else at
        if _OPEN.match(page.text, at):
            break
    if calls or form != "tokens":
        return _unended(page, form, calls, at)
    if closing := _CLOSE.match(page.text, at):
        return TextPiece(end=closing.end(), hidden=True)
    missing = page.broken(f"A call is expected after {match.group()}.", at)
    is_begun = at == len(page.text) or _BEGUN.match(page.text, at) is not None
    return TextPiece(end=max(match.end(), at), error=missing, doubtful=not is_begun)


def _unended(page: Page, form: str, calls: list[ModelCall], at: int) -> TextPiece:
    """The calls without a token behind them; an error where one follows after what is no call."""
    closing, opening = page.search(_CLOSE, at), page.search(_OPEN, at)
    if closing is None or closing.group() in _TURN_ENDS or (opening and opening.start() < closing.start()):
        return _piece(form, calls, at)
    return TextPiece(end=closing.end(), error=page.broken("Behind a call stands what is none.", at))


def _piece(form: str, calls: list[ModelCall], end: int) -> TextPiece:
    return TextPiece(end=end, found=ReaderResult(format=form, calls=tuple(calls), marked=True))


def read_body(page: Page, at: int, *, marked: bool) -> TextPiece | None:
    """The calls that stand here without any token around them; None where there are none.

    Raises `ReadError` for what begins as a call and cannot be read.
    """
    if begins_element(page, at):
        call, end = element_call(page, at)
        return TextPiece(end=end, found=ReaderResult(format="elements", calls=(call,), marked=True))
    if begins_call(page, at):
        calls, end = read_calls(page, at)
        return TextPiece(end=end, found=ReaderResult(format="python calls", calls=calls, marked=True))
    if begins_value(page, at) or (marked and page.text[at : at + 1] in ("{", "[")):
        return shape_of(page, at, marked=marked)
    return _named(page, at, marked)


def _named(page: Page, at: int, marked: bool) -> TextPiece | None:
    """A name, then its arguments in any of the ways that models write them."""
    element = _THEN_ELEMENT.match(page.text, at)
    if element:
        call, end = element_call(page, element.end())
        return TextPiece(end=end, found=ReaderResult(format="elements", calls=(call,), marked=True))
    if not marked and (below := _below(page, at)):
        return below
    for head in _HEADS:
        match = head.match(page.text, at)
        if match is None or (head in _MARKED_HEADS and not marked):
            continue
        inputs, end = _object(page, match.end())
        name = next(group for group in match.groups() if group)
        return _call(page, at, name, inputs, end)
    pair = _THEN_PAIR.match(page.text, at)
    if pair and begins_pair(page, pair.end()):
        inputs, end = read_pairs(page, pair.end())
        return msgspec.structs.replace(_call(page, at, pair.group(1), inputs, end), open_ended=True)
    equals = _EQUALS.match(page.text, at)
    if equals and (marked or equals.end() == len(page.text)):
        return _call(page, at, equals.group(1), _equal(page, equals), equals.end())
    alone = _NAME.match(page.text, at) if marked else None
    if alone and _CLOSE.match(page.text, page.skip(alone.end())):
        return _call(page, at, alone.group(), {}, alone.end())
    return None


def _below(page: Page, at: int) -> TextPiece | None:
    """A name on a line of its own with its arguments below: an object, or a block of code that calls `tool_call`."""
    code = _LINE_THEN_CODE.match(page.text, at)
    if code:
        call, end = read_call(page, code.end())
        if not isinstance(call.inputs, dict):
            raise page.broken("The arguments have no names.", code.end())
        end = page.skip(end)
        return _call(page, at, code.group(1), call.inputs, end + 3 if page.text.startswith("```", end) else end)
    line = _LINE_THEN_OBJECT.match(page.text, at)
    if line is None or line.group(1) in _TITLES:
        return None
    inputs, end = _object(page, line.end())
    return _call(page, at, line.group(1), inputs, end)


def read_arguments(page: Page, at: int, name: str) -> TextPiece:
    """The call of a tool whose name is known already and whose arguments begin here."""
    try:
        inputs, end = _object(page, at)
    except ReadError as error:
        return TextPiece(end=max(at, page.where(error)), error=error)
    return _call(page, at, name, inputs, end)


def _object(page: Page, at: int) -> tuple[JsonObject, int]:
    """The arguments as an object, fenced or not."""
    fence = _FENCE.match(page.text, at)
    node, end = Values(page).whole(page.skip(fence.end() if fence else at))
    if not isinstance(node.value, dict):
        raise page.broken("The arguments are expected here as an object.", at)
    after = page.skip(end)
    return arguments(node, page), after + 3 if fence and page.text.startswith("```", after) else end


def _equal(page: Page, match: re.Match[str]) -> JsonObject:
    found: JsonObject = {}
    for pair in _EQUAL.finditer(match.group(2)):
        if pair.group(1) in found:
            raise page.broken(f"The argument {pair.group(1)!r:.60} is given twice.", match.start(2) + pair.start())
        written = pair.group(2)
        quoted = written[0] in "\"'"
        found[pair.group(1)] = written[1:-1] if quoted else _bare(written)
    return found


def _bare(written: str) -> object:
    page = Page(written)
    try:
        node, end = Values(page).value(0)
    except ReadError:
        return written
    return node.value if end == len(written) and not isinstance(node.value, dict | list) else written


def _call(page: Page, at: int, name: str, inputs: JsonObject, end: int) -> TextPiece:
    line, column = page.place(at)
    call = ModelCall(tool=tool_name(name, page, at), inputs=inputs, line=line, column=column)
    return TextPiece(end=end, found=ReaderResult(format="name and arguments", calls=(call,), marked=True))
