"""`toolpath settings …`: settings that the store keeps, for all processes on it."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Settings that may change while processes run: they hold for the runs that begin afterwards.",
)


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """All of them, each with where its value comes from."""
    from toolpath.cli.settings.setting_verbs import list_settings

    raise typer.Exit(list_settings(ctx.obj))


@app.command()
def show(ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME", help="As agent_rounds.")]) -> None:
    """One setting."""
    from toolpath.cli.settings.setting_verbs import show_setting

    raise typer.Exit(show_setting(ctx.obj, name))


@app.command("set")
def set_(
    ctx: typer.Context,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE…", help="All are stored, or none.")],
) -> None:
    """Store settings, for all processes of the store."""
    from toolpath.cli.settings.setting_verbs import set_settings

    raise typer.Exit(set_settings(ctx.obj, tuple(values)))


@app.command()
def reset(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="Those to take back.  [all]")] = None,
) -> None:
    """Store settings no more: they are as file and environment say."""
    from toolpath.cli.settings.setting_verbs import reset_settings

    raise typer.Exit(reset_settings(ctx.obj, tuple(names or ())))
