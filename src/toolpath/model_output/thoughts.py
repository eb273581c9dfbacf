"""Thoughts of a model: parts that are neither calls nor prose, with or without the tag that opens or closes them."""

from __future__ import annotations

import re

from toolpath.model_output.found import TextPiece
from toolpath.model_output.marked import OPEN as MARKED
from toolpath.model_output.marked import read_arguments
from toolpath.model_output.page import Page
from toolpath.model_output.single import tool_name

_TAGS = r"(?:seed:)?(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis)"
OPEN = (
    rf"<{_TAGS}>|\[THINK\]|<\|START_THINKING\|>|<\|channel>thought|<\|begin_of_thought\|>|◁think▷"
    r"|<[|\uff5c]inner_prefix[|\uff5c]>"
)
CLOSE = (
    rf"</{_TAGS}>|\[/THINK\]|<\|END_THINKING\|>|<channel\|>|<\|end_of_thought\|>|◁/think▷"
    r"|<[|\uff5c]inner_suffix[|\uff5c]>"
)
#: The channels of gpt-oss: analysis is thought, what is sent to a function is a call, the rest is for people.
CHANNEL = (
    r"(?:<\|start\|>assistant ?)?(?:to=([^\s<]{1,80}) ?)?<\|channel\|>(analysis|commentary|final)"
    r"(?: ?to=([^\s<]{1,80}))?[^<\n]*(?:<\|constrain\|>[^<\n]*)?<\|message\|>"
)
_CLOSE = re.compile(CLOSE)
_MARKED = re.compile(MARKED)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")


def read_thought(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A thought up to its closing tag; where that is missing, up to a token that opens a call."""
    closing = page.search(_CLOSE, match.end())
    if closing:
        return TextPiece(end=closing.end(), hidden=True)
    opening = page.search(_MARKED, match.end())
    if opening:
        page.repair("a thought that is not closed", match.start())
        return TextPiece(end=opening.start(), hidden=True)
    error = page.broken("The text ends inside a thought.", match.start(), "It may have been cut off.")
    return TextPiece(end=len(page.text), error=error, doubtful=True)


def read_end_of_thought(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A closing tag alone: the prompt had opened the thought, and all before it belongs to it."""
    return TextPiece(end=match.end(), hidden=True, drops=True)


def read_channel(page: Page, match: re.Match[str]) -> TextPiece | None:
    """One message of a channel."""
    recipient = match.group(1) or match.group(3) or ""
    ending = page.search(_CHANNEL_END, match.end())
    end = ending.start() if ending else len(page.text)
    if recipient.startswith("functions."):
        name = tool_name(recipient.removeprefix("functions."), page, match.start())
        return read_arguments(page, page.skip(match.end()), name)
    if recipient not in ("", "user", "assistant", "all"):
        # `json`, `code` and the like: the word for the notation ran into the name of a tool that is built in.
        return read_arguments(page, page.skip(match.end()), tool_name(recipient, page, match.start()))
    return TextPiece(end=match.end() if match.group(2) == "final" else end, hidden=True)
