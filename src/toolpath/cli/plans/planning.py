"""`toolpath plan`: a request in words becomes a plan that is shown before anything is called, and may then be run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from toolpath.checks.check import has_errors
from toolpath.checks.explanation import Explanation
from toolpath.checks.request.tokens import QUOTED
from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.findings import finding_line
from toolpath.cli.inputs import read_text
from toolpath.cli.options import WITH_VALUE, WITHOUT_VALUE, GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.prompt import GaveUp, Prompt
from toolpath.cli.questions import may_ask
from toolpath.cli.requests import load_with_requests, tools_to_plan_with
from toolpath.cli.runs.execution import finish
from toolpath.cli.session import CommandSession, perform, settings_of
from toolpath.errors import Finding, SchemaError
from toolpath.model.plan import Plan
from toolpath.model_output.model_text import read_model_plan
from toolpath.notation.printing import plan_to_dict, print_plan
from toolpath.planner.by_model.reading import with_tool_keys
from toolpath.planner.replan import Replanning
from toolpath.planner.zones import checked_zone
from toolpath.runs.run import Run
from toolpath.values import JsonObject, decode

PLANNERS = ("model", "offline")
_PARTS = 'It holds {"sub_queries": [{"id": "a", "query": "…"}]}.'

_OPTIONS = frozenset(
    (
        *WITH_VALUE,
        *WITHOUT_VALUE,
        *("--run", "--yes", "-y", "--stream", "--planner", "--tool", "--from", "--out", "--replan", "--report"),
        *("--decomposition", "--time-zone"),
        *("--last", "--trace"),
        *("--no-input", "--dry-run"),
    )
)
#: Characters of a request; more is data, not a request.
LONGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningRequest:
    """Words that were typed after `plan`."""

    text: str
    answer: str = ""
    """File with what a model wrote, in place of a request."""
    stream: bool = False
    tools: tuple[str, ...] = ()
    planner: str = ""
    decomposition: str = ""
    """File with the request taken apart."""
    time_zone: str = ""
    run: bool = False
    out: str = ""
    yes: bool = False
    replan: int = 0
    no_input: bool = False


def plan_request(options: GlobalOptions, request: PlanningRequest) -> int:
    """Plan, show, and where it was asked for run; returns the exit code."""
    _check(request)

    async def work(session: CommandSession) -> int:
        if not request.stream:
            plan = await _planned(request, session)
            return await _go_on(plan, request, session, lambda leave: session.tp.start(plan, replan=leave))
        tools = await tools_to_plan_with(session.tp, request.tools)
        how: Any = {"decomposition": _decomposition(request), "time_zone": request.time_zone}
        asked = session.tp.ahead(request.text, tools=tools, planner=_planner(request), **how)
        async with asked as ahead:
            return await _go_on(await ahead.plan(), request, session, lambda leave: ahead.start(replan=leave))

    # How a request was planned is kept where there is a store; one is made for a model's plans, which the next process
    # need not ask for, and not for those of the rules, which are made in no time.
    keeps = request.planner != "offline" and not request.answer and bool(settings_of(options).planner_llm)
    return perform(options, work, begins=request.run or keeps)


def report_planning(options: GlobalOptions) -> int:
    """How planning did so far in this store."""

    async def work(session: CommandSession) -> int:
        report = await session.tp.planning.report()
        if options.json:
            session.output.result(report.as_json())
        else:
            session.output.paragraph(str(report))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _check(request: PlanningRequest) -> None:
    if request.planner and request.planner not in PLANNERS:
        raise UsageError(f"{request.planner!r} is no planner.", hint="Planners are model and offline.")
    if request.stream and (request.answer or not request.run):
        raise UsageError("--stream begins the run of a request early.", hint='toolpath plan "…" --run --stream')
    check_run_options(run=request.run, yes=request.yes, replan=request.replan)
    if request.answer and (request.decomposition or request.time_zone):
        raise UsageError("--decomposition and --time-zone are of a request, and go without --from.")
    try:
        checked_zone(request.time_zone)
    except SchemaError as error:
        raise UsageError(error.message, hint=error.hint) from None
    if request.answer and request.text.strip():
        raise UsageError("A plan is made either of a request or of what is in --from.")
    if not request.answer and not request.text.strip():
        raise UsageError("The request is empty.", hint='Say what is to be done: toolpath plan "…".')
    if len(request.text) > LONGEST:
        raise UsageError(
            f"The request has {len(request.text):,} characters; at most {LONGEST:,} are read.",
            hint="Say what is to be done; put data into files that tools read.",
        )


def check_run_options(*, run: bool, yes: bool, replan: int = 0) -> None:
    """Raise `UsageError` for what is said of a run where none was asked for."""
    if (yes or replan) and not run:
        raise UsageError(f"{'--yes' if yes else '--replan'} is of a run, and nothing is run here.", hint="Add --run.")


async def _planned(request: PlanningRequest, session: CommandSession) -> Plan:
    tp = session.tp
    if not request.answer:
        tools = await tools_to_plan_with(tp, request.tools)
        how: Any = {"decomposition": _decomposition(request), "time_zone": request.time_zone}
        return await tp.plan(request.text, tools=tools, planner=_planner(request), **how)
    catalog = await tp.tools()
    plan = read_model_plan(
        read_text(request.answer),
        file="stdin" if request.answer == "-" else request.answer,
        input_names={key: list(tool.input_schema.get("properties", ())) for key, tool in catalog.tools.items()},
    )
    return with_tool_keys(plan, catalog)


def _decomposition(request: PlanningRequest) -> JsonObject | None:
    if not request.decomposition:
        return None
    if request.decomposition.lstrip()[:1] in ("{", "["):
        raise UsageError(
            "--decomposition takes a file, not JSON.", hint=f"Write it into one, or give - for stdin. {_PARTS}"
        )
    file = "stdin" if request.decomposition == "-" else request.decomposition
    try:
        found = decode(read_text(request.decomposition))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {error}", hint=_PARTS) from None
    if not isinstance(found, dict):
        raise UsageError(f"{file} holds no object.", hint=_PARTS)
    return found


def _planner(request: PlanningRequest) -> Literal["offline", "model"] | None:
    return cast("Literal['offline', 'model'] | None", request.planner or None)


async def _go_on(
    plan: Plan,
    request: PlanningRequest,
    session: CommandSession,
    start: Callable[[Replanning | None], Awaitable[Run]],
) -> int:
    """Show the plan, keep it, run it, as was asked."""
    await load_with_requests(session.tp, plan)
    findings = session.tp.check(plan)
    explanation = session.tp.explain(plan)
    is_open = has_errors(findings) or bool(session.tp.open_points(plan))
    runs = request.run and not is_open
    if not runs:
        _result(plan, findings, explanation, request, session)
    _tell(plan, findings, explanation, request, session)
    await _tell_cache(plan, session)
    if request.out:
        _write(request.out, print_plan(plan))
        how = "fill in what is not said and take `origin` out: then it is your own plan"
        how = how if is_open else f"toolpath run {request.out} runs it"
        session.output.say(f"Written to {request.out}: {how}.")
    if not runs:
        return ExitCode.INVALID if is_open else ExitCode.DONE
    otherwise = "keep the plan with --out FILE and run that"
    if not await is_allowed(explanation, session.output, otherwise, yes=request.yes, no_input=request.no_input):
        return ExitCode.CANCELLED
    # Who allows what this plan writes has allowed no other tool, unless it was by `--yes`.
    run = await start(Replanning(times=request.replan, new_writes=request.yes) if request.replan else None)
    return await finish(session.tp, run, session.output, no_input=request.no_input)


def _result(
    plan: Plan,
    findings: tuple[Finding, ...],
    explanation: Explanation,
    request: PlanningRequest,
    session: CommandSession,
) -> None:
    """The plan on stdout; where it is run, the run's result is there instead."""
    output = session.output
    record = session.tp.planning.record(plan)
    if output.options.json:
        output.result(
            {
                "plan": plan_to_dict(plan),
                "findings": [msgspec.to_builtins(finding) for finding in findings],
                "explanation": explanation.as_json(),
                "planner": record.planner if record else "",
                "outcome": record.outcome if record else "",
            }
        )
    elif not request.out:
        output.write(print_plan(plan) + "\n")


