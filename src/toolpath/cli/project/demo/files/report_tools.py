"""The Python tools of the demo: ordinary functions; their schemas come from their type hints and docstrings."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TypedDict

from toolpath import tool

_COMMIT = re.compile(r"Commit: (\w+)\nAuthor: (.*)\nDate: (.*)\nMessage: (.*)")


class Commit(TypedDict):
    """One commit of the history."""

    id: str
    author: str
    date: str
    message: str


class Change(TypedDict):
    """A commit and how many lines it touched."""

    id: str
    author: str
    message: str
    added: int
    removed: int


class Office(TypedDict):
    """Office of a part of the team."""

    city: str
    timezone: str


class Meeting(TypedDict):
    """The weekly meeting in local time."""

    city: str
    at: str


class Size(TypedDict):
    """Lines that a commit added and removed."""

    added: int
    removed: int


class Written(TypedDict):
    """A file that was written."""

    path: str
    lines: int


@tool(group="report", effect="read")
def read_history(text: str) -> list[Commit]:
    """Read the commits out of what git's server wrote.

    Args:
        text: The history, newest first.
    """
    return [Commit(id=found[1], author=found[2], date=found[3], message=found[4]) for found in _COMMIT.finditer(text)]


@tool(group="report", effect="read")
def read_team(page: str) -> list[Office]:
    """Read the offices out of the team page.

    Args:
        page: The page as text.
    """
    # The server writes words of its own before what it fetched.
    known = json.loads(page[page.index("{") :])
    return [Office(city=office["city"], timezone=office["timezone"]) for office in known["offices"]]


@tool(group="report", effect="read")
def count_lines(diff: str) -> Size:
    """Count the lines that a commit added and removed.

    Args:
        diff: The commit as git shows it.
    """
    lines = diff.splitlines()
    return Size(
        added=sum(line.startswith("+") and not line.startswith("+++") for line in lines),
        removed=sum(line.startswith("-") and not line.startswith("---") for line in lines),
    )


@tool(group="report", effect="read")
def praise(authors: str) -> str:
    """Say something kind about small commits.

    Args:
        authors: Who made them.
    """
    return f"Small commits all week: well done, {authors}."


@tool(group="report", effect="read")
def table(changes: list[Change]) -> list[list[str | int]]:
    """Lay out the commits as rows of a sheet, with a head.

    Args:
        changes: Commits and how many lines they touched.
    """
    rows: list[list[str | int]] = [["Author", "Message", "Added", "Removed"]]
    rows += [[change["author"], change["message"], change["added"], change["removed"]] for change in changes]
    return rows


@tool(group="report", effect="write", idempotent=True)
def write_report(
    path: str,
    written_at: str,
    branches: str,
    changes: list[Change],
    meetings: list[Meeting],
    large: int,
    reviewed: bool,
) -> Written:
    """Write the report as Markdown.

    Args:
        path: The file.
        written_at: Date and time of the report.
        branches: The branches as git lists them.
        changes: What was committed.
        meetings: When every office meets.
        large: Commits that add more lines than this are marked.
        reviewed: A branch for reviews was made.
    """
    authors = Counter(change["author"] for change in changes)
    lines = [
        "# Weekly report",
        "",
        f"{len(changes)} commits by {len(authors)} people, {sum(change['added'] for change in changes)} lines added,"
        f" on {branches.replace('*', '').split()[0]}; written {written_at[:16].replace('T', ' ')} UTC.",
        "",
        "| author | commit | added | removed |",
        "| --- | --- | ---: | ---: |",
        *(
            f"| {change['author']} | {change['message']}{' **(large)**' if change['added'] > large else ''}"
            f" | {change['added']} | {change['removed']} |"
            for change in changes
        ),
        "",
        "The weekly meeting: "
        + ", ".join(f"{meeting['at'][11:16]} in {meeting['city']}" for meeting in meetings)
        + ".",
    ]
    if reviewed:
        lines += ["", "Large commits want a second look: branch `review` is there for it."]
    text = "\n".join(lines) + "\n"
    Path(path).write_text(text, encoding="utf-8")
    return Written(path=path, lines=len(lines))
