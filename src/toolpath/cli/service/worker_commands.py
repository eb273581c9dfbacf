"""`toolpath worker`: drives the runs that others have stored."""

from __future__ import annotations

from typing import Annotated

import typer


def worker(
    ctx: typer.Context,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Runs driven at the same time.")] = 10,
    grace: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that calls under way have to end when it is told to stop.")
    ] = 30.0,
) -> None:
    """Drive runs from the queue that the settings name, until told to stop."""
    from toolpath.errors import needs_extra

    with needs_extra("workers", "`toolpath worker`"):
        from toolpath.cli.service.working import work

    raise typer.Exit(work(ctx.obj, concurrency, grace))
