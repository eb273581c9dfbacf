"""The git repository of the demo: the same few commits every time, in one call of git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from toolpath.errors import ConfigError

_MONDAY = 1_762_160_400  # 3 November 2025, 09:00 UTC
_AUTHORS = {"Ada": "ada@example.org", "Bo": "bo@example.org", "Chi": "chi@example.org"}

#: Author, message, file, the file's lines from then on.
_COMMITS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Ada", "Start the price list", "prices.csv", ("item,price", "tea,2.40", "coffee,3.10")),
    ("Bo", "Say what this is", "README.md", ("# Kiosk", "", "Prices and orders of the kiosk.")),
    ("Ada", "Add cake", "prices.csv", ("item,price", "tea,2.40", "coffee,3.10", "cake,4.20")),
    ("Chi", "Read the prices", "kiosk.py", tuple(f"line_{number} = {number}" for number in range(1, 19))),
    ("Bo", "Raise the price of coffee", "prices.csv", ("item,price", "tea,2.40", "coffee,3.30", "cake,4.20")),
    (
        "Ada",
        "Tell how to order",
        "README.md",
        ("# Kiosk", "", "Prices and orders of the kiosk.", "", "Ask at the window."),
    ),
    ("Chi", "Drop what is not used", "kiosk.py", tuple(f"line_{number} = {number}" for number in range(1, 14))),
    ("Bo", "Add juice", "prices.csv", ("item,price", "tea,2.40", "coffee,3.30", "cake,4.20", "juice,2.90")),
)


def make_repository(folder: Path) -> None:
    """Make the repository anew in `folder`. Raises `ConfigError` where git is missing or fails."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet")
    _git(folder, "symbolic-ref", "HEAD", "refs/heads/main")
    _git(folder, "fast-import", "--quiet", stream=_stream())
    _git(folder, "reset", "--quiet", "--hard", "main")


def _stream() -> bytes:
    parts: list[str] = []
    for number, (author, message, file, lines) in enumerate(_COMMITS):
        text = "\n".join(lines) + "\n"
        person = f"{author} <{_AUTHORS[author]}> {_MONDAY + number * 40_000} +0000"
        parts += [
            "commit refs/heads/main\n",
            f"author {person}\n",
            f"committer {person}\n",
            f"data {len(message.encode())}\n{message}\n",
            f"M 100644 inline {file}\n",
            f"data {len(text.encode())}\n{text}\n",
        ]
    return "".join(parts).encode()


def _git(folder: Path, *arguments: str, stream: bytes = b"") -> None:
    # The reader's own git settings (hooks, signing, templates) have no place in the demo.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": ""}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, env=env, input=stream, capture_output=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise ConfigError(
            f"git cannot be started: {error}.", hint="Install git; the demo makes a repository."
        ) from None
    if done.returncode:
        raise ConfigError(f"git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
