"""`toolpath schedules …`: templates and stored plans that a server runs at times."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands
from toolpath.cli.run_options import InputFile, Inputs, Permissions

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Schedules: run a template at times. `toolpath serve` begins their runs.",
)

_Id = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its id.")]


@app.command()
def create(
    ctx: typer.Context,
    template: Annotated[str, typer.Argument(metavar="TEMPLATE", help="Its id, group.title, or title.")] = "",
    *,
    plan: Annotated[str, typer.Option(metavar="ID", help="A stored plan instead of a template.")] = "",
    cron: Annotated[str, typer.Option(metavar="LINE", help="As '30 9 * * MON-FRI'; seconds may stand before.")] = "",
    at: Annotated[str, typer.Option(metavar="TIME", help="Once, as 2030-01-31T09:00.")] = "",
    zone: Annotated[str, typer.Option(help="Time zone of both, as Europe/Berlin.")] = "UTC",
    inputs: Inputs = None,
    input_file: InputFile = "",
    permission: Permissions = None,
    title: Annotated[str, typer.Option(help="Its name.  [the template's]")] = "",
    overlap: Annotated[
        str, typer.Option(metavar="skip|allow", help="What a tick does while an earlier run goes on.")
    ] = "skip",
    missed: Annotated[
        str, typer.Option(metavar="skip|last|all", help="Which ticks are made up for that nobody was there for.")
    ] = "last",
) -> None:
    """Run a template, or a stored plan, at times."""
    from toolpath.cli.schedules.schedule_verbs import NewSchedule, create_schedule

    wanted = NewSchedule(
        template=template,
        plan=plan,
        cron=cron,
        at=at,
        zone=zone,
        inputs=tuple(inputs or ()),
        input_file=input_file,
        permissions=tuple(permission or ()),
        title=title,
        overlap=overlap,
        missed=missed,
    )
    raise typer.Exit(create_schedule(ctx.obj, wanted))


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """All schedules, newest first."""
    from toolpath.cli.schedules.schedule_verbs import list_schedules

    raise typer.Exit(list_schedules(ctx.obj))


@app.command()
def show(ctx: typer.Context, schedule: _Id) -> None:
    """One schedule, and the outcome of its latest ticks."""
    from toolpath.cli.schedules.schedule_verbs import show_schedule

    raise typer.Exit(show_schedule(ctx.obj, schedule))


@app.command()
def pause(ctx: typer.Context, schedule: _Id) -> None:
    """Begin no more runs of it."""
    from toolpath.cli.schedules.schedule_verbs import pause_schedule

    raise typer.Exit(pause_schedule(ctx.obj, schedule, paused=True))


@app.command()
def resume(ctx: typer.Context, schedule: _Id) -> None:
    """Go on with one that was paused; what would have been due meanwhile is not made up for."""
    from toolpath.cli.schedules.schedule_verbs import pause_schedule

    raise typer.Exit(pause_schedule(ctx.obj, schedule, paused=False))


@app.command()
def run(ctx: typer.Context, schedule: _Id) -> None:
    """Run it now, to its end."""
    from toolpath.cli.schedules.schedule_verbs import run_schedule

    raise typer.Exit(run_schedule(ctx.obj, schedule))


@app.command()
def delete(ctx: typer.Context, schedule: _Id) -> None:
    """Forget it; its runs stay."""
    from toolpath.cli.schedules.schedule_verbs import delete_schedule

    raise typer.Exit(delete_schedule(ctx.obj, schedule))
