"""Calls as elements: `<function=tool><parameter=name>value`, `<invoke name="tool">`, keys and values in tags."""

from __future__ import annotations

import json
import re

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.single import arguments, plain, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.values import MAX_DEPTH, Json, JsonObject

_SPACE = r"(?:[\w-]+:|[|\uff5c]DSML[|\uff5c])?"
#: `<function name="tool">` has no further attribute: with one it may describe a tool.
_TAGS = r"(?:invoke|function|function_call|call)"
_QUOTED = r"\s*=\s*[\"'][^\"'\n]{0,256}[\"']"
_NAMING = rf"(?:invoke\s+name{_QUOTED}[^<>\n]{{0,256}}|{_TAGS}\s+(?:name|tool){_QUOTED}\s*)"
ELEMENT = rf"<{_SPACE}function=[^<>\n]{{1,256}}>|<{_SPACE}{_NAMING}>"
_ELEMENT = re.compile(ELEMENT)
_NAME = re.compile(
    rf"<{_SPACE}(?:function=([^<>\n]{{1,256}})|{_TAGS}\s+(?:name|tool)\s*=\s*[\"']([^\"'\n]{{0,256}})[\"'][^<>\n]{{0,256}})>"
)
_PARAMETERS = r"(?:parameter|param|argument|arg)"
_CLOSED = re.compile(rf"</{_SPACE}{_TAGS}>")
_PARAMETER = re.compile(
    rf"<{_SPACE}(?:parameter=([^<>\n]{{1,256}})|{_PARAMETERS}\s+name\s*=\s*[\"']([^\"'\n]{{0,256}})[\"']([^<>\n]{{0,256}}))>"
)
_PARAMETER_END = re.compile(rf"</{_SPACE}{_PARAMETERS}>")
_PREFIX = re.compile(rf"<({_SPACE})")
_ANY_PARAMETER = re.compile(rf"<{_SPACE}{_PARAMETERS}[\s=]")
_PAIR = re.compile(r"\s*<(\w*arg_key)>([^<]*)</\1>\s*<(\w*arg_value)>")
_VALUE_END = re.compile(r"</\w*arg_value>")
_BRACKETS = re.compile(r"[\[{]")


def read_element(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A call as an element, wherever it stands."""
    call, end = element_call(page, match.start())
    return TextPiece(end=end, found=ReaderResult(format="elements", calls=(call,), marked=True))


def begins_element(page: Page, at: int) -> bool:
    """A call as an element begins here."""
    return _ELEMENT.match(page.text, at) is not None


def element_call(page: Page, at: int) -> tuple[ModelCall, int]:
    """The call of the element that begins here, and where it ends. Raises `ReadError`."""
    match = _NAME.match(page.text, at)
    if match is None:
        raise page.broken("An element that names a tool is expected here.", at)
    name = tool_name(match.group(1) or match.group(2) or "", page, at)
    inside = page.skip(match.end())
    if page.text.startswith("{", inside):
        node, end = Values(page).whole(inside)
        inputs = arguments(node, page)
    else:
        inputs, end = _parameters(page, inside)
    end = page.skip(end)
    closed = _CLOSED.match(page.text, end)
    if closed is None:
        # The tag around it tells that the call is whole; the end of the text does not.
        if not page.text.startswith("</", end) or _PARAMETER_END.match(page.text, end):
            raise page.broken("A parameter or the end of the call is expected here.", end)
        page.repair("a call without its closing tag", end)
    line, column = page.place(at)
    return ModelCall(tool=name, inputs=inputs, line=line, column=column), closed.end() if closed else end


def _parameters(page: Page, at: int) -> tuple[JsonObject, int]:
    found: JsonObject = {}
    while match := _PARAMETER.match(page.text, at):
        name = match.group(1) or match.group(2) or ""
        closed = _parameter_end(page, match)
        if closed is None:
            raise page.broken(f"The parameter {name!r:.60} is not closed.", at, "It may have been cut off.")
        following = _ANY_PARAMETER.search(page.text, match.end(), closed.start())
        if following:
            raise page.broken(f"The parameter {name!r:.60} is not closed.", following.start())
        if name in found:
            raise page.broken(f"The parameter {name!r:.60} is given twice.", at)
        written = page.text[match.end() : closed.start()]
        as_text = match.group(3) is not None and re.search(r"\bstring\s*=\s*[\"']true[\"']", match.group(3))
        found[name] = _trimmed(written) if as_text else value_in_tag(written)
        at = page.skip(closed.end())
    return found, at


def _parameter_end(page: Page, opening: re.Match[str]) -> re.Match[str] | None:
    """The tag that closes a parameter: where its own has a prefix, the one with the same, if there is any."""
    prefix = _PREFIX.match(opening.group())
    if prefix and prefix.group(1):
        own = page.search(re.compile(rf"</{re.escape(prefix.group(1))}{_PARAMETERS}>"), opening.end())
        if own is not None:
            return own
    return page.search(_PARAMETER_END, opening.end())


def _trimmed(written: str) -> str:
    """Without the line breaks that belong to the tags."""
    return written.removeprefix("\n").removesuffix("\n")


def value_in_tag(written: str, *, quoted: bool = False) -> Json:
    """A number, truth value, null, list or object where the whole is one as JSON writes it; else the text.

    With `quoted`, a text in quotes loses them: the format writes JSON for all values.
    """
    text = _trimmed(written)
    bare = text.strip()
    if not bare or (bare[0] == '"' and not quoted) or len(_BRACKETS.findall(bare)) > 100 * MAX_DEPTH:
        return text
    try:
        node, end = Values(Page(bare)).value(0)
        strict: Json = json.loads(bare)
        return strict if end == len(bare) and plain(node, Page(bare)) == strict else text
    except (ReadError, ValueError, RecursionError):
        return text


def begins_pair(page: Page, at: int) -> bool:
    """A key in tags begins here."""
    return _PAIR.match(page.text, at) is not None


def read_pairs(page: Page, at: int) -> tuple[JsonObject, int]:
    """Keys and values in tags, up to what is none. Raises `ReadError`."""
    found: JsonObject = {}
    while match := _PAIR.match(page.text, at):
        key, closing = match.group(2).strip(), page.search(_VALUE_END, match.end())
        if closing is None:
            raise page.broken(f"The value of {key!r:.60} is not closed.", at, "It may have been cut off.")
        if key in found:
            raise page.broken(f"The argument {key!r:.60} is given twice.", at)
        found[key] = value_in_tag(page.text[match.end() : closing.start()], quoted=True)
        at = closing.end()
    return found, at
