"""Commands around the work: the demo, the tool factory, the doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli import completion


def demo(
    ctx: typer.Context,
    into: Annotated[str, typer.Option("--into", metavar="DIR", help="Folder that the demo makes.")] = "toolpath-demo",
) -> None:
    """Show the main job on real MCP servers, offline."""
    from toolpath.cli.project.demonstration import show_demo

    raise typer.Exit(show_demo(ctx.obj, into))


def generate(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A composite in YAML; - is stdin.", autocompletion=completion.plans)
    ],
    into: Annotated[str, typer.Option("--into", metavar="DIR", help="Where the files go.")] = ".",
    package: Annotated[str, typer.Option(metavar="NAME", help="Dotted place the test imports from.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Make a typed Python module and its test from a composite in YAML."""
    from toolpath.cli.project.generating import generate_tool

    raise typer.Exit(generate_tool(ctx.obj, file, into, package=package, force=force))


def backup(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where the copy goes.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Copy the store into a file while runs go on."""
    from toolpath.cli.runs.pruning import backup as back_up

    raise typer.Exit(back_up(ctx.obj, file, force=force))


def doctor(
    ctx: typer.Context,
    start: Annotated[bool, typer.Option("--start", help="Start the MCP servers too.")] = False,
) -> None:
    """Say what is set, where it comes from, what can be reached and what is missing."""
    from toolpath.cli.project.diagnosis import diagnose

    raise typer.Exit(diagnose(ctx.obj, start=start))
