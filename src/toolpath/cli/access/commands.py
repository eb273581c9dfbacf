"""`toolpath keys …` and `toolpath audit …`: who gets in, and what they did."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

keys = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="API keys: make, list, revoke.",
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
    priority: Annotated[int, typer.Option(min=-5, max=4, help="Of its runs among those of its tenant.")] = 0,
) -> None:
    """Make a key. It is shown this once."""
    from toolpath.cli.access.keys import create_key

    who = {"tenant": tenant, "user": user or name, "session": session, "case": case or None}
    more = {
        "permissions": tuple(permission or ()),
        "delegates": delegates,
        "all_tenants": all_tenants,
        "priority": priority,
    }
    more["priority"] = priority
    raise typer.Exit(create_key(ctx.obj, name, scope or ["read", "run", "answer"], lasts, {**who, **more}))


@keys.command("list")
def list_(ctx: typer.Context, tenant: Annotated[str, typer.Option(help="Only those of this tenant.")] = "") -> None:
    """All keys, newest first, without what opens."""
    from toolpath.cli.access.keys import list_keys

    raise typer.Exit(list_keys(ctx.obj, tenant))


@keys.command()
def revoke(ctx: typer.Context, key: Annotated[str, typer.Argument(metavar="KEY", help="Its id.")]) -> None:
    """Let a key open nothing any more."""
    from toolpath.cli.access.keys import revoke_key

    raise typer.Exit(revoke_key(ctx.obj, key))


audit = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="The audit trail: read, export, verify, let go of what is old.",
)


@audit.command("list")
def list_audit(
    ctx: typer.Context,
    *,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many, the newest.")] = 20,
    tenant: Annotated[str, typer.Option(help="Only those of this tenant.")] = "",
    subject: Annotated[str, typer.Option(metavar="ID", help="Only what was done to this run, plan or key.")] = "",
) -> None:
    """The newest entries, oldest first."""
    from toolpath.cli.access.audit import list_entries

    raise typer.Exit(list_entries(ctx.obj, limit, tenant=tenant, subject=subject))


@audit.command()
def export(
    ctx: typer.Context,
    *,
    tenant: Annotated[str, typer.Option(help="Only those of this tenant; such an export cannot be verified.")] = "",
    after: Annotated[int, typer.Option(min=0, help="Only entries with a greater number.")] = 0,
) -> None:
    """All entries as lines of JSON."""
    from toolpath.cli.access.audit import export_entries

    raise typer.Exit(export_entries(ctx.obj, tenant=tenant, after=after))


@audit.command()
def verify(
    ctx: typer.Context,
    *,
    against: Annotated[
        str, typer.Option(metavar="FILE", help="An earlier export: what it holds must still be there.")
    ] = "",
) -> None:
    """Say whether an entry was changed, removed or moved, and which; 1 where one was."""
    from toolpath.cli.access.audit import verify_trail

    raise typer.Exit(verify_trail(ctx.obj, against))


@audit.command("prune")
def prune_audit(
    ctx: typer.Context,
    *,
    older_than: Annotated[str, typer.Option("--older-than", metavar="TIME", help="Written so long ago, e.g. 400d.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how many; let go of nothing.")] = False,
) -> None:
    """Let go of old entries at the beginning. An entry tells of it, so that `verify` knows it from a theft."""
    from toolpath.cli.access.audit import prune_entries

    raise typer.Exit(prune_entries(ctx.obj, older_than, dry_run=dry_run))
