"""Commands with which a person answers a run that waits; the run then goes on in the foreground."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.run_options import NoInput
from toolpath.cli.runs.commands import RunId, WaitingRun

StepPath = Annotated[str, typer.Argument(metavar="STEP", help="Path or id of the step that waits.")]


def approve(ctx: typer.Context, run: WaitingRun, step: StepPath = "", no_input: NoInput = False) -> None:
    """Allow what a step wants to do."""
    from toolpath.cli.runs.steering import approve_step

    raise typer.Exit(approve_step(ctx.obj, run, step, no_input=no_input))


def deny(ctx: typer.Context, run: WaitingRun, step: StepPath = "", no_input: NoInput = False) -> None:
    """Refuse what a step wants to do: the step has failed."""
    from toolpath.cli.runs.steering import deny_step

    raise typer.Exit(deny_step(ctx.obj, run, step, no_input=no_input))


def answer(
    ctx: typer.Context,
    run: WaitingRun,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[STEP] NAME=VALUE", help="STEP where several wait.")
    ] = None,
    *,
    decline: Annotated[bool, typer.Option("--decline", help="Say that nobody will answer.")] = False,
    no_input: NoInput = False,
) -> None:
    """Fill in the form that a run waits for, or decline to."""
    from toolpath.cli.runs.steering import answer_form

    raise typer.Exit(answer_form(ctx.obj, run, words or (), decline=decline, no_input=no_input))


def settle(
    ctx: typer.Context,
    run: RunId,
    step: StepPath = "",
    *,
    retry: Annotated[bool, typer.Option("--retry", help="It did not happen: call again.")] = False,
    output: Annotated[str, typer.Option(metavar="JSON", help="It happened, and gave this.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Take it as failed.")] = False,
    accept_tool: Annotated[bool, typer.Option("--accept-tool", help="Go on with the tool as it is now.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --accept-tool: take the run from a process that drives it.")
    ] = False,
    no_input: NoInput = False,
) -> None:
    """Say what became of a write that was interrupted, or accept a tool that changed."""
    from toolpath.cli.runs.steering import SettleOptions, settle_step

    settlement = SettleOptions(retry=retry, output=output, failed=failed, accept_tool=accept_tool)
    raise typer.Exit(settle_step(ctx.obj, run, step, settlement, force=force, no_input=no_input))
