"""Commands on plans: plan, run, validate, explain, eval."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli import completion
from toolpath.cli.run_options import Case, InputFile, Inputs, NoInput, Permissions, Priority, Replan, SessionId, User

Parts = Annotated[
    str, typer.Option("--decomposition", metavar="FILE", help="The request taken apart, as JSON; - is stdin.")
]
TimeZone = Annotated[
    str, typer.Option("--time-zone", metavar="ZONE", help="Where its days are meant: Europe/Berlin.  [setting]")
]


def plan(
    ctx: typer.Context,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What is to be done, in words; - is stdin.")] = "",
    tool: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="KEY", help="Use these tools alone.", autocompletion=completion.tools),
    ] = None,
    *,
    planner: Annotated[
        str, typer.Option(metavar="model|offline", help="Who plans.  [the model where one is configured]")
    ] = "",
    decomposition: Parts = "",
    time_zone: TimeZone = "",
    answer: Annotated[
        str, typer.Option("--from", metavar="FILE", help="No request: what a model wrote, in any format; - is stdin.")
    ] = "",
    run: Annotated[bool, typer.Option("--run", help="Run the plan; one that writes asks first.")] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="With --run: begin reads while the plan is written.")
    ] = False,
    out: Annotated[str, typer.Option(metavar="FILE", help="Write the plan to a file.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Allow what the plan writes.")] = False,
    replan: Replan = 0,
    report: Annotated[bool, typer.Option("--report", help="Say how planning did: cache, lessons, experiment.")] = False,
    last: Annotated[
        int, typer.Option("--last", min=0, max=500, metavar="N", help="No request: how the newest were planned.")
    ] = 0,
    trace: Annotated[
        str, typer.Option("--trace", metavar="PLANNING", help="No request: all of one planning, by its id.")
    ] = "",
    no_input: NoInput = False,
) -> None:
    """Turn a request in words into a checked plan."""
    from toolpath.cli.inputs import read_words
    from toolpath.cli.plans.planning import PlanningRequest, plan_request, report_planning
    from toolpath.cli.plans.plannings import check_alone, show_planning, show_plannings

    if trace or last or report:
        check_alone(request or answer, run=run)
    if trace:
        raise typer.Exit(show_planning(ctx.obj, trace))
    if last:
        raise typer.Exit(show_plannings(ctx.obj, last))
    if report:
        raise typer.Exit(report_planning(ctx.obj))
    asked = PlanningRequest(
        text=read_words(request),
        answer=answer,
        stream=stream,
        tools=tuple(tool or ()),
        planner=planner,
        decomposition=decomposition,
        time_zone=time_zone,
        run=run,
        out=out,
        yes=yes,
        replan=replan,
        no_input=no_input,
    )
    raise typer.Exit(plan_request(ctx.obj, asked))


def run(
    ctx: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TOOL",
            help="Plan, composite or template; - is stdin.",
            autocompletion=completion.plans_and_tools,
        ),
    ],
    inputs: Inputs = None,
    input_file: InputFile = "",
    *,
    file: Annotated[
        list[str] | None, typer.Option("--file", metavar="FILE", help="A file that it begins with; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be called; call nothing.")] = False,
    record: Annotated[str, typer.Option(metavar="FILE", help="Write every call and its outcome.")] = "",
    replay: Annotated[str, typer.Option(metavar="FILE", help="Answer every call from a recording.")] = "",
    detach: Annotated[bool, typer.Option("--detach", help="Print the run's id and go on in the background.")] = False,
    replan: Replan = 0,
    priority: Priority = 0,
    user: User = "",
    session: SessionId = "",
    case: Case = "",
    permission: Permissions = None,
    no_input: NoInput = False,
    announce: Annotated[bool, typer.Option("--announce", hidden=True)] = False,
) -> None:
    """Run a plan, composite, template or single tool."""
    from toolpath.cli.runs.running import RunRequest, run_request

    request = RunRequest(
        what=what,
        inputs=tuple(inputs or ()),
        input_file=input_file,
        files=tuple(file or ()),
        dry_run=dry_run,
        record=record,
        replay=replay,
        detach=detach,
        replan=replan,
        priority=priority,
        user=user,
        session=session,
        case=case,
        permissions=tuple(permission or ()),
        no_input=no_input,
        announce=announce,
    )
    raise typer.Exit(run_request(ctx.obj, request))


def validate(
    ctx: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Plans; - is stdin.", autocompletion=completion.plans)
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
) -> None:
    """Say all that is wrong with plans, with file, line and column."""
    from toolpath.cli.findings import validate_files

    raise typer.Exit(validate_files(ctx.obj, files, strict=strict))


def explain(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|TOOL",
            help="Plan, composite or template; - is stdin.",
            autocompletion=completion.plans_and_tools,
        ),
    ],
    form: Annotated[str, typer.Option("--format", metavar="tree|mermaid|json", help="How to show it.")] = "tree",
) -> None:
    """Say what a plan will do: order, effects, cost, critical path."""
    from toolpath.cli.findings import explain_file

    raise typer.Exit(explain_file(ctx.obj, file, form))


def evaluate(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|people]",
            help="Data sets, requests with gold plans, one JSON object a line; folders that hold them as .jsonl. "
            "'people': those that are shipped, 'people/development' and 'people/set_aside' a half of them.  "
            "[default: people]",
            show_default=False,
        ),
    ] = None,
    *,
    planner: Annotated[str, typer.Option(metavar="offline|model", help="Who plans or chooses.")] = "offline",
    router: Annotated[bool, typer.Option("--router", help="Score the router in place of the planner.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The first N tasks of each data set alone.")
    ] = None,
    toolsets: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Tool sets that tasks name; repeatable.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="Tasks at the same time; for a model that takes its time.")
    ] = 1,
    plot: Annotated[
        str, typer.Option(metavar="FILE.svg", help="Draw the data sets side by side, and calibration, as SVG.")
    ] = "",
    keep: Annotated[
        str, typer.Option(metavar="FILE.jsonl", help="Write every plan that was made, with its score, a line each.")
    ] = "",
    against: Annotated[
        str, typer.Option(metavar="FILE.jsonl", help="What another evaluation kept, to compare with, task by task.")
    ] = "",
    beside: Annotated[
        str, typer.Option(metavar="offline|model|router", help="Another one, scored on the same tasks and compared.")
    ] = "",
) -> None:
    """Score a planner or the router on requests whose right plans are known."""
    from toolpath.cli.evaluation.evaluation import EvaluationRequest, evaluate

    request = EvaluationRequest(
        paths=tuple(paths or ("people",)),
        planner=planner,
        router=router,
        limit=limit,
        tool_sets=tuple(toolsets or ()),
        plot=plot,
        concurrency=concurrency,
        keep=keep,
        against=against,
        beside=beside,
    )
    raise typer.Exit(evaluate(ctx.obj, request))
