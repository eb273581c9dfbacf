"""Tools that composites are made of: an echo, a service that is often down, and one that is always there."""

from pathlib import Path
from typing import TypedDict

from toolpath import ToolRetry, tool


class Echo(TypedDict):
    text: str
    length: int


@tool(group="demo", effect="read")
def echo(text: str) -> Echo:
    """Say it again."""
    return Echo(text=text, length=len(text))


@tool(group="store", effect="write")
def put(name: str, text: str) -> str:
    """Put a text into the distant store, which has been down all day."""
    with Path("attempts.txt").open("a") as file:
        file.write(f"{name}\n")
    raise ToolRetry("The store does not answer.", retry_after=0.05)


@tool(group="shelf", effect="write", idempotent=True)
def keep(name: str, text: str) -> str:
    """Keep a text on the shelf beside this file."""
    Path(f"{name}.txt").write_text(f"{text}\n")
    return f"{name}.txt"
