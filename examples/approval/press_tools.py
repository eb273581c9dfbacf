"""A press: it drafts, and it publishes. Published is published."""

from pathlib import Path

from toolpath import tool


@tool(group="press", effect="read")
def draft(topic: str) -> str:
    """Draft a release."""
    return f"We are proud to announce: {topic}."


@tool(group="press", effect="destructive")
def publish(text: str) -> str:
    """Publish it. There is no way back."""
    with Path("published.txt").open("a") as file:
        file.write(f"{text}\n")
    return "published"


@tool(group="press", effect="write", idempotent=True)
def file_away(text: str, reason: str) -> str:
    """Keep what was not published."""
    Path("drawer.txt").write_text(f"{text} ({reason})\n")
    return "filed away"
