"""Calls as tags: `<tool_use>` and `<invoke>` with the name inside, and tools whose name is the tag (Cline)."""

from __future__ import annotations

import re

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.markup import value_in_tag
from toolpath.model_output.page import Page
from toolpath.model_output.single import arguments, arguments_in_text, single_call, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.values import Json, JsonObject

_NAMED = r"(?:\s{1,9}name\s{0,9}=\s{0,9}[\"']([^\"'<>\n]{1,256})[\"'])?\s{0,9}"
WRAPPER = rf"(?<!`)<(tool_use|invoke|use_mcp_tool){_NAMED}>"
#: LangChain's agent: the end of the input is where it stops the model.
PAIR = r"<tool>\s{0,9}([A-Za-z_][\w.:/\-]{0,255})\s{0,9}</tool>\s{0,9}<tool_input>"
#: Only a name of several words: tags of pages have one.
TOOL = r"(?<!`)<([a-z][a-z0-9]{0,60}(?:(?:[_.][a-z0-9]|[A-Z])[a-z0-9]{0,60}){1,8})>(?=\s{0,99}<[a-z_/])"
_NAMES = ("name", "tool_name", "function_name", "function", "tool")
_INPUTS = ("parameters", "arguments", "input", "inputs", "args", "params", "tool_input")
_BESIDE = ("server_name", "id", "thought", "thinking", "explanation")
_CHILD = re.compile(r"<([A-Za-z_][\w.\-]{0,80})>")
#: What these hold is no call: results and texts of any author.
_TEXTS = re.compile(
    r"(?:results?|response|output|outputs|answer|context|info|reminder|instructions|documents?|history)\Z"
)
_INPUT_END = re.compile(r"</tool_input>")
_ANSWERS = ("attempt_completion",)
_CODE = re.compile(r"```(?!tool_code|tool_calls?\b|function_calls?\b)\w+[ \t]*\n\s{0,9}\Z")


def read_pair(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`<tool>name</tool><tool_input>…</tool_input>`: an object, or a text."""
    closing = page.search(_INPUT_END, match.end())
    end = closing.start() if closing else len(page.text)
    written = page.text[match.end() : end].strip()
    inputs: Json = arguments_in_text(written, page, match.end()) if written[:1] == "{" else written
    name = tool_name(match.group(1), page, match.start(1))
    return _call(page, match.start(), name, inputs or {}, closing.end() if closing else end)


def read_wrapper(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A call whose name is an attribute or a tag inside."""
    at = page.skip(match.end())
    tag, name = match.group(1), match.group(2) or ""
    if page.text.startswith("{", at):
        node, end = Values(page).whole(at)
        call = None if name else single_call(node, page, marked=True)
        inputs: Json = arguments(node, page) if name else call.inputs if call else {}
        name = name or (call.tool if call else "")
    else:
        children, end = _children(page, at)
        name, inputs = _split(page, match, children, name)
    if not name:
        raise page.broken("This is no call: it names no tool.", match.start())
    return _call(page, match.start(), tool_name(name, page, match.start()), inputs, _closed(page, tag, end))


def _split(page: Page, match: re.Match[str], children: JsonObject, name: str) -> tuple[str, Json]:
    names = [key for key in _NAMES if isinstance(children.get(key), str)] if not name else []
    name = name or (str(children.pop(names[0])).strip() if names else "")
    inner = [key for key in _INPUTS if key in children]
    rest = children.keys() - set(inner) - set(_BESIDE)
    if len(inner) == 1 and not rest:
        given = children[inner[0]]
        if given == "":
            return name, {}
        if not isinstance(given, dict):
            raise page.broken("The arguments are a text, where an object or tags are expected.", match.start())
        return name, given
    if names and rest:
        raise page.broken("What of these tags are the arguments cannot be told.", match.start())
    return name, children


def read_tool_tag(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A call whose tag is the tool's name and whose tags inside are its arguments; other markup is prose."""
    name = match.group(1)
    closing = page.search(re.compile(f"</{re.escape(name)}>"), match.end())
    before = page.text[max(0, match.start() - 40) : match.start()]
    alone = not before.rpartition("\n")[2].strip()
    if _TEXTS.search(name) or _CODE.search(before) or (closing is None and not alone):
        return None
    if closing is None:
        cut = page.broken(f"The tag {name!r:.60} is not closed.", match.start(), "It may have been cut off.")
        return TextPiece(end=match.end(), error=cut, doubtful=True)
    try:
        children, end = _children(page, page.skip(match.end()))
        end = _closed(page, name, end)
    except ReadError as error:
        return TextPiece(end=match.end(), error=error, doubtful=True)
    if not children and not alone:
        return None
    if name in _ANSWERS:
        said = children.get("result", "")
        return TextPiece(end=end, found=ReaderResult(format="tags", prose=str(said), marked=True))
    return _call(page, match.start(), name, children, end)


def _call(page: Page, at: int, name: str, inputs: Json, end: int) -> TextPiece:
    line, column = page.place(at)
    call = ModelCall(tool=name, inputs=inputs, line=line, column=column)
    return TextPiece(end=end, found=ReaderResult(format="tags", calls=(call,), marked=True))


def _closed(page: Page, tag: str, at: int) -> int:
    at = page.skip(at)
    closing = f"</{tag}>"
    if not page.text.startswith(closing, at):
        raise page.broken(f"{closing} is expected here.", at, "It may have been cut off.")
    return at + len(closing)


def _children(page: Page, at: int) -> tuple[JsonObject, int]:
    """Tags one after the other, each with its value, up to what is none. Raises `ReadError`."""
    found: JsonObject = {}
    while match := _CHILD.match(page.text, at):
        name = match.group(1)
        closing = page.search(re.compile(f"</{re.escape(name)}>"), match.end())
        if closing is None:
            raise page.broken(f"The tag {name!r:.60} is not closed.", at, "It may have been cut off.")
        if name in found:
            raise page.broken(f"The tag {name!r:.60} is given twice.", at)
        found[name] = _value(page, name, match.end(), closing.start())
        at = page.skip(closing.end())
    return found, at


def _value(page: Page, name: str, start: int, end: int) -> Json:
    """The value of a tag: of one that holds all arguments, an object as JSON or as tags."""
    at = page.skip(start)
    if name in _NAMES:
        return page.text[start:end].strip()
    if name in _INPUTS and page.text.startswith("{", at):
        node, after = Values(page).whole(at)
        if page.skip(after) != end:
            raise page.broken("There is text after the end of the arguments.", after)
        return arguments(node, page)
    if name in _INPUTS and _CHILD.match(page.text, at):
        children, after = _children(page, at)
        if page.skip(after) != end:
            raise page.broken(f"</{name}> is expected here.", after)
        return children
    return value_in_tag(page.text[start:end])
