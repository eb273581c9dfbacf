"""Groups of commands that know by which other words people look for one."""

from __future__ import annotations

from typing import Any

import typer.core

from toolpath.cli.completion import LACKING
from toolpath.cli.options import WITH_VALUE, hoisted

#: What is typed elsewhere for the same thing → how it is called here.
_MEANT = {
    "find": "search",
    "ls": "list",
    "get": "show",
    "info": "show",
    "describe": "show",
    "view": "show",
    "logs": "events",
    "log": "events",
    "follow": "watch",
    "tail": "watch",
    "stop": "cancel",
    "kill": "cancel",
    "continue": "resume",
    "restart": "retry",
    "rerun": "retry",
    "exec": "call",
    "invoke": "call",
    "execute": "run",
    "start": "run",
    "lint": "validate",
    "verify": "validate",
    "server": "serve",
    "reject": "deny",
    "clean": "prune",
    "delete": "prune",
    "rm": "prune",
}


class Commands(typer.core.TyperGroup):
    """A group that answers an unknown command with the one that is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments; while a shell asks what may follow, global options count wherever they stand."""
        if ctx.resilient_parsing and ctx.parent is None:
            if args and args[-1] in WITH_VALUE:
                ctx.meta[LACKING] = True
                args = args[:-1]
            args = hoisted(args)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands with their help as it is written, over several lines where one is too short for it."""
        shown = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, (command.short_help or command.help or "").partition("\n\n")[0].replace("\n", " ").strip())
            for name, command in shown
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command; the error for an unknown one names what may have been meant."""
        meant = _MEANT.get(args[0]) if args else None
        if meant in self.commands and args[0] not in self.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)
