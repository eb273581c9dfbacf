"""Tools that read and write files of this folder."""

from pathlib import Path
from typing import TypedDict

from toolpath import tool


class Count(TypedDict):
    name: str
    lines: int
    words: int


@tool(group="text", effect="read")
def list_files(folder: str) -> list[str]:
    """The text files of a folder."""
    return sorted(str(path) for path in Path(folder).glob("*.txt"))


@tool(group="text", effect="read", max_concurrency=8)
def count(path: str) -> Count:
    """Count the lines and words of a file."""
    text = Path(path).read_text(encoding="utf-8")
    return Count(name=Path(path).stem, lines=len(text.splitlines()), words=len(text.split()))


@tool(group="text", effect="write", idempotent=True)
def write_table(path: str, rows: list[Count]) -> str:
    """Write the counts as a table."""
    lines = [f"{row['name']:10}{row['lines']:>6}{row['words']:>6}" for row in rows]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