def _tell(
    plan: Plan,
    findings: tuple[Finding, ...],
    explanation: Explanation,
    request: PlanningRequest,
    session: CommandSession,
) -> None:
    """Tell people what the plan will do, how it came about and what it lacks."""
    output = session.output
    record = session.tp.planning.record(plan)
    output.say(str(explanation))
    for line in plan.reasoning.splitlines():
        output.say(f"  {line}", "dim")
    sure = "" if plan.confidence is None else f", {plan.confidence:.0%} sure"
    if record is None:
        output.say("Read from what a model wrote.")
    elif record.is_fallback:
        output.tell(f"Planned by rules in place of the model{sure}: {record.reason}", "yellow")
    else:
        output.say(f"Planned by the {record.planner} planner{sure}.")
    for finding in findings:
        output.say(finding_line("plan", finding))
    for point in session.tp.open_points(plan):
        output.tell(f"Not said: {point.message}" if point.code == "open_question" else point.message, "yellow")
    for option in options_in(request.text):
        output.tell(f"{option!r} is a word of the request here: write options outside of its quotes.", "yellow")
    if request.run and (has_errors(findings) or session.tp.open_points(plan)):
        output.tell("Nothing was run: say it more plainly, or keep the plan with --out FILE and complete it.", "yellow")


def options_in(request: str) -> list[str]:
    """Options of the command that were typed inside the words of its request, in their order."""
    words = QUOTED.sub(" ", request).split()
    return list(dict.fromkeys(word for word in words if word.partition("=")[0] in _OPTIONS))


async def _tell_cache(plan: Plan, session: CommandSession) -> None:
    record = session.tp.planning.record(plan)
    if record is not None and record.planner == "cache":
        report = await session.tp.planning.report()
        rate = f"; {report.hit_rate:.0%} of all requests were" if report.hit_rate is not None else ""
        session.output.say(f"{record.reason} It was taken from there{rate}.")


async def is_allowed(
    explanation: Explanation, output: Output, otherwise: str = "", *, yes: bool, no_input: bool
) -> bool:
    """Whether what the plan changes may be changed. `otherwise`: what else can be done where nobody can be asked."""
    changes = (*explanation.writes, *explanation.destroys)
    if not changes or yes:
        return True
    if not may_ask(output, no_input):
        raise UsageError(
            f"The plan writes ({', '.join(changes)}), and nobody is there to allow it.",
            hint=f"Allow it with --yes{f', or {otherwise}' if otherwise else ''}.",
        )
    output.tell(f"The plan writes: {', '.join(changes)}.", "yellow")
    try:
        answer = await Prompt(asyncio.get_running_loop().create_future()).line("Run it? [y/N] ")
    except GaveUp:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    output.tell("Nothing was run.", "yellow")
    return False


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The plan cannot be written to {file}: {error.strerror}.") from None
