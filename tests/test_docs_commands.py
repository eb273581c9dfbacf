"""A command that a page only mentions is one that the program takes: its verb is there, and so are its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from pages import ROOT, blocks_of
from toolpath.cli.main import command_line
from toolpath.cli.options import hoisted

PAGES = [
    ROOT / "README.md",
    ROOT / "Makefile",
    ROOT / "Dockerfile",
    ROOT / "compose.yaml",
    *(ROOT / "docs").rglob("*.md"),
]
#: What stands before the program's own words, in a shell or in front of a container.
_BEFORE = re.compile(
    r"^(?:\$ )?(?:\w+=\S* )*(?:uvx |pipx run |docker run .*?|docker compose run .*? )?toolpath (?=[a-z])"
)


def mentioned(text: str) -> Iterator[str]:
    """The commands in inline code and in blocks that no test plays."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`([^`\n]+)`", prose)
    for block in blocks_of(text):
        if block.language != "console":
            yield from block.text.splitlines()


COMMANDS = sorted(
    {
        _BEFORE.sub("", line).partition("#")[0].strip()
        for page in PAGES
        for line in mentioned(page.read_text(encoding="utf-8"))
        if _BEFORE.match(line)
    }
)


def refusal(command: Any, words: list[str], name: str = "toolpath") -> str:
    """What the program would say to a verb or an option that is not there; empty: nothing. Values are not looked at."""
    group = hasattr(command, "get_command")
    context = command.context_class(command, info_name=name, allow_interspersed_args=not group)
    try:
        _, rest, _ = command.make_parser(context).parse_args(list(words))
    except Exception as error:
        if type(error).__name__ not in ("NoSuchOption", "BadOptionUsage"):
            raise
        return str(error)
    if not group or not rest:
        return ""
    verb = command.get_command(context, rest[0])
    return refusal(verb, rest[1:], rest[0]) if verb is not None else f"{name} has no {rest[0]!r}"


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_that_a_page_mentions_is_taken(line: str) -> None:
    words = shlex.split(re.sub(r"\s*(?:[|>&;]|2>).*$", "", line))
    assert refusal(command_line(), hoisted(words)) == ""


def test_there_are_such_commands_and_wrong_ones_are_seen() -> None:
    assert len(COMMANDS) > 30
    assert "--name" in refusal(command_line(), ["keys", "create", "--name", "me"])
    assert "mend" in refusal(command_line(), ["runs", "mend"])
