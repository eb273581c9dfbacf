"""`toolpath plan --last` and `--trace`: how requests were planned."""

from __future__ import annotations

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import clean, moment, short, table
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import RecordNotFound
from toolpath.planner.records import PlanningRecord
from toolpath.values import duration_text


def check_alone(request: str, *, run: bool) -> None:
    """Raise `UsageError` where a look at what was planned earlier stands beside something to plan."""
    if request or run:
        raise UsageError(
            "What was planned earlier is shown without a request, and runs nothing.",
            hint="Leave out the request and --run, or --last, --trace and --report.",
        )


def show_plannings(options: GlobalOptions, limit: int) -> int:
    """How requests were planned, the newest first."""

    async def work(session: CommandSession) -> int:
        records = await session.tp.planning.plannings.newest("", limit)
        if options.json:
            session.output.result([msgspec.to_builtins(record) for record in records])
            return ExitCode.DONE
        rows = [
            (
                record.id,
                moment(record.started_at),
                _planner(record),
                _sure(record),
                _came(record),
                short(record.request, 60),
            )
            for record in records
        ]
        if rows:
            session.output.paragraph(table(rows, ("id", "at", "planned by", "sure", "run", "request")))
        else:
            session.output.say("Nothing was planned yet.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_planning(options: GlobalOptions, planning_id: str) -> int:
    """All of one planning: tools that were shown, chosen and why, each question to a model with its answer."""

    async def work(session: CommandSession) -> int:
        record = await session.tp.planning.plannings.get(planning_id, None)
        if record is None:
            raise RecordNotFound(
                f"There is no planning {planning_id[:100]!r}.", hint="`toolpath plan --last 20` lists them."
            )
        if options.json:
            session.output.result(msgspec.to_builtins(record))
            return ExitCode.DONE
        write = session.output.write
        took = f"{duration_text(record.duration)}, {record.usage.total:,} tokens, {record.cost:.4f} USD"
        about = (
            ("request", record.request),
            ("at", moment(record.started_at)),
            ("planned by", f"{_planner(record)}, {took}"),
            ("outcome", f"{record.outcome} {record.reason}"),
            ("sure", _sure(record)),
            ("run", _came(record)),
            ("tools shown", ", ".join(shown.tool for shown in record.shown)),
        )
        for name, value in about:
            write(f"{name}: {clean(value.strip()) or '-'}\n")
        for one in record.selections:
            write(f"{one.step}: {one.tool} {clean(one.reasoning)}".rstrip() + "\n")
        for number, made in enumerate(record.rounds, 1):
            write(f"\nAnswer {number}:\n{clean(made.answer or made.error)}\n")
            for finding in made.findings:
                write(f"  {clean(finding.message)}\n")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def _planner(record: PlanningRecord) -> str:
    by = record.strategy or record.planner
    return f"{by} (from the cache)" if record.planner == "cache" else by


def _sure(record: PlanningRecord) -> str:
    return "-" if record.confidence is None else f"{record.confidence:.0%}"


def _came(record: PlanningRecord) -> str:
    went = {None: "", True: " succeeded", False: " failed"}[record.success]
    return f"{record.run_id}{went}" if record.run_id else "-"
