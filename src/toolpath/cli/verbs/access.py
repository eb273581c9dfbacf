"""`toolpath keys …` and `toolpath audit …`: who gets in, and what they did."""

from __future__ import annotations

from typing import Annotated

import typer

keys = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="API keys: make, list, revoke."
)


@keys.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    *,
    scope: Annotated[
        list[str] | None, typer.Option(help="read, run, answer or admin; again for several.  [read, run, answer]")
    ] = None,
    permission: Annotated[
        list[str] | None, typer.Option(help="A permission that tools ask for; again for several.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose runs and plans it sees.")] = "",
    user: Annotated[str, typer.Option(help="For whom it is.  [NAME]")] = "",
    session: Annotated[str, typer.Option(help="The session it is bound to.")] = "",
    case: Annotated[str, typer.Option(help="The case it is bound to.")] = "",
    lasts: Annotated[str, typer.Option(metavar="TIME", help="As 12h or 90d; 0 is for ever.")] = "90d",
    delegates: Annotated[
        bool, typer.Option("--delegates", help="May say for which user, session and case it asks.")
    ] = False,
    all_tenants: Annotated[bool, typer.Option("--all-tenants", help="Sees what is of any tenant.")] = False,
) -> None:
    """Make a key. It is shown this once."""
    from toolpath.cli.keys import create_key

    who = {"tenant": tenant, "user": user or name, "session": session, "case": case or None}
    more = {"permissions": tuple(permission or ()), "delegates": delegates, "all_tenants": all_tenants}
    raise typer.Exit(create_key(ctx.obj, name, scope or ["read", "run", "answer"], lasts, {**who, **more}))


@keys.command("list")
def list_(ctx: typer.Context, tenant: Annotated[str, typer.Option(help="Only those of this tenant.")] = "") -> None:
    """All keys, newest first, without what opens."""
    from toolpath.cli.keys import list_keys

    raise typer.Exit(list_keys(ctx.obj, tenant))


@keys.command()
def revoke(ctx: typer.Context, key: Annotated[str, typer.Argument(metavar="KEY", help="Its id.")]) -> None:
    """Let a key open nothing any more."""
    from toolpath.cli.keys import revoke_key

    raise typer.Exit(revoke_key(ctx.obj, key))
