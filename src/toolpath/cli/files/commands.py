"""`toolpath files …`: what the folders of runs hold."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Files of runs. `toolpath run --file FILE` gives a run files to begin with.",
)

_Run = Annotated[str, typer.Argument(metavar="RUN", help="Its id, the beginning of it, or `last`.")]
_Path = Annotated[str, typer.Argument(metavar="PATH", help="In the run's folder.")]


@app.command("list")
def list_(ctx: typer.Context, run: _Run) -> None:
    """The files of a run, with their sizes."""
    from toolpath.cli.files.file_verbs import list_files

    raise typer.Exit(list_files(ctx.obj, run))


@app.command()
def get(
    ctx: typer.Context,
    run: _Run,
    path: _Path,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to.  [stdout]")] = "",
) -> None:
    """Write a file of a run to stdout, or to a file."""
    from toolpath.cli.files.file_verbs import get_file

    raise typer.Exit(get_file(ctx.obj, run, path, output))


@app.command()
def put(
    ctx: typer.Context,
    run: _Run,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Of this machine.")],
    path: Annotated[str, typer.Option("--as", metavar="PATH", help="In the run's folder.  [its name]")] = "",
) -> None:
    """Keep a file in the folder of a run that goes on."""
    from toolpath.cli.files.file_verbs import put_file

    raise typer.Exit(put_file(ctx.obj, run, file, path))


@app.command()
def delete(ctx: typer.Context, run: _Run, path: _Path) -> None:
    """Delete a file or folder of a run."""
    from toolpath.cli.files.file_verbs import delete_file

    raise typer.Exit(delete_file(ctx.obj, run, path))
