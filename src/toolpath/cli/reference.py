"""The page `docs/reference/cli.md`, made from the declared commands: `python -m toolpath.cli.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

_HEAD = """# Command line

Made from the program itself; `make reference` writes it anew.

Text for people goes to stderr, results to stdout; `--json` makes every result JSON. `-` stands for stdin. `NO_COLOR`
and pipes are respected: without a terminal, a run is shown as one line per event. Global options may stand anywhere.

Tools come from `toolpath.toml` (or `--config FILE`), `mcp.json` (or `--mcp FILE`), `--tools MODULE` and `--folder DIR`.
Runs are kept in `.toolpath/runs.db` unless `--store` or the settings say otherwise. `RUN` may be the beginning of an
id, or `last`.

`toolpath --install-completion` lets the shell complete commands, options, ids of runs (the newest first, those alone
that the command can be meant for), statuses, tools and files of plans. Nothing is imported or started for that: tools
are those that modules and folders declare in their text, and those that were called before.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | the run failed |
| 2 | what was typed cannot be meant |
| 3 | the plan does not check, or leaves a question open; a line of a data set cannot be read |
| 4 | the run waits for a person |
| 5 | cancelled |
| 6 | the budget is spent |
| 7 | policy does not allow it |
| 124 | the run took too long |
| 130 | interrupted |
"""


def page(app: typer.Typer) -> str:
    """The whole page as Markdown."""
    parts = [_HEAD]
    for name, text in _commands(typer.main.get_command(app), "toolpath"):
        parts.append(f"\n## {name}\n\n```\n{text.rstrip()}\n```\n")
    return "".join(parts)


def _commands(command: Any, name: str) -> Iterator[tuple[str, str]]:
    context = command.context_class(command, info_name=name, terminal_width=100, max_content_width=100)
    yield name, command.get_help(context)
    for child_name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _commands(child, f"{name} {child_name}")


if __name__ == "__main__":
    from toolpath.cli.main import app as the_app

    sys.stdout.write(page(the_app))
