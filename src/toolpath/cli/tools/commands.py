"""`toolpath tools …`: what there is to call, and calling it."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli import completion
from toolpath.cli.groups import Commands
from toolpath.cli.run_options import Case, InputFile, Inputs, NoInput, Permissions, SessionId, User

app = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="Tools: list, find, call."
)

Key = Annotated[
    str, typer.Argument(metavar="TOOL", help="Its key, an alias, or its bare name.", autocompletion=completion.tools)
]


@app.command("list")
def list_(
    ctx: typer.Context,
    group: Annotated[str, typer.Option(help="Only this group.")] = "",
    capability: Annotated[str, typer.Option(help="Only tools with this capability.")] = "",
) -> None:
    """All tools: key, effect and description."""
    from toolpath.cli.tools.catalogue import list_tools

    raise typer.Exit(list_tools(ctx.obj, group, capability))


@app.command()
def show(ctx: typer.Context, tool: Key) -> None:
    """All that is known of a tool: schemas, effect, limits."""
    from toolpath.cli.tools.catalogue import show_tool

    raise typer.Exit(show_tool(ctx.obj, tool))


@app.command()
def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORD", help="What the tool is to do.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 10,
) -> None:
    """The tools that fit a text, best first."""
    from toolpath.cli.tools.catalogue import search_tools

    raise typer.Exit(search_tools(ctx.obj, " ".join(words), limit))


@app.command()
def call(
    ctx: typer.Context,
    tool: Key,
    inputs: Inputs = None,
    input_file: InputFile = "",
    *,
    user: User = "",
    session: SessionId = "",
    case: Case = "",
    permission: Permissions = None,
    no_input: NoInput = False,
) -> None:
    """Call one tool, with the same checks, journal and policy as a run."""
    from toolpath.cli.runs.running import RunRequest, run_request

    request = RunRequest(
        what=tool,
        inputs=tuple(inputs or ()),
        input_file=input_file,
        no_input=no_input,
        only_tool=True,
        user=user,
        session=session,
        case=case,
        permissions=tuple(permission or ()),
    )
    raise typer.Exit(run_request(ctx.obj, request))


@app.command()
def route(
    ctx: typer.Context,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What is wanted, in words; - is stdin.")] = "",
    tool: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="KEY", help="Choose among these alone.", autocompletion=completion.tools),
    ] = None,
    *,
    planner: Annotated[
        str, typer.Option(metavar="model|offline", help="Who chooses.  [the model where one is configured]")
    ] = "",
    on_multiple: Annotated[str, typer.Option(metavar="best|all|error", help="Where a name fits several.")] = "",
    run: Annotated[bool, typer.Option("--run", help="Call what was chosen; what writes asks first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Allow what it writes.")] = False,
    last: Annotated[
        int, typer.Option("--last", min=0, max=500, metavar="N", help="No request: the newest routings.")
    ] = 0,
    trace: Annotated[
        str, typer.Option("--trace", metavar="ROUTE", help="No request: all of one routing, by its id.")
    ] = "",
    no_input: NoInput = False,
) -> None:
    """Choose the tools that a request means, with the score of every candidate."""
    from toolpath.cli.inputs import read_words
    from toolpath.cli.plans.plannings import check_alone
    from toolpath.cli.tools.routing import RoutingRequest, route_request, show_route, show_routes

    if trace or last:
        check_alone(request, run=run)
    if trace:
        raise typer.Exit(show_route(ctx.obj, trace))
    if last:
        raise typer.Exit(show_routes(ctx.obj, last))
    asked = RoutingRequest(
        text=read_words(request),
        tools=tuple(tool or ()),
        planner=planner,
        on_multiple=on_multiple,
        run=run,
        yes=yes,
        no_input=no_input,
    )
    raise typer.Exit(route_request(ctx.obj, asked))


@app.command()
def stats(ctx: typer.Context) -> None:
    """Statistics of tools from their calls: how many, how long, how often they fail."""
    from toolpath.cli.tools.catalogue import show_stats

    raise typer.Exit(show_stats(ctx.obj))
