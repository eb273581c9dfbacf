"""`toolpath tools route`: which tools a request means, the scores behind it, and calling them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output, clean, moment, short, table
from toolpath.cli.plans.planning import LONGEST, PLANNERS, check_run_options, is_allowed
from toolpath.cli.questions import as_json
from toolpath.cli.runs.execution import finish
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import RecordNotFound
from toolpath.model.run import RunResult
from toolpath.notation.printing import plan_to_dict, print_plan
from toolpath.planner.router.outcome import outputs_of_calls
from toolpath.planner.router.routing_records import Routed, RouteRecord
from toolpath.values import Json

_ON_MULTIPLE = ("best", "all", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRequest:
    """Words that were typed after `tools route`."""

    text: str
    tools: tuple[str, ...] = ()
    planner: str = ""
    on_multiple: str = ""
    run: bool = False
    yes: bool = False
    no_input: bool = False


def route_request(options: GlobalOptions, request: RoutingRequest) -> int:
    """Route, show, and where it was asked for call; returns the exit code."""
    _check(request)

    async def work(session: CommandSession) -> int:
        tp, output = session.tp, session.output
        routed = await tp.route(
            request.text,
            tools=request.tools,
            planner=cast("Any", request.planner or None),
            on_multiple=cast("Any", request.on_multiple or None),
        )
        _show_decisions(routed.record, output)
        if routed.record.error and routed.record.outcome != "refused":
            output.tell(f"Chosen by rules in place of the model: {routed.record.error}", "yellow")
        if routed.plan is None:
            return _without_calls(routed, output)
        if not request.run:
            _result(routed, output)
            return ExitCode.DONE
        explanation = tp.explain(routed.plan)
        if not await is_allowed(explanation, output, yes=request.yes, no_input=request.no_input):
            return ExitCode.CANCELLED
        if routed.text and not options.json:
            output.write(clean(routed.text))
        view = partial(_outputs_of_calls, text=routed.text or "")
        return await finish(tp, await tp.start(routed.plan), output, no_input=request.no_input, view=view)

    return perform(options, work, begins=True)


def _outputs_of_calls(result: RunResult, *, text: str, whole: bool) -> Json:
    """The outputs of the calls, each of them, also where some failed; of one call alone the run's outputs."""
    outputs = outputs_of_calls(result)
    if whole:
        return {**as_json(result), "outputs": outputs, "text": text}
    return result.outputs if len(outputs) == 1 and result.success else outputs


def _check(request: RoutingRequest) -> None:
    check_run_options(run=request.run, yes=request.yes)
    if request.planner and request.planner not in PLANNERS:
        raise UsageError(f"{request.planner!r} chooses no tools.", hint="model or offline.")
    if request.on_multiple and request.on_multiple not in _ON_MULTIPLE:
        raise UsageError(f"{request.on_multiple!r} is not known.", hint=f"One of {', '.join(_ON_MULTIPLE)}.")
    if not request.text.strip():
        raise UsageError("The request is empty.", hint='Say what is wanted: toolpath tools route "…".')
    if len(request.text) > LONGEST:
        raise UsageError(f"The request has {len(request.text):,} characters; at most {LONGEST:,} are read.")


def _result(routed: Routed, output: Output) -> None:
    if output.options.json:
        plan = plan_to_dict(routed.plan) if routed.plan is not None else None
        answer = {"plan": plan, "text": routed.text, "message": routed.message, "suggestions": routed.suggestions}
        output.result({**answer, "record": msgspec.to_builtins(routed.record)})
    elif routed.plan is not None:
        output.write(print_plan(routed.plan) + "\n")
    elif routed.text:
        output.write(routed.text + "\n")


def _without_calls(routed: Routed, output: Output) -> int:
    _result(routed, output)
    if routed.record.outcome == "text":
        return ExitCode.DONE
    output.tell(routed.message, "red")
    if routed.suggestions:
        output.tell(f"Perhaps: {', '.join(routed.suggestions)}.")
    return ExitCode.FAILED


def _show_decisions(record: RouteRecord, output: Output) -> None:
    for decision in record.decisions:
        chosen = ", ".join(decision.tools) or "nothing"
        output.say(f"{short(decision.asked, 60)} → {chosen} ({decision.how}) {decision.reason}".rstrip())
        for candidate in decision.candidates:
            output.say(f"  {candidate.score:.2f}  {candidate.tool}", "dim")


def show_routes(options: GlobalOptions, limit: int) -> int:
    """How requests were routed, the newest first."""

    async def work(session: CommandSession) -> int:
        records = await session.tp.routes(limit=limit)
        if options.json:
            session.output.result([msgspec.to_builtins(record) for record in records])
            return ExitCode.DONE
        rows = [
            (
                record.id,
                moment(record.at),
                record.run_id or "-",
                short(record.request, 60),
                record.outcome,
                ", ".join(dict.fromkeys(key for one in record.decisions for key in one.tools)),
                " ".join(f"{one.tool} {one.score:.2f}" for made in record.decisions for one in made.candidates[:3]),
            )
            for record in records
        ]
        if rows:
            session.output.paragraph(table(rows, ("id", "at", "run", "request", "outcome", "tools", "scores")))
        else:
            session.output.say("Nothing was routed yet.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_route(options: GlobalOptions, route_id: str) -> int:
    """All of one routing: what a model was asked and wrote, and what each name was taken for."""

    async def work(session: CommandSession) -> int:
        record = await session.tp.planning.routes.get(route_id, None)
        if record is None:
            raise RecordNotFound(
                f"There is no routing {route_id[:100]!r}.", hint="`toolpath tools route --last 20` lists them."
            )
        if options.json:
            session.output.result(msgspec.to_builtins(record))
            return ExitCode.DONE
        write = session.output.write
        for name, value in (("request", record.request), ("at", moment(record.at)), ("outcome", record.outcome)):
            write(f"{name}: {clean(value)}\n")
        write(f"run: {record.run_id or '-'}\ncalls: {', '.join(record.order) or '-'}\n")
        for decision in record.decisions:
            chosen = ", ".join(decision.tools) or "nothing"
            write(f"{clean(decision.asked)} → {chosen} ({decision.how}) {clean(decision.reason)}".rstrip() + "\n")
            for candidate in decision.candidates:
                write(f"  {candidate.score:.2f}  {candidate.tool}\n")
        for number, said in enumerate(record.answers, 1):
            write(f"\nAnswer {number}:\n{clean(said)}\n")
        if record.prompt:
            write(f"\nPrompt:\n{clean(record.prompt)}\n")
        return ExitCode.DONE

    return perform(options, work, sources=False)
