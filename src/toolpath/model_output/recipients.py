"""Answers that name whom they are for: Functionary's `>>>tool` and `<|recipient|>tool`, `to=functions.tool`."""

from __future__ import annotations

import re

from toolpath.model_output.found import TextPiece
from toolpath.model_output.marked import read_arguments
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME
from toolpath.model_output.single import tool_name

_SAYS = r"(?:<\|from\|>[ \t]*assistant\s{0,9})?<\|recipient\|>[ \t]*"
RECIPIENT = rf"(?:{_SAYS}|\A\s{{0,9}})({NAME})\s{{0,9}}<\|content\|>"
PROMPT = rf">>>({NAME})[ \t]*\n"
#: The prompt had opened the first message, which is for people.
ALL = r"\A\s{0,9}all\n(?=[^<{\n][^\n]*)"
#: The prompt had opened the first message, which is a call.
FIRST = rf"\A\s{{0,9}}({NAME})[ \t]*\n\s{{0,9}}(?=\{{)"
ASSISTANT = r"<\|assistant\|>\s{0,9}"
#: The channels of gpt-oss after a server has taken their tokens away.
STRIPPED = (
    r"(?:(?:assistant)?(?:<\|channel\|>)?(?:commentary|analysis)[ \t]*to=([\w.\-]{1,256})"
    r"|\bto=(functions\.[\w.\-]{1,256}|multi_tool_use\.[\w.\-]{1,60})|^to=([A-Za-z_][\w.\-]{0,255}))"
    r"[ \t]*(?:<\|constrain\|>)?[ \t]*(json|code)?[ \t]*(?:<\|message\|>)?\s{0,9}(?=\{)"
)
STRIPPED_THOUGHT = r"\A\s{0,9}analysis(?=[A-Z\"'])|assistantanalysis(?=[^a-z])"
STRIPPED_ANSWER = r"assistantfinal(?=[^a-z])"
STRIPPED_RESULT = r"assistantcommentary(?=[ \t]{0,9}(?:json)?[{\[])"
_NEXT = re.compile(r"assistant(?:commentary|analysis|final)")
_PEOPLE = ("all", "user", "assistant")
_ENCODINGS = ("json", "code")


def read_recipient(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A message to a tool, or, with `all`, to people."""
    name = match.group(1)
    if name in _PEOPLE:
        return TextPiece(end=match.end(), hidden=True)
    return read_arguments(page, page.skip(match.end()), tool_name(name, page, match.start(1)))


def read_prompt(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`>>>tool` on a line of its own, and its arguments on the next; the shell of Python writes a blank there."""
    at = page.skip(match.end())
    if (
        match.group(1) not in _PEOPLE
        and not page.text.startswith("{", at)
        and "_" not in match.group(1)
        and match.group(1) != "python"
    ):
        return None
    return read_recipient(page, match)


def read_all(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The recipient of the first message, where others follow."""
    follows = page.search(re.compile(rf"{PROMPT}|{_SAYS}"), match.end())
    return TextPiece(end=match.end(), hidden=True) if follows else None


def read_first(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The first of several messages, where it is to a tool; None where no other follows."""
    if match.group(1) in _PEOPLE or not page.search(re.compile(PROMPT), match.end()):
        return None
    return read_arguments(page, match.end(), tool_name(match.group(1), page, match.start(1)))


def read_assistant(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The token that opens the answer: a call may stand alone after it."""
    return TextPiece(end=match.end(), hidden=True)


def read_stripped(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`to=functions.tool json{…}`. Raises `ReadError` where the name and the word `json` run into one another."""
    name = (match.group(1) or match.group(2) or match.group(3)).removeprefix("functions.")
    if not match.group(4) and name.endswith(_ENCODINGS) and page.text[match.end() - 1] not in " \t\n>":
        hint = "A blank belongs between the name and the word for its notation."
        raise page.broken("Where the name of the tool ends cannot be told.", match.start(), hint)
    return read_arguments(page, match.end(), tool_name(name, page, match.start()))


def read_stripped_thought(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A thought whose tokens are gone, up to the next message; None where none follows."""
    following = page.search(_NEXT, match.end())
    return TextPiece(end=following.start(), hidden=True) if following else None


def read_stripped_answer(page: Page, match: re.Match[str]) -> TextPiece | None:
    """The words that say that what follows is for people."""
    return TextPiece(end=match.end(), hidden=True)


def read_stripped_result(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A result that the model wrote itself, up to its next message."""
    following = page.search(_NEXT, match.end())
    return TextPiece(end=following.start() if following else len(page.text), hidden=True, imagined=True)
