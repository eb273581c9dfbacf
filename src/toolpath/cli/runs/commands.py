"""`toolpath runs …`: what ran, what runs, and steering it."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.completion import run_completer, status_completer
from toolpath.cli.groups import Commands
from toolpath.cli.run_options import Inputs, NoInput

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Runs: list, look into, steer.",
)

_HELP = "Its id, the beginning of it, or `last`."
RunId = Annotated[str, typer.Argument(metavar="RUN", help=_HELP, autocompletion=run_completer())]
OpenRun = Annotated[
    str,
    typer.Argument(metavar="RUN", help=_HELP, autocompletion=run_completer("pending", "running", "waiting", "paused")),
]
WaitingRun = Annotated[str, typer.Argument(metavar="RUN", help=_HELP, autocompletion=run_completer("waiting"))]


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only runs in this state.", autocompletion=status_completer())] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 20,
) -> None:
    """The newest runs."""
    from toolpath.cli.runs.history import list_runs

    raise typer.Exit(list_runs(ctx.obj, status, limit))


@app.command()
def show(
    ctx: typer.Context,
    run: RunId,
    tree: Annotated[bool, typer.Option("--tree", help="The plans inside it, with their ids.")] = False,
) -> None:
    """One run, or RUN:PATH for a plan inside it: its steps, their outputs and errors."""
    from toolpath.cli.runs.history import show_run

    raise typer.Exit(show_run(ctx.obj, run, tree=tree))


@app.command()
def events(
    ctx: typer.Context,
    run: RunId,
    after: Annotated[int, typer.Option(min=0, help="Only events with a greater number.")] = 0,
) -> None:
    """The journal of a run, one event a line."""
    from toolpath.cli.runs.history import show_events

    raise typer.Exit(show_events(ctx.obj, run, after))


@app.command()
def watch(ctx: typer.Context, run: RunId) -> None:
    """Look on while another process drives the run."""
    from toolpath.cli.runs.history import watch_run

    raise typer.Exit(watch_run(ctx.obj, run))


@app.command()
def resume(
    ctx: typer.Context,
    run: OpenRun,
    force: Annotated[bool, typer.Option("--force", help="Take it from a process that drives it.")] = False,
    no_input: NoInput = False,
) -> None:
    """Go on with a run that was paused, interrupted or answered."""
    from toolpath.cli.runs.steering import resume_run

    raise typer.Exit(resume_run(ctx.obj, run, force=force, no_input=no_input))


@app.command()
def cancel(
    ctx: typer.Context, run: OpenRun, reason: Annotated[str, typer.Option(help="For the journal.")] = ""
) -> None:
    """Stop a run for good."""
    from toolpath.cli.runs.steering import cancel_run

    raise typer.Exit(cancel_run(ctx.obj, run, reason))


@app.command()
def pause(ctx: typer.Context, run: OpenRun) -> None:
    """Let what runs finish and start nothing new."""
    from toolpath.cli.runs.steering import pause_run

    raise typer.Exit(pause_run(ctx.obj, run))


@app.command()
def retry(ctx: typer.Context, run: RunId, no_input: NoInput = False) -> None:
    """Go on from what failed; what succeeded is not called again."""
    from toolpath.cli.runs.steering import retry_run

    raise typer.Exit(retry_run(ctx.obj, run, no_input=no_input))


@app.command()
def replan(ctx: typer.Context, run: RunId, no_input: NoInput = False) -> None:
    """Plan anew what a failed run left unfinished, and go on with it; what succeeded is not called again."""
    from toolpath.cli.runs.steering import replan_run

    raise typer.Exit(replan_run(ctx.obj, run, no_input=no_input))


@app.command()
def fork(
    ctx: typer.Context,
    run: RunId,
    step: Annotated[str, typer.Option("--from-step", metavar="STEP", help="The first step to run again.")] = "",
    inputs: Inputs = None,
    repeat_writes: Annotated[bool, typer.Option("--repeat-writes", help="Finished writes may be made again.")] = False,
    no_input: NoInput = False,
) -> None:
    """Run it again, from a step on or with other inputs, with what came before as it was."""
    from toolpath.cli.runs.steering import fork_run

    code = fork_run(ctx.obj, run, step, inputs or [], repeat_writes=repeat_writes, no_input=no_input)
    raise typer.Exit(code)


@app.command()
def prune(
    ctx: typer.Context,
    older_than: Annotated[str, typer.Option("--older-than", metavar="TIME", help="Ended so long ago, e.g. 30d.")],
    status: Annotated[
        str, typer.Option(help="Only runs that ended so.", autocompletion=status_completer(ended=True))
    ] = "",
    keep: Annotated[int, typer.Option(min=0, metavar="N", help="The newest N stay however old they are.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say which; delete nothing.")] = False,
) -> None:
    """Delete runs that ended long ago, with all that is theirs."""
    from toolpath.cli.runs.pruning import Pruning
    from toolpath.cli.runs.pruning import prune as prune_runs

    asked = Pruning(older_than=older_than, status=status, keep=keep, dry_run=dry_run)
    raise typer.Exit(prune_runs(ctx.obj, asked))
