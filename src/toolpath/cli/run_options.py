"""Options of every command that starts or steers a run, as typer declares them."""

from __future__ import annotations

from typing import Annotated

import typer

Inputs = Annotated[list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="One input; repeatable.")]
InputFile = Annotated[str, typer.Option("--input-file", metavar="FILE", help="Inputs as JSON or YAML; - is stdin.")]
Replan = Annotated[int, typer.Option("--replan", metavar="N", min=0, max=100, help="Plan anew so often what fails.")]
Priority = Annotated[
    int, typer.Option("--priority", metavar="N", min=-5, max=4, help="Among the runs that wait for a worker.")
]
User = Annotated[str, typer.Option(metavar="ID", help="For whom it runs.  [who sits at the terminal]")]
SessionId = Annotated[str, typer.Option("--session", metavar="ID", help="The session that it runs in.")]
Case = Annotated[str, typer.Option(metavar="ID", help="The case that it belongs to.")]
Permissions = Annotated[
    list[str] | None, typer.Option("--permission", metavar="NAME", help="A permission of who runs it; repeatable.")
]
NoInput = Annotated[bool, typer.Option("--no-input", help="Ask nothing at the terminal.")]
