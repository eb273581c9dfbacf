"""Streams of a command: text for people on stderr, results on stdout. What tools wrote cannot steer the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO, TypeVar

import msgspec
from rich.console import Console
from rich.text import Text

from toolpath.cli.options import GlobalOptions
from toolpath.values import Json

_Record = TypeVar("_Record", bound=msgspec.Struct)
# Escape sequences, and characters that turn the direction of text, would let a tool's output repaint the screen.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

STYLES = {
    "pending": "dim",
    "ready": "dim",
    "running": "cyan",
    "retrying": "yellow",
    "waiting": "magenta",
    "paused": "magenta",
    "succeeded": "green",
    "completed": "green",
    "completed_with_errors": "yellow",
    "failed": "red",
    "timed_out": "red",
    "unknown": "red",
    "skipped": "dim",
    "cancelled": "yellow",
    "error": "red",
    "warning": "yellow",
    "information": "cyan",
}


def clean(text: str) -> str:
    """The text with control characters shown instead of obeyed."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def short(value: Json, limit: int = 200) -> str:
    """A value in one line of at most `limit` characters."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = clean(text.replace("\n", "⏎"))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


class Output:
    """The two streams of one command."""

    def __init__(self, options: GlobalOptions, results: TextIO | None = None) -> None:
        self.options = options
        self.results = results or sys.stdout
        self.people = Console(stderr=True, highlight=False, soft_wrap=True)
        self.paper = Console(file=self.results, highlight=False, soft_wrap=True)

    @property
    def is_live(self) -> bool:
        """A person watches, and the terminal can redraw."""
        return self.people.is_terminal and not self.people.is_dumb_terminal and not self.options.quiet

    def say(self, text: str | Text = "", style: str = "") -> None:
        """A line for people, unless `--quiet`."""
        if not self.options.quiet:
            self.tell(text, style)

    def tell(self, text: str | Text, style: str = "") -> None:
        """A line for people, also with `--quiet`."""
        self.people.print(text if isinstance(text, Text) else Text(clean(text), style=style))

    def result(self, value: Json) -> None:
        """A value on stdout: text as it is, everything else as JSON."""
        if isinstance(value, str) and not self.options.json:
            self.write(clean(value) if self.paper.is_terminal else value)
        else:
            data = msgspec.json.encode(value, order=None)
            text = msgspec.json.format(data, indent=2).decode()
            self.write(clean(text) if self.paper.is_terminal else text)

    def records(
        self, found: Sequence[_Record], *, row: Callable[[_Record], tuple[Any, ...]], header: tuple[str, ...], none: str
    ) -> None:
        """Records on stdout, one a row, or all as JSON; where there are none, people are told `none`."""
        if self.options.json:
            self.result([msgspec.to_builtins(each) for each in found])
        elif found:
            self.paragraph(table([row(each) for each in found], header))
        else:
            self.say(none, "dim")

    def done(self, text: str, record: msgspec.Struct) -> None:
        """Tell people what was done; with `--json` the record that came of it is the result."""
        self.say(text, "green")
        if self.options.json:
            self.result(msgspec.to_builtins(record))

    def line(self, value: Json) -> None:
        """A value on stdout as one line of JSON."""
        self.write(msgspec.json.encode(value).decode())

    def paragraph(self, text: str | Text) -> None:
        """A line of a result meant for people, on stdout."""
        self.paper.print(text if isinstance(text, Text) else Text(clean(text)))

    def write(self, text: str) -> None:
        """Text on stdout, as it is."""
        # A lone surrogate cannot be written; a question mark loses less than the whole result.
        encoding = self.results.encoding or "utf-8"
        self.results.write(text.encode(encoding, "replace").decode(encoding))
        if not text.endswith("\n"):
            self.results.write("\n")
        self.results.flush()


def moment(at: float) -> str:
    """A moment as Unix time, as the terminal's clock has it; nothing where it is not known."""
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else "-"


def table(rows: list[tuple[Any, ...]], header: tuple[str, ...]) -> Text:
    """Rows as columns of text, with a header; a cell may be styled `Text`."""
    cells = [tuple(cell if isinstance(cell, Text) else Text(clean(str(cell))) for cell in row) for row in rows]
    widths = [max([len(name), *(row[index].cell_len for row in cells)]) for index, name in enumerate(header)]
    text = Text()
    for row in [tuple(Text(name, style="bold") for name in header), *cells]:
        for index, cell in enumerate(row):
            text.append_text(cell)
            if index < len(row) - 1:
                text.append(" " * (widths[index] - cell.cell_len + 2))
        text.append("\n")
    text.rstrip()
    return text
