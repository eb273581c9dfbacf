"""`toolpath templates …`: plan templates that are kept, their versions, and where they are published."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Plan templates: keep, list, compare, publish. `toolpath run NAME` runs one.",
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Its id, group.title, or title.")]
_Group = Annotated[str, typer.Option(help="The group that it belongs to.  [ungrouped]")]


@app.command()
def save(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Plan with <<parameters>>; - is stdin.")] = "",
    *,
    run: Annotated[str, typer.Option(metavar="RUN", help="No file: the plan of a run that succeeded.")] = "",
    title: Annotated[str, typer.Option(help="Its name.  [the plan's]")] = "",
    group: _Group = "",
    comment: Annotated[str, typer.Option(help="Why this version.")] = "",
) -> None:
    """Keep a plan as a template, or as a further version of the one with this title."""
    from toolpath.cli.templates.template_verbs import save_template

    raise typer.Exit(save_template(ctx.obj, file, run=run, title=title, group=group, comment=comment))


@app.command("list")
def list_(ctx: typer.Context, group: Annotated[str, typer.Option(help="Only those of this group.")] = "") -> None:
    """All templates, newest first."""
    from toolpath.cli.templates.template_verbs import list_templates

    raise typer.Exit(list_templates(ctx.obj, group))


@app.command()
def show(
    ctx: typer.Context,
    name: _Name,
    version: Annotated[int, typer.Option(min=0, help="A version of it.  [the newest]")] = 0,
) -> None:
    """One template: what it takes, its versions and channels, its document."""
    from toolpath.cli.templates.template_verbs import show_template

    raise typer.Exit(show_template(ctx.obj, name, version))


@app.command()
def diff(
    ctx: typer.Context,
    name: _Name,
    earlier: Annotated[int, typer.Argument(min=0, help="A version.  [the one before]")] = 0,
    later: Annotated[int, typer.Argument(min=0, help="A later one.  [the newest]")] = 0,
) -> None:
    """The changes of a version against an earlier one, step by step."""
    from toolpath.cli.templates.template_verbs import diff_template

    raise typer.Exit(diff_template(ctx.obj, name, earlier, later))


@app.command()
def rollback(
    ctx: typer.Context, name: _Name, version: Annotated[int, typer.Argument(min=1, help="The version to have back.")]
) -> None:
    """Make the document of an earlier version the newest one."""
    from toolpath.cli.templates.template_verbs import roll_back

    raise typer.Exit(roll_back(ctx.obj, name, version))


@app.command()
def publish(
    ctx: typer.Context,
    name: _Name,
    channel: Annotated[
        list[str], typer.Option("--channel", help="tool, http, conversation or mcp; again for several.")
    ],
    version: Annotated[int, typer.Option(min=0, help="A version of it.  [the newest]")] = 0,
) -> None:
    """Let a version be run in these channels, and in no others."""
    from toolpath.cli.templates.template_verbs import publish_template

    raise typer.Exit(publish_template(ctx.obj, name, channel, version))


@app.command()
def withdraw(ctx: typer.Context, name: _Name) -> None:
    """Make a template a draft, which no channel runs."""
    from toolpath.cli.templates.template_verbs import withdraw_template

    raise typer.Exit(withdraw_template(ctx.obj, name))


@app.command()
def delete(ctx: typer.Context, name: _Name) -> None:
    """Forget a template with its versions; its runs stay."""
    from toolpath.cli.templates.template_verbs import delete_template

    raise typer.Exit(delete_template(ctx.obj, name))


@app.command("export")
def export_(ctx: typer.Context, group: Annotated[str, typer.Option(help="Only those of this group.")] = "") -> None:
    """All templates as JSON, for `import` here or elsewhere."""
    from toolpath.cli.templates.template_verbs import export_templates

    raise typer.Exit(export_templates(ctx.obj, group))


@app.command("import")
def import_(ctx: typer.Context, file: Annotated[str, typer.Argument(metavar="FILE", help="- is stdin.")]) -> None:
    """Take templates from JSON; one whose title is taken becomes a version. 1 where one was not taken as it is."""
    from toolpath.cli.templates.template_verbs import import_templates

    raise typer.Exit(import_templates(ctx.obj, file))
